"""What is public is used from outside its module, and there is not much of it."""

from __future__ import annotations

import ast

import pytest

from tools import load

MOST = 700


@pytest.fixture(scope="module")
def names():
    return load("names")


def test_what_only_its_module_uses_is_private(names) -> None:
    assert names.unused() == []


def test_public_names_stay_few(names) -> None:
    assert len(names.public()) <= MOST


def test_a_private_module_is_imported_from_its_own_package_only(names) -> None:
    assert names.trespassing() == []


@pytest.mark.parametrize(
    ("module", "owner"),
    [
        ("adjudge.models.vote", None),
        ("adjudge.__main__", None),
        ("adjudge.models._gibbs", "adjudge.models"),
        ("adjudge.models._pairs.cells", "adjudge.models"),
    ],
)
def test_whose_a_module_is(names, module: str, owner: str | None) -> None:
    assert names.owner_of(module) == owner


def test_a_trespass_is_found(names, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "adjudge.models._gibbs": "class Chain: ...\n",
        "adjudge.models.pairs.model": "from adjudge.models._gibbs import Chain\n",
        "adjudge.evaluation.score": "def late():\n    from adjudge.models._gibbs import Chain\n",
        "adjudge.cli.fit": "from adjudge.models import _gibbs\n",
    }
    monkeypatch.setattr(names, "modules", lambda: {m: ast.parse(t) for m, t in texts.items()})
    assert names.trespassing() == [
        ("adjudge.evaluation.score", "adjudge.models._gibbs"),
        ("adjudge.cli.fit", "adjudge.models._gibbs"),
    ]


def test_a_module_is_counted_by_what_it_defines(names) -> None:
    text = "import b\nX, _Y = 1, 2\nif X:\n    def f(): z = 1\nclass C:\n    D: int = 3\nE: int = 4"
    assert [name for name, _ in names.defined(ast.parse(text).body)] == ["X", "_Y", "f", "C", "E"]


def test_uses_are_found_wherever_they_stand(names) -> None:
    text = (
        "from adjudge.data.scale import Scale\nfrom adjudge.evaluation import scores\n"
        "scores.accuracy\n'adjudge.collect.web.app:create_app'\n"
        "'''from adjudge.models import (vote,\n registry)'''"
    )
    assert set(names.used(ast.parse(text))) >= {
        ("adjudge.data.scale", "Scale"),
        ("adjudge.evaluation.scores", "accuracy"),
        ("adjudge.collect.web.app", "create_app"),
        ("adjudge.models", "vote"),
        ("adjudge.models", "registry"),
    }


def test_a_class_stands_in_one_module_by_its_name(names) -> None:
    assert names.twice() == {}
