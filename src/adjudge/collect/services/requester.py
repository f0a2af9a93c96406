"""Everything a requester can do, by services that are each about one thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.engine import Connection

from adjudge.collect.services.accounts import AccountService, MemberService
from adjudge.collect.services.arms import ArmService
from adjudge.collect.services.caller import Caller, Service, reads_store, writes_store
from adjudge.collect.services.exports import ExportService
from adjudge.collect.services.gold import GoldService
from adjudge.collect.services.items import ItemService
from adjudge.collect.services.judges import JudgeService
from adjudge.collect.services.notices import NoticeService
from adjudge.collect.services.projects import ProjectService
from adjudge.collect.services.uploads import UploadService
from adjudge.collect.store.database import Database, utc_now
from adjudge.collect.store.settings import (
    find_settings,
    forget_setting,
    keep_setting,
    read_setting,
    read_settings,
)
from adjudge.collect.store.snapshot import SnapshotCache
from adjudge.collect.values.requesting import Requester


@dataclass(frozen=True, slots=True)
class SettingService(Service):
    """Settings of the server: any JSON value under a name, for every process of it."""

    @reads_store
    def get(self, on: Connection, name: str) -> Any:
        """A setting as it was kept; None if it never was."""
        return read_setting(on, name)

    @reads_store
    def get_all(self, on: Connection, names: Sequence[str]) -> dict[str, Any]:
        """Those of some settings that were kept, by name."""
        return read_settings(on, names)

    @writes_store
    def keep(self, on: Connection, name: str, value: Any) -> None:
        """Keep a setting."""
        keep_setting(on, name, value)

    @reads_store
    def find(self, on: Connection, prefix: str) -> dict[str, Any]:
        """Every setting whose name begins so, by its name."""
        return find_settings(on, prefix)

    @writes_store
    def forget(self, on: Connection, name: str) -> None:
        """Remove a setting."""
        forget_setting(on, name)


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
        self.uploads = UploadService(self.caller)

    def acting_for(self, requester: Requester) -> RequesterServices:
        """The same services for one requester."""
        caller = self.caller
        return RequesterServices(
            caller.database, actor=requester, clock=caller.clock, snapshots=caller.snapshots
        )
