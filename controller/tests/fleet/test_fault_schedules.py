"""Random faults by seed, on the virtual clock, for controllers as they run live.

`python -m bench.fleet.schedules --schedules 10000` draws more of them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from grpc import StatusCode

from wayname.fleet.keys import EdgeKeys
from wayname.fleet.sealing import new_key
from wayname_lab.fleet.controllers import EDGE, PINHOLES, Machine
from wayname_lab.fleet.etcd_members import KEEP_ALIVE
from wayname_lab.fleet.loop import Process, VirtualLoop
from wayname_lab.fleet.network import Refused
from wayname_lab.fleet.schedule import ETCDS, Schedule, play, run

SCHEDULES = 12
# An answer that came after another leader's, which it could not know.
LATE_ANSWER = 4616
KEYS = EdgeKeys("wayname", EDGE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sealing key of the fleet."""
    folder = tmp_path_factory.mktemp("fleet")
    key = folder / "fleet.key"
    key.touch(0o600)
    key.write_text(new_key() + "\n")
    return folder


def test_one_controller_at_a_time_writes_and_nothing_is_lost(folder: Path) -> None:
    outcomes = [run(seed, folder) for seed in range(SCHEDULES)]
    assert [(each.seed, each.broken) for each in outcomes if each.broken] == []
    # The faults are such that leaders change, and something is established under them.
    assert sum(each.leaders for each in outcomes) > 2 * SCHEDULES
    assert sum(each.established for each in outcomes) > SCHEDULES


def test_a_late_answer_speaks_for_nothing_that_was_asked_since(folder: Path) -> None:
    assert run(LATE_ANSWER, folder).broken == []
    rules = Schedule(1, VirtualLoop(), folder).rules
    first, second = PINHOLES[:2]
    late = rules.asked(first)
    rules.answered("c1", rules.asked(second), True, [second])
    rules.answered("c1", rules.asked(first), False, [second])
    rules.answered("c2", late, True, [first])
    assert rules.broken == [] and rules.established == {first: False, second: True}
    rules.answered("c2", rules.asked(first), True, [first])
    assert len(rules.broken) == 1 and f"c2 has not what was opened: {second}" in rules.broken[0]


def test_a_lease_that_is_kept_too_long_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayname.fleet.lease.MARGIN", -2.0)
    seeds = range(SCHEDULES, 2 * SCHEDULES)
    assert any("after the end of its lease" in each for seed in seeds for each in run(seed, folder).broken)


def test_a_process_with_two_edges_has_one_lease_and_lets_go_of_one_edge_alone(folder: Path) -> None:
    async def what(schedule: Schedule) -> None:
        first, second, _ = schedule.machines
        first.start()
        while not (first.leads_edge("berlin") and first.leads_edge("hamburg")):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        kept: Counter[int] = Counter()

        def sent(process: Process, method: str, request: Any) -> None:
            if method.endswith("LeaseKeepAlive"):
                kept[request.ID] += 1

        schedule.network.sent = sent
        await asyncio.sleep(10)
        leaders = [schedule.etcd.store.values[EdgeKeys("wayname", each.name).leader] for each in schedule.edges]
        assert [each.lease for each in leaders] == list(kept) * 2
        # Five times in each second for both, by one stream.
        assert kept.total() <= 51
        assert [each.method for each in schedule.network.streams].count(KEEP_ALIVE) == 1
        schedule.network.sent = schedule.sent
        second.start()
        await asyncio.sleep(1)
        first.resign("berlin")
        while not second.leads_edge("berlin"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        await asyncio.sleep(3)
        assert first.leads_edge("hamburg") and second.leads_edge("berlin")
        await first.kill()
        while not second.leads_edge("hamburg"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        await schedule.look()

    assert play(1, folder, what, edges=2).broken == []


async def opened(schedule: Schedule, machine: Machine) -> None:
    """Have a controller lead alone, and open some pinholes."""
    machine.start()
    while len([each for each in schedule.rules.established.values() if each]) < 3:  # noqa: ASYNC110
        await asyncio.sleep(0.1)


async def succeeds(schedule: Schedule, machine: Machine) -> None:
    """Have a controller lead after another one."""
    machine.start()
    while not machine.leads:  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    await schedule.look()


def cut_for(schedule: Schedule, process: Process, seconds: float) -> None:
    """Cut a process off from etcd for some seconds."""
    for address in ETCDS:
        way = schedule.network.way(process, address)
        way.is_cut = True
        schedule.loop.after(seconds, way.mend)


def test_who_was_elected_and_does_not_hear_of_it_reads_what_the_leader_before_left(folder: Path) -> None:
    async def what(schedule: Schedule) -> None:
        first, second, _ = schedule.machines
        await opened(schedule, first)
        await first.kill()
        missed: list[float] = []

        def looked_at(process: Process, request: Any) -> None:
            schedule.transacted(process, request)
            if not missed and any(each.request_put.key == KEYS.leader for each in request.success):
                missed.append(schedule.loop.true_time)
                cut_for(schedule, process, 3.0)

        schedule.etcd.looked_at = looked_at
        await succeeds(schedule, second)
        assert missed

    assert play(1, folder, what).rules.broken == []


def test_who_cannot_read_what_the_leader_before_left_reads_it_in_its_next_term(folder: Path) -> None:
    async def what(schedule: Schedule) -> None:
        first, second, _ = schedule.machines
        await opened(schedule, first)
        await first.kill()
        answers = schedule.etcd.store.range
        terms: list[Any] = []

        def looked_at(process: Process, request: Any) -> None:
            schedule.transacted(process, request)
            terms.extend(each for each in request.success if each.request_put.key == KEYS.leader)

        def refuses(request: Any) -> Any:
            if request.key == KEYS.state and len(terms) < 2:
                second.resign()
                raise Refused(StatusCode.UNAVAILABLE, "etcdserver: too many requests")
            return answers(request)

        schedule.etcd.looked_at = looked_at
        with mock.patch.object(schedule.etcd.store, "range", refuses):
            await succeeds(schedule, second)
        assert len(terms) > 1

    assert play(1, folder, what).rules.broken == []


def test_nothing_is_changed_before_what_the_leader_before_left_is_read(folder: Path) -> None:
    async def what(schedule: Schedule) -> None:
        first, second, _ = schedule.machines
        await opened(schedule, first)
        await first.kill()
        said: list[str] = []

        def sent(process: Process, method: str, request: Any) -> None:
            if method.endswith("Range") and request.key == KEYS.state and process is second.process:
                assert second.controller is not None
                said.append(second.controller.why_no_changes())

        schedule.network.sent = sent
        await succeeds(schedule, second)
        assert said
        assert all("has yet to read what the one before left" in each for each in said)

    assert play(1, folder, what).rules.broken == []


def test_who_waits_does_not_mind_what_etcd_forgets(folder: Path) -> None:
    async def what(schedule: Schedule) -> None:
        first, second, _ = schedule.machines
        await opened(schedule, first)
        second.start()
        await asyncio.sleep(3)
        await schedule.happens("compacted")
        await asyncio.sleep(10)
        kinds = [each.event.kind for machine in (first, second) for each in machine.told]
        assert "fleet.standby" in kinds
        assert "fleet.unreachable" not in kinds

    play(1, folder, what)
