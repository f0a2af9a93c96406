"""Findings about LLM judges and gold: injected texts, and gold that is out of date.

- Items whose text addresses the judge: patterns, not proof. A page about prompt injection is found
  too, so a person or gold has to decide.
- Gold of another version, or of another mix of items, than the model judges now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, ks_2samp

from adjudge.data.model_answers import ModelAnswers
from adjudge.data.names import Names, as_names
from adjudge.data.source import count_of
from adjudge.evaluation.model_judges.soft_judgments import SoftJudgments
from adjudge.evaluation.significance import adjust

_Floats = NDArray[np.float64]
_CONTEXT = 40  # characters shown on each side
_SURE = 0.01  # adjusted p

# Kinds of findings, and their patterns in RE2, which Arrow runs over entire columns.
PATTERNS: dict[str, str] = {
    "gives orders": (
        r"\b(?:ignore|disregard|forget|override|skip)\b[^.\n]{0,20}(?:"
        r"\b(?:previous|prior|above|earlier|preceding)\b[^.\n]{0,20}"
        r"\b(?:instructions?|prompts?|guidelines?|rules|directions|context|text)\b|"
        r"\b(?:all|any|your|the)\b[^.\n]{0,10}\b(?:instructions?|prompts?|guidelines?)\b)"
    ),
    "speaks to the judge": (
        r"\b(?:dear|hello|hey|attention|note to|message to|to the|if you are)\s+"
        r"(?:an?\s+|the\s+|all\s+)?"
        r"(?:ai|llm|language model|large language model|judge|grader|rater|evaluator|assessor|"
        r"annotator|assistant|chatbot|automated (?:judge|system|grader))s?\b"
    ),
    "gives a role": (
        r"\byou are (?:now |actually )?(?:an? |the )?(?:ai|llm|language model|helpful|assistant|"
        r"judge|grader|rater|evaluator|relevance)\b"
    ),
    "asks for a label": (
        r"\b(?:rate|label|mark|judge|grade|score|classify|rank|give|assign)\b[^.\n]{0,20}"
        r"\b(?:this|it|the above|the following)\b[^.\n]{0,30}(?:"
        r"\bas (?:highly |perfectly |fully |very )?relevant\b|"
        r"\b(?:highest|maximum|top|perfect|full|best) (?:possible )?"
        r"(?:score|grade|label|rating|marks?|relevance)\b)|"
        r"\b(?:output|answer|respond with|return|assign|print|say|give)\b[^.\n]{0,25}"
        r"\b(?:score|grade|label|rating|relevance)(?: of| is)?[ :=]+[0-9]+\b"
    ),
    "claims to be relevant": (
        r"\bthis (?:document|passage|page|result|text|answer|product) (?:is|must be|should be)"
        r"[^.\n]{0,20}\b(?:perfectly|highly|fully|extremely|completely|the most) relevant\b"
    ),
    "speaks of the prompt": r"\b(?:system prompt|your (?:system )?prompt|end of (?:the )?prompt)\b",
    "control tokens": (
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id)\|>|\[/?INST\]|<<SYS>>|"
        r"<\/?(?:system|assistant)>|^#{2,} ?(?:system|instruction)s?\b"
    ),
    # Zero-width characters, changes of direction, and the tag characters that spell words unseen.
    "hidden characters": (
        r"[\x{200B}\x{2060}\x{202A}-\x{202E}\x{2066}-\x{2069}]{2,}|[\x{E0020}-\x{E007E}]"
    ),
}


@dataclass(frozen=True, slots=True)
class Injected:
    """A text that addresses the judge."""

    item: str
    field: str
    kind: str
    excerpt: str


def find_injections(items: Names, texts: Any) -> tuple[Injected, ...]:
    """Return the items whose texts match a pattern, each item and kind once, in order."""
    if texts is None:
        return ()
    found: dict[tuple[int, str], Injected] = {}
    for field in texts.column_names:
        column = pc.fill_null(as_names(texts[field]), "")
        for kind, pattern in PATTERNS.items():
            hits = np.asarray(pc.match_substring_regex(column, f"(?im){pattern}"), dtype=np.bool_)
            for at in np.flatnonzero(hits).tolist():
                excerpt = _cut(column[at].as_py(), pattern)
                found.setdefault((at, kind), Injected(items[at].as_py(), field, kind, excerpt))
    return tuple(found[key] for key in sorted(found))


def _cut(text: str, pattern: str) -> str:
    """Return what was found with some context, on one line, hidden characters escaped."""
    plain = re.sub(r"\\x\{([0-9A-F]+)\}", lambda m: re.escape(chr(int(m[1], 16))), pattern)
    match = re.search(plain, text, re.IGNORECASE | re.MULTILINE)
    begin, end = match.span() if match else (0, 0)
    part = text[max(0, begin - _CONTEXT) : end + _CONTEXT]
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in " ".join(part.split()))
    return shown[:200]


_LEAST_GOLD = 20  # gold items of a version, below which its error rates are not known
_MANY = 30  # items with and without gold from which the two are compared
_FAR = 0.1  # share of labels that would have to move
_SPREAD = 0.2  # distance of the distributions of lengths
_TOPICS = 0.5  # of the topics that gold drawn at random would have reached


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on a judge, an item or the gold."""

    kind: str
    subject: str  # empty where it is about all
    sentence: str


