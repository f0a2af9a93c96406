"""How every format is known by the beginning of a file, cheaply: only the one found is then loaded.

``SIGNATURES`` are asked in order, the more particular before the more general.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adjudge.data.columns import comparison_roles, letters_of, roles_of
from adjudge.data.formats.nesting import nests_in
from adjudge.data.formats.opening import File
from adjudge.data.formats.shapes import is_headerless, is_matrix, is_wide
from adjudge.data.scale import as_number

WHOLE = r"^-?[0-9]{1,18}$"
NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"

# Headers that a format has exactly so.
TREC_RF10 = ("topicID", "workerID", "docID", "gold", "label")
TREC_2011 = ("TOPIC", "HIT_ID", "WORKER_ID", "DOC_ID", "TRUTH", "LABEL")
BEIR = ("query-id", "corpus-id", "score")

_ARGILLA = re.compile(r'"[^"\n]+\.(responses\.users|responses\.status|responses|suggestion)"\s*:')
_BY_JUDGE = re.compile(
    r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*'
    r'("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null)\s*[,}]'
)
_RECORD = re.compile(r"\[\s*\{")  # where the first object of a list begins
_LABEL_STUDIO = ('"result"', '"completed_by"', '"from_name"', '"data"')
_CROWDKIT = ({"task", "worker", "label"}, {"task", "true_label"}, {"task", "label"})


@dataclass(frozen=True, slots=True)
class _Signature:
    """The name of a format, the module that holds it, and whether a file looks like it."""

    name: str
    module: str
    fits: Callable[[File], bool]


def _has(*names: str) -> Callable[[File], bool]:
    """A header with these columns among others, in whatever case."""
    return lambda file: set(names) <= _lower(file)


def _lower(file: File) -> set[str]:
    """The columns of a header, in small letters."""
    return {name.casefold() for name in file.columns}


def _is(*header: str) -> Callable[[File], bool]:
    """Exactly this header, tab separated."""
    return lambda file: tuple(file.cells("\t")) == header


def _mturk(file: File) -> bool:
    """A header with HITs, workers and answers."""
    columns = _lower(file)
    return {"hitid", "workerid"} <= columns and any(c.startswith("answer.") for c in columns)


def _toloka(file: File) -> bool:
    """A header with workers, inputs and outputs, each under its prefix."""
    columns = _lower(file)
    return "assignment:worker_id" in columns and any(c.startswith("output:") for c in columns)


def _label_studio(file: File) -> bool:
    """JSON with annotations, and what Label Studio writes into or beside them."""
    text = file.text
    return _is_json(file) and '"annotations"' in text and any(m in text for m in _LABEL_STUDIO)


def _argilla(file: File) -> bool:
    """JSON whose keys include responses or a suggestion to some question."""
    return _is_json(file) and _ARGILLA.search(file.text) is not None


def _is_json(file: File) -> bool:
    return file.text.lstrip()[:1] in ("[", "{")


def _quepid_case(file: File) -> bool:
    """A header of query, docid and rating, in whatever case."""
    return sorted(letters_of(name) for name in file.columns) == ["docid", "query", "rating"]


def _quepid_book(file: File) -> bool:
    """A header of query, docid and names, over cells that are numbers or empty."""
    header = [letters_of(name) for name in file.columns[:2]]
    if sorted(header) != ["docid", "query"]:
        return False
    lines = file.text.splitlines(keepends=True)
    rows = [cells for cells in csv.reader(lines[: 1 + 20], delimiter=file.delimiter) if cells]
    if len(rows[0]) < 3 or _is_plain_but_for_pairs(rows[0][2:]):
        return False
    whole = [cells for cells in rows[1:] if len(cells) == len(rows[0])]
    return all(not c.strip() or as_number(c.strip()) is not None for r in whole for c in r[2:])


def _is_plain_but_for_pairs(names: list[str]) -> bool:
    """Whether the columns after query and document are those of plain judgments or gold."""
    roles = roles_of(names)
    told = {"label", "gold"} & set(roles)
    return {"judge", "label"} <= set(roles) or (bool(told) and len(roles) == len(names))


def quepid_book_json(file: File) -> bool:
    """An object with pairs of query and document."""
    return file.text.lstrip()[:1] == "{" and '"query_doc_pairs"' in file.text


def _aggregated(file: File) -> bool:
    """A header with units and how sure their answers are."""
    names = _lower(file)
    return "_unit_id" in names and any(name.endswith(":confidence") for name in names)


def _qrels(cells: list[str]) -> bool:
    """Four fields, the last a whole number, the second 0 or Q0 or the third an id."""
    if len(cells) != 4 or not is_number(cells[3]):
        return False
    if not _is_whole(cells[3]) and cells[1] not in {"0", "Q0"}:
        return False
    # A submission of TREC 2011 has four fields too: its third is a rank.
    return cells[1] in {"0", "Q0"} or not (_is_whole(cells[2]) or cells[2] == "na")


def is_run_row(cells: list[str]) -> bool:
    """Six fields, of which the fourth is a whole number and the fifth a number."""
    return len(cells) == 6 and _is_whole(cells[3]) and is_number(cells[4])


def _submission(cells: list[str]) -> bool:
    """Four fields: the third a rank or ``na``, the fourth from 0 to 1 or ``na``."""
    if len(cells) != 4:
        return False
    placed = cells[2] == "na" or _is_whole(cells[2])
    return placed and (cells[3] == "na" or is_number(cells[3]))


def _rows(fits: Callable[[list[str]], bool]) -> Callable[[File], bool]:
    """Rows without a header, their cells set apart by white space."""
    return lambda file: most_rows(file, fits)


def most_rows(file: File, fits: Callable[[list[str]], bool]) -> bool:
    """Whether the first line fits, which a header would not, and most of those after it.

    A fault in one of them is for the reader to name.
    """
    text = re.sub(r"(?m)^\s*#.*$", "", file.text) if "#" in file.text else file.text
    if not fits(re.split(r"[\r\n]", text.lstrip(), maxsplit=1)[0].split()):
        return False
    whole = text.rpartition("\n")[0] or text  # the last line may be cut off
    lines = [line.split() for line in whole.replace("\r", "\n").split("\n")]
    rows = [cells for cells in lines if cells][:50]
    return bool(rows) and fits(rows[0]) and 2 * sum(map(fits, rows)) >= len(rows)


def _is_whole(cell: str) -> bool:
    """Whether a cell is a whole number."""
    return re.match(WHOLE, cell) is not None


def is_number(cell: str) -> bool:
    """Whether a cell is a number."""
    return re.match(NUMBER, cell) is not None


def _encoded(file: File) -> bool:
    """A folder with a manifest and the arrays beside it."""
    return {"manifest.json", "offsets.i8", "judge.i4"} <= file.names


def _beir(file: File) -> bool:
    """BEIR's header, perhaps with more columns but no judge, or a folder with qrels in it."""
    inside = any(name.startswith("qrels/") and name.endswith(".tsv") for name in file.names)
    return inside or (set(BEIR) <= _lower(file) and "judge" not in roles_of(file.columns))


