"""The picture of the rooms is what the code is, and no import in it goes upwards."""

from __future__ import annotations

import pytest

from tools import load

CONTAINERS = ("adjudge", "adjudge.collect")


@pytest.fixture(scope="module")
def rooms():
    return load("rooms")


@pytest.mark.parametrize("container", CONTAINERS)
def test_no_import_goes_upwards(rooms, container: str) -> None:
    assert rooms.upwards(container) == {}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_room_is_in_the_picture(rooms, container: str) -> None:
    drawn = {room for layer in rooms.layers(container) for room in layer}
    assert {room for edge in rooms.edges(container) for room in edge} <= drawn
    assert all(f"{room} " in rooms.picture(container) for room in drawn)


def test_the_page_has_the_rooms_as_they_are(rooms) -> None:
    page = rooms.PAGE.read_text(encoding="utf-8")
    assert page == rooms.filled(page), "run .venv/bin/python docs/tools/rooms.py --write"


def test_edges_are_counted_by_pairs_of_modules(rooms, tmp_path, monkeypatch) -> None:
    files = {
        "adjudge/cli/a.py": "from adjudge.data import b, c\nimport adjudge.errors",
        "adjudge/cli/d.py": "def f():\n    from adjudge.data.b import x, y",
        "adjudge/data/b.py": "from adjudge.cli import a",
        "adjudge/data/c.py": "from adjudge.data.b import x",
        "adjudge/errors.py": "",
        "adjudge/data/__init__.py": "",
        "adjudge/cli/__init__.py": "",
    }
    for name, text in files.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    monkeypatch.setattr(rooms, "SRC", tmp_path)
    assert rooms.edges("adjudge") == {
        ("cli", "data"): 3,
        ("cli", "errors"): 1,
        ("data", "cli"): 1,
    }
    assert rooms.upwards("adjudge") == {("data", "cli"): 1}
