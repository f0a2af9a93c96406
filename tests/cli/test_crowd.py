"""``adjudge crowd`` at a real server: what it prints, writes and says of bad input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Run
from sites import Site, served


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with served(tmp_path) as running:
        yield running


@pytest.fixture
def token(site: Site, monkeypatch: pytest.MonkeyPatch) -> str:
    owner = site.services.accounts.set_up(
        site.services.accounts.make_setup_token(), "ada", site.admin_password
    )
    secret = site.services.acting_for(owner).accounts.make_token("t", scope="requester")[1]
    monkeypatch.setenv("ADJUDGE_TOKEN", secret)
    return secret


def test_a_crowd_comes_and_every_judgment_is_in_the_store(
    site: Site, token: str, adjudge: Run
) -> None:
    slug = site.open_project()
    population = ["--population", "ethical(1):3,spammer:1,dropout(1):1"]
    ended = adjudge("crowd", site.url, "--project", slug, *population, "--wait", "0", "--json")
    assert ended.code == 0, ended.err
    told = ended.json
    assert told["came"] == 5
    kinds = [row["kind"] for row in told["judges"]]
    assert kinds == ["ethical", "ethical", "ethical", "spammer", "dropout"]
    assert told["refused"] == told["sent_again"] == told["problems"] == {}
    with site.parts.database.read() as on:
        stored = on.exec_driver_sql("SELECT count(*), count(DISTINCT page) FROM judgments").one()
    assert told["judgments"] == stored[0] > 20


def test_a_table_of_judges_goes_to_a_file_and_words_to_people(
    site: Site, token: str, adjudge: Run, tmp_path: Path
) -> None:
    slug = site.open_project()
    place = tmp_path / "judges.csv"
    sent = ["crowd", site.url, "--project", slug, "--population", "ethical(1):2,random:1"]
    ended = adjudge(*sent, "--judges", "3", "--wait", "0", "-o", str(place))
    assert ended.code == 0, ended.err
    lines = place.read_text("utf-8").splitlines()
    assert lines[0] == "judge,kind,stage,vanished,sheets,problem"
    assert [line.split(",")[:2] for line in lines[1:]] == [
        ["crowd-0", "ethical"], ["crowd-1", "ethical"], ["crowd-2", "random"]
    ]  # fmt: skip
    assert "acknowledged" in ended.err
    assert "no error" in ended.err


def test_a_token_that_shows_no_gold_is_told(site: Site, token: str, adjudge: Run) -> None:
    slug = site.open_project()
    (owner,) = site.services.accounts.get_all()
    secret = site.services.acting_for(owner).accounts.make_token("j", scope="judge", project=slug)[
        1
    ]
    sent = ["crowd", site.url, "--project", slug, "--population", "random:1", "--wait", "0"]
    ended = adjudge(*sent, "--token", secret)
    assert "The token shows no gold: those who look see nothing and will fail." in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["http://127.0.0.1:9", "--project", "x"],
         "error: no --token: wanted a token of the server, here or in ADJUDGE_TOKEN\n"),
        (["here", "--project", "x", "--token", "t"],
         "error: server = 'here': wanted an address such as http://127.0.0.1:8100\n"),
        (["http://127.0.0.1:9", "--project", "x", "--token", "t", "--population", "etical"],
         "error: there is no kind of judge 'etical'; did you mean 'ethical'? "
         "Known: ethical, spammer, random, colluder, dropout\n"),
    ],
)  # fmt: skip
def test_bad_input_is_told(
    arguments: list[str], message: str, adjudge: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADJUDGE_TOKEN", raising=False)
    ended = adjudge("crowd", *arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", message)


def test_the_server_s_refusal_is_the_error(site: Site, token: str, adjudge: Run) -> None:
    ended = adjudge("crowd", site.url, "--project", "nowhere")
    assert ended.code == 2
    assert ended.err == "error: the server says: there is no project 'nowhere'\n"
