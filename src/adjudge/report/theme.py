"""Colours and type of every chart and page, for light and for dark, and how they are applied.

The palette is that of M. Okabe and K. Ito, which people of any colour vision tell apart; on dark
paper its darker colours are lightened. A chart made for a page has the colours of light;
``themed_svg`` turns each into a CSS variable, so that one drawing serves light and dark.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adjudge.errors import UnknownName

# Arial comes last but one: charts made without a browser have no system font to ask for.
FONT = "system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours of one mode; no two are the same, so that each is found again in a drawing."""

    paper: str
    raised: str  # of raised parts: cards, heads of tables
    ink: str
    soft: str  # of words that matter less
    line: str
    blue: str
    orange: str
    green: str
    red: str
    purple: str
    sky: str

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
)

THEMES: dict[str, Theme] = {"light": LIGHT, "dark": DARK}


def find_theme(name: str) -> Theme:
    """The theme of that name."""
    if name not in THEMES:
        raise UnknownName("theme", name, THEMES)
    return THEMES[name]


def chart_config(theme: Theme) -> dict[str, Any]:
    """Return how Vega-Lite draws under a theme."""
    words = {"labelColor": theme.soft, "titleColor": theme.ink, "titleFontWeight": 500}
    return {
        "background": theme.paper,
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            **words,
            "domainColor": theme.line,
            "tickColor": theme.line,
            "gridColor": theme.line,
            "gridOpacity": 0.6,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titlePadding": 8,
        },
        "legend": {**words, "labelFontSize": 11, "titleFontSize": 11},
        "header": {**words, "labelFontSize": 11, "titleFontSize": 12},
        "title": {
            "color": theme.ink,
            "subtitleColor": theme.soft,
            "fontSize": 13,
            "fontWeight": 600,
            "anchor": "start",
            "subtitlePadding": 4,
        },
        "range": {"category": theme.categories},
        "text": {"color": theme.ink},
        "mark": {"color": theme.blue},
        "style": {"guide-label": {"fontSize": 11}},
    }


_DATA = ("values", "datasets")


def recolour(value: Any, theme: Theme) -> Any:
    """A chart's specification, made in the colours of light, in those of a theme."""
    if theme is LIGHT:
        return value
    table = dict(zip(asdict(LIGHT).values(), asdict(theme).values(), strict=True))

    def visit(part: Any) -> Any:
        if isinstance(part, dict):
            # Data are left alone: a name may look like a colour.
            return {key: inner if key in _DATA else visit(inner) for key, inner in part.items()}
        if isinstance(part, list):
            return [visit(inner) for inner in part]
        return table.get(part, part) if isinstance(part, str) else part

    return visit(value)


def page_style(sheet: Path) -> str:
    """A page's style sheet, under the colours of both themes as CSS variables."""
    light, dark = _variables(LIGHT), _variables(DARK)
    return (
        f":root{{color-scheme:light dark;--font:{FONT};{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"{sheet.read_text(encoding='utf-8')}"
    )


def _variables(theme: Theme) -> str:
    return "".join(f"--{name}:{value};" for name, value in asdict(theme).items())


_NAMES = {value: name for name, value in asdict(LIGHT).items()}

_COLOUR = re.compile(r'(fill|stroke)="(#[0-9a-f]{6}|white|#fff)"')

_PLACE = re.compile(r"translate\((-?\d+\.?\d*(?:e-?\d+)?),(-?\d+\.?\d*(?:e-?\d+)?)\)")


def themed_svg(svg: str) -> str:
    """A drawing in the colours of light, to stand in a page: CSS variables, and fewer digits.

    Only attributes that Vega writes itself are touched; text between tags never matches.
    """

    def variable(found: re.Match[str]) -> str:
        colour = LIGHT.paper if found[2] in ("white", "#fff") else found[2]
        name = _NAMES.get(colour)
        return found[0] if name is None else f'{found[1]}="var(--{name})"'

    def place(found: re.Match[str]) -> str:
        return f"translate({float(found[1]):.4g},{float(found[2]):.4g})"

    svg = _PLACE.sub(place, _COLOUR.sub(variable, svg))
    return svg.replace(' stroke-width="2" opacity', " opacity")


def spec_of(chart: Any, theme: Theme = LIGHT) -> dict[str, Any]:
    """The Vega-Lite specification of a chart under a theme."""
    spec: dict[str, Any] = recolour(chart.to_dict(validate=False), theme)
    # Room on the right: browsers set words a little wider than the engine that places them.
    padding = {"left": 5, "top": 5, "right": 16, "bottom": 5}
    # What a chart configures itself counts, but not what Altair configures for everyone.
    own = {key: value for key, value in spec.get("config", {}).items() if key != "view"}
    return {**spec, "padding": padding, "config": {**chart_config(theme), **own}}
