"""Figure 10: what an I2 costs a server with many contexts, and what a flood of I1s costs it.

As in the paper, a new client comes every 50 ms, each with an address of its own; it signs its locators by RSA with 1024
bits. The cost is the server's processor time from the octets of the I2 to the octets of the R2.
"""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from ipaddress import IPv6Address, IPv6Network
from statistics import median, quantiles

from bench.figures import Line, Panel
from bench.shim6.identities import PREFIXES, hash_based, signed
from bench.shim6.report import Result, table
from bench.spread import HEADS_OF_MANY, Spread, headed
from wayname.shim6.context import LocalHost, option_of
from wayname.shim6.endpoint import Endpoint
from wayname.shim6.locators import learn
from wayname.shim6.outputs import Send
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import I1, I2, R1, TAG_BITS, decode, encode
from wayname.wire.shim6.options import ResponderValidator

CONTEXTS = 100_000
GROUP = 5_000
BETWEEN_CLIENTS = 0.05
KEY_BITS = 1024
# So many keys are made; what costs the server is that the addresses and the signatures differ.
KEYS = 20
GOAL_SECONDS = 0.5e-3
FLAT = 1.25  # the last group over the first
I1_RATE = 1000
I1_SECONDS = 10
MOST_GROWTH = 100_000  # octets, over 10,000 I1s
PAPER_SECONDS, PAPER_CONTEXTS, PAPER_GROUP = 2e-3, 1000, 50


class Server:
    """A server, and how long it has worked."""

    def __init__(self, rng: random.Random) -> None:
        self.host = signed(PREFIXES[:2], rng, KEY_BITS, "server").host
        self.now = 1000.0
        self.endpoint = Endpoint(rng, lambda name, options, known: learn(name.peer, options, known))
        self.endpoint.serve(self.host, self.now)

    def take(self, octets: bytes) -> tuple[list[bytes], float]:
        """Return the packets that answer one, and the processor time that it took."""
        began = time.thread_time()
        self.endpoint.receive(Packet.decode(octets), self.now)
        answers = [one.packet.encode() for one in self.endpoint.take_outputs() if isinstance(one, Send)]
        return answers, time.thread_time() - began


def client_packets(server: Server, client: LocalHost, rng: random.Random) -> bytes:
    """Let a client ask with I1, and return the I2 that follows the R1."""
    tag, nonce = rng.getrandbits(TAG_BITS), rng.getrandbits(32)
    (answer,), _ = server.take(_packet(client.ulid, server.host.ulid, encode(I1(tag, nonce))))
    r1 = decode(Packet.decode(answer).payload)
    assert isinstance(r1, R1)
    validator = option_of(r1.options, ResponderValidator)
    assert validator is not None
    i2 = I2(tag, nonce, r1.responder_nonce, (validator, *client.options))
    return _packet(client.ulid, server.host.ulid, encode(i2))


def clients(rng: random.Random, kind: str) -> Iterator[LocalHost]:
    """Return clients without end, each with an address of its own."""
    number = 0
    while True:
        owner = f"client {number % KEYS}"
        pair = (_prefix(2 * number), _prefix(2 * number + 1))
        yield (hash_based(pair, rng) if kind == "HBA" else signed(pair, rng, KEY_BITS, owner)).host
        number += 1


def costs_of(kind: str, rng: random.Random, contexts: int) -> list[float]:
    """Return the processor time of each I2, while the server's contexts grow from none to so many."""
    server = Server(rng)
    ahead = clients(rng, kind)
    times = []
    gc.collect()
    for _ in range(contexts):
        server.now += BETWEEN_CLIENTS
        answers, took = server.take(client_packets(server, next(ahead), rng))
        assert len(answers) == 1
        times.append(took)
    assert len(server.endpoint.contexts) == contexts
    return times


def growth_by_i1s(rng: random.Random) -> tuple[int, int, float]:
    """Return what a flood of I1s with different addresses leaves: octets, contexts; and the processor time of each."""
    server = Server(rng)
    target = server.host.ulid
    spent = 0.0

    def flood(seconds: int) -> None:
        nonlocal spent
        for _ in range(seconds * I1_RATE):
            server.now += 1 / I1_RATE
            source = PREFIXES[rng.randrange(2, len(PREFIXES))][rng.getrandbits(64)]
            i1 = I1(rng.getrandbits(TAG_BITS), rng.getrandbits(32))
            _, took = server.take(_packet(source, target, encode(i1)))
            spent += took

    tracemalloc.start()
    try:
        flood(1)  # what is made once: caches, the secret of the period
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        flood(I1_SECONDS)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    spent = 0.0
    flood(I1_SECONDS)
    return grown, len(server.endpoint.contexts), spent / (I1_SECONDS * I1_RATE)


