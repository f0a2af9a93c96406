from __future__ import annotations

from dataclasses import asdict

import pytest

from adjudge.report.theme import DARK, LIGHT, THEMES, Theme, recolour, themed_svg


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
@pytest.mark.parametrize("name", ["ink", "soft", "blue", "orange", "green", "red", "purple"])
def test_words_in_every_colour_can_be_read(theme: Theme, name: str) -> None:
    colour = asdict(theme)[name]
    assert contrast(colour, theme.paper) >= 4.5
    if name in ("ink", "soft"):
        assert contrast(colour, theme.raised) >= 4.5


def test_a_chart_turns_dark_but_its_data_do_not() -> None:
    spec = {
        "mark": {"color": LIGHT.blue},
        "layer": [{"mark": {"fill": LIGHT.ink}}],
        "data": {"values": [{"judge": LIGHT.blue}]},
        "datasets": {"a": [{"judge": LIGHT.blue}]},
    }
    dark = recolour(spec, DARK)
    assert dark["mark"]["color"] == DARK.blue
    assert dark["layer"][0]["mark"]["fill"] == DARK.ink
    assert dark["data"] == spec["data"]
    assert dark["datasets"] == spec["datasets"]
    assert recolour(spec, LIGHT) is spec


def test_a_drawing_gets_variables_and_fewer_digits_and_keeps_its_words() -> None:
    svg = (
        f'<g fill="{LIGHT.blue}" stroke="#123456"><path transform="translate(12.3456789,-0.5)"/>'
        f'<rect fill="white"/><text>fill="{LIGHT.blue}"</text></g>'
    )
    assert themed_svg(
        svg.replace('"</text>', "&quot;</text>").replace('>fill="', ">fill=&quot;")
    ) == (
        '<g fill="var(--blue)" stroke="#123456"><path transform="translate(12.35,-0.5)"/>'
        f'<rect fill="var(--paper)"/><text>fill=&quot;{LIGHT.blue}&quot;</text></g>'
    )
