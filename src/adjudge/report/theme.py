"""Colours and type of every chart and page, for light and for dark.

The palette is that of M. Okabe and K. Ito, which people of any colour vision tell apart; on dark
paper its darker colours are lightened.
"""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.errors import UnknownName

# Arial comes last but one: charts made without a browser have no system font to ask for.
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours of one mode; no two are the same, so that each is found again in a drawing."""

    paper: str
    raised: str  # of what stands on the paper: cards, heads of tables
    ink: str
    soft: str  # of words that matter less
    line: str
    blue: str
    orange: str
    green: str
    red: str
    purple: str
    sky: str
    yellow: str

    @property
    def categories(self) -> list[str]:
        """Colours of things without order, such as chains."""
        return [self.blue, self.orange, self.green, self.purple, self.sky, self.red]


LIGHT = Theme(
    paper="#ffffff",
    raised="#f5f6f8",
    ink="#1b1f24",
    soft="#57606a",
    line="#d5d9df",
    blue="#0067a5",
    orange="#966000",
    green="#00795a",
    red="#b8420a",
    purple="#a2457a",
    sky="#2f8fc7",
    yellow="#8a7a00",
)

DARK = Theme(
    paper="#14171b",
    raised="#1e2329",
    ink="#e7eaee",
    soft="#a3acb7",
    line="#373e47",
    blue="#5db2e8",
    orange="#f0ac3c",
    green="#3ecb9f",
    red="#ff8a54",
    purple="#e59ac5",
    sky="#8fd0f5",
    yellow="#e8dc5a",
)

THEMES: dict[str, Theme] = {"light": LIGHT, "dark": DARK}


def find_theme(name: str) -> Theme:
    """The theme of that name."""
    if name not in THEMES:
        raise UnknownName("theme", name, THEMES)
    return THEMES[name]
