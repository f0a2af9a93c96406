"""Results of tools that evaluate language models: Inspect, promptfoo, Langfuse, UMBRELA.

A judge is whatever gave a verdict: a scorer, an assertion, a person or a model. The judgments of
the alternative annotator test, as its authors publish them, are here too.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import is_plain, is_plain_json
from adjudge.data.formats.recognition import (
    any_of,
    fields,
    first_record,
    holding,
    json_with,
    letters,
)
from adjudge.data.formats.records import (
    FILE,
    Fault,
    LeftOut,
    Level,
    Records,
    Row,
    as_list,
    as_object,
    as_text,
    read_json,
    read_records,
)
from adjudge.errors import BadData, Remedy, shown

_LANGFUSE = Records(
    levels=(Level("score", "*"),),
    roles={
        "item": ("traceid+observationid+sessionid",),
        "judge": (
            *("authoruserid", "authorusername", "evaluatorid", "evaluator", "evaluationruleid"),
            *("queueid", "source"),
        ),
        "label": ("stringvalue", "value"),
        "time": ("timestamp",),
        "kind": ("source",),
        "model": ("metadata.model", "metadata.model_name", "metadata.judge_model"),
        **{name: (f"metadata.{name}",) for name in ("prompt", "version", "confidence", "cost")},
    },
    loose=True,
    judge="unknown",
    questions=lambda record: [as_text(record.get("name")) or "score"],
    question="score",
    unlabelled="no value",
)

_DOCUMENT_IDS = ("docid", "doc_id", "pid", "passage_id")
_UMBRELA = Records(
    levels=(Level("judgment"), Level("candidate", "candidates", optional=True)),
    roles={
        "topic": (
            *("qid", "query_id", "topic_id", "query.qid", "query.query_id", "query.topic_id"),
            *("query.id", "query.text", "query.segment", "query"),
        ),
        "document": (
            *_DOCUMENT_IDS,
            *(
                f"{key}.{name}"
                for key in ("passage", "doc")
                for name in (*_DOCUMENT_IDS, "id", "text", "segment")
            ),
            *("passage", "doc"),
        ),
        "judge": ("model",),
        "model": ("model",),
        "label": ("judgment", "judgement"),
    },
    judge=FILE,
    skips=(("result_status", lambda s: s in (0, False), "the model gave no grade"),),
    unlabelled="the model gave no grade",
    rated=True,
)


def _umbrela(file: File) -> bool:
    """Lines of judgments with query and passage, or of candidates with judgments."""
    rated = '"judgment"' in file.text and fields("query")(file)
    return rated and (fields("passage")(file) or fields("candidates")(file))


def _inspect_log(file: File) -> Any:
    """Return the log of an evaluation, from JSON or from its archive."""
    if not file.is_folder:
        return read_json(file)
    names = [name for name in sorted(file.names) if name.startswith("samples/")]
    samples = [read_json(part) for part in file.files(*names)] if names else []
    head = [name for name in ("header.json", "_journal/start.json") if name in file.names]
    log = as_object(read_json(file.files(head[0])[0]) if head else {})
    return log | {"samples": samples}


def _inspect_scores(sample: Row, _: str) -> Iterator[Row | LeftOut]:
    """Return the score of each scorer, and each value of a score with several."""
    scores = as_object(sample.get("scores"))
    if not scores:
        yield LeftOut("sample", "no score")
    model = as_object(sample.get("eval")).get("model") or "model"
    item = f"{model}/{sample.get('id')}/{sample.get('epoch', 1)}"
    graders = _graders(as_object(sample.get("eval")))
    usage = as_object(as_object(sample.get("role_usage")).get("grader"))
    alone = sum(name in graders for name in scores) == 1  # the usage is that of one scorer
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        values = {f"/{key}": one for key, one in as_object(value).items()} or {"": value}
        grading = as_list(as_object(as_object(score).get("metadata")).get("grading"))
        version = as_object(grading[-1]).get("model") if grading else None
        about = {"model": graders.get(scorer) or version, "version": version}
        if alone and scorer in graders and len(values) == 1:
            about |= {"cost": usage.get("total_cost"), "tokens": usage.get("total_tokens")}
        for part, one in values.items():
            if one is not None:
                label = json.dumps(one) if isinstance(one, list) else one
                yield {**about, "item": item, "judge": f"{scorer}{part}", "label": label}


def _graders(evaluation: Row) -> dict[str, str]:
    """Return the model that each scorer asks, by the scorer's name in samples."""
    found: dict[str, str] = {}
    seen = Counter[str]()
    for scorer in map(as_object, as_list(evaluation.get("scorers"))):
        name = str(scorer.get("name")).rpartition("/")[2]
        key = f"{name}{seen[name] or ''}"
        seen[name] += 1
        options = as_object(scorer.get("options"))
        model = options.get("model")
        if model is None and ("model_graded" in name or options.get("model_role")):
            roles = as_object(evaluation.get("model_roles"))
            role = roles.get(options.get("model_role") or "grader")
            model = role or evaluation.get("model")  # by default a model grades itself
        each = [as_object(one).get("model", one) for one in as_list(model) or [model]]
        if all(isinstance(one, str) for one in each):
            found[key] = "+".join(each)
    return found


