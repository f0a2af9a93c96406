"""Ids and labels as spreadsheets and surveys write them: read for what they are, or reported.

Percents and answers that begin with a number ("1 - not at all") have an order; ids that differ in
blanks alone are one; a header in the middle of a file is not a judgment.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

import numpy as np
import pyarrow.compute as pc

from adjudge.data.columns import letters_of
from adjudge.data.names import Coded, as_names, encode
from adjudge.data.scale import MISSING, Scale, as_number, canonical
from adjudge.data.source import Source, count_of
from adjudge.data.synonyms import SYNONYMS
from adjudge.errors import Remedy, shown

_IDS = ("item", "topic", "document", "judge")
_PERCENT = re.compile(r"([+-]?[0-9]+(?:[.,][0-9]+)?)\s*%")
_DECIMAL = re.compile(r"[+-]?[0-9]+(,[0-9]+)?")
_LED = re.compile(r"\(?([+-]?[0-9]+(?:[.][0-9]+)?)\)?(?:\s*[-–—:=.)]\s*|\s+)(?=\S*[^\W\d])(\S.*)")
_ENDED = re.compile(r"(?=\S*[^\W\d])(\S.*?)\s*[(\[]([+-]?[0-9]+(?:[.][0-9]+)?)[)\]]")
_PART = re.compile(r"([0-9]+(?:[.][0-9]+)?)\s*(?:/|out of)\s*([0-9]+)")
_STARS = re.compile(r"([*★⭐]+)[☆\ufe0f]*")
_UNSEEN = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_WRAPPED = re.compile(r"""="(.*)"|'(.*)'""", re.DOTALL)
_NO_LABELS = MISSING | {
    *("-", "--", "?", ".", "missing", "skip", "skipped", "unknown", "no answer", "not sure"),
    *("unsure", "don't know", "dont know", "can't say", "cannot say"),
}
_SAME = (
    frozenset(("yes", "y", "true", "t", "ja", "oui", "si", "sí", "sim", "da", "tak", "да", "是")),
    frozenset(("no", "n", "false", "f", "nein", "non", "não", "nao", "nie", "нет", "否")),
)
# Ids worth a look: blanks around them, wrapped by a spreadsheet, cut short, or zeros before them.
_ODD_IDS = r'^\x{feff}|^\s|\s$|^=".*"$|E\+[0-9]+$|^0[0-9]'
_CUT = re.compile(r"[0-9](?:[.,][0-9]+)?E\+[0-9]+")
_MOST = 1_000_000  # ids that are looked at one by one
_LISTED = 3  # labels that are named in a remark


def settle_oddities(
    coded: Coded, where: Mapping[str, str], place: Source, scale: Scale | None
) -> tuple[Coded, Scale | None]:
    """The coded columns with ids and labels read for what they are, and the scale they show.

    Without judges it is gold: its values are read as the labels of the scale that they mean.
    """
    if "judge" not in coded:
        return _with_gold(coded, where["gold"], place, scale), scale
    coded = _refuse_headers(coded, where, place)
    for role in _IDS:
        names = coded[role][1] if role in coded else ()
        if 0 < len(names) <= _MOST and pc.any(pc.match_substring_regex(names, _ODD_IDS)).as_py():
            coded = _with_ids(coded, role, where[role], place)
    names = coded["judge"][1]
    if len(names) <= _MOST and pc.count_distinct(pc.utf8_lower(names)).as_py() < len(names):
        _remark_alike(names.to_pylist(), str.lower, "case", where["judge"], place)
    if scale is not None or "label" not in coded:
        return coded, scale
    column = where["label"]
    for change, remark in _CHANGES:
        coded = _changed(coded, where, place, change, remark)
    texts = [text for text in coded["label"][1].to_pylist() if text.strip()]
    _remark_labels(texts, column, place)
    every = texts + (coded["gold"][1].to_pylist() if "gold" in coded else [])
    return coded, _read_numbered_scale([text for text in every if text.strip()], column, place)


def _with_gold(coded: Coded, column: str, place: Source, scale: Scale | None) -> Coded:
    """Gold in the labels of the scale; without one, in numbers where its values are all such."""
    codes, names = coded["gold"]
    texts = names.to_pylist()
    if scale is None:
        found = texts
        for change, _ in _CHANGES:
            new = change([text for text in found if text.strip()])
            found = [new.get(text, text) for text in found]
    else:
        off = [text for text in texts if text.strip() and scale.truth_code(text) < 0]
        meant = {text: _find_label(text, (*scale.truths, *scale.labels)) for text in off}
        if None in meant.values():
            return coded
        found = [meant.get(text) or text for text in texts]
    read = next(((text, own) for text, own in zip(texts, found, strict=True) if text != own), None)
    if read is None:
        return coded
    place.remark(f"column {column}: gold {shown(read[0].strip())} is read as {read[1]}")
    return {**coded, "gold": (codes, as_names(found))}


def _find_label(text: str, labels: tuple[str, ...]) -> str | None:
    """The one label that a value of gold means, whatever its case, quotes, percents and words."""
    for change in (_as_seen, _as_unwrapped, _as_percents, _as_decimals):
        text = change([text]).get(text, text)
    text = canonical(text)
    number = None if _PART.fullmatch(text) else _number_in(text)
    for same in (
        [label for label in labels if label == text],
        [label for label in labels if label.casefold() == text.casefold()],
        [label for label in labels if number is not None and _number_in(label) == number],
    ):
        if same:
            return same[0] if len(set(same)) == 1 else None
    return None


def _refuse_headers(coded: Coded, where: Mapping[str, str], place: Source) -> Coded:
    """Refuse rows that repeat the header: every cell is the name of a column.

    Where bad rows are skipped, these rows lose their label, and are skipped for that.
    """
    roles = [role for role in ("label", *_IDS) if role in coded]
    repeated = np.ones(len(coded["judge"][0]), dtype=np.bool_)
    for role in roles:
        codes, names = coded[role]
        words = {letters_of(where[role]), "id", "name", *SYNONYMS[role], f"{role}id", f"{role}name"}
        found = [letters_of(text) in words for text in names.to_pylist()]
        if not any(found):
            return coded
        repeated &= np.append(found, False)[codes]
    if repeated.any() and not place.skip_bad:
        row = int(np.argmax(repeated))
        cells = [shown(coded[role][1][int(coded[role][0][row])].as_py()) for role in roles]
        problem = (
            f"{', '.join(cells)} looks like a header again; expected only the first; delete it"
        )
        raise place.error(row, problem, code="repeated-header")
    codes, names = coded["label"]
    return {**coded, "label": (np.where(repeated, -1, codes).astype(np.int32), names)}


def _with_ids(coded: Coded, role: str, column: str, place: Source) -> Coded:
    """The coded columns with ids as they were before a spreadsheet wrapped or padded them."""
    codes, names = coded[role]
    texts = names.to_pylist()
    marked = [text.removeprefix("\ufeff") for text in texts]  # a mark of bytes, from another file
    plain = [m[1] if (m := re.fullmatch(r'="(.*)"', text)) else text for text in marked]
    known = set(plain)
    trimmed = [text.strip() if text.strip() in known else text for text in plain]
    wrapped = [text for text, own in zip(marked, plain, strict=True) if text != own]
    padded = [text for text, own in zip(plain, trimmed, strict=True) if text != own]
    if wrapped:
        place.remark(f'column {column}: {wrapped[0]} and the like are read without =""')
    if padded:
        place.remark(
            f"column {column}: {count_of(len(padded), 'id')} such as {padded[0]!r} "
            f"{'differs' if len(padded) == 1 else 'differ'} from others only in blanks around; "
            "taken as the same"
        )
    if trimmed != texts:
        renumbered, names = encode(as_names(trimmed))
        coded = {**coded, role: (np.append(renumbered, np.int32(-1))[codes], names)}
    cut = next((text for text in trimmed if _CUT.fullmatch(text)), None)
    if cut is not None:
        place.remark(
            f"column {column}: {cut} looks like a number that a spreadsheet cut short, so that "
            "different ids may have become one"
        )
    ids = sorted(text for text in set(trimmed) if text.isdigit())
    _remark_alike(ids, lambda text: text.lstrip("0"), "leading zeros", column, place)
    return coded


def _remark_alike(
    texts: list[str], key_of: Callable[[str], str], what: str, column: str, place: Source
) -> None:
    """Note the first two ids that differ only in case, or only in zeros before them."""
    first: dict[str, str] = {}
    for text in texts:
        own = first.setdefault(key_of(text), text)
        if own != text:
            place.remark(
                f"column {column}: {shown(own)} and {shown(text)} differ only in {what} and are "
                "taken as two"
            )
            return


def _as_percents(texts: list[str]) -> dict[str, str]:
    found = {text: _PERCENT.fullmatch(text.strip()) for text in texts}
    if not all(found.values()):
        return {}
    return {text: m[1].replace(",", ".") for text, m in found.items() if m is not None}


def _as_decimals(texts: list[str]) -> dict[str, str]:
    """Numbers, some with a comma that does not separate thousands."""
    found = [_DECIMAL.fullmatch(text.strip()) for text in texts]
    decimal = all(found) and any(len(m[1]) != 4 for m in found if m is not None and m[1])
    return {text: text.replace(",", ".") for text in texts if "," in text} if decimal else {}


def _as_seen(texts: list[str]) -> dict[str, str]:
    """Labels without invisible characters, and letters put together."""
    seen = {text: unicodedata.normalize("NFC", _UNSEEN.sub("", text)) for text in texts}
    return {text: own for text, own in seen.items() if text != own}


def _as_unwrapped(texts: list[str]) -> dict[str, str]:
    found = {text: m for text in texts if (m := _WRAPPED.fullmatch(text.strip()))}
    return {text: m[1] if m[1] is not None else m[2] for text, m in found.items()}


def _as_anchored(texts: list[str]) -> dict[str, str]:
    """Numbers, of which some have words next to them: ``1 - not at all``, 2, 3."""
    words = [text for text in texts if as_number(text.strip()) is None]
    led = {text: m for text in words if (m := _LED.fullmatch(text.strip()))}
    if not words or len(words) == len(texts) or len(led) < len(words):
        return {}
    return {text: m[1] for text, m in led.items()}


_CHANGES: tuple[tuple[Callable[[list[str]], dict[str, str]], str], ...] = (
    (_as_seen, "invisible characters are left out"),
    (_as_unwrapped, "quotes around labels are left out"),
    (_as_percents, "percents are read as numbers"),
    (_as_decimals, "commas in labels are decimal"),
    (_as_anchored, "labels with words are read as the numbers they begin with"),
)


def _changed(
    coded: Coded,
    where: Mapping[str, str],
    place: Source,
    change: Callable[[list[str]], dict[str, str]],
    remark: str,
) -> Coded:
    """The coded columns with labels and gold changed; an example is noted."""
    roles = [role for role in ("label", "gold") if role in coded]
    texts = {role: coded[role][1].to_pylist() for role in roles}
    new: dict[str, str] = {}
    for role in roles:
        # Gold may have marks that labels have not; of other changes it has those of labels.
        if role == "label" or new or change is _as_seen:
            own = change([text for text in texts[role] if text.strip()])
            if own and not new:
                text, meant = next(iter(own.items()))
                place.remark(f"column {where[role]}: {remark}: {text.strip()} is read as {meant}")
            new |= own
    for role in roles if new else ():
        read = as_names([new.get(text, text) for text in texts[role]])
        coded = {**coded, role: (coded[role][0], read)}
    return coded


def _remark_labels(texts: list[str], column: str, place: Source) -> None:
    """Note labels that may be no labels, the same, or several."""
    labels = dict.fromkeys(canonical(text) for text in texts)
    words = [label for label in labels if as_number(label) is None]
    missing = tuple(label for label in words if label.casefold() in _NO_LABELS)
    if missing and len(words) == len(labels) > len(missing):
        remark = f"{', '.join(map(shown, missing))} may mean a missing label; taken as a label"
        place.remark(f"column {column}: {remark}", Remedy("drop-label", missing))
    for kind in _SAME:
        same = {label.casefold(): shown(label) for label in words if label.casefold() in kind}
        if len(same) > 1:
            remark = f"{' and '.join(same.values())} may mean the same; taken as different labels"
            place.remark(f"column {column}: {remark}")
    for label in words:
        parts = {part.strip() for part in re.split("[;,|]", label)}
        if parts <= labels.keys() - {label}:
            remark = "looks like several labels at once; taken as one label"
            place.remark(f"column {column}: {shown(label)} {remark}")
            return


def _read_numbered_scale(texts: list[str], column: str, place: Source) -> Scale | None:
    """The ordered scale of labels that each have a number of their own in them."""
    labels = list(dict.fromkeys(canonical(text) for text in texts))
    numbers = [_number_in(label) for label in labels]
    known = [number for number in numbers if number is not None]
    if len(labels) < 2 or len(known) < len(labels) or len(set(known)) < len(known):
        return None
    wholes = {m[2] for label in labels if (m := _PART.fullmatch(label))}
    if len(wholes) > 1 or all(as_number(label) is not None for label in labels):
        return None
    ranked = [label for _, label in sorted(zip(known, labels, strict=True))]
    grades = tuple(sorted(known))
    above = tuple(w for w, grade in zip(ranked, grades, strict=True) if grades[0] == 0 < grade)
    listed = " < ".join(ranked[:_LISTED]) + (" < ..." if len(ranked) > _LISTED else "")
    place.remark(
        f"column {column}: labels are ordered by the numbers in them: {listed}",
        Remedy("labels", ",".join(ranked)),
    )
    return Scale(labels=tuple(ranked), ordinal=True, grades=grades, relevant=above)


def _number_in(label: str) -> float | None:
    """The number that a label is, begins or ends with, or the stars it has."""
    if (number := as_number(label)) is not None:
        return number
    if found := _STARS.fullmatch(label):
        return float(len(found[1]))
    if found := _LED.fullmatch(label) or _PART.fullmatch(label):
        return as_number(found[1])
    found = _ENDED.fullmatch(label)
    return None if found is None else as_number(found[2])
