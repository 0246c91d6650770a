"""Figure 7 between two running edges: hosts' first packets, controllers, switches, tables and the wire between them.

Pairs of hosts meet one after the other, in an order that is drawn; when all their contexts are collected they meet once
more, and what their addresses proved is known. What counts is the time from a host's first packet to the R2 that makes
the context, as the wire between the edges sees it.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Network
from pathlib import Path

from bench.shim6.identities import any_modifier, public_key
from bench.shim6.report import table
from bench.shim6.two_edges import Network, Site, SiteHost, TwoEdges
from bench.spread import Spread
from wayname.identity.generate import generate_hba
from wayname.wire.shim6.messages import MessageType

LOCATORS = (1, 2, 5, 10)
NONE, HBA, COMPATIBLE = "none", "HBA", "HBA with a key"
KINDS = (NONE, HBA, COMPATIBLE)
COMPATIBLE_BITS = 1024  # as in the paper
PAIRS = 30
Cell = tuple[str, int]
CELLS: tuple[Cell, ...] = tuple((kind, count) for kind in KINDS for count in LOCATORS)
IDLE = 5.0
PATIENCE, FORGOTTEN = 5.0, 60.0
# A switch tells of a pair of hosts anew after two minutes.
TOLD_AGAIN = 125.0
# The paths of the pair before are being proven meanwhile.
BETWEEN_MEETINGS = 0.5
MEETINGS = ("never met", "met before")


@dataclass(frozen=True, slots=True)
class Met:
    """How long a meeting took, in seconds: from the host's first packet, and from the I1, to the R2."""

    kind: str
    locators: int
    meeting: str
    whole: float
    exchange: float


def _site(name: str, number: int, cells: Sequence[Cell], pairs: int, rng: random.Random) -> Site:
    """Return a site with a network of hosts for each kind and number of locators."""
    networks = [
        _network(IPv6Network((0x20010DB8 << 96 | number << 80 | place << 72, 56)), cell, pairs, rng, name)
        for place, cell in enumerate(cells)
    ]
    return Site(name, number, tuple(networks))


def _network(given: IPv6Network, cell: Cell, pairs: int, rng: random.Random, owner: str) -> Network:
    kind, count = cell
    prefixes = tuple(IPv6Network((int(given.network_address) | subnet << 64, 64)) for subnet in range(count))
    # One more, to see that edges have found each other.
    hosts = [_host(prefixes, kind, rng, owner) for _ in range(pairs + 1)]
    return Network(prefixes, tuple(hosts), kind != NONE)


def _host(prefixes: tuple[IPv6Network, ...], kind: str, rng: random.Random, owner: str) -> SiteHost:
    if kind == NONE:
        return SiteHost(prefixes[0][rng.getrandbits(62)], None)
    key = public_key(COMPATIBLE_BITS, owner) if kind == COMPATIBLE else None
    address, parameters = generate_hba(
        prefixes, key, 0, lambda tail, sec: any_modifier(rng, tail, sec), lambda _: False, rng
    )[0]
    return SiteHost(address, parameters.encode())


def measured(seed: int, cells: Sequence[Cell] = CELLS, pairs: int = PAIRS, meetings: int = 2) -> list[Met]:
    """Let pairs of hosts of each kind meet, once or twice."""
    return asyncio.run(_measured(seed, cells, pairs, MEETINGS[:meetings]))


async def _measured(seed: int, cells: Sequence[Cell], pairs: int, meetings: Sequence[str]) -> list[Met]:
    rng = random.Random(seed)
    a, b = (_site(name, number, cells, pairs, rng) for number, name in enumerate("ab", 1))
    order = [(place, pair) for place in range(len(cells)) for pair in range(pairs)]
    met = []
    with tempfile.TemporaryDirectory(prefix="wayname-") as folder:
        async with TwoEdges(Path(folder), (a, b), IDLE) as edges:
            await edges.until_met(a.networks[0].hosts[pairs].address, b.networks[0].hosts[pairs].address, FORGOTTEN)
            for meeting in meetings:
                if meeting != MEETINGS[0]:
                    await edges.until_forgotten(FORGOTTEN)
                    await asyncio.sleep(TOLD_AGAIN)
                rng.shuffle(order)
                for place, pair in order:
                    source = a.networks[place].hosts[pair].address
                    destination = b.networks[place].hosts[pair].address
                    began = edges.send(source, destination)
                    i1 = await edges.message(MessageType.I1, source, destination, began, PATIENCE)
                    r2 = await edges.message(MessageType.R2, destination, source, began, PATIENCE)
                    met.append(Met(*cells[place], meeting, r2 - began, r2 - i1))
                    await asyncio.sleep(rng.uniform(0, BETWEEN_MEETINGS))
    return met


def report(met: Sequence[Met]) -> list[str]:
    """Return the table: a row for each kind of hosts that met."""
    rows: dict[tuple[str, str, int], list[Met]] = {}
    for each in met:
        rows.setdefault((each.meeting, each.kind, each.locators), []).append(each)
    lines = [
        (kind, meeting, count, len(of), *_spread(of, "whole"), *_spread(of, "exchange"))
        for (meeting, kind, count), of in sorted(rows.items(), key=lambda row: (MEETINGS.index(row[0][0]), row[0]))
    ]
    spread = ("10th", "90th", "worst")
    head = ("security", "hosts", "locators", "pairs", "first packet to R2, ms", *spread, "I1 to R2, ms", *spread)
    return table(head, lines)


def _spread(met: Sequence[Met], what: str) -> tuple[str, ...]:
    return Spread.of([1e3 * getattr(each, what) for each in met]).cells(1)