_EVALUATION = "promptfoo"  # the judge of an output without assertions
_GRADED = (  # assertions that ask the grader of the test
    *("llm-rubric", "search-rubric", "model-graded-closedqa", "model-graded-factuality"),
    *("factuality", "g-eval", "answer-relevance", "context-faithfulness", "context-recall"),
    *("context-relevance", "conversation-relevance", "select-best"),
)
_OUTCOME = re.compile(r"^\[(PASS|FAIL|ERROR)\]")


def _promptfoo_outputs(file: File) -> Any:
    """Return the results of an evaluation, wherever this release of promptfoo puts them."""
    if '"results"' not in file.text:
        return [record for _, record in read_records(file, "")]
    found = read_json(file)
    for _ in range(3):
        found = found.get("results", found.get("outputs")) if isinstance(found, dict) else found
    return as_list(found)


def _promptfoo_verdicts(result: Row, _: str) -> Iterator[Row | LeftOut]:
    """Return the verdict of each assertion on an output, or of the evaluation."""
    graded = as_object(result.get("gradingResult"))
    if not graded and result.get("error"):
        yield LeftOut("output", "the provider failed")
        return
    item = _name_output(result)
    seen = Counter[tuple[str, str | None]]()
    verdicts: list[tuple[Row, Any]] = []
    for part in map(as_object, as_list(graded.get("componentResults"))):
        if assertion := as_object(part.get("assertion")):
            name = str(assertion.get("metric") or assertion.get("type") or _EVALUATION)
            model = _grader(assertion, result)
            seen[name, model] += 1
            number = seen[name, model]
            row = {"judge": name if number == 1 else f"{name} {number}", "model": model}
            row["tokens"] = as_object(part.get("tokensUsed")).get("total") if model else None
            row["kind"] = "person" if assertion.get("type") == "human" else None
            verdicts.append((row, part.get("pass")))
    given = graded.get("pass", result.get("success", result.get("pass")))
    for row, passed in verdicts or [({"judge": _EVALUATION}, given)]:
        if isinstance(passed, bool):
            yield {**row, "item": item, "label": "pass" if passed else "fail"}
        else:
            yield LeftOut("outcome", "neither passed nor failed")


def _grader(assertion: Row, result: Row) -> str | None:
    """Return the model that graded by an assertion, where the results name it."""
    given = assertion.get("provider")
    if given is None and str(assertion.get("type")).removeprefix("not-") in _GRADED:
        given = as_object(as_object(result.get("testCase")).get("options")).get("provider")
    return _provider(given)


