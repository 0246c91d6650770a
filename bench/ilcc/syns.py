"""A flood of SYNs with nonces, from random identifiers, and a connection in the middle of it.

The switch alone works on it: nothing may reach the controller but the one connection that both ends spoke in.
"""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable

import finsy as fy
from finsy.proto import p4r

from bench.ilcc.edge import (
    FROM_HOST,
    FROM_PROVIDER,
    HOST,
    HOST_PORT,
    NANOSECONDS,
    PEERS_LOCATOR,
    PROVIDER_PORT,
    Edge,
    resident,
)
from bench.shim6.report import Result, table
from bench.spread import HEADS_OF_MANY, Spread
from wayname.ilnp.vectors import NID, Vector

SYNS, QUICK_SYNS = 1_000_000, 20_000
RATE = 250_000  # a second of the experiment's time
TCP, DESTINATION_OPTIONS = 6, 60
SYN, ACK = 0x02, 0x10
PEER = Vector(PEERS_LOCATOR, NID(0x77))
NONCE_HEADER = bytes([TCP, 1, 0x8B, 12])
NONCE = bytes(range(1, 13))
PEERS_FIRST, HOSTS_FIRST = 1000, 2000
TENTHS = 10
FLAT = 0.05


def _segment(source: int, destination: int, flags: int, sequence: int, acknowledged: int = 0) -> bytes:
    return struct.pack("!HHIIHHHH", source, destination, sequence, acknowledged, 5 << 12 | flags, 1024, 0, 0)


def _from_peer(source: bytes, nonce: bytes, segment: bytes) -> bytes:
    start = bytes([0x60, 0, 0, 0, 0, 16 + len(segment), DESTINATION_OPTIONS, 64])
    return b"".join((FROM_PROVIDER, start, source, HOST.address.packed, NONCE_HEADER, nonce, segment))


def _of_flood(rng: random.Random) -> Callable[[], bytes]:
    locator, syn = PEERS_LOCATOR.to_bytes(8), _segment(1000, 80, SYN, 7)
    return lambda: _from_peer(locator + rng.randbytes(8), rng.randbytes(12), syn)


def run(seed: int, quick: bool) -> list[Result]:
    """Flood an edge; a connection begins in a tenth that is drawn, at moments that are drawn."""
    rng, edge, count = random.Random(seed), Edge(seed), QUICK_SYNS if quick else SYNS
    frame = _of_flood(rng)
    edge.write([fy.P4DigestEntry("ilnp_flow", max_list_size=1)])
    for _ in range(1000):  # what is only made once
        edge.switch.inject(PROVIDER_PORT, frame(), round(edge.now * NANOSECONDS))
    told, tenths, memory = 0, [], resident()
    # The peer's ACK comes behind others' SYNs.
    its_tenth, steps = rng.randrange(TENTHS), sorted(rng.sample(range(count // TENTHS), 3))
    for tenth in range(TENTHS):
        times = []
        for number in range(count // TENTHS):
            edge.now += 1 / RATE
            one = frame()
            began = time.perf_counter()
            edge.take(one)
            times.append((time.perf_counter() - began) * 1e6)
            if tenth == its_tenth and number in steps:
                _connect(edge, steps.index(number))
        tenths.append(Spread.of(times))
        told += len(_told(edge))
    drift = tenths[-1].median / tenths[0].median - 1
    entries = len(edge.endpoint.cache)
    lines = [
        *table(
            (f"{count} SYNs, µs each", *HEADS_OF_MANY),
            [("first tenth", *tenths[0].cells_of_many(1)), ("last tenth", *tenths[-1].cells_of_many(1))],
        ),
        f"the median of the last tenth is {100 * drift:+.1f} % against the first",
        f"{entries} entries, {told} digest(s) for one connection, {(resident() - memory) / 1e6:.1f} MB",
    ]
    missed = [f"SYNs: {told} digests for one connection"] if told != 1 else []
    missed += [f"SYNs: {entries} entries"] if entries else []
    missed += [f"SYNs: a packet cost {100 * drift:+.1f} % more in the end"] if abs(drift) > FLAT else []
    return [Result("ilcc-syns", None, (), lines, missed)]


def _connect(edge: Edge, step: int) -> None:
    """Take the next step of a connection: SYN, SYN-ACK, ACK."""
    if step == 1:
        answer = _segment(80, 2000, SYN | ACK, HOSTS_FIRST, PEERS_FIRST + 1)
        start = bytes([0x60, 0, 0, 0, 0, len(answer), TCP, 64]) + HOST.address.packed + PEER.address.packed
        edge.switch.inject(HOST_PORT, FROM_HOST + start + answer, round(edge.now * NANOSECONDS))
        return
    segment = _segment(2000, 80, SYN, PEERS_FIRST)
    if step == 2:
        segment = _segment(2000, 80, ACK, PEERS_FIRST + 1, HOSTS_FIRST + 1)
    edge.take(_from_peer(PEER.address.packed, NONCE, segment))


def _told(edge: Edge) -> list[p4r.DigestList]:
    return [p4r.DigestList.FromString(text) for text in edge.switch.digests(round(edge.now * NANOSECONDS))]
