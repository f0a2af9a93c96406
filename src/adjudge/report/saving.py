"""Charts to files: PNG, SVG, interactive HTML or the specification, all without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adjudge.errors import BadSetting
from adjudge.report.theme import DARK, FONT, LIGHT, find_theme, spec_of

_SUFFIXES = (".png", ".svg", ".html", ".json")
_SCALE = 2.0  # pixels of a PNG for each of the chart


def save(chart: Any, path: str | Path, *, theme: str = "light") -> None:
    """Write a chart in the form that the name asks for: .png, .svg, .html or .json.

    The HTML is interactive, holds all it needs, and follows the reader's light or dark by itself.
    """
    from adjudge.data.formats.writing import written_whole

    place = Path(path)
    suffix = place.suffix.lower()
    if suffix not in _SUFFIXES:
        raise BadSetting("path", str(place), f"a name that ends in {', '.join(_SUFFIXES)}")
    content = _render(chart, suffix, theme)
    with written_whole(place) as file:
        file.write(content)


def _render(chart: Any, suffix: str, theme: str) -> bytes:
    """A chart as the bytes of a file with that suffix."""
    chosen = find_theme(theme)
    if suffix == ".html":
        return _page(chart).encode()
    spec = spec_of(chart, chosen)
    if suffix == ".json":
        return (json.dumps(spec, indent=1) + "\n").encode()
    import vl_convert

    if suffix == ".svg":
        return str(vl_convert.vegalite_to_svg(spec)).encode()
    return bytes(vl_convert.vegalite_to_png(spec, scale=_SCALE))


def _dump_for_script(value: Any) -> str:
    """A value as JSON that may stand inside a script element, whatever text it holds."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


_SNIPPET = """
const specs = JSON.parse(document.getElementById("specs").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
function draw() {
  vegaEmbed("#chart", specs[dark.matches ? "dark" : "light"], {renderer: "svg", actions: false});
}
dark.addEventListener("change", draw);
draw();
"""


def _page(chart: Any) -> str:
    """A page with the chart, the libraries that draw it, and no address in it to ask."""
    import vl_convert

    specs = {"light": spec_of(chart, LIGHT), "dark": spec_of(chart, DARK)}
    library = str(vl_convert.javascript_bundle(_SNIPPET)).replace("</script", "<\\/script")
    # Vega compiles its expressions, hence 'unsafe-eval'; nothing may be asked of a network.
    policy = (
        "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
        "style-src 'unsafe-inline'; img-src data: blob:"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n<title>adjudge: chart</title>\n<style>'
        f":root{{color-scheme:light dark}}body{{margin:1.5rem;font-family:{FONT};"
        f"background:{LIGHT.paper}}}#chart{{max-width:100%;overflow-x:auto}}"
        f"@media (prefers-color-scheme:dark){{body{{background:{DARK.paper}}}}}"
        '</style>\n</head>\n<body>\n<main id="chart"></main>\n'
        f'<script type="application/json" id="specs">{_dump_for_script(specs)}</script>\n'
        f'<script type="module">{library}</script>\n</body>\n</html>\n'
    )
