"""Measures the ways to live through a cut: paced applications and bulk transfers by turns, in one network each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bench.failover.draws import Draw, draws
from bench.failover.live import CUT_FOR, Live, running
from bench.failover.ways import Way, network
from bench.lateness import Schedule, Wait, carried, waited

# What the other way takes longer (5 ms) may be late for ever, and a busy machine wakes up late.
ALLOWED = 0.020
AFTER = CUT_FOR + 1.0  # for so long after the cut applications go on writing
BULK_OCTETS = 1 << 16
BEFORE = 1.0


@dataclass(frozen=True, slots=True)
class Paced:
    """What the cut cost a paced application, and the Tsend of edges just then."""

    draw: Draw
    wait: Wait
    send_timeout: float | None

    @property
    def beyond(self) -> float:
        """How much longer than Tsend the latest octet took."""
        return self.wait.longest - (self.send_timeout or 0.0)


@dataclass(frozen=True, slots=True)
class Bulk:
    """The bit/s of a transfer before the cut, and while the link is cut."""

    before: float
    meanwhile: float


@dataclass(slots=True)
class Seen:
    """What was seen of a way."""

    way: Way
    paced: list[Paced] = field(default_factory=list)
    bulk: list[Bulk] = field(default_factory=list)


async def measure(way: Way, seed: int, paced: int, bulk: int, say: Callable[[str], None]) -> Seen:
    """Let connections of a way live through cuts."""
    seen = Seen(way)
    async with running(network(way), mptcp=way.mptcp) as live:
        for number, draw in enumerate(draws(seed, max(paced, bulk))):
            if number < paced:
                await _settle(live, way)
                moved = await live.transfer(draw.moment, draw.moment + AFTER, draw.octets, draw.interval)
                schedule = Schedule(moved.begin, draw.octets, draw.interval)
                wait = waited(schedule, moved.arrivals, moved.cut, ALLOWED)
                seen.paced.append(Paced(draw, wait, moved.send_timeout))
                say(f"{way.name}, {draw.pace / 1e6:.2f} Mbit/s: {wait.longest:.3f} s")
            if number < bulk:
                await _settle(live, way)
                moved = await live.transfer(draw.moment, draw.moment + AFTER, BULK_OCTETS, 0.0)
                before = carried(moved.arrivals, moved.cut - BEFORE, moved.cut)
                seen.bulk.append(Bulk(before, carried(moved.arrivals, moved.cut, moved.cut + CUT_FOR)))
                say(f"{way.name}, bulk: {seen.bulk[-1].meanwhile / 1e6:.2f} Mbit/s")
    return seen


async def _settle(live: Live, way: Way) -> None:
    if way.keeper is None:
        await live.until_routed()
    else:
        await live.until_steady()