def stale_versions(
    answers: ModelAnswers, soft: SoftJudgments, known: NDArray[np.int16]
) -> Iterator[Remark]:
    """Yield versions with hardly any gold, of models of which another version has enough."""
    names = answers.judgments.judges.to_pylist()
    items = np.bincount(soft.judge, minlength=len(names))
    gold = np.bincount(soft.judge[known[soft.item] >= 0], minlength=len(names))
    for judge, model in enumerate(answers.model):
        measured = [
            other
            for other, of in enumerate(answers.model)
            if model and of == model and gold[other] >= _LEAST_GOLD
        ]
        if not measured or gold[judge] >= _LEAST_GOLD or items[judge] < _LEAST_GOLD:
            continue
        other = max(measured, key=lambda j: int(gold[j]))
        yield Remark(
            "stale version",
            names[judge],
            f"{names[judge]} judged {count_of(int(items[judge]), 'item')}, of which "
            f"{gold[judge]:,} {'has' if gold[judge] == 1 else 'have'} gold; the gold was taken "
            f"with {names[other]} ({gold[other]:,}). The error rates of this version are unknown: "
            "have some of its items judged by people.",
        )


def stale_mix(
    answers: ModelAnswers, soft: SoftJudgments, known: NDArray[np.int16]
) -> Iterator[Remark]:
    """Yield how items without gold differ from those with it."""
    yield from _labels_moved(answers, soft, known)
    yield from _lengths_moved(answers, known)
    yield from _topics_missed(answers, known)


def _labels_moved(
    answers: ModelAnswers, soft: SoftJudgments, known: NDArray[np.int16]
) -> Iterator[Remark]:
    """Yield judges who give other labels on items without gold than on those with it."""
    has = known[soft.item] >= 0
    tested = []
    for judge, name in enumerate(answers.judgments.judges.to_pylist()):
        own = soft.judge == judge
        if min(int((own & has).sum()), int((own & ~has).sum())) < _MANY:
            continue
        table = np.array([soft.shares[own & part].sum(axis=0) for part in (has, ~has)])
        table = table[:, table.sum(axis=0) > 0]
        shares = table / table.sum(axis=1, keepdims=True)
        moved = 0.5 * float(np.abs(shares[0] - shares[1]).sum())
        p = float(chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0
        tested.append((name, moved, p))
    adjusted = adjust(np.array([p for _, _, p in tested]))
    for (name, moved, _), p in zip(tested, adjusted, strict=True):
        if p <= _SURE and moved >= _FAR:
            yield Remark(
                "stale mix",
                name,
                f"{name} gives other labels where there is no gold: {moved:.0%} of them would have "
                "to move. The mix of items has changed since the gold was taken, or the gold was "
                "not drawn at random: error rates on gold may not hold there.",
            )


def _lengths_moved(answers: ModelAnswers, known: NDArray[np.int16]) -> Iterator[Remark]:
    length = answers.length
    if length is None:
        return
    with_gold, without = (length[mask & ~np.isnan(length)] for mask in (known >= 0, known < 0))
    if min(len(with_gold), len(without)) < _MANY:
        return
    test = ks_2samp(with_gold, without)
    if test.pvalue <= _SURE and test.statistic >= _SPREAD:
        middle = f"{np.median(with_gold):,.0f} and {np.median(without):,.0f}"
        yield Remark(
            "stale mix",
            "",
            f"Items with gold and without differ in length (medians {middle}): error rates on gold "
            "may not hold for the others.",
        )


def _topics_missed(answers: ModelAnswers, known: NDArray[np.int16]) -> Iterator[Remark]:
    """Yield gold that is in far fewer topics than if it had been drawn at random."""
    topic = answers.judgments.topic
    if topic is None or answers.judgments.topics is None:
        return
    size = np.bincount(topic, minlength=len(answers.judgments.topics)).astype(np.float64)
    reached = np.unique(topic[known >= 0]).size
    share = float((known >= 0).mean())
    expected = float((1 - (1 - share) ** size).sum())
    if reached and reached < _TOPICS * expected and expected - reached >= 5:
        yield Remark(
            "stale mix",
            "",
            f"The gold is of {count_of(reached, 'topic')}, where gold drawn at random would be of "
            f"{expected:,.0f}: error rates on the other topics are not known.",
        )
