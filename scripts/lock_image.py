"""Lock what the container image installs: versions and hashes, and a bill of materials.

    python scripts/lock_image.py [--python 3.13]

Writes ``deploy/requirements.txt``, which pip installs with ``--require-hashes``, and
``deploy/sbom.json`` (CycloneDX 1.5). pip resolves both; the files name packages, not where they
were found. Versions are the same for every processor, hashes are of its own wheels.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROCESSORS = ("x86_64", "aarch64")
SYSTEMS = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")


def find_requirements() -> list[str]:
    """The dependencies of ``adjudge[postgres]`` and of the extras that it names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found, waiting, seen = list(project["dependencies"]), ["postgres"], set[str]()
    while waiting:
        extra = waiting.pop()
        if extra in seen:
            continue
        seen.add(extra)
        for one in project["optional-dependencies"][extra]:
            own = re.fullmatch(r"adjudge\[(.+)\]", one)
            waiting += own[1].split(",") if own else []
            found += [] if own else [one]
    return found


def resolve(requirements: list[str], python: str, processor: str) -> list[dict[str, Any]]:
    """What pip would install on a processor."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        platforms = [part for one in SYSTEMS for part in ("--platform", f"{one}_{processor}")]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run",
                   "--ignore-installed", "--report", str(report), "--only-binary=:all:",
                   "--python-version", python, "--target", folder, *platforms]  # fmt: skip
        subprocess.run([*command, *requirements], check=True)
        found: list[dict[str, Any]] = json.loads(report.read_text())["install"]
    return found


def main() -> None:
    """Write the lock and the bill of materials."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default="3.13", help="of the image")
    python = parser.parse_args().python
    requirements = find_requirements()
    packages: dict[str, dict[str, Any]] = {}
    for processor in PROCESSORS:
        for one in resolve(requirements, python, processor):
            about = one["metadata"]
            name = re.sub(r"[-_.]+", "-", about["name"]).lower()
            licence = about.get("license_expression") or about.get("license") or ""
            package = packages.setdefault(
                name, {"version": about["version"], "licence": licence, "hashes": set()}
            )
            package["hashes"].add(one["download_info"]["archive_info"]["hashes"]["sha256"])
        requirements = [f"{name}=={package['version']}" for name, package in packages.items()]
    lines = [f"# Locked for Python {python} by scripts/lock_image.py."]
    components = []
    for name, package in sorted(packages.items()):
        hashes = sorted(package["hashes"])
        parts = [f"{name}=={package['version']}", *(f"--hash=sha256:{one}" for one in hashes)]
        lines.append(" \\\n    ".join(parts))
        short = package["licence"].splitlines()[0][:80] if package["licence"] else ""
        components.append(
            {
                "type": "library",
                "name": name,
                "version": package["version"],
                "purl": f"pkg:pypi/{name}@{package['version']}",
                "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
                **({"licenses": [{"license": {"name": short}}]} if short else {}),
            }
        )
    (ROOT / "deploy" / "requirements.txt").write_text("\n".join(lines) + "\n")
    application = {"type": "container", "name": "adjudge"}
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": application}, "components": components}  # fmt: skip
    (ROOT / "deploy" / "sbom.json").write_text(json.dumps(bill, indent=1) + "\n")
    print(f"{len(packages)} packages in deploy/requirements.txt and deploy/sbom.json")


if __name__ == "__main__":
    main()
