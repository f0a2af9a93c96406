"""Everything a requester can do, by services that are each about one thing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from adjudge.collect.services.accounts import AccountService
from adjudge.collect.services.arms import ArmService
from adjudge.collect.services.caller import Caller
from adjudge.collect.services.exports import ExportService
from adjudge.collect.services.gold import GoldService
from adjudge.collect.services.items import ItemService
from adjudge.collect.services.judges import JudgeService
from adjudge.collect.services.members import MemberService
from adjudge.collect.services.notices import NoticeService
from adjudge.collect.services.projects import ProjectService
from adjudge.collect.services.settings import SettingService
from adjudge.collect.store.database import Database, utc_now
from adjudge.collect.store.snapshot import SnapshotCache
from adjudge.collect.values.requesting import Requester


class RequesterServices:
    """The services of one requester.

    ``RequesterServices(database)`` acts for the server itself (the command line) and may see
    everything; ``services.acting_for(requester)`` sees the projects that they are a member of, or
    every project for an admin. What the requester may not see is ``NotFound``, as if it were not
    there; what their role does not allow is refused (``role``). Changing a project takes a manager
    unless a service says otherwise.
    """

    def __init__(
        self,
        database: Database,
        *,
        actor: Requester | None = None,
        clock: Callable[[], datetime] = utc_now,
        snapshots: SnapshotCache | None = None,
    ) -> None:
        self.caller = Caller(database, actor, clock, snapshots or SnapshotCache())
        self.accounts = AccountService(self.caller)
        self.settings = SettingService(self.caller)
        self.projects = ProjectService(self.caller)
        self.judges = JudgeService(self.caller)
        self.items = ItemService(self.caller)
        self.gold = GoldService(self.caller)
        self.arms = ArmService(self.caller)
        self.members = MemberService(self.caller)
        self.notices = NoticeService(self.caller)
        self.exports = ExportService(self.caller)

    def acting_for(self, requester: Requester) -> RequesterServices:
        """The same services for one requester."""
        caller = self.caller
        return RequesterServices(
            caller.database, actor=requester, clock=caller.clock, snapshots=caller.snapshots
        )
