"""Verdicts of the audit on real panels with judges known to be good, or of little use."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge import audit

READY, CORRECTED, NOT = "ready", "ready with correction", "not ready"


@pytest.mark.parametrize(
    ("file", "verdicts"),
    [
        # Right on 21 to 46% of five grades, where always saying 5 is right on 62%.
        ("panels/summeval.csv", dict.fromkeys(
            ("gpt-4o", "gpt-4o-mini", "gemini_flash", "gemini_pro", "llama-31", "mistral-v03"), NOT
        )),
        ("panels/cebab_stars.csv", {"gpt-4o": READY, "mistral-v03": CORRECTED}),
        ("sets/panels/trivia_judges.csv.gz",
         {"GPT-4": READY, "Llama-7B": CORRECTED, "JudgeLM": NOT, "Gemma-2B": NOT}),
        # Right on 71 to 74%, where 73% of gold is of one class.
        ("sets/panels/llmj2.csv.gz", {"prophet-setting2": NOT, "TREMA-all": NOT}),
    ],
)  # fmt: skip
def test_verdicts_of_known_judges(shared_data: Path, file: str, verdicts: dict[str, str]) -> None:
    found = audit(shared_data / file, resamples=200)
    assert {judge: found[judge].verdict for judge in verdicts} == verdicts
