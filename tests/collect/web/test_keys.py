from __future__ import annotations

import pytest
from itsdangerous import TimestampSigner

from adjudge.collect.web._keys import Forged, Keys


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
    with pytest.raises(Forged):
        keys.open("session", signed, seconds=60)


def test_a_proof_is_of_one_text() -> None:
    keys = Keys(b"x" * 64)
    proof = keys.digest("form", "session")
    assert keys.proves("form", "session", proof)
    assert not keys.proves("form", "another", proof)
    assert not keys.proves("form", "session", "")
    assert not keys.proves("form", "session", "é" * 40)
