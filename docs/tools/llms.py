"""Write docs/llms.txt: the pages of the site with their first sentences, for language models.

.venv/bin/python docs/tools/llms.py && .venv/bin/zensical build --strict
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
_ENTRY = re.compile(r"^ +- (?:[^:\n]+: )?([\w/-]+\.md)$|^  - (\w[\w ]*):$", re.MULTILINE)


def render() -> str:
    """Render the index in the order of the navigation."""
    nav = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8").partition("nav:\n")[2]
    lines = ["# adjudge", "", f"> {_first_sentence(DOCS / 'index.md')}"]
    for page, tab in _ENTRY.findall(nav):
        if tab:
            lines += ["", f"## {tab}", ""]
        else:
            path = DOCS / page
            about = _first_sentence(path)
            lines.append(f"- [{_title(path)}]({page})" + (f": {about}" if about else ""))
    return "\n".join(lines) + "\n"


def _title(path: Path) -> str:
    found = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else path.stem.capitalize()


def _first_sentence(path: Path) -> str:
    """Return the first sentence below the title, without links and marks."""
    text = path.read_text(encoding="utf-8").partition("\n")[2]
    blocks = [block for block in text.split("\n\n") if re.match(r"`?[\w*]", block.strip())]
    if not blocks:
        return ""
    plain = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", " ".join(blocks[0].split())).replace("**", "")
    return re.split(r"(?<=\w\w[.:]) (?=[A-Z`])", plain)[0]


if __name__ == "__main__":
    (DOCS / "llms.txt").write_text(render(), encoding="utf-8")