def _consensus(file: File) -> bool:
    """Columns item, label and probability, and no judge."""
    columns = set(_columns(file))
    return {"item", "label", "probability"} <= columns and "judge" not in columns


def _plain(file: File) -> bool:
    """A header, or a first JSON record, with two of item, judge and label; or item and gold."""
    if file.path.suffix == ".parquet" or file.kind == "parquet":
        return True
    if file.kind == "json":
        return False
    roles = roles_of(_columns(file))
    parts = ("item" in roles or "document" in roles, "judge" in roles, "label" in roles)
    return sum(parts) >= 2 or (parts[0] and "gold" in roles)  # with one missing, say which


def _mt_bench(file: File) -> bool:
    """JSON whose records have two models and the winner of a game."""
    return _is_json(file) and '"model_1"' in file.text and '"g1_winner"' in file.text


def _pairs(file: File) -> bool:
    """A header, or a first JSON record, of comparisons: left, right, label; or winner and loser."""
    text = file.text.lstrip()
    columns = _json_keys(text[1:]) if text.startswith("[") else _columns(file)
    return bool(comparison_roles(columns))


def _keys(*wanted: str) -> Callable[[File], bool]:
    """JSON in whose beginning all of these keys stand."""
    marks = [re.compile(rf'"{re.escape(key)}"\s*:') for key in wanted]
    return lambda file: _is_json(file) and all(mark.search(file.text) for mark in marks)


