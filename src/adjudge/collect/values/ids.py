"""Random ids for addresses and command lines, and the ids of queries."""

from __future__ import annotations

import hashlib
import re
import secrets


def make_id(size: int = 12) -> str:
    """A random id of so many bytes. It never begins with ``-``: a command would see an option."""
    while (made := secrets.token_urlsafe(size)).startswith("-"):
        pass
    return made


def topic_id(query: str) -> str:
    """The id of a topic that has none but its query: ``red lipstick`` is ``red-lipstick``.

    The same query always has the same id, two queries never share one, and there is no white space
    in it: where words alone would not separate two queries, digits of a digest follow.
    """
    words = "-".join(re.findall(r"\w+", query.casefold()))[:60].rstrip("-")
    if words and words.replace("-", " ") == query and "_" not in query:
        return words
    digest = hashlib.blake2s(query.encode(), digest_size=4).hexdigest()
    return f"{words}-{digest}" if words else digest
