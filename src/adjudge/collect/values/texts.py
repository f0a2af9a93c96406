"""Texts that any database can store and any page can show, and Markdown that renders at once."""

from __future__ import annotations

import re
from unicodedata import category, normalize

from adjudge.errors import BadSetting

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_RESERVED = ("system", "judge", "recipient")  # whom the log names so
MOST_MARKDOWN = 100_000  # characters
_MOST_BRACKETS = 2_000  # each may begin a link, which is looked for to the end of its paragraph


def clean(text: str) -> str:
    """Text as it can be stored anywhere: line ends as one, no characters that control nothing."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be stored
    return _CONTROL.sub("", text)


def check_text(text: str) -> str:
    """Return a text that any database can store; ``ValueError`` for control characters."""
    if _REFUSED.search(text):
        raise ValueError("a text without control characters")
    return text


def is_bounded_markdown(text: str) -> bool:
    """Whether a Markdown text is short and simple enough to be rendered at once."""
    return len(text) <= MOST_MARKDOWN and text.count("[") <= _MOST_BRACKETS


def check_name(name: str) -> str:
    """Return the name of a new account in its normal form; ``ValueError`` if it could mislead."""
    name = normalize("NFKC", name).strip()
    if not 0 < len(name) <= 200:
        raise ValueError("1 to 200 characters")
    if any(category(sign) in _HIDDEN for sign in name):
        raise ValueError("characters that can be seen, in one direction")
    if name.casefold() in _RESERVED:
        raise ValueError(f"another name than {', '.join(_RESERVED)}")
    return name


def check_markdown(name: str, text: str) -> str:
    """Return a Markdown text, without NUL. ``BadSetting`` where it takes too long to render."""
    if not is_bounded_markdown(text):
        held = f"{len(text):,} characters, {text.count('['):,} brackets ["
        expected = f"at most {MOST_MARKDOWN:,} characters and {_MOST_BRACKETS:,} brackets ["
        raise BadSetting(name, held, expected)
    return text.replace("\0", "")
