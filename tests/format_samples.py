"""A small file of every format that is read: what each tool writes, or the least that it does."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pyarrow as pa
import pyarrow.parquet


def _parquet(**columns: list[Any]) -> bytes:
    file = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def _json(content: Any) -> bytes:
    return json.dumps(content, indent=1).encode()


def _lines(*records: dict[str, Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


_N = range(12)
_PLAIN = {"item": [f"i{n // 3}" for n in _N], "judge": [f"j{n % 3}" for n in _N]}
_PLAIN |= {"label": [str(n % 2) for n in _N]}
_RECORDS = [{name: values[n] for name, values in _PLAIN.items()} for n in _N]
_RATED = [{"item": f"i{n}", "label": str(n % 2), "probability": 0.9} for n in _N]
_FLAT = {"annotation_id": 1, "created_at": "2024-01-01T00:00:00Z", "lead_time": 2.5}
_SCORE = {"source": "ANNOTATION", "name": "helpful", "timestamp": "2024-01-01T00:00:00Z"}
_PAIRS = [("a", "b"), ("b", "c"), ("a", "c")]


def _table(header: str, row: str, separator: str = "\n") -> bytes:
    """A header, and twelve rows in which {n}, {i}, {j} and {l} are a number, item, judge, label."""
    rows = [row.format(n=n, i=n // 3, j=n % 3, l=n % 2) for n in _N]
    return separator.join([header, *rows] if header else rows).encode() + b"\n"


def _annotation(n: int) -> dict[str, Any]:
    answer = {
        "from_name": "r",
        "to_name": "t",
        "type": "choices",
        "value": {"choices": [str(n % 2)]},
    }
    return {"id": n, "completed_by": n, "result": [answer], "created_at": "2024-01-01T00:00:00Z"}


def _archive() -> bytes:
    """An archive of a project with one gold item, which one judge answered."""
    scale = {"labels": ["no", "yes"], "ordinal": False, "relevant": ["yes"], "grades": []}
    parts = {
        "project.json": json.dumps({"adjudge": 1, "scale": scale}),
        "items.jsonl": "",
        "gold.jsonl": json.dumps({"item": "i3", "accepted": ["yes"]}),
        "answers.csv": _ANSWERS.decode(),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


_ANSWERS = (
    b"item,topic,document,judge,kind,label,other,standing,gold,right,page,row,seconds,time\n"
    b"i0,,,j0,work,yes,false,trusted,false,,p,1,,2024-01-01 00:00:00Z\n"
    b"i0,,,j1,work,no,false,trusted,false,,p,1,,2024-01-01 00:00:00Z\n"
    b"i1,,,j0,work,no,false,trusted,false,,p,2,,2024-01-01 00:00:00Z\n"
    b"i1,,,j2,work,yes,false,untrusted,false,,p,2,,2024-01-01 00:00:00Z\n"
    b"i2,,,j1,work,Page is gone,true,trusted,false,,p,2,,2024-01-01 00:00:00Z\n"
    b"i3,,,j0,work,yes,false,trusted,true,true,p,3,,2024-01-01 00:00:00Z\n"
)
SAMPLES: dict[str, tuple[str, bytes]] = {  # by format: the name of the file, and what is in it
    "csv": ("a.csv", _table("item,judge,label", "i{i},j{j},{l}")),
    "answers": ("answers.csv", _ANSWERS),
    "archive": ("archive.zip", _archive()),
    "tsv": ("a.tsv", _table("item\tjudge\tlabel", "i{i}\tj{j}\t{l}")),
    "jsonl": ("a.jsonl", _lines(*_RECORDS)),
    "json": ("a.json", _json(_RECORDS)),
    "parquet": ("a.parquet", _parquet(**_PLAIN)),
    "headerless": ("a.csv", _table("", "item{i},judge{j},{l}")),
    "wide": ("a.csv", _table("item,rater_1,rater_2,rater_3", "i{n},1,0,{l}")),
    "matrix": ("a.csv", _table("", "1,0,,{l}")),
    "crowd-kit": ("a.csv", _table("task,worker,label", "i{i},j{j},{l}")),
    "consensus": ("a.csv", _table("item,label,probability,p_0,p_1", "i{n},1,0.9,0.1,0.9")),
    "consensus-jsonl": ("a.jsonl", _lines(*_RATED)),
    "consensus-parquet": (
        "a.parquet", _parquet(item=[f"i{n}" for n in _N], label=["1"] * 12, probability=[0.9] * 12)
    ),
    "trec-rf10": (
        "a.tsv",
        _table("topicID\tworkerID\tdocID\tgold\tlabel", "{i}\tw{j}\td{n}\t-1\t{l}"),
    ),
    "trec-2011": (
        "a.tsv",
        _table("TOPIC\tHIT_ID\tWORKER_ID\tDOC_ID\tTRUTH\tLABEL", "{i}\th\tw{j}\td{n}\t-1\t{l}"),
    ),
    "trec-2011-submission": ("a.txt", _table("", "7\td{n}\t1{n}\t0.5")),
    "qrels": ("a.qrels", _table("", "{i} 0 d{n} {l}")),
    "run": ("a.run", _table("", "{i} Q0 d{n} {n} -{n}.5 bm25")),
    "beir": ("a.tsv", _table("query-id\tcorpus-id\tscore", "q{i}\td{n}\t{l}")),
    "mturk": (
        "a.csv",
        _table("HITId,HITTypeId,AssignmentId,WorkerId,Input.query,Answer.label",
               '"H{i}","T","A{n}","W{j}","q","{l}"'),
    ),
    "appen": (
        "a.csv",
        _table("_unit_id,_created_at,_id,_tainted,_worker_id,query,label,label_gold",
               "u{i},1/2/2020 03:04:05,{n},false,w{j},q,{l},"),
    ),
    "appen-aggregated": (
        "a.csv",
        _table("_unit_id,_golden,_unit_state,_trusted_judgments,label,label:confidence",
               "u{n},false,finalized,3,{l},0.5"),
    ),
    "toloka": (
        "a.tsv",
        _table("INPUT:query\tOUTPUT:label\tGOLDEN:label\tASSIGNMENT:worker_id",
               "q{i}\t{l}\t\tw{j}"),
    ),
    "kaggle": (
        "a.csv",
        _table("id,query,product_title,product_description,median_relevance,relevance_variance",
               "{n},q{i},t,d,{l},0"),
    ),
    "label-studio": (
        "a.json",
        _json([{"id": n, "data": {"text": "x"}, "annotations": [_annotation(0), _annotation(1)]}
               for n in range(4)]),
    ),
    "label-studio-flat": (
        "a.json", _json([{"id": n // 3, "text": "a", "mood": "pos" if n % 2 else "neg",
                          "annotator": n % 3, **_FLAT} for n in _N]),
    ),
    "doccano": ("admin.jsonl", _lines(*({"id": n, "text": "a", "label": [f"l{n % 2}"],
                                         "Comments": []} for n in _N))),
    "prodigy": (
        "a.jsonl",
        _lines(*({"text": "t", "_input_hash": n // 3, "_task_hash": n, "_session_id": f"d-{n % 3}",
                  "answer": "accept" if n % 2 else "reject", "label": "X"} for n in _N)),
    ),
    "potato": ("annotated_instances.jsonl", _lines(*({"id": f"i{n}", "displayed_text": "x",
                                      "label_annotations": {"s": {"yes": "1"}}} for n in _N))),
    "langfuse": (
        "a.json",
        _json({"data": [{"id": str(n), "traceId": f"t{n // 3}", "value": n % 2,
                         "authorUserId": f"u{n % 3}", **_SCORE} for n in _N], "meta": {"page": 1}}),
    ),
    "inspect": (
        "a.json",
        _json({"version": 2, "status": "success", "eval": {"task": "t", "model": "m/x"},
               "samples": [{"id": n, "epoch": 1, "scores": {"match": {"value": "CI"[n % 2]},
                                                            "f1": {"value": "I"}}} for n in _N]}),
    ),
    "deepeval": ("a.json", _json({"testCases": [
        {"name": f"c{n}", "metricsData": [{"name": "Bias", "success": n % 2 == 0}]} for n in _N
    ]})),
    "alpacaeval": ("a.json", _json([
        {"instruction": f"q{n}", "generator_1": "a", "generator_2": "b", "annotator": "gpt",
         "preference": 1 + n % 2} for n in _N
    ])),
    "judgebench": ("a.jsonl", _lines(*(
        {"pair_id": f"p{n}", "response_A": "x", "response_B": "y", "label": "A>B",
         "judge_name": "arena_hard", "judgments": [{"decision": "A>B"}, {"decision": "B>A"}]}
        for n in _N
    ))),
    "promptfoo": (
        "a.json",
        _json({"evalId": "e", "results": {"version": 3, "results": [
            {"promptIdx": 0, "testIdx": n, "provider": {"id": "p"}, "gradingResult": {
                "pass": False, "componentResults": [
                    {"pass": bool(n % 2), "assertion": {"type": "contains"}},
                    {"pass": False, "assertion": {"type": "llm-rubric"}}]}} for n in _N]}}),
    ),
    "promptfoo-csv": (
        "a.csv",
        b'"{""raw"":""Say {{body}}"",""display"":""Say {{body}}""}",body\n'
        + b'"[FAIL] (0.00) no\n---\nHello",one\n"[PASS] (1.00) \n---\nYarr",two\n' * 3,
    ),
    "umbrela": (
        "a.jsonl",
        _lines(*({"model": f"m{n % 3}", "query": "q", "passage": f"p{n // 3}", "prediction": "2",
                  "judgment": n % 3, "result_status": 1} for n in _N)),
    ),
    "argilla": (
        "a.json",
        _json([{"id": n, "text": "x", "label.responses": ["1", "0"],
                "label.responses.users": ["u", "v"],
                "label.responses.status": ["submitted", "submitted"]} for n in _N]),
    ),
    "nested": (
        "n.json",
        _json([{"id": n, "annotations": [{"annotator": "u", "label": str(n % 3)},
                                         {"annotator": "v", "label": "1"}]} for n in _N]),
    ),
    "quepid-case": ("a.csv", _table("query,docid,rating", "q{i},d{n},{l}")),
    "quepid-book": ("a.csv", _table("query,docid,Ann,Bob Gold", "q{i},d{n},{l},1")),
    "quepid-book-json": (
        "a.json",
        _json({"name": "b", "query_doc_pairs": [
            {"query_text": f"q{n // 3}", "doc_id": f"d{n}",
             "judgements": [{"rating": float(n % 2), "user_email": "a@example.com"}]}
            for n in _N]}),
    ),
    "quepid-case-json": (
        "a.json",
        _json({"case_name": "c", "scorer": {"scale": [0, 1]}, "queries": [
            {"query_text": f"q{n}", "ratings": [
                {"doc_id": "d1", "rating": 1.0, "user_email": "a@example.com"},
                {"doc_id": "d2", "rating": 0.0, "user_email": "a@example.com"}]}
            for n in range(4)]}),
    ),
    "quepid-static": ("a.csv", _table("Query Text,Doc ID,Doc Position,Title", "q{i},d{n},{n},t")),
    "rank-eval": (
        "a.json",
        _json({"requests": [{"id": f"q{n}", "request": {"query": {"match": {"t": "x"}}},
                             "ratings": [{"_index": "i", "_id": "d1", "rating": 1},
                                         {"_index": "i", "_id": "d2", "rating": 0}]}
                            for n in range(4)]}),
    ),
    "opensearch": (
        "a.json",
        _json({"name": "j", "type": "IMPORT_JUDGMENT", "judgmentRatings": [
            {"query": f"q{n}", "ratings": [{"rating": "1.0", "docId": "d1"},
                                           {"rating": "0.4", "docId": "d2"}]} for n in range(4)]}),
    ),
    "alt-test": ("a.json", _json({f"j{j}": {f"i{i}": (i + j) % 2 for i in range(4)}
                                  for j in range(3)})),
    "pairs": ("a.csv", b"left,right,label,judge\n" + b"".join(
        f"{a},{b},left,ann\n{a},{b},tie,bob\n".encode() for a, b in _PAIRS)),
    "evalica": ("a.csv", b"left,right,winner\n" + b"".join(
        f"{a},{b},left\n".encode() for a, b in _PAIRS)),
    "crowd-kit-pairs": ("a.csv", b"worker,left,right,label\n" + b"".join(
        f"ann,{a},{b},{a}\n".encode() for a, b in _PAIRS)),
    "arena": ("a.jsonl", _lines(*({"model_a": a, "model_b": b, "winner": "model_a", "judge": "ann",
                                   "turn": 1} for a, b in _PAIRS))),
    "mt-bench": ("a.jsonl", _lines(*(
        {"question_id": 81, "model_1": a, "model_2": b, "g1_winner": "model_2", "g2_winner": "tie",
         "judge": ["gpt-4", "pair-v2"], "turn": 1} for a, b in _PAIRS))),
}  # fmt: skip
