from __future__ import annotations

from starlette.requests import HTTPConnection

from adjudge.collect.web._keys import Keys
from adjudge.collect.web._security import COOKIE, Attempts, Session, Sessions

SESSIONS = Sessions(Keys(b"x" * 64), path="/judging", hours=12, days=60)


def came_with(cookie: str) -> HTTPConnection:
    return HTTPConnection({"type": "http", "headers": [(b"cookie", f"{COOKIE}={cookie}".encode())]})


def carried(session: Session) -> str:
    return SESSIONS.cookie(session, secure=False).partition(";")[0].partition("=")[2]


def test_a_cookie_carries_the_session_there_and_back() -> None:
    session = Session(id="abc")
    session.judge_as("lamps", "j1")
    session.acknowledge("j1")
    session.log_in("r1", "stamp", now=9e9)
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


def test_a_forged_cookie_is_nobody() -> None:
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
    session.log_in("r1", "", now=1.0)
    inside = session.id
    session.log_out()
    assert len({"abc", inside, session.id}) == 3
    assert session.requester == ""


def test_a_cookie_stays_small_whatever_is_joined() -> None:
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


def test_attempts_are_limited_in_their_time_for_each_name() -> None:
    now = [0.0]
    attempts = Attempts(3, 60.0, clock=lambda: now[0])
    for at in (0.0, 10.0, 20.0):
        now[0] = at
        assert attempts.begin("ada", "home") == 0
    assert attempts.begin("ada") == 40.0
    assert attempts.begin("grace", "home") == 40.0
    assert attempts.begin("grace") == 0
    now[0] = 60.5
    assert attempts.begin("ada") == 0
    assert attempts.begin("ada") == 9.5
    attempts.succeeded("ada")
    assert attempts.begin("ada") == 0
    assert attempts.begin("ada") == 0
    assert attempts.begin("ada") == 0
    assert attempts.begin("ada") > 0
    attempts.withdraw("ada")
    assert attempts.begin("ada") == 0


def test_attempts_forget_the_oldest_names_rather_than_fill_the_memory() -> None:
    attempts = Attempts(1, 60.0, clock=lambda: 0.0)
    for number in range(10_001):
        assert attempts.begin(f"name {number}") == 0
    assert attempts.begin("name 10000") == 60.0
    assert attempts.begin("name 0") == 0
