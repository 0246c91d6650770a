"""TCP of iperf3 between two nodes under drawn conditions, by several ways in turns, and each way beside another.

What is drawn: the order of turns, how many flows, octets of data of a segment, octets in all, the port and who sends.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import click

from bench.multipath.report import Goal
from bench.shim6.report import table
from bench.spread import HEADS, Spread, headed
from harness.namespaces import Nodes

ENDS_WITHIN = 120  # seconds
# Sites stand for so many draws, and are then built anew: not all draws have the luck of one.
DRAWS_OF_A_SITE = 10
MOST_FLOWS = 4
OCTETS = (32e6, 256e6)  # of all flows together, even on a logarithmic scale
SEGMENTS = (536, 1440)  # octets of data; the largest is what IPv6 leaves of 1500 without options
PORTS = (1024, 32767)  # below what Linux takes for clients


@dataclass(frozen=True, slots=True)
class Transfer:
    """What iperf3 says of one transfer."""

    bits_per_second: float
    octets: int
    retransmissions: int
    datagrams_sent: int
    datagrams_lost: int


def transfer(nodes: Nodes, client: str, server: str, address: str, *options: str) -> Transfer:
    """Run one transfer from a node to another's address; `-R` turns it round, `-p` says the port."""
    port = ("-p", options[options.index("-p") + 1]) if "-p" in options else ()
    listening = nodes.start(server, "iperf3", "-s", "-1", "--forceflush", *port, output=subprocess.PIPE)
    try:
        if listening.stdout is not None:
            # It listens when it has said so, in the second of three lines.
            listening.stdout.readline(), listening.stdout.readline()
        words = nodes.inside(client, "iperf3", "-J", "-c", address, *options)
        said = subprocess.run(words, capture_output=True, text=True, check=False, timeout=ENDS_WITHIN).stdout
    finally:
        listening.kill()
        listening.communicate()
    return _transfer(json.loads(said))


def _transfer(said: dict[str, Any]) -> Transfer:
    if "error" in said:
        raise RuntimeError(f"iperf3: {said['error']}")
    end = said["end"]
    received = end["sum_received"]
    udp = "lost_packets" in received
    return Transfer(
        bits_per_second=received["bits_per_second"],
        octets=received["bytes"],
        retransmissions=end["sum_sent"].get("retransmits", 0),
        datagrams_sent=received["packets"] if udp else 0,
        datagrams_lost=received["lost_packets"] if udp else 0,
    )


@dataclass(frozen=True, slots=True)
class Draw:
    """The conditions of a transfer: the same for each way, so that ways are compared by the same."""

    flows: int
    octets: int
    segment: int
    port: int
    turned: bool  # the server sends

    @classmethod
    def of(cls, rng: random.Random) -> Draw:
        """Draw them."""
        octets = OCTETS[0] * (OCTETS[1] / OCTETS[0]) ** rng.random()
        port, turned = rng.randint(*PORTS), rng.random() < 0.5
        return cls(rng.randint(1, MOST_FLOWS), round(octets), rng.randint(*SEGMENTS), port, turned)

    @property
    def options(self) -> tuple[str, ...]:
        """They, as iperf3 is told them."""
        words = ("-P", str(self.flows), "-n", str(self.octets), "-M", str(self.segment), "-p", str(self.port))
        return (*words, "-R") if self.turned else words


Send = Callable[[Draw], Transfer]
Rates = dict[str, list[float]]  # Gbit/s by way, draw by draw


def measure(build: Callable[[ExitStack], Mapping[str, Send]], draws: int, seed: int) -> Rates:
    """Build sites, and let their ways take turns in an order that is drawn anew each time."""
    rng, rates = random.Random(seed), Rates()
    for begun in range(0, draws, DRAWS_OF_A_SITE):
        with ExitStack() as stack:
            ways = build(stack)
            for _ in range(min(DRAWS_OF_A_SITE, draws - begun)):
                draw = Draw.of(rng)
                for name in rng.sample(list(ways), len(ways)):
                    rates.setdefault(name, []).append(ways[name](draw).bits_per_second / 1e9)
    return rates


@dataclass(frozen=True, slots=True)
class Share:
    """A goal: a way reaches this share of another's rate."""

    name: str
    other: str
    least: float

    def judged(self, rates: Rates) -> Goal:
        """Compare the two within each draw; the median counts."""
        pairs = zip(rates[self.name], rates[self.other], strict=True)
        spread = Spread.of([ours / theirs for ours, theirs in pairs], least_is_worst=True)
        told = ", ".join(f"{head} {cell}" for head, cell in zip(HEADS, spread.cells(2), strict=True))
        return Goal(f"{self.name} over {self.other}: {told}; {self.least:g} wanted", spread.median >= self.least)


def report(rates: Rates, goals: Sequence[Share], seed: int) -> bool:
    """Print what the ways reached, and the goals; return whether all are met."""
    spreads = {name: Spread.of(values, least_is_worst=True) for name, values in sorted(rates.items())}
    click.echo("\n".join(table(("", *headed("Gbit/s")), [(name, *each.cells(2)) for name, each in spreads.items()])))
    judged = [goal.judged(rates) for goal in goals]
    click.echo("\n".join(map(str, judged)))
    draws = max(each.draws for each in spreads.values())
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    click.echo(f"{draws} draws, seed {seed}; load over 1, 5 and 15 minutes {load} of {os.cpu_count()} cores")
    return all(goal.met for goal in judged)
