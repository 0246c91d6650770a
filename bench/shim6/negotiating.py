"""Figure 7: how long a negotiation takes by the kind of proof and the number of locators.

From the first I1 to the last R2, as in the paper. First both ends run in this process and packets take no time on the
way: what the ends do is compared, with nothing to hide it. Then edges run as users run them (`negotiating_live.py`).
Hosts never met, or met before and proved their locators to each other then; they tell locators that they signed in
advance, or sign as a part of it. Kinds take turns at random, so that all meet the same machine.
"""

from __future__ import annotations

import gc
import random
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from statistics import median

from bench.figures import Bars, Panel
from bench.shim6 import negotiating_live
from bench.shim6.identities import PREFIXES, Identity, hash_based, public_key, signed, unproved
from bench.shim6.report import Result, table
from bench.spread import Spread, headed
from wayname.identity.parameters import prover_of
from wayname.session.keys import SessionKey
from wayname.shim6.context import KnownPeer
from wayname.shim6.endpoint import Endpoint, Learn
from wayname.shim6.locators import believe, learn
from wayname.shim6.outputs import Ready, Send
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.options import Option

LOCATORS = (1, 2, 5, 10)
RUNS = 500
GOAL = 1.10  # HBA over no security, between hosts that met before as the paper's do
NONE, HBA, COMPATIBLE = "none", "HBA", "HBA with a key"
KEYS = {f"CGA, {bits} bits": bits for bits in (1024, 2048)}  # the paper's 512 are refused
KINDS = (NONE, HBA, COMPATIBLE, *KEYS)
COMPATIBLE_BITS = 1024  # as in the paper


class Meeting(StrEnum):
    """What two hosts did before the first message."""

    FIRST = "never met"
    AGAIN = "met before"
    SIGNING = "never met, signing too"


Cell = tuple[str, int, Meeting]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two hosts, and how they check each other's locators."""

    initiator: Identity
    responder: Identity
    learn: Learn

    def meet(self, meeting: Meeting) -> None:
        """Let the two know what they proved to each other before, or forget it."""
        prover_of.cache_clear()
        for host in (self.initiator.host, self.responder.host) if meeting is Meeting.AGAIN else ():
            self.learn(SessionKey(host.ulid, host.ulid), host.options, KnownPeer(frozenset({host.ulid})))


def proved(name: SessionKey, options: tuple[Option, ...], known: KnownPeer) -> KnownPeer:
    """Check what a peer tells, as an edge does that is not told otherwise."""
    return learn(name.peer, options, known)


def pair_of(kind: str, locators: int, rng: random.Random) -> Pair:
    """Return two hosts of a kind with so many locators each."""
    ours, theirs = PREFIXES[:locators], PREFIXES[locators : 2 * locators]
    if kind == NONE:
        return Pair(unproved(ours, rng), unproved(theirs, rng), lambda _name, *told: believe(*told))
    if kind in KEYS:
        return Pair(signed(ours, rng, KEYS[kind], "A"), signed(theirs, rng, KEYS[kind], "B"), proved)
    keys = (public_key(COMPATIBLE_BITS, "A"), public_key(COMPATIBLE_BITS, "B")) if kind == COMPATIBLE else (None, None)
    return Pair(hash_based(ours, rng, keys[0]), hash_based(theirs, rng, keys[1]), proved)


def negotiate(pair: Pair, rng: random.Random, meeting: Meeting) -> float:
    """Set up a context and return how long it took."""
    now = 1000.0
    a, b = (Endpoint(rng, pair.learn) for _ in range(2))
    a.serve(pair.initiator.host, now)
    b.serve(pair.responder.host, now)
    pair.meet(meeting)
    name = SessionKey(pair.initiator.host.ulid, pair.responder.host.ulid)
    began = time.perf_counter()
    if meeting is Meeting.SIGNING:
        a.serve(pair.initiator.tell(), now)
        b.serve(pair.responder.tell(), now)
    a.establish(name, now)
    for sender, receiver in ((a, b), (b, a), (a, b), (b, a)):
        (octets,) = [one.packet.encode() for one in sender.take_outputs() if isinstance(one, Send)]
        receiver.receive(Packet.decode(octets), now)
    took = time.perf_counter() - began
    assert a.take_outputs() == [Ready(name)]
    return took


def run(seed: int, _full: bool) -> Result:
    """Measure all kinds with all numbers of locators, in this process and between running edges."""
    rng = random.Random(seed)
    cells: list[Cell] = [(kind, count, meeting) for meeting in Meeting for kind in KINDS for count in LOCATORS]
    pairs = {(kind, count): pair_of(kind, count, rng) for kind in KINDS for count in LOCATORS}
    times: dict[Cell, list[float]] = {cell: [] for cell in cells}
    gc.collect()
    gc.disable()
    try:
        for _ in range(RUNS):
            rng.shuffle(cells)
            for kind, count, meeting in cells:
                times[kind, count, meeting].append(negotiate(pairs[kind, count], rng, meeting))
    finally:
        gc.enable()
    met = negotiating_live.measured(seed)
    medians = {cell: median(seen) for cell, seen in times.items()}
    missed = [
        f"HBA with {count} locators takes {ratio:.2f} times as long as no security, more than {GOAL}"
        for count in LOCATORS
        if (ratio := medians[HBA, count, Meeting.AGAIN] / medians[NONE, count, Meeting.AGAIN]) > GOAL
    ]
    rows = [
        (kind, meeting, count, *Spread.of([each * 1e6 for each in times[kind, count, meeting]]).cells(0), f"{over:.2f}")
        for meeting in Meeting
        for kind in KINDS
        for count in LOCATORS
        for over in (medians[kind, count, meeting] / medians[NONE, count, meeting],)
    ]
    head = ("security", "hosts", "locators", *headed("µs"), "median over none")
    data = {
        "measured": [
            {"security": kind, "locators": count, "hosts": meeting, **asdict(Spread.of(seen))}
            for (kind, count, meeting), seen in times.items()
        ],
        "between edges": [asdict(each) for each in met],
        "paper": PAPER,
    }
    text = ["both ends in one process", *table(head, rows), "", "two running edges", *negotiating_live.report(met)]
    return Result("shim6-figure-7", data, [_panel(medians, each) for each in Meeting], text, missed)


PAPER = (
    "stated: HBA almost the same as none, HBA with a key of 1024 bits slightly more, CGA by the length of the key,"
    " the number of locators insignificant; no single time is stated in the text"
)


def _panel(medians: dict[Cell, float], meeting: Meeting) -> Panel:
    return Panel(
        f"Negotiation of hosts that {'met before' if meeting is Meeting.AGAIN else meeting} (paper: figure 7)",
        "",
        "ms, median",
        [Bars(f"{count} locators", [medians[kind, count, meeting] * 1e3 for kind in KINDS]) for count in LOCATORS],
        [kind.replace(", ", ",\n").replace(" with", "\nwith") for kind in KINDS],
    )
