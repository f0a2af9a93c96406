"""The peers' own environment, which is never a dependency of adjudge."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

# crowd-kit's Wawa and ZeroBasedSkill do not work with a newer scikit-learn.
PACKAGES = ("crowd-kit", "cleanlab", "scikit-learn<1.7", "evalica")


def python_of(cache: Path, name: str = "peers", packages: tuple[str, ...] = PACKAGES) -> Path:
    """The Python that has the peers; makes it, with their newest versions, if it is not there."""
    folder = cache / name
    python = folder / "bin" / "python"
    done = folder / "installed"
    if not done.is_file() or done.read_text(encoding="ascii") != "\n".join(packages):
        print(f"Setting up: installing {', '.join(packages)} (once) ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
        subprocess.run([str(python), *install, *packages], check=True)
        done.write_text("\n".join(packages), encoding="ascii")
    return python
