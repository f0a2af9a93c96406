"""Gold beside judgments, and labels as the person wants them: dropped, collapsed, put into bins."""

from __future__ import annotations

from dataclasses import replace
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.cli._console import say
from adjudge.cli._files import Input, read_content
from adjudge.cli._options import Labelling, Reading, TruthLabelling
from adjudge.cli._places import place_of
from adjudge.data.source import count_of
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.data.formats import Content
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments
    from adjudge.data.scale import Scale


def read_gold(place: str, reading: Reading, scale: Scale | None) -> Content:
    """Gold in whatever format it is; its values have to be on the scale."""
    content = read_content([place], replace(reading, format=None), wanted="gold", truths=scale)
    if content.gold is None or not len(content.gold):
        held = describe(content) if content.gold is None else "no row has a gold label yet"
        raise BadData(f"there is no gold in this file: {held}", source=place_of([place]))
    return content


def name_gold_column(gold: str) -> str | None:
    """The name of a column, where gold is none of a file."""
    from adjudge.data.formats.opening import is_uri

    if gold == "-" or is_uri(gold) or has_magic(gold):
        return None
    path = Path(gold)
    return None if path.exists() or path.suffix or len(path.parts) > 1 else gold


def shape_input(
    content: Content, gold: str | None, reading: Reading, labelling: Labelling
) -> Input:
    """The judgments of a content beside the gold of a file, labels as the person wants them."""
    if content.judgments is None:
        raise BadData(f"there are no judgments: {describe(content)}")
    given, judgments, known, beside = None, content.judgments, None, content.gold
    judgments = reading.declare(judgments)
    if gold is not None:
        loose = labelling.bin is not None or judgments.scale.has_many_grades
        scale = None if loose else allow_labels(judgments.scale, labelling)
        given = read_gold(gold, reading, scale)
        known = given.gold
    if labelling != type(labelling)():
        judgments, (known, beside) = shape_labels(judgments, labelling, known, beside)
    contents = (content,) if given is None else (content, given)
    return Input(judgments=judgments, given=known, beside=beside, contents=contents)


def describe(content: Content) -> str:
    """What a file holds, in words."""
    kinds = ("judgments", "comparisons", "gold", "labels", "run")
    held = [kind for kind in kinds if getattr(content, kind) is not None]
    return f"it holds {' and '.join(held) or 'nothing'} (read as {content.format})"


def allow_labels(scale: Scale, labelling: Labelling) -> Scale:
    """The values that gold may have: the labels, those to be dropped, 0 and 1 if it is binary."""
    from adjudge.data.scale import Scale, canonical

    more = [canonical(label) for label in labelling.drop_label or ()]
    if labelling.binary or _is_binary_truth(labelling):
        more += ["0", "1"]
    if set(more) <= set(scale.labels):
        return scale
    return Scale(labels=tuple(dict.fromkeys([*scale.labels, *more])))


def _is_binary_truth(labelling: Labelling) -> bool:
    """Whether truth is to be binary beneath graded labels."""
    return isinstance(labelling, TruthLabelling) and labelling.binary_truth


def shape_labels(
    judgments: Judgments, labelling: Labelling, *golds: Gold | None
) -> tuple[Judgments, tuple[Gold | None, ...]]:
    """Judgments and gold with labels dropped and collapsed as the person wants."""
    from adjudge.data._reshaping import put_into_bins

    if labelling.binary and _is_binary_truth(labelling):
        raise BadSetting("--binary-truth", True, "either --binary or --binary-truth")
    if labelling.relevant and not labelling.labels:
        judgments = judgments.with_scale(judgments.scale.with_relevant(labelling.named_relevant))
    if labelling.bin is not None:
        judgments, golds = put_into_bins(judgments, labelling.bin, golds)
        say(f"labels put into {labelling.bin} grades: {judgments.scale}")
    if labelling.drop_label:
        judgments = _drop_labels(judgments, labelling.drop_label, golds)
        golds = tuple(gold and drop_gold(gold, labelling.drop_label) for gold in golds)
    if _is_binary_truth(labelling):
        scale = judgments.scale.with_binary_truth()
        judgments = judgments.with_scale(scale)
        graded = zip(scale.labels, scale.truth_of, strict=True)
        none = [label for label, truth in graded if truth < 0]
        golds = tuple(gold and drop_gold(gold, none) for gold in golds)
    if labelling.binary:
        scale = judgments.scale
        judgments = judgments.collapse()
        golds = tuple(None if gold is None else gold.collapse(scale) for gold in golds)
    return judgments, golds


def _drop_labels(
    judgments: Judgments, labels: list[str], golds: tuple[Gold | None, ...]
) -> Judgments:
    """The judgments without those labels, and without the items whose gold is one of them."""
    import numpy as np

    for label in labels:
        if judgments.scale.label_code(label) < 0:
            raise BadSetting("--drop-label", label, f"a label of the scale {judgments.scale}")
    codes = [judgments.scale.label_code(label) for label in labels]
    kept = np.ones(judgments.item_count, dtype=np.bool_)
    for gold in golds:
        if gold is not None:
            kept &= ~np.isin(gold.align(judgments), codes)
    if not (~np.isin(judgments.label, codes) & kept[judgments.item]).any():
        raise BadSetting("--drop-label", ",".join(labels), "labels that leave some judgments")
    return judgments.select(items=kept).without_labels(*labels)


def drop_gold(gold: Gold, labels: list[str]) -> Gold:
    """Gold without the items whose truth is one of the labels; how many they were is told."""
    import numpy as np

    from adjudge.data.scale import canonical

    gone = {canonical(label) for label in labels} & set(gold.values)
    if not gone:
        return gold
    marks = np.array([value in gone for value in gold.values], dtype=np.bool_)
    kept = gold.select(~marks[gold.value])
    lost = count_of(len(gold) - len(kept), "gold item")
    say(f"{gold.source}: {lost} left out: truth {' or '.join(sorted(gone))}")
    return kept