def _provider(given: Any) -> str | None:
    """Return the name of a provider: a text, an object, or objects by what they are used for."""
    held = as_object(given)
    if "text" in held:
        return _provider(held["text"])
    named = held.get("label") or held.get("id")
    return as_text(named if isinstance(given, dict) else given) or None


def _name_output(result: Row) -> str:
    """Return the name of an output: its test, prompt and provider."""
    test = result.get("testIdx")
    if test is None:
        test = ", ".join(f"{k}={v}" for k, v in as_object(result.get("vars")).items())
    prompt = result.get("promptIdx")
    if prompt is None:
        prompt = result.get("promptId") or as_object(result.get("prompt")).get("label")
    parts = (test, prompt, _provider(result.get("provider")))
    return "/".join(str(part) for part in parts if part is not None)


def _promptfoo_cells(file: File) -> list[Row]:
    """Return the outcome of every output: a row per test, a column per prompt."""
    text = io.StringIO(file.read_text(), newline="")
    table = [cells for cells in csv.reader(text, delimiter=file.delimiter) if cells]
    outcomes = [[_OUTCOME.match(cell) for cell in cells] for cells in table[1:]]
    # Variables and other columns next to the outputs have no outcome in any row.
    outputs = sorted({at for found in outcomes for at, one in enumerate(found) if one})
    return [
        {"item": f"{number}/{place}", "label": outcome[1].lower()}
        for number, found in enumerate(outcomes, start=1)
        for place, at in enumerate(outputs, start=1)
        if at < len(found) and (outcome := found[at]) and outcome[1] != "ERROR"
    ]


def _read_promptfoo_csv(file: File, options: Options) -> Content:
    note = "outputs have no names here: each is called by its row and its prompt's place"
    options.notes.append(note)
    return _PROMPTFOO_CSV.read(file, options)


_PROMPTFOO_CSV = Records(
    levels=(Level("output"),),
    roles={"item": ("item",), "label": ("label",)},
    judge=_EVALUATION,
    load=_promptfoo_cells,
)


def _promptfoo_csv(file: File) -> bool:
    """Recognise cells that begin with an outcome."""
    outcome = re.search(r'(^|[,;|\t\n])"?\[(PASS|FAIL)\] ', file.text)
    return outcome is not None and file.delimiter in file.first


_BY_JUDGE = re.compile(
    r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*'
    r'("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null)\s*[,}]'
)
_BY_JUDGE_AND_ITEM = (
    Level("judge", by="judge", value="items"),
    Level("item", "items", by="item"),
)
_BY_ITEM = (
    Level("item", by="item", value="judges"),
    Level("judge", "judges", by="judge"),
)
_ALT_TEST = Records(
    levels=_BY_JUDGE_AND_ITEM,
    roles={"item": ("item",), "judge": ("judge",), "label": ("label",)},
    unlabelled="",
)


def _pair(record: Row, _: str) -> Iterator[Row | Fault]:
    """Return the comparison of an item ``question__left__right__turn``."""
    parts = str(record["item"]).split("__")
    if len(parts) not in (3, 4):
        problem = f"expected a pair question__left__right__turn, got {shown(record['item'])}"
        yield Fault(problem, "not-a-pair", record["item"])
        return
    topic = "/".join([parts[0], *parts[3:]])
    row = {name: record[name] for name in ("judge", "label")}
    yield row | {"left": parts[1], "right": parts[2], "topic": topic}


_ALT_TEST_PAIRS = Records(levels=_BY_JUDGE_AND_ITEM, rows=_pair, unlabelled="")