def run(seed: int, _full: bool) -> Result:
    """Measure both kinds of clients, and the flood."""
    rng = random.Random(seed)
    costs = {kind: costs_of(kind, rng, CONTEXTS) for kind in (f"CGA, {KEY_BITS} bits", "HBA")}
    grown, made, each_i1 = growth_by_i1s(rng)
    missed = []
    rows = []
    for kind, times in costs.items():
        medians = [group.median for group in grouped(times, GROUP)]
        ratio = medians[-1] / medians[0]
        groups = (f"{at * 1e6:.0f} µs" for at in (medians[0], medians[-1], max(medians)))
        each = Spread.of([at * 1e6 for at in times]).cells_of_many(0)
        rows.append((kind, *groups, f"{ratio:.2f}", *each))
        if max(medians) > GOAL_SECONDS:
            missed.append(f"an I2 ({kind}) costs {max(medians) * 1e3:.2f} ms, more than {GOAL_SECONDS * 1e3} ms")
        if ratio > FLAT:
            missed.append(f"an I2 ({kind}) costs {ratio:.2f} times as much with {CONTEXTS} contexts")
    if grown > MOST_GROWTH or made:
        missed.append(f"{I1_SECONDS * I1_RATE} I1s cost {grown} octets and {made} contexts")
    head = ("I2 from", f"first {GROUP}", f"last {GROUP}", "dearest group", "last / first")
    text = table((*head, *headed("each I2, µs", HEADS_OF_MANY)), rows)
    text += [
        "",
        f"{I1_RATE} I1s a second for {I1_SECONDS} s: {grown} octets more, {made} contexts, {each_i1 * 1e6:.0f} µs each",
    ]
    data = {
        "measured": {kind: [asdict(group) for group in grouped(times, GROUP)] for kind, times in costs.items()},
        "measured, the paper's range": {
            kind: [asdict(group) for group in grouped(times[:PAPER_CONTEXTS], PAPER_GROUP)]
            for kind, times in costs.items()
        },
        "I1s": {"octets": grown, "contexts": made, "seconds each": each_i1},
        "paper": {
            "stated": f"around {PAPER_SECONDS * 1e3:.0f} ms from 0 to {PAPER_CONTEXTS} contexts, CGA of 1024 bits"
        },
    }
    return Result(
        "shim6-figure-10",
        data,
        [_panel(costs, PAPER_CONTEXTS, PAPER_GROUP), _panel(costs, CONTEXTS, GROUP)],
        text,
        missed,
    )


@dataclass(frozen=True, slots=True)
class Group:
    """What I2s that came one after the other cost."""

    contexts: float  # of the server, halfway
    median: float
    low: float  # 5 %
    high: float  # 95 %


def grouped(times: list[float], size: int) -> list[Group]:
    """Sum up times in groups."""
    groups = []
    for before in range(0, len(times), size):
        of_group = times[before : before + size]
        cuts = quantiles(of_group, n=20)
        groups.append(Group(before + size / 2, median(of_group), cuts[0], cuts[-1]))
    return groups


def _panel(costs: dict[str, list[float]], contexts: int, size: int) -> Panel:
    lines = []
    for kind, times in costs.items():
        groups = grouped(times[:contexts], size)
        points = [(group.contexts, group.median * 1e3) for group in groups]
        lines.append(Line(kind, points, [(group.low * 1e3, group.high * 1e3) for group in groups]))
    goal = Line("goal", ((0, GOAL_SECONDS * 1e3), (contexts, GOAL_SECONDS * 1e3)), marks=False)
    if contexts <= PAPER_CONTEXTS:
        stated = ((0, PAPER_SECONDS * 1e3), (contexts, PAPER_SECONDS * 1e3))
        lines.append(Line("stated in the paper", stated, of_paper=True))
    return Panel(
        f"What an I2 costs, 0 to {contexts} contexts (paper: figure 10)",
        "contexts of the server",
        "ms of processor time: median, 5 to 95 %",
        [*lines, goal],
    )


def _prefix(number: int) -> IPv6Network:
    """Return one of 2^32 subnets of 2001:db8."""
    return IPv6Network(((0x20010DB8 << 32 | number) << 64, 64))


def _packet(source: IPv6Address, destination: IPv6Address, payload: bytes) -> bytes:
    return Packet(source, destination, SHIM6, payload).encode()
