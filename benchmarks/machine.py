"""The machine and the versions that a result was got with, and nothing that names the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

LIBRARIES = ("adjudge", "numba", "numpy", "pyarrow", "scipy")


def machine() -> dict[str, Any]:
    """Processor, cores this process may use, memory, system, and how busy it all was before."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": _system(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        name = platform.system()
    return f"{name}, kernel {platform.release()}"


def versions() -> dict[str, str]:
    """Python and the libraries that the work is done with."""
    return {"python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in LIBRARIES
    }


def commit(root: Path) -> str | None:
    """The commit that is checked out, marked where files differ from it; None outside of git."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=True, timeout=30
        )
        return done.stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain") else "")
    except (OSError, subprocess.SubprocessError):
        return None
