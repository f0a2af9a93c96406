from __future__ import annotations

import stat
import threading
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


def secret_in(path: Path) -> bytes:
    return Settings(secret_file=str(path)).load_secret()


def test_the_secret_is_made_once_and_readable_only_by_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    first = secret_in(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(first) == 64
    assert secret_in(path) == first
    assert [file.name for file in tmp_path.iterdir()] == ["secret"]


def test_processes_that_start_at_once_get_one_secret(tmp_path: Path) -> None:
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(secret_in(tmp_path / "secret")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


@pytest.mark.parametrize(("text", "mode"), [("a" * 64, 0o644), ("abc", 0o600)])
def test_a_secret_that_others_can_read_or_that_is_short_is_refused(
    tmp_path: Path, text: str, mode: int
) -> None:
    path = tmp_path / "secret"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(BadSetting):
        secret_in(path)
