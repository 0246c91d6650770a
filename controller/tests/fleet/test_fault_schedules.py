"""Random faults by seed, on the virtual clock: two controllers never may write at a time, and in the end one leads.

`SCHEDULES=10000 pytest controller/tests/fleet/test_fault_schedules.py` draws more of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from typing import cast

import pytest
from fleet.etcd_model import LOOKS_EVERY, Client, EtcdModel, VirtualLoop

from wayname.edge.boundary import Severity
from wayname.fleet.etcd import Etcd
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.leadership import Leadership

SCHEDULES = int(os.environ.get("SCHEDULES", "100"))
AT_ONCE = 50
CONTROLLERS, FAULTS, LASTS = 3, 12, 20.0
# After the last fault: a lease, etcd's look, and what a campaign takes on a slow network.
HEALS_IN = 6.0


class Schedule:
    """Controllers of an edge while faults that a seed draws happen to them."""

    def __init__(self, seed: int, loop: asyncio.AbstractEventLoop) -> None:
        self.rng = random.Random(seed)
        self.loop = loop
        self.model = EtcdModel(loop.time)
        self.clients = [Client(self.model, self.rng) for _ in range(CONTROLLERS)]
        self.ids: list[int] = []
        keys = EdgeKeys("wayname", "edge")
        self.controllers = [
            Leadership(cast(Etcd, each), keys, f"c{number}", 1, self._told, self.look, loop.time)
            for number, each in enumerate(self.clients)
        ]

    def _told(self, _kind: str, _severity: Severity, _subject: str, _text: str) -> None:
        self.look()

    def look(self) -> None:
        """Look that one controller at most may write, and that election ids grow."""
        writing = [each.term for each in self.controllers if each.term and each.may_write()]
        assert len(writing) <= 1, f"{len(writing)} may write at {self.loop.time()}"
        for term in writing:
            if not self.ids or term.election_id != self.ids[-1]:
                self.ids.append(term.election_id)
        assert self.ids == sorted(self.ids)

    async def run(self) -> None:
        """Let it all happen."""
        running: list[asyncio.Task[None] | None] = [asyncio.create_task(each.run()) for each in self.controllers]
        beside = [asyncio.create_task(self._end_leases()), asyncio.create_task(self._look_often())]
        for _ in range(FAULTS):
            await asyncio.sleep(self.rng.random() * LASTS / FAULTS)
            await self._fault(running)
        for client in self.clients:
            client.is_cut, client.loss, client.delay = False, 0.0, 0.01
        for number, task in enumerate(running):
            if task is None:
                running[number] = asyncio.create_task(self.controllers[number].run())
        await asyncio.sleep(HEALS_IN)
        assert [each for each in self.controllers if each.may_write()], "nobody leads"
        for each in (*running, *beside):
            assert each is not None
            if each.done():
                each.result()
            each.cancel()
        await asyncio.gather(*(each for each in (*running, *beside) if each), return_exceptions=True)

    async def _fault(self, running: list[asyncio.Task[None] | None]) -> None:
        number = self.rng.randrange(CONTROLLERS)
        client, task = self.clients[number], running[number]
        match self.rng.randrange(7):
            case 0:
                client.is_cut = not client.is_cut
            case 1:
                client.delay = self.rng.choice((0.0, 0.05, 0.6, 2.0))
            case 2:
                client.loss = self.rng.choice((0.0, 0.2, 0.6))
            case 3 if task is not None:
                # kill -9: it gives nothing back.
                client.is_cut = True
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                running[number], client.is_cut = None, False
            case 4 if task is None:
                running[number] = asyncio.create_task(self.controllers[number].run())
            case 5:
                self.model.give_leases_anew()
            case 6:
                with contextlib.suppress(Exception):
                    await self.controllers[number].resign()

    async def _end_leases(self) -> None:
        while True:
            await asyncio.sleep(LOOKS_EVERY)
            self.model.end_leases()
            self.look()

    async def _look_often(self) -> None:
        while True:
            await asyncio.sleep(0.013)
            self.look()


@pytest.mark.parametrize("first", range(0, SCHEDULES, AT_ONCE))
def test_two_controllers_never_may_write_at_a_time(first: int) -> None:
    elections = 0
    for seed in range(first, min(first + AT_ONCE, SCHEDULES)):
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            schedule = Schedule(seed, runner.get_loop())
            try:
                runner.run(schedule.run())
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error
        elections += len(schedule.ids)
    # The faults are such that leaders change.
    assert elections > 2 * AT_ONCE


def test_the_look_finds_a_lease_that_is_kept_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayname.fleet.leadership.MARGIN", -2.0)
    with pytest.raises(AssertionError, match="2 may write"):
        test_two_controllers_never_may_write_at_a_time(0)
