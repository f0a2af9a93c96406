from __future__ import annotations

import json
import struct
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

from adjudge.errors import BadSetting
from adjudge.report import save
from adjudge.report.plots.judges import sensitivity_specificity
from adjudge.report.theme import DARK, LIGHT

HOSTILE = "</script><script>alert(1)</script>"
JUDGES = pa.table(
    {
        "judge": [HOSTILE, "ann"],
        "judgments": [3, 9],
        "specificity": [0.5, 0.25],
        "sensitivity": [0.75, 1.0],
    }
)


def test_png_is_twice_as_fine_as_the_chart(tmp_path: Path) -> None:
    save(sensitivity_specificity(JUDGES), tmp_path / "a.png")
    data = (tmp_path / "a.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    wide, _ = struct.unpack(">II", data[16:24])
    assert wide > 2 * 400


@pytest.mark.parametrize(("theme", "colours"), [("light", LIGHT), ("dark", DARK)])
def test_svg_is_drawn_in_the_colours_of_its_theme(
    tmp_path: Path, theme: str, colours: object
) -> None:
    save(sensitivity_specificity(JUDGES), tmp_path / "a.svg", theme=theme)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert f'fill="{colours.paper}"' in text  # type: ignore[attr-defined]
    assert f'stroke="{colours.ink}"' in text  # type: ignore[attr-defined]


def test_html_holds_its_libraries_both_themes_and_no_way_out_for_names(tmp_path: Path) -> None:
    save(sensitivity_specificity(JUDGES), tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert HOSTILE not in text
    assert text.count("</script>") == 2
    start = text.index('id="specs">') + len('id="specs">')
    specs = json.loads(text[start : text.index("</script>", start)])
    assert specs["dark"]["config"]["background"] == DARK.paper
    assert HOSTILE in json.dumps(specs["light"])
    assert "<script src" not in text
    assert "default-src 'none'" in text


def test_json_is_the_specification(tmp_path: Path) -> None:
    save(sensitivity_specificity(JUDGES), tmp_path / "a.json")
    spec = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    assert spec["config"]["background"] == LIGHT.paper


def test_a_name_that_says_no_form(tmp_path: Path) -> None:
    with pytest.raises(BadSetting):
        save(sensitivity_specificity(JUDGES), "a.pdf")
