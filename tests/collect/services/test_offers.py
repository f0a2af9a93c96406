"""Every export that is offered can be made and read back equal; the others say why before."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adjudge.collect import importing
from adjudge.collect.services import exports
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.ids import topic_id
from adjudge.collect.values.judging import Answer, Arrival
from adjudge.collect.values.project import GoldEntry, Project
from adjudge.data.formats import read
from adjudge.data.scale import Scale
from adjudge.errors import BadData
from adjudge.models.majority_vote import MajorityVote
from stores import new_store

SCALE = Scale(labels=("Matching", "Not Matching", "Spam"))
GRADES = {"Matching": 2.0, "Not Matching": 1.0, "Spam": 0.0}
QUERIES = ("red lipstick", "Sofa-bed, 2 m", "قلم أحمر", "=1+1")


def made(folder: Path, *, spaced: bool = False) -> tuple[RequesterServices, str]:
    """A project from a file of query, title, url and snippet, partly judged by two judges.

    ``spaced``: topics as queries, as older projects have them.
    """
    lines = ["query,title,url,snippet"]
    lines += [
        f'"{query}",Result {rank},https://shop.example/{at}/{rank},"Text, {rank}"'
        for at, query in enumerate(QUERIES)
        for rank in range(6)
    ]
    path = folder / "pairs.csv"
    path.write_text("\n".join(lines), "utf-8")
    topics = {query: query for query in QUERIES} if spaced else {}
    preview = importing.read([path], scale=SCALE, topics=topics).check()
    golds = tuple(
        GoldEntry(item=item.name, accepted=(SCALE.labels[at % 3],), reason="So it is.")
        for at, item in enumerate(preview.items[:3])
    )
    store = new_store(folder / "adjudge.db")
    services, judging = RequesterServices(store), JudgingService(store)
    policy = {"training": False, "queries_per_page": 4, "results_per_query": 4, "seed": 1}
    policy.pop("seed")
    project = Project(
        name="Shop", scale=SCALE, items=preview.items, golds=golds, policy=policy, seed=3
    )
    slug = services.projects.create(project).slug
    services.projects.set_state(slug, "open")
    for key in ("a", "b"):
        judge = judging.arrive(Arrival(project=slug, channel="api", key=key)).judge
        judging.consent(judge)
        page = judging.page(judge)
        assert page is not None
        answers = [Answer(row=r.row, label=SCALE.labels[int(r.title[-1]) % 3]) for r in page.rows]
        judging.submit(judge, page.page, page.key, answers)
    return services, slug


def fitted(services: RequesterServices, slug: str) -> Any:
    own = services.exports.get_judgments(slug)
    assert own is not None
    return MajorityVote().fit(own).labels


def wrote(services: RequesterServices, slug: str, name: str, labels: Any, to: Path) -> Path:
    """An export as a file, or as the folder that its zip holds."""
    entry = exports.find_export(name)
    file = io.BytesIO()
    services.exports.write(slug, name, file, labels=labels)
    path = to / f"{name}{entry.extension}"
    if entry.extension == ".zip" and name != "archive":
        with zipfile.ZipFile(file) as archive:
            archive.extractall(path)
    else:
        path.write_bytes(file.getvalue())
    return path


def grade(label: str) -> float:
    return GRADES[label] if label in GRADES else float(label)


@pytest.mark.parametrize("spaced", [False, True])
def test_every_export_offered_is_read_back_equal(tmp_path: Path, spaced: bool) -> None:
    services, slug = made(tmp_path, spaced=spaced)
    labels = fitted(services, slug)
    services.projects.set_grades(slug, GRADES)
    found = services.exports.get_offers(slug, labels)
    names = [e.name for e in exports.list_exports() if e.kind != "comparisons"]  # no pairs
    assert [offer.name for offer in found.offers] == names
    assert {offer.name: offer.problem for offer in found.offers if offer.problem} == {}
    own, gold = services.exports.get_judgments(slug), services.exports.get_gold(slug)
    assert own is not None
    assert gold is not None
    items = {item.name: item for item in services.projects.read(slug).items}
    keys = {}  # the pair by whatever an export may call it
    for name, item in items.items():
        for topic in (item.topic, item.query, topic_id(item.query)):
            keys[topic, item.document] = name
    names = {
        "labels": {row["item"]: grade(row["label"]) for row in labels.to_pylist()},
        "gold": {name: grade(v) for name, v in zip(gold.items.to_pylist(), gold.texts(),
                                                   strict=True)},
        "judgments": sorted((r["item"], grade(r["label"])) for r in own.to_table().to_pylist()),
    }  # fmt: skip
    for offer in found.offers:
        if offer.kind in ("answers", "everything"):
            content = read(wrote(services, slug, offer.name, labels, tmp_path))
            assert content.judgments is not None
            rows = content.judgments.to_table().to_pylist()
            back = sorted((row["item"], grade(row["label"])) for row in rows)
            assert [pair for pair in back if pair[0] not in gold.items.to_pylist()] == names[
                "judgments"
            ]
            assert (content.gold is not None) == (offer.kind == "everything")
        elif offer.kind not in names:
            path = wrote(services, slug, offer.name, labels, tmp_path)
            with pytest.raises(BadData) as caught:
                read(path)
            assert caught.value.code in ("not-judgments", "no-rows"), offer.name
        if offer.kind not in names:
            continue
        content = read(wrote(services, slug, offer.name, labels, tmp_path))
        if offer.kind == "judgments":
            assert content.judgments is not None, offer.name
            rows = content.judgments.to_table().to_pylist()
            back = sorted((name_of(row, items, keys), grade(row["label"])) for row in rows)
            assert back == sorted(names["judgments"]), offer.name
        elif "submission" in offer.name:  # it holds the probability of being relevant
            assert content.labels is not None
            rows = content.labels.to_pylist()
            assert {name_of(row, items, keys) for row in rows} == set(names["labels"])
        else:
            table = content.labels if content.gold is None else content.gold.to_table()
            column = "label" if content.gold is None else "gold"
            back = {name_of(row, items, keys): grade(row[column]) for row in table.to_pylist()}
            assert back == names[offer.kind], offer.name


def name_of(row: dict[str, Any], items: dict[str, Any], keys: dict[Any, str]) -> str:
    if row["item"] in items:
        return str(row["item"])
    return keys[row["topic"], row["document"]]


def test_unjudged_pairs_are_left_out_and_counted(tmp_path: Path) -> None:
    services, slug = made(tmp_path)
    labels = fitted(services, slug)
    found = services.exports.get_offers(slug, labels)
    assert found.labelled + found.unjudged + found.golds == 24
    assert found.unjudged > 0
    path = wrote(services, slug, "unjudged", labels, tmp_path)
    lines = path.read_text("utf-8").splitlines()
    assert lines[0] == "item,topic,document,query,title,url"
    assert len(lines) == 1 + found.unjudged
    judged = set(labels["item"].to_pylist())
    assert not judged & {line.partition(",")[0] for line in lines[1:]}


@pytest.mark.parametrize("spaced", [False, True])
def test_topics_have_ids_and_a_file(tmp_path: Path, spaced: bool) -> None:
    services, slug = made(tmp_path, spaced=spaced)
    labels = fitted(services, slug)
    services.projects.set_grades(slug, GRADES)
    qrels = wrote(services, slug, "labels-qrels", labels, tmp_path).read_text("utf-8")
    text = wrote(services, slug, "topics-trec", labels, tmp_path)
    run = tmp_path / "run.txt"
    rows = [line.split() for line in qrels.splitlines()]
    run.write_text("".join(f"{t} Q0 {d} 1 1.0 x\n" for t, _, d, _ in rows), "utf-8")
    documents = tmp_path / "docs.jsonl"
    documents.write_text("".join(f'{{"_id": "{d}", "title": "T"}}\n' for _, _, d, _ in rows))
    again = importing.read([run, text, documents]).check().items
    stored = {(i.query, i.document) for i in services.projects.read(slug).items}
    assert {(item.query, item.document) for item in again} <= stored
    assert len(again) == len(rows)
    csv = wrote(services, slug, "topics", labels, tmp_path).read_text("utf-8").splitlines()
    assert csv[0] == "topic,query,need,category"
    assert "red-lipstick,red lipstick,," in csv
    assert any(",'=1+1,," in line for line in csv)


def test_ids_of_queries() -> None:
    assert topic_id("red lipstick") == "red-lipstick"
    same = {topic_id(q) for q in ("red-lipstick", "Red lipstick", "red  lipstick", "red_lipstick")}
    assert len(same | {topic_id("red lipstick")}) == 5
    for query in ("red-lipstick", "???", "قلم أحمر", "x " * 500, "a\nb"):
        assert not any(map(str.isspace, topic_id(query)))
        assert 0 < len(topic_id(query)) < 80
