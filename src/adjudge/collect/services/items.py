"""The items of a project, for the requester: listed, looked at, and decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from adjudge.collect.managing.items import (
    adjudicate,
    ask_for_more,
    describe_item,
    keep_consensus,
    list_items,
    name_final,
    name_items,
    reopen,
    skip,
)
from adjudge.collect.services.caller import Caller
from adjudge.collect.values.items import FinalLabel, ItemDetail, ListedItem

_AT_ONCE = 2_000  # items written in one transaction: judges who answer wait for it


@dataclass(frozen=True, slots=True)
class ItemService:
    """What a requester can do with single items."""

    caller: Caller

    def get_all(
        self,
        slug: str,
        *,
        which: str = "all",
        search: str = "",
        sort: str = "query",
        page: int = 0,
        size: int = 50,
    ) -> tuple[list[ListedItem], int]:
        """One page of the items of a filter, and how many there are in all."""
        with self.caller.reading(slug) as request:
            return list_items(request, which=which, search=search, sort=sort, page=page, size=size)

    def get(self, slug: str, item: str) -> ItemDetail:
        """One item with every judgment, its consensus and what was decided of it."""
        with self.caller.reading(slug) as request:
            return describe_item(request, item)

    def get_final(self, slug: str) -> dict[str, FinalLabel]:
        """The labels that somebody decided, by item."""
        with self.caller.reading(slug) as request:
            return name_final(request)

    def get_titles(self, slug: str, items: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The query and the title of each of some items."""
        with self.caller.reading(slug) as request:
            return name_items(request, items)

    def adjudicate(
        self, slug: str, item: str, label: str, *, reason: str = "", gold: bool = True
    ) -> None:
        """Give an item its final label. ``gold``: fits take it for gold.

        Refused: ``gold-already``.
        """
        self.caller.write(
            slug,
            lambda request: adjudicate(request, item, label=label, reason=reason, gold=gold),
            least="reviewer",
            lock=True,
        )

    def reopen(self, slug: str, item: str) -> None:
        """Take back that an item was decided or skipped."""
        self.caller.write(slug, lambda request: reopen(request, item), least="reviewer", lock=True)

    def ask_for_more(self, slug: str, item: str, more: int) -> None:
        """Ask for more trusted judgments of an item. Refused: ``by-arm``, ``gold-already``."""
        self.caller.write(slug, lambda request: ask_for_more(request, item, more), lock=True)

    def skip(self, slug: str, item: str) -> None:
        """Give an item to nobody any more."""
        self.caller.write(slug, lambda request: skip(request, item), lock=True)

    def keep_consensus(
        self, slug: str, rows: Sequence[tuple[str, str | None, float | None]]
    ) -> None:
        """Note what the last fit says of each item, for the list of items."""
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            self.caller.write(slug, partial(keep_consensus, rows=part))