def _label_studio_flat(file: File) -> bool:
    """Annotations with their annotator, a row each, in a table or in a list of objects."""
    text = file.text.lstrip()
    columns = _json_keys(text[text.find("{") :]) if text.startswith("[") else file.columns
    return {"id", "annotator", "annotation_id"} <= set(columns)


def _doccano(file: File) -> bool:
    """Documents with annotations by users, or with a list of labels beside the text."""
    if not _is_json(file):
        return False
    text = file.text.lstrip()
    record = _json_object(text[text.find("{") :])
    keys, given = list(record), record.get("annotations")
    if "annotations" in keys:
        entries = given if isinstance(given, list) else [None]
        return all(isinstance(one, dict) and _is_doccano(one) for one in entries[:1])
    lists = re.search(r'"(label|labels|cats)"\s*:\s*\[', text) is not None
    return lists and {"id", "text"} <= set(keys) and "judge" not in roles_of(keys)


def _is_doccano(entry: dict[str, Any]) -> bool:
    """An annotation with its user; or with a label, and no name of its own for item or judge."""
    other = {"item", "judge", "document"} & roles_of(list(entry)).keys()
    return "user" in entry or ("label" in entry and not other)


def _nested(file: File) -> bool:
    """Records of items that hold their judgments."""
    if file.kind != "parquet" and not _is_json(file):
        return False
    return bool(nests_in(file))


def _potato(file: File) -> bool:
    """A folder of users' states, one of these, or a table with a column a label."""
    if {"user", "instance_id"} <= set(file.columns) and ":::" in file.first:
        return True
    ends = ("user_state.json", "annotated_instances.jsonl")
    if any(name.endswith(ends) for name in file.names):
        return True
    return _keys("instance_id_to_label_to_value")(file) or _keys("label_annotations")(file)


def _inspect(file: File) -> bool:
    """An archive with samples and a header, or a log with both."""
    if file.names:
        return any(n.startswith("samples/") for n in file.names) and "header.json" in file.names
    return (
        _is_json(file)
        and re.search(r'"eval"\s*:\s*\{', file.text) is not None
        and ('"status"' in file.text and '"task"' in file.text)
    )


def _langfuse(file: File) -> bool:
    """Scores with a trace, a name and a value."""
    if _is_json(file):
        text = file.text
        traced = re.search(r'"trace_?[iI]d"\s*:', text) is not None
        return traced and _keys("name", "value", "source")(file)
    letters = {letters_of(name) for name in file.columns}
    return {"traceid", "name", "value", "source"} <= letters


def _promptfoo(file: File) -> bool:
    """Results with how each was graded."""
    return _is_json(file) and (_keys("gradingResult")(file) or _keys("evalId", "results")(file))


def _promptfoo_csv(file: File) -> bool:
    """Cells that begin with an outcome."""
    outcome = re.search(r'(^|[,;|\t\n])"?\[(PASS|FAIL)\] ', file.text)
    return outcome is not None and file.delimiter in file.first


def _umbrela(file: File) -> bool:
    """Lines of judgments with query and passage, or of candidates with judgments."""
    if not _is_json(file) or '"judgment"' not in file.text:
        return False
    return _keys("query", "passage")(file) or _keys("query", "candidates")(file)


def _quepid_static(file: File) -> bool:
    """A header with the position of documents, and no rating."""
    letters = {letters_of(name) for name in file.columns}
    return {"querytext", "docid", "docposition"} <= letters and "rating" not in letters


