"""Checks of LLM judges: biases, injected texts, and gold that is out of date.

Biases are position, length, and outputs of the judge's own family. Each judge's labels, as a share
of the range of grades, are regressed on what the items deserve (the gold grade, or the mean label
of the other judges where there is no gold) and on three causes that should not matter:

    label ~ deserved + position + length + own family

A judge with enough gold is measured on gold alone. A true class in which the judge errs little says
more: each class is weighted by the inverse of its residual variance, averaged with the variance
over all classes, so that a class without errors cannot hide a bias in the others. Position runs
from 0 (first) to 1 (last), length counts in standard deviations, own family is 1 for outputs of a
system of the judge's own family.
Standard errors are robust and clustered by item (HC3: MacKinnon and White 1985,
doi:10.1016/0304-4076(85)90158-7). The false discovery rate is controlled over all judges and kinds
of bias, so that an audit of unbiased judges finds nothing 95 times of 100.

Texts that address the judge are found by patterns, which is no proof: a page about prompt injection
is found too, so a person or gold has to decide. Gold is out of date if it is of another version, or
of another mix of items, than the model judges now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.stats import chi2_contingency
from scipy.stats import t as student

from adjudge.data.model_answers import ModelAnswers
from adjudge.data.names import Names, as_names
from adjudge.data.scale import as_number
from adjudge.data.source import count_of
from adjudge.evaluation.model_judges.soft_judgments import SoftJudgments
from adjudge.evaluation.significance import adjust

LEAST_JUDGMENTS = 100  # with gold or judged by others too
_SMOOTH = 10  # judgments that the overall variance counts for in that of a class
_LEVEL = 0.95
_WORDS = {
    ("position", True): "rates what comes last higher than what comes first",
    ("position", False): "rates what comes first higher than what comes last",
    ("length", True): "rates long texts too high",
    ("length", False): "rates long texts too low",
    ("own family", True): "favours outputs of its own family",
    ("own family", False): "disfavours outputs of its own family",
}
_PER = {"position": "", "length": " per standard deviation", "own family": ""}
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """What one thing adds to a judge's labels beyond what the items deserve."""

    judge: str
    what: str  # position, length or own family
    judgments: int
    effect: float  # share of the range of grades
    low: float
    high: float
    p: float
    p_adjusted: float = float("nan")

    @property
    def found(self) -> bool:
        """Whether it is there beyond chance."""
        return self.p_adjusted <= 1 - _LEVEL

    @property
    def sentence(self) -> str:
        """The bias in words."""
        return (
            f"{self.judge} {_WORDS[self.what, self.effect > 0]}: {self.effect:+.2f} of the range "
            f"of grades{_PER[self.what]} ({self.low:+.2f} to {self.high:+.2f}), over "
            f"{count_of(self.judgments, 'judgment')}."
        )


def find_biases(
    answers: ModelAnswers,
    known: NDArray[np.int16],  # (item,)
    judged: NDArray[np.bool_],  # (judge,) the judges in question
) -> tuple[tuple[Bias, ...], tuple[str, ...]]:
    """Measure every bias of every judge, and name the causes that the answers have columns for."""
    scale = answers.judgments.scale
    graded = scale.ordinal or len(scale.labels) == 2
    if not graded and any(as_number(label) is None for label in scale.labels):
        return (), ()
    causes = dict(_causes(answers))
    found: list[Bias] = []
    value, deserved = _explain_grades(answers, known)
    for judge in np.flatnonzero(judged):
        own = np.flatnonzero(answers.judgments.judge == judge)
        found += _biases_of(answers, int(judge), own, value[own], deserved[own], causes)
    p = adjust(np.array([one.p for one in found]))
    corrected = [replace(one, p_adjusted=float(q)) for one, q in zip(found, p, strict=True)]
    return tuple(corrected), tuple(causes)


def _causes(answers: ModelAnswers) -> Iterator[tuple[str, _Floats]]:  # (judgment,)
    """Yield what should not matter, for each judgment; NaN where it is not known."""
    judgments = answers.judgments
    if answers.position is not None:
        place = answers.position - np.nanmin(answers.position)
        yield "position", place / max(float(np.nanmax(place)), 1.0)
    if answers.length is not None:
        spread = float(np.nanstd(answers.length))
        yield "length", answers.length[judgments.item] / (spread if spread > 0 else 1.0)
    if answers.system is not None:
        families = {family_of(name): code for code, name in enumerate(answers.system_names)}
        code = {name: families[family_of(name)] for name in answers.system_names}
        of_system = np.array([code[name] for name in answers.system_names] + [-1])[answers.system]
        own = [families.get(name, -2) for name in families_of_judges(answers)]
        mine = of_system[judgments.item] == np.array(own)[judgments.judge]
        if mine.any():
            yield "own family", np.where(of_system[judgments.item] < 0, np.nan, mine)


