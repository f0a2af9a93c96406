from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.collect.web.settings import ENVIRONMENT, Settings
from adjudge.errors import BadSetting


def test_settings_reach_the_workers_through_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "")
    settings = Settings(database="sqlite:///x.db", prefix="/judging", upload_bytes=5, demo=True)
    settings.to_environment()
    assert Settings.from_environment() == settings


@pytest.mark.parametrize(
    ("database", "secret_file", "path"),
    [
        ("sqlite:///data/x.db", "", "data/x.db.secret"),
        ("sqlite:////data/x.db?timeout=3", "", "/data/x.db.secret"),
        ("postgresql://db/x", "", "adjudge.secret"),
        ("postgresql://db/x", "/run/key", "/run/key"),
    ],
)
def test_the_secret_stands_beside_the_database(database: str, secret_file: str, path: str) -> None:
    assert Settings(database=database, secret_file=secret_file).secret_path == Path(path)


@pytest.mark.parametrize(
    "bad",
    [
        {"prefix": "judging"},
        {"prefix": "/judging/"},
        {"prefix": "/a b"},
        {"log_format": "xml"},
        {"upload_bytes": 0},
    ],
)
def test_settings_that_cannot_be_used_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(BadSetting):
        Settings(**bad)  # type: ignore[arg-type]
