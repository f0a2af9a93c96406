"""Items whose text speaks to the judge: orders, flattery and control characters aimed at a model.

Patterns, not proof: a page about prompt injection is found too. What is found is for a person to
look at, or for gold to decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from adjudge.data.names import Names, as_names

_CONTEXT = 40  # characters shown on each side

# What is found, and a pattern of RE2, for Arrow runs it over whole columns.
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
    # Zero-width signs, changes of direction, and the tag characters that spell words unseen.
    "hidden characters": (
        r"[\x{200B}\x{2060}\x{202A}-\x{202E}\x{2066}-\x{2069}]{2,}|[\x{E0020}-\x{E007E}]"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A text that speaks to the judge."""

    item: str
    field: str
    kind: str
    excerpt: str


def find_injections(items: Names, texts: Any) -> tuple[Injected, ...]:
    """The items whose texts match a pattern, each item and kind once, in their order."""
    if texts is None:
        return ()
    found: dict[tuple[int, str], Injected] = {}
    for field in texts.column_names:
        column = pc.fill_null(as_names(texts[field]), "")
        for kind, pattern in PATTERNS.items():
            hits = np.flatnonzero(
                np.asarray(pc.match_substring_regex(column, f"(?im){pattern}"), dtype=np.bool_)
            )
            for at in hits.tolist():
                text = column[at].as_py()
                found.setdefault(
                    (at, kind),
                    Injected(
                        item=items[at].as_py(), field=field, kind=kind, excerpt=_cut(text, pattern)
                    ),
                )
    return tuple(found[key] for key in sorted(found))


def _cut(text: str, pattern: str) -> str:
    """What was found with some words around it, on one line, hidden characters spelt out."""
    plain = re.sub(r"\\x\{([0-9A-F]+)\}", lambda m: re.escape(chr(int(m[1], 16))), pattern)
    match = re.search(plain, text, re.IGNORECASE | re.MULTILINE)
    begin, end = match.span() if match else (0, 0)
    part = text[max(0, begin - _CONTEXT) : end + _CONTEXT]
    shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in " ".join(part.split()))
    return shown[:200]
