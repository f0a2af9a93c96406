"""The pages match the code: names exist, and examples print what is shown."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer

from adjudge import MODELS, simulation
from adjudge.cli import _build
from adjudge.evaluation import MEASURES, measure_agreement
from tools import load

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
REFRESH = "run .venv/bin/python docs/tools/refresh.py, and read what it changed"
COMMANDS = list(load("reference").list_commands())


def load(path: Path) -> Any:
    """Load a module from its file, under a unique name."""
    spec = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


EXAMPLES = load(DOCS / "tools" / "examples.py")
LLMS = load(DOCS / "tools" / "llms.py")
REFERENCE = load(DOCS / "tools" / "reference.py")
DEMOS: dict[str, tuple[str, Path]] = {}  # output of the demo, and the folder it wrote
alike, run_page, filled = EXAMPLES.alike, EXAMPLES.run_page, REFERENCE.filled


GENERATED = [
    *("cli.md", "collect/api.md", "collect/how-it-works.md"),
    *("formats.md", "how-to/own-file.md", "python.md"),
]


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.fixture
def demo_once(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the demo, with which many pages begin, once, and copy its files for the others."""
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


def test_the_readme_has_both_scripts_and_the_tutorial_the_main_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "./scripts/demo" in readme
    assert "./scripts/test" in readme
    shown = set(re.findall(r"^\$ adjudge (\w+)", text_of("tutorial.md"), re.MULTILINE))
    assert {"demo", "consensus", "judges", "evaluate", "agreement"} <= shown <= set(COMMANDS)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_parts_are_up_to_date(name: str) -> None:
    assert text_of(name) == filled(text_of(name)), REFRESH


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_card_that_names_every_setting(name: str) -> None:
    card, index = text_of(f"models/{name}.md"), text_of("models/index.md")
    assert card.startswith(f"# {name}\n")
    for setting in dataclasses.fields(MODELS[name]):
        row = f"| `{setting.name}` | `{setting.default}` |"
        shared = row in index and f"`{setting.name}`" in card
        assert row in card or shared, f"{name} does not describe {setting.name}"
    for heading in ("Settings", "When to use it", "Where it departs"):
        assert f"\n## {heading}" in card
    assert "**Source" in card
    assert f"({name}.md)" in index
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_pages_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def illustrations(kind: str) -> Iterator[tuple[str, str]]:
    """The blocks of a kind that are not run, each with the name of its page."""
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for block in re.finditer(
            rf"^```{kind}[^\n]*\n(.*?)^```$",
            page.read_text(encoding="utf-8"),
            re.MULTILINE | re.DOTALL,
        ):
            yield page.name, block[1]


def test_commands_that_are_not_run_have_known_names_and_options() -> None:
    app = typer.main.get_command(_build(None))
    seen = 0
    for page, block in illustrations("sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] != ["adjudge"] or words[1:2] == ["--version"]:
                continue
            ends = [at for at, word in enumerate(words) if word in {"|", ">", "&", "&&"}]
            command, arguments = app, words[1 : min(ends, default=len(words))]
            while hasattr(command, "commands"):
                command = command.commands[arguments.pop(0)]
            try:
                command.make_context("adjudge", arguments)
            except click.ClickException as error:
                pytest.fail(f"{page}: {line}: {error.format_message()}")
            seen += 1
    assert seen > 20


def test_python_that_is_not_run_imports_what_exists() -> None:
    for page, block in illustrations("python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("adjudge"):
                module = importlib.import_module(str(node.module))
                missing = [name.name for name in node.names if not hasattr(module, name.name)]
                assert missing == [], page


@pytest.mark.parametrize("name", ["mkdocs.yml", "llms.txt"])
def test_every_page_is_in_the_navigation_and_in_the_index_for_models(name: str) -> None:
    index = LLMS.render() if name == "llms.txt" else (ROOT / name).read_text(encoding="utf-8")
    listed = re.findall(r"(?<![\w/-])[\w/-]+\.md", index)
    assert sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")) == sorted(
        listed
    )


def test_the_model_that_contributing_adds_passes_its_test(tmp_path: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code, check = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[:2]
    (tmp_path / "one_step.py").write_text(code)
    (tmp_path / "check.py").write_text(f"import pytest\nfrom adjudge import Judgments\n\n{check}")
    test = load(tmp_path / "check.py")
    test.OneStep = load(tmp_path / "one_step.py").OneStep
    test.test_two_items_by_hand()


def test_the_index_leads_to_every_how_to() -> None:
    linked = set(re.findall(r"\]\((how-to/[\w-]+\.md)", text_of("index.md")))
    assert linked == {f"how-to/{path.name}" for path in (DOCS / "how-to").glob("*.md")}


def test_the_docs_stay_short() -> None:
    pages = [path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")]
    assert sum(len(page.split()) for page in pages) <= 45_000
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split()) <= 1_500
