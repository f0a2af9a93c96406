"""The pages say what the code does: every name is there, and every example runs as shown."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge import MODELS, evaluation, simulation
from adjudge.data.formats import formats
from adjudge.data.synonyms import SYNONYMS
from adjudge.evaluation import MEASURES, measure_agreement
from tools import load

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
REFRESH = "run .venv/bin/python docs/tools/refresh.py, and read what it changed"
COMMANDS = list(load("reference").list_commands())


def load(path: Path) -> Any:
    """A module from its file, under a name that no other module has."""
    spec = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


EXAMPLES = load(DOCS / "tools" / "examples.py")
REFERENCE = load(DOCS / "tools" / "reference.py")
DEMOS: dict[str, tuple[str, Path]] = {}  # what the demo printed, and the folder it made
alike, run_page, filled = EXAMPLES.alike, EXAMPLES.run_page, REFERENCE.filled


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def names_in(text: str) -> set[str]:
    """The names in code on a page: ``name``, ``name(...)`` or several with commas between."""
    return set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`\n]+)`", text))))


@pytest.fixture
def demo_once(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo that a dozen pages begin with is run once, and its files are copied for the others.

    It is one command in an empty folder, and prints the same at the same width.
    """
    run_command = EXAMPLES._printed

    def printed(command: str) -> str:
        if not re.fullmatch(r"adjudge demo --folder demo(?: --quiet)?", command):
            return str(run_command(command))
        assert not Path("demo").exists()
        if command not in DEMOS:
            kept = tmp_path_factory.mktemp("kept") / "demo"
            DEMOS[command] = run_command(command), kept
            shutil.copytree("demo", kept)
        text, kept = DEMOS[command]
        shutil.copytree(kept, "demo", dirs_exist_ok=True)
        return text

    monkeypatch.setattr(EXAMPLES, "_printed", printed)


@pytest.mark.usefixtures("demo_once")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    faults = run_page(page.read_text(encoding="utf-8"), tmp_path).faults
    assert not faults, f"{REFRESH}\n\n" + "\n".join(faults)


def test_the_readme_has_both_commands_and_the_tutorial_has_examples_of_each_main_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "./scripts/demo" in readme
    assert "./scripts/test" in readme
    shown = set(re.findall(r"^\$ adjudge (\w+)", text_of("tutorial.md"), re.MULTILINE))
    assert {"demo", "consensus", "judges", "evaluate", "agreement"} <= shown <= set(COMMANDS)


@pytest.mark.parametrize("name", ["cli.md", "formats.md"])
def test_what_the_code_can_tell_is_up_to_date(name: str) -> None:
    assert text_of(name) == filled(text_of(name)), REFRESH


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_heading(name: str) -> None:
    assert f"\n## adjudge {name}\n" in text_of("cli.md")


@pytest.mark.parametrize("name", formats())
def test_every_format_has_its_words_beside_its_row(name: str) -> None:
    words = text_of("formats.md").split("<!-- end -->")[1]
    assert f"`{name}`" in words, f"docs/formats.md says nothing of {name}"


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_card_that_names_every_setting(name: str) -> None:
    card = text_of(f"models/{name}.md")
    assert card.startswith(f"# {name}\n")
    for setting in dataclasses.fields(MODELS[name]):
        assert f"| `{setting.name}` | `{setting.default}` |" in card
    for heading in ("Settings", "When to use it", "Where it departs"):
        assert f"\n## {heading}" in card
    assert "**Source" in card
    assert f"({name}.md)" in text_of("models/index.md")
    assert f"models/{name}.md" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_every_card_has_a_model() -> None:
    others = {"index", "accuracy", "continuous"}  # the last has no classes to register
    cards = {path.stem for path in (DOCS / "models").glob("*.md")} - others
    assert cards == set(MODELS)


def test_every_score_and_measure_has_its_formula() -> None:
    page = text_of("scores.md")
    agreement = measure_agreement(simulation.demo().judgments)
    for name in [measure.name for measure in MEASURES] + list(agreement.scores):
        assert f"\n| `{name}` | " in page, f"docs/scores.md has no formula of {name}"


@pytest.mark.parametrize("module", [adjudge, evaluation, simulation], ids=lambda m: m.__name__)
def test_every_public_name_is_on_the_python_page(module: object) -> None:
    missing = set(module.__all__) - names_in(text_of("python.md"))  # type: ignore[attr-defined]
    assert not missing


def test_every_synonym_of_a_column_is_told() -> None:
    page = text_of("how-to/own-file.md")
    told = set(re.findall(r"[a-z]+", page.replace("_", "").casefold()))
    for role in ("item", "topic", "document", "judge", "label", "gold", "time", "seconds"):
        assert set(SYNONYMS[role]) <= told


def test_the_skeleton_of_a_model_in_the_guide_is_a_model(tmp_path: Path) -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    source = re.search(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert source is not None
    path = tmp_path / "one_step.py"
    path.write_text(source[1], encoding="utf-8")
    made = simulation.demo()
    consensus = load(path).OneStep().fit(made.judgments, made.gold)
    score = evaluation.evaluate(consensus, made.truth)["accuracy"].value
    vote = evaluation.evaluate(MODELS["majority-vote"]().fit(made.judgments), made.truth)
    assert score > vote["accuracy"].value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_pages_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_five_pages_at_most_are_read_before_a_project_is_open() -> None:
    """The way there is one page, that the README leads to; what it leads to is little."""
    assert "](docs/collect/first-project.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    text = text_of("collect/first-project.md")
    before, opening, _ = text.partition("\n## Open it\n")
    assert opening
    assert len({"first-project.md", *re.findall(r"\]\(([^)#\s]+\.md)", before)}) <= 5
    assert set(re.findall(r"\]\((images/[^)]+)\)", text)) >= {
        f"images/first-{shown}.png"
        for shown in ("new", "begin", "open", "item", "report", "export")
    }


def test_shown_output_is_compared_by_what_it_says() -> None:
    assert alike("a   b\n ───\nc\n", "a b\nc\n")
    assert alike("a\n[...]\nd\n", "a\nb\nc\nd\n")
    assert alike("[...]\n", "")
    assert alike("0.8278346535585873,7\n", "0.8278346535585872,7\n")
    assert not alike("0.8278346535585873\n", "0.8278346535485873\n")
    assert not alike("0.8278\n", "0.8279\n")
    assert not alike("a 1\n", "a 2\n")
    assert not alike("a\n[...]\nd\n", "a\nb\nc\n")
    assert not alike("a\n", "a\nb\n")


def test_a_page_that_is_wrong_is_found_and_put_right(tmp_path: Path) -> None:
    page = (
        '```csv title="in.csv"\nitem,judge,label\na,x,1\n```\n'
        "```console\n$ cat in.csv\nitem,judge,label\n[...]\n$ adjudge convert in.csv --to crowd-kit"
        " | head -n 2\ntask,worker,label\na,x,0\n```\n"
        "```pycon\n>>> one = 1\n>>> one + 1\n3\n```\n"
    )
    found = run_page(page, tmp_path)
    assert len(found.faults) == 2
    assert found.text == page.replace("a,x,0", "a,x,1").replace("\n3\n", "\n2\n")


def test_every_public_name_has_its_signature_on_the_reference_page() -> None:
    listed = re.findall(r"^::: (\S+)$", text_of("reference.md"), re.MULTILINE)
    assert len(set(listed)) == len(listed)
    wanted = {*adjudge.__all__, *evaluation.__all__}
    assert {name.rpartition(".")[2] for name in listed} >= wanted
    for name in listed:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name