def families_of_judges(answers: ModelAnswers) -> list[str]:  # (judge,)
    """Name each judge's family: the declared one, or the first word of its model or name."""
    table = answers.judgments
    names = table.judges.to_pylist()
    declared: list[str] = ["" for _ in names]
    if table.families is not None and table.family is not None:
        families = [*table.families.to_pylist(), ""]
        declared = [families[code] for code in table.family.tolist()]
    known = zip(declared, answers.model, names, strict=True)
    return [family_of(family or model or name) for family, model, name in known]


def family_of(name: str) -> str:
    """Return the first word of a model's name without its provider: gpt of openai/gpt-4o."""
    word = re.search(r"[a-z]+", name.lower().rpartition("/")[2] or name.lower())
    return name.lower() if word is None else word[0]


def _explain_grades(answers: ModelAnswers, known: NDArray[np.int16]) -> tuple[_Floats, _Floats]:
    """Return each label's grade, and what explains it: truth classes, or the others' mean.

    The columns of the second: one per truth, then the others' mean and whether it is used.
    """
    judgments = answers.judgments
    scale = judgments.scale
    values = scale.values
    reach = max(float(np.ptp(values)), 1e-9)
    value = (values / reach)[judgments.label]
    item, judge = judgments.item, judgments.judge.astype(np.int64)
    key = item.astype(np.int64) * judgments.judge_count + judge
    pair = np.unique(key, return_inverse=True)[1]
    sums = np.bincount(item, weights=value, minlength=judgments.item_count)[item]
    own_sum, own_count = np.bincount(pair, weights=value)[pair], np.bincount(pair)[pair]
    others = judgments.counts_per_item[item] - own_count
    mean = np.where(others > 0, (sums - own_sum) / np.maximum(others, 1), np.nan)
    truth = known[item]
    has = truth >= 0
    columns = np.zeros((len(value), len(scale.truths) + 2))
    columns[has, truth[has]] = 1.0
    columns[~has, -2], columns[~has, -1] = mean[~has], 1.0
    return value, columns


def _biases_of(
    answers: ModelAnswers,
    judge: int,
    own: NDArray[np.int64],
    value: _Floats,
    deserved: _Floats,
    causes: dict[str, _Floats],
) -> Iterator[Bias]:
    """Yield the biases of one judge, from one regression."""
    given = {what: cause[own] for what, cause in causes.items()}
    kept = {what: cause for what, cause in given.items() if not np.isnan(cause).all()}
    x = np.column_stack([*kept.values(), deserved])
    usable = ~np.isnan(x).any(axis=1)
    golden = usable & (deserved[:, -1] == 0)
    if int(golden.sum()) >= LEAST_JUDGMENTS:  # others may share the bias, or be judged next to it
        usable = golden
    names = [what for what, cause in kept.items() if len(np.unique(cause[usable])) > 1]
    if int(usable.sum()) < LEAST_JUDGMENTS or not names:
        return
    x = np.column_stack([*(kept[what] for what in names), deserved])[usable]
    x = x[:, (x != 0).any(axis=0)]
    y, item = value[usable], answers.judgments.item[own][usable]
    kind = np.delete(deserved[usable], -2, axis=1).argmax(axis=1)  # true class, or no gold
    weight = _weigh_classes(x, y, kind)
    x, y = x * weight[:, None], y * weight
    inverse = np.linalg.pinv(x.T @ x)
    slope = inverse @ x.T @ y
    leverage = np.einsum("ij,jk,ik->i", x, inverse, x)
    left = (y - x @ slope) / np.maximum(1 - leverage, 1e-6)
    _, group = np.unique(item, return_inverse=True)
    scores = np.column_stack([np.bincount(group, weights=column * left) for column in x.T])
    covariance = inverse @ (scores.T @ scores) @ inverse
    freedom = max(len(scores) - x.shape[1], 1)
    reach = float(student.ppf(0.5 + _LEVEL / 2, freedom))
    name = answers.judgments.judges[judge].as_py()
    for at, what in enumerate(names):
        error = float(np.sqrt(covariance[at, at]))
        if not error > 0:
            continue
        effect = float(slope[at])
        yield Bias(
            judge=name,
            what=what,
            judgments=len(y),
            effect=effect,
            low=effect - reach * error,
            high=effect + reach * error,
            p=2 * float(student.sf(abs(effect) / error, freedom)),
        )


def _weigh_classes(x: _Floats, y: _Floats, truth: NDArray[np.intp]) -> _Floats:  # (row,)
    """Return the root of each row's weight, by the residual variance in its true class."""
    squares = (y - x @ (np.linalg.pinv(x) @ y)) ** 2
    overall = float(squares.mean())
    times = np.bincount(truth)
    own = (np.bincount(truth, weights=squares) + _SMOOTH * overall) / (times + _SMOOTH)
    variance = (own + overall) / 2
    return np.asarray(1.0 / np.sqrt(np.maximum(variance, 1e-12))[truth])


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
                f"{name} labels items without gold differently from gold items: the shares of its "
                f"labels differ by {moved:.0%}. Gold was not drawn at random, or the items have "
                "changed since. Error rates on gold may not hold on the other items.",
            )
