from __future__ import annotations

import pytest
from itsdangerous import TimestampSigner
from starlette.requests import HTTPConnection

from adjudge.collect.web._security import COOKIE, Forged, Keys, Limiter, Session, Sessions

SESSIONS = Sessions(Keys(b"x" * 64), path="/judging", hours=12, days=60)


def came_with(cookie: str) -> HTTPConnection:
    return HTTPConnection({"type": "http", "headers": [(b"cookie", f"{COOKIE}={cookie}".encode())]})


def carried(session: Session) -> str:
    return SESSIONS.cookie(session, secure=False).partition(";")[0].partition("=")[2]


def test_a_cookie_carries_the_session_there_and_back() -> None:
    session = Session(id="abc")
    session.judge_as("lamps", "j1")
    session.acknowledge("j1")
    session.log_in("r1", "stamp", now=9e9, mark="m")
    found = SESSIONS.load(came_with(carried(session)))
    assert (found.id, found.requester, found.stamp) == (session.id, "r1", "stamp")
    assert found.judges == {"lamps": "j1"}
    assert found.has_read("j1")
    assert not found.changed


def test_a_cookie_has_every_flag() -> None:
    line = SESSIONS.cookie(Session(id="abc"), secure=True)
    assert line.split("; ")[1:] == [
        "Path=/judging", "Max-Age=5184000", "HttpOnly", "SameSite=Lax", "Secure",
    ]  # fmt: skip
    assert "Secure" not in SESSIONS.cookie(Session(id="abc"), secure=False)


def test_a_forged_cookie_is_not_accepted() -> None:
    session = Session(id="abc", requester="r1", since=9e9)
    good = carried(session)
    for cookie in ("", "x", good[:-1], "e30." + good.partition(".")[2]):
        found = SESSIONS.load(came_with(cookie))
        assert found.requester == ""
        assert found.id != "abc"
        assert found.changed


def test_a_login_ends_after_its_hours_and_the_judges_stay() -> None:
    session = Session(id="abc", requester="r1", since=1.0, judges={"lamps": "j1"})
    found = SESSIONS.load(came_with(carried(session)))
    assert found.requester == ""
    assert found.judges == {"lamps": "j1"}
    assert found.id != "abc"


def test_logging_in_and_out_changes_the_id() -> None:
    session = Session(id="abc")
    session.log_in("r1", "", now=1.0, mark="m")
    inside = session.id
    session.log_out()
    assert len({"abc", inside, session.id}) == 3
    assert session.requester == ""


def test_a_cookie_stays_small_with_any_number_of_projects() -> None:
    session = Session(id="a" * 22)
    for number in range(500):
        session.judge_as(f"project-{number:060d}", f"{number:022d}")
        session.acknowledge(f"{number:022d}")
    assert len(SESSIONS.cookie(session, secure=True)) < 4_096
    assert f"project-{499:060d}" in session.judges


def test_a_proof_belongs_to_one_session() -> None:
    mine, other = Session(id="abc"), Session(id="abd")
    assert SESSIONS.is_proven(mine, SESSIONS.proof(mine))
    assert not SESSIONS.is_proven(other, SESSIONS.proof(mine))


def test_a_limiter_counts_each_name_in_each_span() -> None:
    now = [0.0]
    limiter = Limiter(clock=lambda: now[0])
    limit = [(3, 60.0)]
    for at in (0.0, 10.0, 20.0):
        now[0] = at
        assert limiter.admit(["ada", "home"], limit) == 0
    assert limiter.admit(["ada"], limit) == 40.0
    assert limiter.admit(["grace", "home"], limit) == 40.0
    assert limiter.admit(["grace"], limit) == 0
    now[0] = 60.5
    assert limiter.admit(["ada"], limit) == 0
    assert limiter.admit(["ada"], limit) == 9.5
    limiter.forget(["ada"])
    assert [limiter.admit(["ada"], limit) for _ in range(4)] == [0, 0, 0, 60.0]
    limiter.withdraw(["ada"])
    assert limiter.admit(["ada"], limit) == 0

    both = [(2, 60.0), (3, 3600.0)]
    now[0] = 1000.0
    assert [limiter.admit(["a"], both) for _ in range(3)] == [0.0, 0.0, 60.0]
    now[0] = 1060.0
    assert [limiter.admit(["a"], both) for _ in range(2)] == [0.0, 3540.0]
    now[0] = 4600.0
    assert limiter.admit(["a"], both) == 0.0
    assert [limiter.admit(["c"], [(0, 60.0), (0, 3600.0)]) for _ in range(5)] == [0.0] * 5


def test_a_limiter_forgets_the_oldest_names_rather_than_fill_the_memory() -> None:
    limiter = Limiter(clock=lambda: 0.0)
    for number in range(20_001):
        assert limiter.admit([f"name {number}"], [(1, 60.0)]) == 0
    assert limiter.admit(["name 20000"], [(1, 60.0)]) == 60.0
    assert limiter.admit(["name 0"], [(1, 60.0)]) == 0


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
