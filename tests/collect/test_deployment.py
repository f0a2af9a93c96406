"""What ``compose.yaml`` runs next to the server: a backup that can be restored."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import sqlalchemy as sa

from adjudge.collect.store.database import Database

ROOT = Path(__file__).resolve().parents[2]
BACKUP = ROOT / "deploy" / "backup.sh"


def run(*command: str | Path, **names: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the programs of PostgreSQL on its path."""
    pgserver = pytest.importorskip("pgserver")
    programs = Path(pgserver.__file__).parent / "pginstall" / "bin"
    env = {**os.environ, **names, "PATH": f"{programs}:{os.environ['PATH']}"}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_a_backup_is_restored_with_every_row(postgresql: Database, tmp_path: Path) -> None:
    with postgresql.engine.begin() as on:
        on.execute(sa.text("INSERT INTO settings (name, value) VALUES ('kept', '17')"))
    url = postgresql.url
    to = {"PGHOST": str(url.query["host"]), "PGUSER": str(url.username)}
    backed_up = run("sh", BACKUP, tmp_path, "once", PGDATABASE=str(url.database), **to)
    assert backed_up.returncode == 0, backed_up.stderr
    (dump,) = tmp_path.iterdir()
    assert re.fullmatch(r"adjudge-\d{4}-\d\d-\d\dT\d{6}Z\.dump", dump.name)

    assert run("createdb", "restored", **to).returncode == 0
    restored = run("pg_restore", "--no-owner", "--dbname=restored", dump, **to)
    assert restored.returncode == 0, restored.stderr
    found = run("psql", "-Atc", "SELECT value FROM settings WHERE name = 'kept'", "restored", **to)
    assert found.stdout.strip() == "17"


def test_a_failed_backup_leaves_no_file(tmp_path: Path) -> None:
    failed = run("sh", BACKUP, tmp_path, "once", PGHOST=str(tmp_path / "nowhere"), PGUSER="nobody")
    assert failed.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_only_fourteen_backups_are_kept(postgresql: Database, tmp_path: Path) -> None:
    for day in range(1, 21):
        old = tmp_path / f"adjudge-2026-01-{day:02}T000000Z.dump"
        old.touch()
        os.utime(old, (day, day))
    url = postgresql.url
    to = {"PGHOST": str(url.query["host"]), "PGUSER": str(url.username)}
    run("sh", BACKUP, tmp_path, "once", PGDATABASE=str(url.database), **to)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len(kept) == 14
    assert kept[0] == "adjudge-2026-01-08T000000Z.dump"


def test_the_database_of_the_server_is_not_public() -> None:
    """Only the proxy publishes ports."""
    services = re.split(
        r"\n  (?=\w+:\n)", (ROOT / "compose.yaml").read_text().split("networks:\n  inside")[0]
    )
    assert [text.split(":")[0] for text in services if "ports:" in text] == ["proxy"]


def test_the_image_is_locked_and_its_bill_of_materials_is_the_lock() -> None:
    text = (ROOT / "deploy" / "requirements.txt").read_text()
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))
    bill = json.loads((ROOT / "deploy" / "sbom.json").read_text())
    assert {one["name"]: one["version"] for one in bill["components"]} == locked
    hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", text)
    assert sorted(one["content"] for c in bill["components"] for one in c["hashes"]) == sorted(
        hashes
    )
    assert "://" not in text + json.dumps(bill)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *extras["report"], *extras["serve"], *extras["postgres"]]
    expected = {re.split(r"[<>=\[;]", one)[0] for one in named if not one.startswith("adjudge")}
    assert expected <= locked.keys(), "run scripts/lock_image.py"
    assert "--require-hashes -r requirements.txt" in (ROOT / "Dockerfile").read_text()
