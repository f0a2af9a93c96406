"""Kaggle's CrowdFlower search relevance: the median of a crowd's ratings for query and product.

The crowd's judgments themselves were never published, so the median serves as gold. The item is
the row's id; query, title and description are the texts. A file without the median has texts only.
"""

from __future__ import annotations

from adjudge.data._gold_table import gold_from_table
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File

_TEXTS = {"query": "query", "product_title": "title", "product_description": "text"}
_GOLD = "median_relevance"


def _read(file: File, options: Options) -> Content:
    """The median ratings as gold, and the words of queries and products."""
    wanted = ("id", *_TEXTS, _GOLD)
    table, source = read_delimited(
        file,
        options,
        spelt=str.lower,
        columns=lambda header: [name for name in wanted if name in header],
    )
    texts = table.select([name for name in _TEXTS if name in table.column_names])
    texts = texts.rename_columns([_TEXTS[name] for name in texts.column_names])
    texts = texts.add_column(0, "topic", table["query"]).add_column(1, "document", table["id"])
    if _GOLD not in table.column_names:
        return Content(texts=texts, bad=source.skipped)
    table = table.append_column("document", table["id"])
    roles = {"item": "id", "topic": "query", "document": "document", "gold": _GOLD}
    gold = gold_from_table(table, source=source, roles=roles)
    return Content(gold=gold, texts=texts, bad=source.skipped)


FORMATS = (
    Format(
        name="kaggle",
        title="Kaggle CrowdFlower search relevance: id, query, product_title, median_relevance",
        reads=("gold",),
        read=_read,
    ),
)
