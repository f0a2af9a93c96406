"""The walk of one judge's submit through the server: files and functions that it passes through.

    .venv/bin/python docs/tools/walk_submit.py [--write]

The submit is a page of work of the starter project, every gold on it right, over the HTTP API of an
app in this process; two pages were submitted before it. ``--write`` puts the table into
``docs/design.md``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from walk import PAGE, SRC, Walk, _named, table

_PAGES = 3  # the last is followed


def follow(folder: Path) -> Walk:
    """Submit pages at an app in this process, and note what the last of them passes through."""
    found: dict[str, set[str]] = {}
    on = threading.Event()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not on.is_set() or event != "call" or not code.co_filename.startswith(f"{SRC}{os.sep}"):
            return
        if threading.current_thread().name != "background":  # which does its own work meanwhile
            found.setdefault(code.co_filename, set()).add(_named(code.co_qualname))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the test client's own
        from starlette.testclient import TestClient
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.starter import make_starter
    from adjudge.collect.store.database import Database
    from adjudge.collect.web.app import create_app
    from adjudge.collect.web.settings import Settings

    settings = Settings(database=f"sqlite:///{folder}/walk.db", refit_seconds=0, sweep_seconds=1e9)
    services = RequesterServices(Database(settings.database))
    accounts = services.accounts
    owner = services.acting_for(accounts.set_up(accounts.make_setup_token(), "ada", "of this walk"))
    project = replace(make_starter(), policy={"training": False, "require_consent": False})
    slug = owner.projects.create(project).slug
    owner.projects.set_state(slug, "open")
    _, secret = owner.accounts.make_token("walk", scope="judge", project=slug)
    right = {gold.item: gold.accepted[0] for gold in project.golds}
    labels = {(item.query, item.title, item.text): right.get(item.name) for item in project.items}
    app = create_app(settings)
    threading.setprofile(note)  # of threads that start from here on, which answer the requests
    sys.setprofile(note)
    with TestClient(app, headers={"Authorization": f"Bearer {secret}"}) as client:

        def post(path: str, sent: Any = None) -> Any:
            response = client.post(f"/api/v1/{path}", json=sent)
            response.raise_for_status()
            return response.json()

        ticket = post(f"projects/{slug}/arrivals", {"key": "walk"})["ticket"]
        for number in range(1, _PAGES + 1):
            page = post(f"judges/{ticket}/page")["page"]
            answers = [
                {
                    "row": row["row"],
                    "label": labels[group["query"], row["title"], row["text"]] or page["labels"][0],
                }
                for group in page["groups"]
                for row in group["rows"]
            ]
            if number == _PAGES:
                on.set()
            post(f"judges/{ticket}/pages/{page['page']}", {"key": page["key"], "answers": answers})
            on.clear()
    return {Path(file).relative_to(SRC).as_posix(): sorted(f) for file, f in sorted(found.items())}


def walked() -> Walk:
    """The walk, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--in", folder]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    walk: Walk = json.loads(ran.stdout.splitlines()[-1])
    return walk


def main() -> None:
    """Follow a submit and print its walk, or write it into the page."""
    if sys.argv[1:2] == ["--in"]:
        print(json.dumps(follow(Path(sys.argv[2]))))
        return
    shown = table(walked())
    if "--write" not in sys.argv:
        print(shown)
        return
    text = PAGE.read_text(encoding="utf-8")
    part = f"<!-- submit -->\n\n{shown}\n\n<!-- end of submit -->"
    page = re.sub(r"<!-- submit -->.*?<!-- end of submit -->", part, text, flags=re.DOTALL)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
