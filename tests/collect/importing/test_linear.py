"""Readers of uploaded files take steps in proportion to what was sent, whatever it is.

Counted are lines of Python that run and characters that methods of text pass over, never seconds.
What a regular expression does inside cannot be counted, so that its shape is looked at instead.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import adjudge.collect.importing as importing
from adjudge.collect.importing import Preview, Upload

ROOM = Path(importing.__file__).parent
WALKING = {"count", "decode", "encode", "find", "index", "join", "lower", "lstrip", "partition"}
WALKING |= {"replace", "rfind", "rsplit", "rstrip", "split", "splitlines", "strip", "casefold"}
WALKING |= {"remove", "insert", "reverse", "copy"}


def steps(work: Callable[[], object]) -> int:
    """How many lines of Python ran, and over how many characters methods of text went."""
    count = 0

    def on_line(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return on_line

    def on_call(frame: Any, event: str, called: Any) -> None:
        nonlocal count
        if event == "c_call" and called.__name__ in WALKING:
            held = called.__self__
            count += len(held) if isinstance(held, str | bytes | list | tuple) else 0

    before, profile = sys.gettrace(), sys.getprofile()
    sys.settrace(on_line)
    sys.setprofile(on_call)
    try:
        work()
    finally:
        sys.setprofile(profile)
        sys.settrace(before)
    return count


RUN = Upload(name="run.txt", body=b"1 Q0 d1 1 1.5 tag\n")
TAGS = ["<", ">", "</", "<top>", "</top>", "<num>", "Number:", "1 ", "<title>", "</title>", " "]
TAGS += ["<desc>", "<topic>", "<topic number='1'>", "<topic id=", "</topic>", "<query>", "&amp;"]
TAGS += ["&#", "9", "<DOC>", "</DOC>", "<DOCNO>", "</DOCNO>", "<TEXT>", "</TEXT>", "<HEADLINE>"]
TAGS += ["<!--", 'a="', "id", "<URL></URL>", "\n", "x "]
CELLS = ["a", ",", "\t", ";", '"', '""', "\n", "\r\n", "item", "query", "title", "gold", "reason:"]
CELLS += [" ", "|", "1", "q", "\ufeff", "é", "'=", "\\"]
JSON = ['{"item": "1", "query": "q", "title": "t"}\n', "{", "}", "[", "]", '"', '"a":', "1", ","]
JSON += ['{"_id": "1", "text": "x"}\n', '"title": "t"', '{"a": {"a": 1}}\n', "\\", "null", " "]
LINES = ["1 Q0 d1 1 1.5 tag\n", "1\tquery\n", "2:query\n", " ", "\t", "x", "\n", "9", "."]


def read(name: str, text: str) -> Preview:
    """Read a text under a name, with a run if the name is one of TREC's."""
    body = text.encode("utf-8", "replace")
    others = [RUN] if name.startswith(("topics", "docs", "queries")) else []
    return importing.read([*others, Upload(name=name, body=body)])


def texts(pieces: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), min_size=1, max_size=5).map("".join)


CASES = st.one_of(
    *(
        st.tuples(st.just(name), st.sampled_from(heads), texts(pieces))
        for name, heads, pieces in [
            ("topics.txt", ["<top>", "<topic>", "<top><num>1<title>"], TAGS),
            ("docs.trec", ["<DOC>", "<DOC><DOCNO>1</DOCNO>", "<DOC><TEXT>"], TAGS),
            ("items.csv", ["", "item,query,title\n", "item,query,title,gold\n1,q,t,"], CELLS),
            ("items.tsv", ["", "item\tquery\ttitle\n"], CELLS),
            ("items.jsonl", ["", "{"], JSON),
            ("docs.jsonl", ["{", '{"_id": "1", "text": "'], JSON),
            ("book.json", ['{"query_doc_pairs": [', '{"query_doc_pairs": "'], JSON),
            ("run.txt", [RUN.body.decode()], LINES),
            ("queries.tsv", ["", "1\tq\n"], LINES),
        ]
    )
)


@given(case=CASES)
@example(("topics.txt", "", "<top>"))
@example(("topics.txt", "", "<top>\n<num> 1\n"))
@example(("docs.trec", "", "<DOC><DOCNO>"))
@example(("docs.trec", "<DOC><DOCNO>1</DOCNO>", "<TEXT>"))
@example(("docs.trec", "<DOC><DOCNO>1</DOCNO><TEXT>", "<"))
@example(("items.csv", "", "a,"))
@example(("items.csv", "", "\ta"))
@example(("items.csv", '"reason: ', " "))
@example(("items.csv", "item,query,title,gold\n1,q,t,", "a|"))
@example(("items.jsonl", "", '{"a": [['))
@example(("book.json", '{"query_doc_pairs": [', "[],"))
def test_twice_the_input_takes_no_more_than_twice_the_steps(case: tuple[str, str, str]) -> None:
    name, head, piece = case
    few = steps(lambda: read(name, head + piece * 200))
    many = steps(lambda: read(name, head + piece * 400))
    assert many <= 2.2 * few + 2_000, (few, many)


def test_an_archive_of_many_files_takes_steps_in_proportion() -> None:
    def folder(count: int) -> list[Upload]:
        held = [Upload(name=f"qrels/{at}.tsv", body=b"query-id\tcorpus-id\tscore\n") for at in
                range(count)]  # fmt: skip
        named = [Upload(name=name, body=b'{"_id": "1"}\n')
                 for name in ("corpus.jsonl", "queries.jsonl")]  # fmt: skip
        return [*held, *named]

    few, many = (steps(lambda n=n: importing.read(folder(n))) for n in (100, 200))  # type: ignore[misc]
    assert many <= 2.2 * few + 2_000


def patterns() -> list[tuple[str, str]]:
    """Every regular expression of the package, with its file."""
    found = []
    for file in sorted(ROOM.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
            ):
                assert isinstance(node.args[0], ast.Constant), f"{file.name}: a pattern made up"
                found.append((file.name, str(node.args[0].value)))
    return found


def repeats(parsed: Any) -> list[str]:
    """The kinds of repeats without an end in a parsed pattern."""
    found = []
    for operation, argument in parsed:
        name = str(operation)
        if name.endswith("REPEAT"):
            if argument[1] == re._constants.MAXREPEAT:  # type: ignore[attr-defined]
                found.append(name)
            found += repeats(argument[2])
        elif name == "SUBPATTERN":
            found += repeats(argument[3])
        elif name == "BRANCH":
            found += [kind for branch in argument[1] for kind in repeats(branch)]
    return found


@pytest.mark.parametrize(("file", "pattern"), patterns())
def test_no_pattern_tries_a_run_of_characters_again(file: str, pattern: str) -> None:
    """``.*?`` and ``.+`` go back over a run for each place where they fail; ``++`` never does."""
    parsed = re._parser.parse(pattern)  # type: ignore[attr-defined]
    assert set(repeats(parsed)) <= {"POSSESSIVE_REPEAT"}, f"{file}: {pattern}"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [("topics.txt", "\n<top>" * 8_000, 2), ("docs.trec", "<DOC><DOCNO>" * 8_000, 1)],
)
def test_tags_that_are_never_closed_are_reported(name: str, text: str, line: int) -> None:
    error = read(name, text).errors[0]
    assert (error.source, error.line, error.code) == (name, line, "unclosed-tag")
