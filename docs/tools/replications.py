"""Copy the pages of a run of the replications into the docs.

    ./scripts/replicate all -o FOLDER
    .venv/bin/python docs/tools/replications.py FOLDER

Pages, CSV files and pictures are copied, pictures with few colours to make them small.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "replications"
COLOURS = 64


def main() -> None:
    """Copy what the docs show from the given folder."""
    source = Path(sys.argv[1])
    for page in sorted(source.glob("*.md")):
        shutil.copyfile(page, DOCS / page.name)
        files = source / page.stem
        if not files.is_dir():
            continue
        shutil.rmtree(DOCS / page.stem, ignore_errors=True)
        (DOCS / page.stem).mkdir(parents=True)
        for file in sorted(files.iterdir()):
            if file.suffix == ".csv":
                shutil.copyfile(file, DOCS / page.stem / file.name)
            elif file.suffix == ".png":
                shrink(file, DOCS / page.stem / file.name)


def shrink(picture: Path, place: Path) -> None:
    """Save the picture with few colours, or unchanged if Pillow is not installed."""
    try:
        from PIL import Image
    except ImportError:
        shutil.copyfile(picture, place)
        return
    with Image.open(picture) as image:
        image.convert("RGB").quantize(COLOURS).save(place, optimize=True)


if __name__ == "__main__":
    main()
