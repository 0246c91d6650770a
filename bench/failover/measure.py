"""Measures the ways to live through a cut: paced applications and bulk transfers, in networks side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from threading import Barrier

from bench.failover.draws import Draw, draws
from bench.failover.live import CUT_FOR, Live, Transfer, running
from bench.failover.ways import Way, network
from bench.lateness import Arrival, Schedule, Wait, carried, waited
from bench.side_by_side import side_by_side
from wayname_lab.load import LabError

# What the other way takes longer (5 ms) may be late for ever, and a busy machine wakes up late.
ALLOWED = 0.020
AFTER = CUT_FOR + 1.0  # for so long after the cut applications go on writing
BULK_OCTETS = 1 << 16
BEFORE = 1.0
DRAWS_OF_A_NETWORK = 15
MOST_TRIES = 5
# A network of edges that keep sessions takes six tenths of a core, one of edges that only route half as much. Of three
# at once, packets and probes wait for their turn on two cores, and that is what is measured.
AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Paced:
    """What the cut cost a paced application, and the Tsend of edges just then."""

    draw: Draw
    wait: Wait
    send_timeout: float | None
    lived: bool

    @property
    def beyond(self) -> float:
        """How much longer than Tsend the latest octet took."""
        return self.wait.longest - (self.send_timeout or 0.0)


@dataclass(frozen=True, slots=True)
class Bulk:
    """The bit/s of a transfer before the cut, and while the link is cut."""

    before: float
    meanwhile: float
    draw: Draw
    lived: bool


@dataclass(slots=True)
class Seen:
    """What was seen of a way."""

    way: Way
    paced: list[Paced] = field(default_factory=list)
    bulk: list[Bulk] = field(default_factory=list)
    repeated: int = 0  # cuts that hit nothing, since a session had left the link before


@dataclass(frozen=True, slots=True)
class Part:
    """What one network is used for: some draws of a way."""

    way: Way
    paced: Sequence[Draw]
    bulk: Sequence[Draw]


def parts(runs: Mapping[Way, int], bulk: int, seed: int) -> list[Part]:
    """Divide all draws among networks: in turns those whose edges only route and those whose edges keep sessions."""
    drawn = draws(seed, max(bulk, *runs.values()))
    divided = [
        Part(way, drawn[start : min(start + DRAWS_OF_A_NETWORK, count)], drawn[start:bulk][:DRAWS_OF_A_NETWORK])
        for start in range(0, len(drawn), DRAWS_OF_A_NETWORK)
        for way, count in runs.items()
        if start < max(count, bulk)
    ]
    routing = [part for part in divided if part.way.keeper is None]
    keeping = [part for part in divided if part.way.keeper is not None]
    return [part for part in chain(*zip_longest(routing, keeping)) if part is not None]


def measure(runs: Mapping[Way, int], bulk: int, seed: int) -> list[Seen]:
    """Let connections of all ways live through cuts: so many paced ones of each, and bulk transfers."""
    seen = {way: Seen(way) for way in runs}
    for part in side_by_side(_measured, parts(runs, bulk, seed), AT_ONCE):
        seen[part.way].paced += part.paced
        seen[part.way].bulk += part.bulk
        seen[part.way].repeated += part.repeated
    return list(seen.values())


def _measured(part: Part, all_started: Barrier) -> Seen:
    return asyncio.run(_measure(part, all_started))


async def _measure(part: Part, all_started: Barrier) -> Seen:
    way, seen = part.way, Seen(part.way)
    async with running(network(way), mptcp=way.mptcp) as live:
        await asyncio.to_thread(all_started.wait)
        for draw in part.paced:
            moved = await _cut(live, seen, draw, draw.octets, draw.interval)
            schedule = Schedule(moved.begin, draw.octets, draw.interval)
            arrivals = list(moved.arrivals)
            if moved.gave_up is not None:
                # As if all the rest had come when the receiver gave up: it waited for so long at least.
                arrivals.append(Arrival(moved.gave_up, round((draw.moment + AFTER) / draw.interval) * draw.octets))
            wait = waited(schedule, arrivals, moved.cut, ALLOWED)
            seen.paced.append(Paced(draw, wait, moved.send_timeout, moved.gave_up is None))
        for draw in part.bulk:
            moved = await _cut(live, seen, draw, BULK_OCTETS, 0.0)
            before = carried(moved.arrivals, moved.cut - BEFORE, moved.cut)
            meanwhile = carried(moved.arrivals, moved.cut, moved.cut + CUT_FOR)
            seen.bulk.append(Bulk(before, meanwhile, draw, moved.gave_up is None))
    return seen


async def _cut(live: Live, seen: Seen, draw: Draw, octets: int, interval: float) -> Transfer:
    """Let a connection live through a cut of the link that it goes by."""
    for _ in range(MOST_TRIES):
        await _settle(live, seen.way)
        moved = await live.transfer(draw.moment, draw.moment + AFTER, octets, interval)
        if moved.is_hit:
            return moved
        seen.repeated += 1
    raise LabError(f"sessions left their path before it was cut, {MOST_TRIES} times: the machine is too busy")


async def _settle(live: Live, way: Way) -> None:
    if way.keeper is None:
        await live.until_routed()
    else:
        await live.until_steady()
