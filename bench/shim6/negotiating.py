"""Figure 7: how long a negotiation takes by the kind of proof and the number of locators.

From the first I1 to the last R2, as in the paper. Both ends run in this process and packets take no time on the way:
what the ends do is compared, with nothing to hide it. Kinds take turns by lot, so that all meet the same machine.
"""

from __future__ import annotations

import gc
import random
import time
from dataclasses import dataclass
from statistics import median

from bench.figures import Bars, Panel
from bench.shim6.identities import PREFIXES, Identity, hash_based, public_key, signed, unproved
from bench.shim6.report import Result, table
from wayname.identity.parameters import prover_of
from wayname.shim6.context import ContextName, Known
from wayname.shim6.endpoint import Endpoint, Learn
from wayname.shim6.locators import believe, learn
from wayname.shim6.options import Option
from wayname.shim6.outputs import Ready, Send
from wayname.wire.ipv6 import Packet

LOCATORS = (2, 5, 10)
RUNS = 500
GOAL = 1.10  # HBA over no security
NONE, HBA, FIRST_HBA, COMPATIBLE = "none", "HBA", "HBA, never met", "HBA with a key"
KEYS = {f"CGA, {bits} bits": bits for bits in (512, 1024, 2048)}
KINDS = (NONE, HBA, FIRST_HBA, COMPATIBLE, *KEYS)
COMPATIBLE_BITS = 1024  # as in the paper


@dataclass(frozen=True, slots=True)
class Pair:
    """Two hosts, and how they check each other's locators."""

    initiator: Identity
    responder: Identity
    learn: Learn
    have_met: bool = True

    def meet(self) -> None:
        """Let the two know what they proved to each other before, or forget it."""
        prover_of.cache_clear()
        for host in (self.initiator.host, self.responder.host) if self.have_met else ():
            self.learn(ContextName(host.ulid, host.ulid), host.options, Known(frozenset({host.ulid})))


def proved(name: ContextName, options: tuple[Option, ...], known: Known) -> Known:
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
    return Pair(hash_based(ours, rng, keys[0]), hash_based(theirs, rng, keys[1]), proved, kind != FIRST_HBA)


def negotiate(pair: Pair, rng: random.Random, in_advance: bool) -> float:
    """Set up a context and return how long it took; hosts sign before or as a part of it."""
    now = 1000.0
    a, b = (Endpoint(rng, pair.learn) for _ in range(2))
    a.serve(pair.initiator.host, now)
    b.serve(pair.responder.host, now)
    pair.meet()
    name = ContextName(pair.initiator.host.ulid, pair.responder.host.ulid)
    began = time.perf_counter()
    if not in_advance:
        pair.initiator.sign()
        pair.responder.sign()
    a.establish(name, now)
    for sender, receiver in ((a, b), (b, a), (a, b), (b, a)):
        (octets,) = [one.packet.encode() for one in sender.take_outputs() if isinstance(one, Send)]
        receiver.receive(Packet.decode(octets), now)
    took = time.perf_counter() - began
    assert a.take_outputs() == [Ready(name)]
    return took


def run(seed: int, _full: bool) -> Result:
    """Measure all kinds with all numbers of locators, with signatures made in advance and as a part of it."""
    rng = random.Random(seed)
    cells = [(kind, locators, in_advance) for in_advance in (True, False) for kind in KINDS for locators in LOCATORS]
    pairs = {(kind, locators): pair_of(kind, locators, rng) for kind in KINDS for locators in LOCATORS}
    times: dict[tuple[str, int, bool], list[float]] = {cell: [] for cell in cells}
    gc.collect()
    gc.disable()
    try:
        for _ in range(RUNS):
            rng.shuffle(cells)
            for kind, locators, in_advance in cells:
                took = negotiate(pairs[kind, locators], rng, in_advance)
                times[kind, locators, in_advance].append(took)
    finally:
        gc.enable()
    medians = {cell: median(seen) for cell, seen in times.items()}
    missed = [
        f"HBA with {locators} locators takes {ratio:.2f} times as long as no security, more than {GOAL}"
        for locators in LOCATORS
        if (ratio := medians[HBA, locators, True] / medians[NONE, locators, True]) > GOAL
    ]
    rows = [
        (
            kind,
            *(f"{medians[kind, locators, True] * 1e6:.0f} µs" for locators in LOCATORS),
            *(f"{medians[kind, locators, True] / medians[NONE, locators, True]:.2f}" for locators in LOCATORS),
            *(f"{medians[kind, locators, False] * 1e6:.0f} µs" for locators in LOCATORS),
        )
        for kind in KINDS
    ]
    head = (
        "security",
        *(f"{locators} locators" for locators in LOCATORS),
        *(f"{locators}, over none" for locators in LOCATORS),
        *(f"{locators}, signing too" for locators in LOCATORS),
    )
    data = {
        "measured": [
            {"security": kind, "locators": locators, "signed in advance": in_advance, "median": at}
            for (kind, locators, in_advance), at in medians.items()
        ],
        "paper": PAPER,
    }
    panels = [_panel(medians, True), _panel(medians, False)]
    return Result("shim6-figure-7", data, panels, table(head, rows), missed)


PAPER = (
    "stated: HBA almost the same as none, HBA with a key of 1024 bits slightly more, CGA by the length of the key,"
    " the number of locators insignificant; no single time is stated in the text"
)


def _panel(medians: dict[tuple[str, int, bool], float], in_advance: bool) -> Panel:
    return Panel(
        f"Negotiation, {'signatures made in advance' if in_advance else 'signing as a part of it'} (paper: figure 7)",
        "",
        "ms, median",
        [
            Bars(f"{locators} locators", [medians[kind, locators, in_advance] * 1e3 for kind in KINDS])
            for locators in LOCATORS
        ],
        [kind.replace(", ", ",\n").replace(" with", "\nwith") for kind in KINDS],
    )