def _read_alt_test(file: File, options: Options) -> Content:
    """Read the judgments of every judge, or comparisons if those are asked for."""
    records = _ALT_TEST_PAIRS if options.kind == "comparisons" else _ALT_TEST
    found = as_object(read_json(file))
    widest = max((len(as_object(inner)) for inner in found.values()), default=0)
    if not (options.transpose or options.named) and len(found) > max(widest, 2):
        problem = (
            f"{len(found):,} keys hold at most {widest:,} each: whether the outer keys are judges "
            "or items is not clear"
        )
        remedies = [Remedy("transpose"), Remedy("format", "alt-test")]
        raise BadData.at(file.name, "unclear-columns", problem, remedies=remedies)
    return replace(records, levels=_BY_ITEM if options.transpose else _BY_JUDGE_AND_ITEM).content(
        found, file, options
    )


def _alt_test(file: File) -> bool:
    """Recognise an object of objects, the first of which begins with an item and its label."""
    if _BY_JUDGE.match(file.text.lstrip()) is None or is_plain(file) or is_plain_json(file):
        return False
    judges = [as_object(judge) for judge in first_record(file.text).values()]
    labels = [as_list(label) for judge in judges for label in judge.values()]
    nested = any(isinstance(label, dict) for judge in judges for label in judge.values())
    return not nested and not any(given and isinstance(given[0], dict) for given in labels)


def _preference(record: Row, _: str) -> Iterator[Row | LeftOut | Fault]:
    """Return the comparison of AlpacaEval: 1 prefers the first output, 2 the second."""
    given = record.get("preference")
    if given is None:
        yield LeftOut("comparison", "no preference")
    elif not isinstance(given, int | float) or not 0 <= given <= 2:
        yield Fault(f"expected a preference from 1 to 2, got {shown(given)}", "bad-outcome", given)
    else:
        given = 1.5 if given == 0 else given  # a draw, in older versions
        outcome = "tie" if given == 1.5 else "left" if given < 1.5 else "right"
        names = {"left": record.get("generator_1"), "right": record.get("generator_2")}
        asked = {"topic": record.get("instruction"), "judge": record.get("annotator")}
        yield {**names, **asked, "label": outcome, "first": "unknown"}


def _read_preference(record: Row, name: str) -> Iterator[Row | LeftOut | Fault]:
    """Return the judgment of AlpacaEval on a pair; a preference between 1 and 2 has confidence."""
    for row in _preference(record, name):
        if isinstance(row, dict):
            given, cost = record["preference"], record.get("price_per_example")
            sure = max(2 - given, given - 1) if given not in (0, 1, 1.5, 2) else None
            item = "/".join(str(row[part]) for part in ("topic", "left", "right"))
            label = {"left": "A>B", "tie": "A=B", "right": "B>A"}[row["label"]]
            judged = {"item": item, "judge": row["judge"], "label": label}
            yield {**judged, "topic": row["topic"], "confidence": sure, "cost": cost}
        else:
            yield row


def _read_alpaca(file: File, options: Options) -> Content:
    """Read comparisons, or judgments on pairs if those are asked for."""
    if options.kind != "judgments":
        return Records(rows=_preference, judge=FILE).read(file, options)
    note = "each pair is an item, labelled A>B, A=B or B>A; 'adjudge rank-pairs' ranks generators"
    options.notes.append(note)
    return Records(rows=_read_preference, judge=FILE).read(file, options)


def _verdicts(record: Row, _: str) -> Iterator[Row | LeftOut]:
    """Return the verdicts of JudgeBench on a pair: of the second, the answers change places."""
    item = as_text(record.get("pair_id") or record.get("question_id"))
    if record.get("label"):
        yield {"item": item, "gold": record["label"]}
    for order, verdict in enumerate(as_list(record.get("judgments"))):
        said = as_text(as_object(verdict).get("decision"))
        if said is None:
            yield LeftOut("verdict", "no decision")
            continue
        model = as_object(as_object(verdict).get("judgment")).get("judge_model")
        judge = "/".join(str(name) for name in (record.get("judge_name"), model) if name)
        swapped = order == 1 and "=" not in said
        label = said.translate(str.maketrans("AB", "BA")) if swapped else said
        yield {"item": item, "judge": judge, "label": label, "sample": order}


