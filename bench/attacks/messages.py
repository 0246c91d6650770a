"""What each message that anybody can send costs an edge: octets back, processor time, how much state it leaves.

`python -m bench.attacks.messages` prints a row for each message of each protocol: what it costs by itself, and in a
flood of 2000 in a second, from one /48 and from a /48 each. Status 1 if a goal is missed. Of a sender that has shown
nothing yet a flood may bring no more octets back than it has itself, may take no more than a tenth of a millisecond of
the processor for each message, and may leave nothing behind but newcomers, of whom there are no more than are rationed.
Of three floods the one counts that took the least of the processor: whatever else runs shares its caches.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from statistics import median

import click

from bench.attacks.lone_edge import ETHERNET_OCTETS, LoneEdge
from bench.attacks.message_rows import ATTACKERS_MAC, ROWS, Row, Stage
from wayname.wire.ipv6 import Packet

FLOOD = 2000
TIMES = 3
SINGLES = 30
GOAL_RATIO = 1.0
GOAL_SECONDS = 100e-6
GOAL_STATE = 500
# Before each single message: whatever is rationed is full again.
PAUSE = 3600.0
OF_ONE_PREFIX, OF_ALL_PREFIXES = 1, 1 << 80
HEAD = (
    "edge",
    "message",
    "stage",
    "in",
    "out",
    "alone",
    "one /48: out/in",
    "each",
    "all /48s: out/in",
    "each",
    "state",
)


@dataclass(frozen=True)
class Cost:
    """What messages cost: octets in and out, seconds of the processor for each, and by how much the state grew."""

    came: int
    left: int
    seconds: float
    state: int

    @property
    def ratio(self) -> float:
        """Octets out for each octet in."""
        return self.left / self.came


@dataclass(frozen=True)
class Measured:
    """A message by itself, and in two floods."""

    row: Row
    alone: Cost
    from_one: Cost
    from_all: Cost

    def missed(self) -> list[str]:
        """Return the goals that are missed; there are none where its sender is known to be where it says."""
        if self.row.stage is not Stage.BEFORE:
            return []
        missed = []
        for flood, where in ((self.from_one, "one /48"), (self.from_all, "all /48s")):
            name = f"{self.row.mode}: {self.row.message}, a flood from {where}"
            if flood.ratio > GOAL_RATIO:
                missed.append(f"{name}: {flood.ratio:.2f} octets out for each octet in")
            if flood.seconds > GOAL_SECONDS:
                missed.append(f"{name}: {flood.seconds * 1e6:.0f} µs for each message")
            if flood.state > GOAL_STATE:
                missed.append(f"{name}: {flood.state} more things are known")
        return missed


def alone(row: Row) -> Cost:
    """Return what a message costs when nothing else came for long."""
    edge = LoneEdge(row.mode)
    costs = []
    for number in range(SINGLES):
        edge.now += PAUSE
        costs.append(_cost(edge, row, [_made(edge, row, number)]))
    seconds = median(each.seconds for each in costs)
    return Cost(costs[0].came, max(each.left for each in costs), seconds, costs[0].state)


def flood(row: Row, step: int) -> Cost:
    """Return what a message costs when very many come in a second, their sources so far apart."""
    costs = []
    for _ in range(TIMES):
        edge = LoneEdge(row.mode)
        edge.now += PAUSE
        costs.append(_cost(edge, row, [_made(edge, row, number * step) for number in range(FLOOD)]))
    return min(costs, key=lambda cost: cost.seconds)


def measure(row: Row) -> Measured:
    """Measure a message."""
    return Measured(row, alone(row), flood(row, OF_ONE_PREFIX), flood(row, OF_ALL_PREFIXES))


def table(measured: Sequence[Measured]) -> list[str]:
    """Lay out what was measured."""
    rows = [HEAD, *map(_cells, measured)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def missed(measured: Iterable[Measured]) -> list[str]:
    """Return all goals that are missed."""
    return [goal for each in measured for goal in each.missed()]


def _made(edge: LoneEdge, row: Row, number: int) -> Packet:
    return row.make(edge, IPv6Address(int(row.source) + number) if row.varies else row.source)


def _cost(edge: LoneEdge, row: Row, packets: Sequence[Packet]) -> Cost:
    """Let packets come, all within a second."""
    before, came, left, took = edge.state_size(), 0, 0, 0.0
    for packet in packets:
        edge.now += 1 / len(packets)
        octets, seconds = edge.receive(row.reason, packet, ATTACKERS_MAC, row.port)
        came, left, took = came + len(packet.encode()) + ETHERNET_OCTETS, left + octets, took + seconds
    return Cost(came, left, took / len(packets), edge.state_size() - before)


def _cells(measured: Measured) -> tuple[str, ...]:
    row, by_itself, one, every = measured.row, measured.alone, measured.from_one, measured.from_all
    floods = (cell for cost in (one, every) for cell in (f"{cost.ratio:.2f}", f"{cost.seconds * 1e6:.0f} µs"))
    begin = (row.mode, row.message, row.stage.value, str(by_itself.came), str(by_itself.left))
    return (*begin, f"{by_itself.seconds * 1e6:.0f} µs", *floods, str(max(one.state, every.state)))


@click.command()
@click.option("--only", default="", help="Messages whose edge or name has this in it.")
def main(only: str) -> None:
    """Measure, and print a table; status 1 if a goal is missed."""
    wanted = [row for row in ROWS if only in f"{row.mode}: {row.message}"]
    measured = [measure(row) for row in wanted]
    click.echo("\n".join(table(measured)))
    goals = missed(measured)
    met = f"met: before the proof no more octets out than in, {GOAL_SECONDS * 1e6:.0f} µs for each message, no state"
    click.echo("\n".join(f"MISSED: {goal}" for goal in goals) if goals else met)
    sys.exit(1 if goals else 0)


if __name__ == "__main__":
    main()
