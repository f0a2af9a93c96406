"""adjudge simulate: judgments that other commands read, and judges at a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commands import Run
from sites import Site, served


def test_a_pipe_gets_judgments(adjudge: Run) -> None:
    ended = adjudge("simulate", "--items", "20", "--judges", "4", "--per-item", "2-3")
    assert ended.out.splitlines()[0] == "item,judge,label"
    assert 40 <= len(ended.rows) <= 60
    assert {row["label"] for row in ended.rows} == {"0", "1"}
    count = len(ended.rows)
    assert ended.err == (
        f"{count} judgments of 20 items by 4 judges "
        "(skilled:80,spammer:10,lazy:5,adversary:5), seed 0\n"
    )


def test_every_file_at_once(adjudge: Run, folder: Path, names: Callable[[Path], list[str]]) -> None:
    ended = adjudge(
        *("simulate", "--items", "50", "--judges", "9", "--labels", "no<maybe<yes"),
        *("--population", "skilled(8,2):8,lazy:1", "--prevalence", "0.5,0.25,0.25"),
        *("--topics", "5", "--concentration", "10", "--activity", "even", "--difficulty", "1,4"),
        *("--repeats", "--gold-share", "0.2", "--honeypots", "0.1", "--timed"),
        *("-o", "j.parquet", "--truth", "t.jsonl", "--gold", "g.csv"),
    )
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.splitlines()[1:] == [
        "judgments written to j.parquet",
        "truth written to t.jsonl",
        "gold written to g.csv",
    ]
    assert names(folder) == ["g.csv", "j.parquet", "t.jsonl"]
    assert len((folder / "t.jsonl").read_text().splitlines()) == 50
    header, *gold = (folder / "g.csv").read_text().splitlines()
    assert header == "item,topic,gold,honeypot"
    assert len(gold) == 10
    assert sum(row.endswith("true") for row in gold) == 5
    found = adjudge("consensus", "j.parquet", "--gold", "g.csv", "--json").json
    assert found["counts"] == {"judgments": 250, "items": 50, "judges": 9, "topics": 5}
    assert set(found["scale"]["labels"]) == {"no", "maybe", "yes"}


def test_labels_that_a_spreadsheet_would_run_are_read_back(adjudge: Run, folder: Path) -> None:
    adjudge("simulate", "--labels", "-a,=b", "-o", "j.csv", "--truth", "t.csv", "--items", "30")
    ended = adjudge("evaluate", "j.csv", "--gold", "t.csv", "--json", "--resamples", "0")
    assert ended.json["scored"] == 30


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("--gold g.csv", "--gold-share"),
        ("--per-item few", "--per-item"),
        ("--prevalence half", "--prevalence"),
        ("--difficulty 1", "--difficulty"),
        ("--items 0", "items"),
        ("-o x.csv --truth x.csv", "--truth"),
        ("--project shop", "--server"),
        ("--server http://127.0.0.1:9 --project x --items 5", "--server"),
        ("--server http://127.0.0.1:9", "--project"),
        ("--server http://127.0.0.1:9 --project x", "--token"),
        ("--server here --project x --token t", "server"),
        (
            "--server http://127.0.0.1:9 --project x --token t --population etical",
            "kind of judge: ethical",
        ),
    ],
)
def test_bad_settings(
    arguments: str,
    fault: str,
    adjudge: Run,
    folder: Path,
    names: Callable[[Path], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ADJUDGE_TOKEN", raising=False)
    assert adjudge("simulate", *arguments.split()).fault == fault
    assert names(folder) == []


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
    ended = adjudge(
        "simulate", "--server", site.url, "--project", slug, *population, "--wait", "0", "--json"
    )
    assert ended.code == 0, ended.err
    result = ended.json
    assert result["came"] == 5
    kinds = [row["kind"] for row in result["judges"]]
    assert kinds == ["ethical", "ethical", "ethical", "spammer", "dropout"]
    assert result["refused"] == result["sent_again"] == result["problems"] == {}
    with site.parts.database.read() as on:
        stored = on.exec_driver_sql("SELECT count(*), count(DISTINCT page) FROM judgments").one()
    assert result["judgments"] == stored[0] > 20


def test_the_server_s_refusal_is_the_error(site: Site, token: str, adjudge: Run) -> None:
    ended = adjudge("simulate", "--server", site.url, "--project", "nowhere")
    assert ended.code == 2
    assert ended.err == "error: the server says: there is no project 'nowhere'\n"