def _plain_json(file: File) -> bool:
    """A list of objects, or an object with one in it, with two of item, judge and label."""
    found = _RECORD.search(file.text)
    if found is None or not file.is_json_list:
        return False
    roles = roles_of(_json_keys(file.text[found.end() - 1 :]))
    parts = ("item" in roles or "document" in roles, "judge" in roles, "label" in roles)
    return sum(parts) >= 2 or (parts[0] and "gold" in roles)


def _alt_test(file: File) -> bool:
    """An object of objects, the first of which begins with an item and its label."""
    text = file.text.lstrip()
    if _BY_JUDGE.match(text) is None or _plain(file):
        return False
    judges = [judge for judge in _json_object(text).values() if isinstance(judge, dict)]
    labels = [label for judge in judges for label in judge.values()]
    return not any(isinstance(one, list) and one and isinstance(one[0], dict) for one in labels)


def _columns(file: File) -> list[str]:
    """The columns of a table, be it delimited, JSONL or Parquet."""
    if file.kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet

        try:
            return list(pa.parquet.read_schema(file.path).names)
        except (pa.ArrowInvalid, OSError):
            return []
    return _json_keys(file.text) if file.first.lstrip().startswith("{") else file.columns


def _json_keys(text: str) -> list[str]:
    """The keys of the first object of a file; none if it begins otherwise."""
    return list(_json_object(text))


def _json_object(text: str) -> dict[str, Any]:
    """The first object of a file; an empty one if it begins otherwise."""
    try:
        record, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


SIGNATURES = (
    _Signature("encoded", "encoded", _encoded),
    _Signature("mturk", "mturk", _mturk),
    _Signature("appen", "appen", _has("_unit_id", "_worker_id")),
    _Signature("appen-aggregated", "appen", _aggregated),
    _Signature("toloka", "toloka", _toloka),
    _Signature("potato", "potato", _potato),
    _Signature("inspect", "inspect_log", _inspect),
    _Signature("promptfoo", "promptfoo", _promptfoo),
    _Signature("label-studio", "label_studio", _label_studio),
    _Signature("label-studio-flat", "label_studio_flat", _label_studio_flat),
    _Signature("doccano", "doccano", _doccano),
    _Signature("prodigy", "prodigy", _keys("_input_hash", "_task_hash", "answer")),
    _Signature("langfuse", "langfuse", _langfuse),
    _Signature("umbrela", "umbrela", _umbrela),
    _Signature("argilla", "argilla", _argilla),
    _Signature("quepid-case", "quepid", _quepid_case),
    _Signature("quepid-book", "quepid", _quepid_book),
    _Signature("quepid-book-json", "quepid", quepid_book_json),
    _Signature("quepid-case-json", "quepid_export", _keys("queries", "ratings", "query_text")),
    _Signature("quepid-static", "quepid_export", _quepid_static),
    _Signature("opensearch", "opensearch", _keys("judgmentRatings")),
    _Signature("rank-eval", "opensearch", _keys("requests", "ratings", "_id")),
    _Signature("promptfoo-csv", "promptfoo", _promptfoo_csv),
    _Signature("kaggle", "kaggle", _has("id", "query", "product_title")),
    _Signature("trec-rf10", "trec_rf10", _is(*TREC_RF10)),
    _Signature("qrels", "qrels", _rows(_qrels)),
    _Signature("run", "run", _rows(is_run_row)),
    _Signature("trec-2011", "trec_2011", _is(*TREC_2011)),
    _Signature("trec-2011-submission", "trec_2011", _rows(_submission)),
    _Signature("beir", "beir", _beir),
    _Signature("mt-bench", "pairs", _mt_bench),
    _Signature("pairs", "pairs", _pairs),
    _Signature("crowd-kit", "crowdkit", lambda file: set(file.columns) in _CROWDKIT),
    _Signature("consensus", "consensus_table", _consensus),
    _Signature("nested", "nested", _nested),
    _Signature("alt-test", "alt_test", _alt_test),
    _Signature("matrix", "wide", is_matrix),
    _Signature("wide", "wide", is_wide),
    _Signature("json", "plain_json", _plain_json),
    _Signature("csv", "plain", _plain),
    _Signature("headerless", "headerless", is_headerless),
)