def _test_cases(file: File) -> list[Row]:
    """Return the test cases of deepeval, each by a name of its own."""
    run = as_object(read_json(file))
    cases = [*as_list(run.get("testCases")), *as_list(run.get("conversationalTestCases"))]
    names = Counter(as_object(case).get("name") for case in cases)
    return [
        {**case, "name": name if names[name] == 1 else f"{name}/{number}"}
        for number, case in enumerate(map(as_object, cases), start=1)
        for name in [case.get("name") or "test case"]
    ]


def _metrics(case: Row, _: str) -> Iterator[Row | LeftOut]:
    """Return whether each metric of a test case was passed."""
    for metric in map(as_object, as_list(case.get("metricsData"))):
        passed = metric.get("success")
        if isinstance(passed, bool):
            label = "pass" if passed else "fail"
            about = {"model": metric.get("evaluationModel"), "cost": metric.get("evaluationCost")}
            named = {"item": case["name"], "judge": metric.get("name"), "label": label}
            yield {**about, **named}
        else:
            yield LeftOut("metric", "neither passed nor failed")


LOGS = (
    Format(
        "inspect",
        "Inspect log: samples with the scores of each scorer, .json or .eval",
        any_of(
            holding("samples/*", "header.json"),
            json_with(r'"eval"\s*:\s*\{', '"status"', '"task"'),
        ),
        extension=".json",
        read=Records(
            levels=(Level("sample", "samples"),), rows=_inspect_scores, load=_inspect_log
        ).read,
    ),
    Format(
        "deepeval",
        "deepeval results: test cases with metrics, one judge per metric",
        fields("testCases", "metricsData"),
        extension=".json",
        read=Records(levels=(Level("test case"),), rows=_metrics, load=_test_cases).read,
    ),
    Format(
        "alpacaeval",
        "AlpacaEval annotations: generator_1, generator_2, preference, annotator",
        fields("generator_1", "generator_2", "preference"),
        reads=("judgments", "comparisons"),
        extension=".json",
        read=_read_alpaca,
    ),
    Format(
        "judgebench",
        "JudgeBench: pairs with verdicts A>B in both orders",
        fields("judgments", "decision", "response_A"),
        reads=("judgments", "gold"),
        extension=".jsonl",
        read=Records(levels=(Level("pair"),), rows=_verdicts).read,
    ),
    Format(
        "promptfoo",
        "promptfoo results in JSON: one item per output, one judge per assertion",
        any_of(fields("gradingResult"), fields("evalId", "results")),
        extension=".json",
        read=Records(
            levels=(Level("result"),), rows=_promptfoo_verdicts, load=_promptfoo_outputs
        ).read,
    ),
)
SCORES = (
    Format(
        "langfuse",
        "Langfuse scores: traceId, name, value, source, authorUserId, in JSON or CSV",
        any_of(
            letters("traceid", "name", "value", "source"),
            json_with(r'"trace_?[iI]d"\s*:', r'"name"\s*:', r'"value"\s*:', r'"source"\s*:'),
        ),
        asks=True,
        extension=".json",
        read=_LANGFUSE.read,
    ),
    Format(
        "umbrela",
        "UMBRELA: query, passage, judgment of a model, one JSON object per line",
        _umbrela,
        reads=("judgments", "gold"),
        extension=".jsonl",
        read=_UMBRELA.read,
    ),
    Format(
        "promptfoo-csv",
        "promptfoo results in CSV: [PASS] and [FAIL] of every output",
        _promptfoo_csv,
        read=_read_promptfoo_csv,
    ),
)

ALT_TEST = Format(
    name="alt-test",
    title="JSON by judge: judge, item, label, as the alternative annotator test has it",
    reads=("judgments", "comparisons"),
    extension=".json",
    fits=_alt_test,
    read=_read_alt_test,
)
