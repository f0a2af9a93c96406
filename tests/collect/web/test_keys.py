from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest
from itsdangerous import TimestampSigner

from adjudge.collect.web.keys import Expired, Forged, Keys, load_secret
from adjudge.errors import BadSetting


def test_the_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    first = load_secret(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(first) == 64
    assert load_secret(path) == first
    assert [file.name for file in tmp_path.iterdir()] == ["secret"]


def test_processes_that_start_at_once_get_one_secret(tmp_path: Path) -> None:
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(load_secret(tmp_path / "secret")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    load_secret(path)
    path.chmod(0o644)
    with pytest.raises(BadSetting, match="nobody else can read"):
        load_secret(path)


def test_a_secret_that_is_too_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.touch(mode=0o600)
    path.write_text("abc")
    with pytest.raises(BadSetting, match="at least 64 characters"):
        load_secret(path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="a place to write"):
        load_secret(tmp_path / "none" / "secret")


def test_what_was_signed_comes_back_for_its_purpose_only() -> None:
    keys = Keys(b"x" * 64)
    signed = keys.sign("join", {"p": "lamps"})
    assert keys.open("join", signed) == {"p": "lamps"}
    with pytest.raises(Forged):
        keys.open("session", signed)
    with pytest.raises(Forged):
        Keys(b"y" * 64).open("join", signed)
    for place in range(0, len(signed), 7):
        changed = signed[:place] + ("A" if signed[place] != "A" else "B") + signed[place + 1 :]
        with pytest.raises(Forged):
            keys.open("join", changed)


def test_what_was_signed_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys(b"x" * 64)
    signed = keys.sign("session", 1)
    assert keys.open("session", signed, seconds=60) == 1
    now = TimestampSigner("k").get_timestamp()
    monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: now + 61)
    with pytest.raises(Expired):
        keys.open("session", signed, seconds=60)


def test_a_proof_is_of_one_text() -> None:
    keys = Keys(b"x" * 64)
    proof = keys.digest("form", "session")
    assert keys.proves("form", "session", proof)
    assert not keys.proves("form", "another", proof)
    assert not keys.proves("form", "session", "")
    assert not keys.proves("form", "session", "é" * 40)
