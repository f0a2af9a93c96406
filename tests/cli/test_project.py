"""The commands on collection projects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Run


def test_the_commands_from_create_to_export(
    adjudge: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    items = "item,query,title,gold\na,lamp,Lamp,1\nb,lamp,Bulb,\n"
    Path("items.csv").write_text(items)
    Path("policy.json").write_text('{"judgments_per_item": 3}')
    made = adjudge(
        *("project", "create", "Desk lamps", "--labels", "0<1", "--items", "items.csv"),
        *("--policy", "policy.json", "--set", "training=false", "--json"),
    )
    assert json.loads(made.out) == {"slug": "desk-lamps", "state": "draft", "items": 1, "golds": 1}
    assert adjudge("project", "state", "desk-lamps", "open").code == 0
    Path("more.csv").write_text("item,query,title\nc,lamp,Shade\n")
    checked = adjudge("project", "import", "desk-lamps", "more.csv", "--check")
    assert "no fault" in checked.err
    added = adjudge("project", "import", "desk-lamps", "more.csv", "--json")
    assert json.loads(added.out)["added"] == 1
    status = json.loads(adjudge("project", "status", "desk-lamps", "--json").out)
    assert (status["progress"]["items"], status["progress"]["needed"]) == (2, 6)
    assert "desk-lamps" in adjudge("project", "status").out
    out = adjudge("project", "export", "desk-lamps", "--to", "archive", "-o", "p.zip")
    assert (out.code, Path("p.zip").stat().st_size > 0) == (0, True)
    assert adjudge("project", "create", "Again", "--archive", "p.zip").code == 0


def test_faults_are_listed_and_nothing_is_stored(
    adjudge: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("items.csv").write_text("item,query,title,gold\na,lamp,Lamp,7\na,lamp,Lamp,1\n")
    ended = adjudge("project", "create", "L", "--labels", "0<1", "--items", "items.csv")
    assert ended.code == 2
    assert "items.csv, line 2, column gold: '7' is not on the scale 0 < 1" in ended.err
    assert "items.csv, line 3: item 'a' is at items.csv, line 2 already" in ended.err
    assert not Path("adjudge.db").exists()
    for arguments, words in (
        (("create", "L"), "a scale such as"),
        (("create", "L", "--labels", "0<1", "--set", "x=1"), "there is no policy setting 'x'"),
        (("create", "L", "--labels", "0<1", "--set", "x"), "NAME=VALUE"),
        (("status", "nothing"), "there is no project 'nothing'"),
        (("export",), "a project, or --list"),
    ):
        ended = adjudge("project", *arguments)
        assert (ended.code, words in ended.err) == (2, True), ended.err


def test_the_policy_is_shown_and_changed(
    adjudge: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("items.csv").write_text("item,query,title\na,lamp,Lamp\n")
    adjudge("project", "create", "Lamps", "--labels", "0<1", "--items", "items.csv")
    shown = adjudge("project", "policy", "lamps").out
    assert "judgments_per_item" in shown
    assert "version 1" in shown
    Path("changes.json").write_text('{"judgments_per_item": 3, "sure": 0.8}')
    result = adjudge(
        *("project", "policy", "lamps", "--policy", "changes.json"),
        *("--set", "sure=0.95", "--set", "currency=EUR"),
    )
    for words in ("version 2", "0.95", "EUR"):
        assert words in result.out
    assert "queries_per_page" not in result.out  # what was changed alone
    same = adjudge("project", "policy", "lamps", "--set", "currency=EUR")
    assert "it is so already" in same.err
    settings = ("--panel", "prolific", "--set", "code_finished=MINE", "--set", "pay_blocked=false")
    given = json.loads(adjudge("project", "policy", "lamps", *settings, "--json").out)
    policy = given["policy"]
    assert (policy["panel"], policy["code_finished"], policy["sure"]) == ("prolific", "MINE", 0.95)
    assert policy["training_tries"] >= 2
    assert "panel" in policy["channels"]
    assert any("work may not go unpaid" in warning for warning in given["warnings"])
    codes = {policy[name] for name in policy if name.startswith("code_")}
    assert len(codes) == 5
    before = json.loads(adjudge("project", "policy", "lamps", "--json").out)
    for arguments, words in (
        (("--panel", "nobody"), "there is no panel 'nobody'"),
        (("--set", "sure=2"), "sure"),
        (("--panel", "prolific", "--set", "x=1"), "there is no policy setting 'x'"),
    ):
        ended = adjudge("project", "policy", "lamps", *arguments)
        assert (ended.code, words in ended.err) == (2, True), ended.err
    assert json.loads(adjudge("project", "policy", "lamps", "--json").out) == before


def test_a_token_is_created_without_a_browser(
    adjudge: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database

    monkeypatch.chdir(tmp_path)
    assert adjudge("project", "create", "Lamps", "--labels", "0<1").code == 0
    ended = adjudge("project", "token", "lamps")
    assert ended.code == 2
    assert "set the server up by its link first" in ended.err
    store = Database("sqlite:///adjudge.db")
    services = RequesterServices(store)
    services.accounts.add("ada", "correct horse battery", admin=True)
    made = adjudge("project", "token", "lamps", "--days", "7")
    assert made.code == 0
    secret = made.out.strip()
    assert "A token of ada for lamps" in made.err
    token, whose = services.accounts.check_token(secret)
    assert (token.scope, token.project, whose.name) == ("judge", "lamps", "ada")
    result = json.loads(adjudge("project", "token", "lamps", "--may", "requester", "--json").out)
    assert services.accounts.check_token(result["secret"])[0].scope == "requester"
    assert "did you mean" in adjudge("project", "token", "lamps", "--requester", "adda").err
    store.close()


def test_members_are_listed_invited_and_removed(
    adjudge: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database
    from adjudge.errors import Refused

    monkeypatch.chdir(tmp_path)
    assert adjudge("project", "create", "Lamps", "--labels", "0<1").code == 0
    assert "created on the command line" in adjudge("project", "members", "lamps").err
    at = ("--url", "https://judge.example.com/")
    made = adjudge("project", "members", "lamps", "--invite", "reviewer", *at)
    assert made.code == 0
    link = made.out.strip()
    assert link.startswith("https://judge.example.com/member/")
    store = Database("sqlite:///adjudge.db")
    services = RequesterServices(store)
    services.members.join_new(link.rpartition("/")[2], "grace", "correct horse battery")
    assert adjudge("project", "members", "lamps").out == "reviewer\tgrace\n"
    assert "did you mean" in adjudge("project", "members", "lamps", "--remove", "grase").err
    assert adjudge("project", "members", "lamps", "--remove", "grace").out == ""
    assert json.loads(adjudge("project", "members", "lamps", "--json").out) == []
    new = adjudge("project", "member", "reset-password", "grace").out.strip()
    assert services.accounts.log_in("grace", new).name == "grace"
    assert adjudge("project", "member", "disable", "grace").code == 0
    with pytest.raises(Refused):
        services.accounts.log_in("grace", new)
    assert adjudge("project", "member", "enable", "grace").code == 0
    assert services.accounts.log_in("grace", new).name == "grace"
    assert "did you mean" in adjudge("project", "member", "disable", "grase").err
    services.accounts.add("ada", "correct horse battery", admin=True)
    services.accounts.add("eve", "correct horse battery", admin=True)
    warned = [
        "no admin" in adjudge("project", "member", *how).err
        for how in (("disable", "ada"), ("disable", "grace"), ("disable", "eve"), ("enable", "eve"))
    ]
    assert warned == [False, False, True, False]
    store.close()


def test_further_questions_come_from_a_file(
    adjudge: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = [{"name": "freshness", "labels": "Stale < Fresh"}, {"name": "why", "kind": "words"}]
    (tmp_path / "questions.json").write_text(json.dumps(asked))
    made = ("project", "create", "Lamps", "--labels", "0<1", "--questions")
    assert adjudge(*made, "questions.json").code == 0
    assert adjudge("project", "export", "lamps", "--to", "archive", "-o", "full.zip").code == 0
    again = adjudge("project", "create", "Again", "--archive", "full.zip")
    assert again.code == 0, again.err
    result = adjudge("project", "export", "again", "--to", "judgments-csv", "--question", "fresh")
    assert "freshness" in result.err
    (tmp_path / "bad.json").write_text('[{"name": "x", "labels": "one"}]')
    assert "two labels at least" in adjudge(*made, "bad.json").err
    (tmp_path / "bad.json").write_text('{"name": "x"}')
    assert "bad.json: expected a JSON list of questions" in adjudge(*made, "bad.json").err
