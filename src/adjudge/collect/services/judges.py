"""The judges of a project, and invitations to judge, for the requester."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from adjudge.collect.managing.accounts import list_invites, make_invites, revoke_invite
from adjudge.collect.managing.contact import name_judges, rename_judge, send_message
from adjudge.collect.managing.oversight import (
    block,
    block_flagged,
    describe_judge,
    list_judges,
    unblock,
)
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.request import Request
from adjudge.collect.values.requesting import Invite, JudgeDetail, JudgeRow


@dataclass(frozen=True, slots=True)
class JudgeService:
    """What a requester can do about the judges of a project."""

    caller: Caller

    def get_all(self, slug: str) -> list[JudgeRow]:
        """Every judge with their tallies, the last to act first."""
        with self.caller.reading(slug) as request:
            return list_judges(request)

    def get(self, slug: str, judge: str) -> JudgeDetail:
        """One judge whole: confusion against gold, answers to gold, history."""
        with self.caller.reading(slug) as request:
            return describe_judge(request, judge)

    def get_names(self, slug: str) -> dict[str, str]:
        """What every judge is called, by public id."""
        with self.caller.reading(slug) as request:
            return name_judges(request)

    def block(self, slug: str, judge: str, reason: str = "") -> JudgeRow:
        """Block a judge by hand: their judgments are untrusted, the items reopen."""
        return self.caller.write(slug, lambda request: block(request, judge, reason))

    def block_flagged(self, slug: str) -> list[str]:
        """Block who is flagged, where the policy says so; their public ids."""
        return self.caller.write(slug, block_flagged)

    def unblock(self, slug: str, judge: str, reason: str = "") -> JudgeRow:
        """Unblock a judge: their judgments count again, their trust starts again."""
        return self.caller.write(slug, lambda request: unblock(request, judge, reason))

    def rename(self, slug: str, judge: str, name: str) -> JudgeDetail:
        """Call a judge by another name; empty for what they are called by themselves."""

        def work(request: Request) -> JudgeDetail:
            rename_judge(request, judge, name)
            return describe_judge(request, judge)

        return self.caller.write(slug, work)

    def send_message(self, slug: str, judges: Sequence[str], text: str) -> int:
        """Write to judges, who see it on their next page; how many there are."""
        return self.caller.write(slug, lambda request: send_message(request, judges, text))

    def invite(
        self, slug: str, notes: Sequence[str], *, expires: datetime | None = None
    ) -> list[Invite]:
        """One invitation for each note (whom it is for)."""
        return self.caller.write(slug, lambda request: make_invites(request, notes, expires))

    def get_invites(self, slug: str) -> list[Invite]:
        """Every invitation, newest first; whoever has its link can judge as the one invited."""
        with self.caller.reading(slug, least="manager") as request:
            return list_invites(request)

    def revoke_invite(self, slug: str, invite: str) -> None:
        """End an invitation: who came by it can do nothing more; what they did stays."""
        self.caller.write(slug, lambda request: revoke_invite(request, invite))
