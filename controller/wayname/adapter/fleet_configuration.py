"""What a fleet has in etcd as the configuration of an edge, beside the file of each of its controllers."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from wayname.adapter.controller import Controller, ReloadError
from wayname.adapter.reloader import Reloader
from wayname.composition.configuration import load_config
from wayname.config.fleet import Fleet
from wayname.config.model import Config
from wayname.config.tables import ConfigError
from wayname.edge.boundary import Severity
from wayname.fleet.etcd import ChangedAt, Delete, EtcdError, Put
from wayname.fleet.keys import EdgeKeys, FleetKeys
from wayname.fleet.leadership import Term
from wayname.fleet.lease import PAUSE, Lease
from wayname.fleet.publication import Published, open_published
from wayname.fleet.sealing import FORM, Seal, SealError

# The member that tells of changes may be cut off: it is looked for them as often.
LOOK_AGAIN = 5.0


class FleetConfiguration:
    """Tables for an edge: `read` them before there is a controller, `follow` them then.

    Where the file is of many edges it says what they have in common, and etcd must have the rest of each.
    """

    def __init__(
        self, fleet: Fleet, file: Path, lease: Lease, waits: Callable[[str], None], *, of_many: bool = False
    ) -> None:
        self._lease, self._etcd = lease, lease.etcd
        self._of_many = of_many
        self._seal = Seal.read(fleet.sealing_key)
        self._place = FleetKeys(fleet.prefix).configuration(fleet.edge)
        keys = EdgeKeys.of(fleet)
        self._applied, self._leader, self._waiting = keys.applied, keys.leader, keys.waiting_by(fleet.controller)
        self._edge = fleet.edge
        self._file = file
        self._waits = waits
        # What etcd has, and what of it the controller goes by; without text where etcd has nothing.
        self._published = self._in_force = Published(0, "")
        # At which revision etcd had it.
        self._changed = 0
        # What etcd was told the outcome of last, and in which term: a version, or why there is none to read.
        self._told: tuple[Published | str, Term | None] | None = None
        # Under which lease etcd has it that this controller waits, and from which revision on.
        self._waits_under = self._waits_since = 0

    def load(self) -> Config:
        """Read the controller's file, with what etcd had last."""
        config = self._load()
        if config is None:
            mend = "`wayname fleet apply` brings one there, and docs/fleet.md says how an edge is taken away"
            raise ConfigError(f"{self._none}; {mend}")
        return config

    def _load(self) -> Config | None:
        """Return what both say; None where that is no edge, since etcd has nothing for it and the file no ports."""
        if self._of_many and not self._published.version:
            return None
        config = load_config(self._file, self._published.text, self._edge if self._of_many else "")
        return config if self._published.version or config.ports else None

    @property
    def _gone(self) -> str:
        return f"etcd has no configuration of edge {self._edge}{' any more' if self._in_force.version else ''}"

    @property
    def _none(self) -> str:
        return self._gone if self._of_many else f"{self._gone}, and {self._file} no [[port]]"

    async def read(self) -> Config:
        """Wait for etcd's answer; return the whole configuration."""
        said = ""
        while True:
            try:
                revision = await self._look()
                if config := self._load():
                    self._in_force = self._published
                    return config
                why = f"{self._none}: `wayname fleet apply` brings it there"
            except EtcdError as error:
                why = f"the configuration of edge {self._edge} is in etcd: {error}"
                revision = 0
            if why != said:
                said = why
                self._waits(why)
            if revision:
                with contextlib.suppress(EtcdError):
                    async for _ in self._looks(revision):
                        pass
            else:
                await asyncio.sleep(PAUSE)

    async def follow(self, controller: Controller, reloader: Reloader) -> None:
        """Have the controller go by what etcd has, as long as it runs."""
        while True:
            try:
                revision = await self._look()
                await self._go_by(controller, reloader)
                async for _ in self._looks(revision):
                    # A term may have begun.
                    await self._go_by(controller, reloader)
            except EtcdError:
                await asyncio.sleep(PAUSE)
            except SealError as error:
                why, term = str(error), _term(controller)
                controller.report("config.refused", Severity.WARNING, self._edge, why)
                with contextlib.suppress(EtcdError):
                    if not self._knows(why, term):
                        await self._tell(why, term, why)
                await asyncio.sleep(LOOK_AGAIN)

    async def _look(self) -> int:
        revision, found = await self._etcd.below(self._place)
        self._published = open_published(self._seal, self._place, found[0].value) if found else Published(0, "")
        self._changed = found[0].changed if found else 0
        return revision

    def _looks(self, revision: int) -> AsyncIterator[None]:
        return self._etcd.looks(self._place, revision, self._changed, LOOK_AGAIN)

    async def _go_by(self, controller: Controller, reloader: Reloader) -> None:
        """Take what etcd has, and say there what came of it."""
        term = _term(controller)
        wanted, refused = self._published, ""
        # While etcd was away it is held back, and tried when changes are allowed again.
        if self._knows(wanted, term) or (term and not controller.may_write):
            return
        if wanted != self._in_force:
            try:
                await reloader.reload()
            except ReloadError as error:
                refused = str(error)
                if not wanted.version and not refused.startswith(self._gone):
                    # What is wrong with the file alone is so because etcd has no more.
                    refused = f"{self._gone}, and its controller's file alone: {error}"
            else:
                self._in_force = wanted
        await self._tell(wanted, term, refused)

    def _knows(self, wanted: Published | str, term: Term | None) -> bool:
        """Whether etcd was told what came of it, and has that still: what ends with a lease it has not."""
        return (wanted, term) == self._told and (term is not None or self._lease.is_of(self._waits_under))

    async def _tell(self, wanted: Published | str, term: Term | None, refused: str) -> None:
        """Say in etcd by which version this controller goes: as who leads, once in each term, or as who waits."""
        said = {"form": FORM, "version": self._in_force.version, "refused": refused, "keys": self._seal.names}
        value = _json(said | ({"term": term.revision} if term else {}))
        if term:
            await self._etcd.transact(term.conditions(self._leader), Put(self._applied, value))
            if self._waits_since:
                # Another controller that has its name may have written there since: that one still waits.
                await self._etcd.transact([ChangedAt(self._waiting, self._waits_since)], Delete(self._waiting))
                self._waits_since = 0
        else:
            lease = await self._lease.hold()
            done = await self._etcd.transact([], Put(self._waiting, value, lease.number))
            self._waits_under, self._waits_since = lease.number, done.revision
        self._told = (wanted, term)


def _term(controller: Controller) -> Term | None:
    return controller.fleet.leadership.term if controller.fleet else None


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
