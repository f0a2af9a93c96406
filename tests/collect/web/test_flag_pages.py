"""Flags as the requester sees and sets them, and as the server acts on them when set to."""

from __future__ import annotations

from pathlib import Path

from sites import served
from waiting import wait_until


def test_the_server_blocks_flagged_judges_only_if_the_policy_says_so(tmp_path: Path) -> None:
    with served(tmp_path, sweep_seconds=0.05) as site:
        slugs = [site.open_project(), site.open_project(flags_block=True)]
        for slug in slugs:
            site.browser().join(slug).train(slug).answer(slug)

        def stages() -> list[str]:
            return [site.services.judges.get_all(slug)[0].stage for slug in slugs]

        wait_until(lambda: stages()[1] == "blocked", 300, "the flagged judge is blocked")
        assert stages()[0] != "blocked"
