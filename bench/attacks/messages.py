"""What each message that anybody can send costs an edge: octets back, processor time, how much state it leaves.

`python -m bench.attacks.messages` prints a row for each message of each protocol: what it costs by itself, and in a
flood of 2000 in a second, from one /48 and from a /48 each. Status 1 if a goal is missed. Of a sender that has shown
nothing yet a flood may bring no more octets back than it has itself, may take no more than a tenth of a millisecond of
the processor for each message, and may leave nothing behind but newcomers, of whom there are no more than are rationed.
Of 30 floods the seed draws the sources, their order and their moments; the median of their processor time counts, and
the worst of what they bring back and leave behind.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address

import click

from bench.attacks.lone_edge import ETHERNET_OCTETS, LoneEdge
from bench.attacks.message_rows import ATTACKERS_MAC, ROWS, Row, Stage
from bench.shim6.report import table as laid_out
from bench.spread import Spread, headed
from wayname.wire.ipv6 import Packet

FLOOD = 2000
DRAWS = 30
# Of the numbers of a flood's sources, so that its last one is no longer than two octets.
LAST_FIRST = 30_000
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
    *headed("alone, µs"),
    "one /48: out/in",
    *headed("each, µs"),
    "all /48s: out/in",
    *headed("each, µs"),
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
class Costs:
    """What draws of the same messages cost: the worst ratio and state, and how long each took."""

    came: int
    left: int
    state: int
    microseconds: Spread

    @classmethod
    def of(cls, costs: Sequence[Cost]) -> Costs:
        """Sum them up."""
        worst = max(costs, key=lambda cost: cost.ratio)
        seconds = Spread.of([cost.seconds * 1e6 for cost in costs])
        return cls(worst.came, worst.left, max(cost.state for cost in costs), seconds)

    @property
    def ratio(self) -> float:
        """Octets out for each octet in, in the worst draw."""
        return self.left / self.came


@dataclass(frozen=True)
class Measured:
    """A message by itself, and in two floods."""

    row: Row
    alone: Costs
    from_one: Costs
    from_all: Costs

    def missed(self) -> list[str]:
        """Return the goals that are missed; there are none where its sender is known to be where it says."""
        if self.row.stage is not Stage.BEFORE:
            return []
        missed = []
        for flood, where in ((self.from_one, "one /48"), (self.from_all, "all /48s")):
            name = f"{self.row.mode}: {self.row.message}, a flood from {where}"
            if flood.ratio > GOAL_RATIO:
                missed.append(f"{name}: {flood.ratio:.2f} octets out for each octet in")
            if flood.microseconds.median > GOAL_SECONDS * 1e6:
                missed.append(f"{name}: {flood.microseconds.median:.0f} µs for each message")
            if flood.state > GOAL_STATE:
                missed.append(f"{name}: {flood.state} more things are known")
        return missed


def alone(row: Row, rng: random.Random) -> Costs:
    """Return what a message costs when nothing else came for long."""
    edge = LoneEdge(row.mode)
    costs = []
    for number in rng.sample(range(LAST_FIRST), DRAWS):
        edge.now += PAUSE
        costs.append(_cost(edge, row, [_made(edge, row, number)], rng))
    return Costs.of(costs)


def flood(row: Row, step: int, rng: random.Random) -> Costs:
    """Return what a message costs when very many come in a second, their sources so far apart."""
    costs = []
    for _ in range(DRAWS):
        edge = LoneEdge(row.mode)
        edge.now += PAUSE
        first = rng.randrange(LAST_FIRST)
        numbers = rng.sample(range(first, first + FLOOD), FLOOD)
        costs.append(_cost(edge, row, [_made(edge, row, number * step) for number in numbers], rng))
    return Costs.of(costs)


def measure(row: Row, seed: int) -> Measured:
    """Measure a message."""
    rng = random.Random(f"{seed} {row.mode} {row.message}")
    return Measured(row, alone(row, rng), flood(row, OF_ONE_PREFIX, rng), flood(row, OF_ALL_PREFIXES, rng))


def table(measured: Sequence[Measured]) -> list[str]:
    """Lay out what was measured."""
    return laid_out(HEAD, list(map(_cells, measured)))


def missed(measured: Iterable[Measured]) -> list[str]:
    """Return all goals that are missed."""
    return [goal for each in measured for goal in each.missed()]


def _made(edge: LoneEdge, row: Row, number: int) -> Packet:
    return row.make(edge, IPv6Address(int(row.source) + number) if row.varies else row.source)


def _cost(edge: LoneEdge, row: Row, packets: Sequence[Packet], rng: random.Random) -> Cost:
    """Let packets come at random moments of a second, in the mean."""
    before, came, left, took = edge.state_size(), 0, 0, 0.0
    for packet in packets:
        edge.now += rng.uniform(0, 2 / len(packets))
        octets, seconds = edge.receive(row.reason, packet, ATTACKERS_MAC, row.port)
        came, left, took = came + len(packet.encode()) + ETHERNET_OCTETS, left + octets, took + seconds
    return Cost(came, left, took / len(packets), edge.state_size() - before)


def _cells(measured: Measured) -> tuple[str, ...]:
    row, by_itself, one, every = measured.row, measured.alone, measured.from_one, measured.from_all
    floods = (cell for costs in (one, every) for cell in (f"{costs.ratio:.2f}", *costs.microseconds.cells(0)))
    begin = (row.mode, row.message, row.stage.value, str(by_itself.came), str(by_itself.left))
    return (*begin, *by_itself.microseconds.cells(0), *floods, str(max(one.state, every.state)))


@click.command()
@click.option("--only", default="", help="Messages whose edge or name has this in it.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draws are the same for the same seed.")
def main(only: str, seed: int) -> None:
    """Measure, and print a table; status 1 if a goal is missed."""
    wanted = [row for row in ROWS if only in f"{row.mode}: {row.message}"]
    measured = [measure(row, seed) for row in wanted]
    click.echo("\n".join(table(measured)))
    goals = missed(measured)
    met = f"met: before the proof no more octets out than in, {GOAL_SECONDS * 1e6:.0f} µs for each message, no state"
    click.echo("\n".join(f"MISSED: {goal}" for goal in goals) if goals else met)
    sys.exit(1 if goals else 0)


if __name__ == "__main__":
    main()
