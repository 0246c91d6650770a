"""Figures 3 and 4: floods of UDP with the nonce option from identifiers by lot.

What each packet costs the edge is measured from where it enters the switch to where the controller has done all that it
does about it. 43 packets a second come from each attacker, as in the paper; time between packets is not waited for.
Beside the flood hosts ask for sessions, one a second.
"""

from __future__ import annotations

import gc
import os
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median

from bench.figures import Bars, Line, Panel
from bench.ilcc.edge import ORDINARY, Edge, Peer, attack
from bench.shim6.report import Result, table

RATE = 43
ATTACKERS = (1, 5, 10)
SECONDS, QUICK_SECONDS = 60, 6
FASTEST_SECONDS, QUICK_FASTEST_SECONDS = 10, 1
LEGITIMATE_BEFORE = 100
FLAT = 0.05
# What the text says of figures 3 and 4, in microseconds; its curves are not read off.
PAPER_NAIVE_AT_END, PAPER_THREE_WAY = 424.0, 34.0
NAIVE, THREE_WAY = "naive", "three-way"


@dataclass(frozen=True, slots=True)
class Second:
    """A second of a flood."""

    at: float
    microseconds: float  # median of its packets
    sessions: int


@dataclass(frozen=True, slots=True)
class Flood:
    """What a flood did."""

    policy: str
    attackers: int
    packets: int
    seconds: tuple[Second, ...]
    made: int  # sessions by the flood
    memory: int  # octets of the process more than before
    before: float  # processor seconds that a session took before the flood, median
    ordinary: float  # beside as many packets of no session, without nonces
    during: float
    lost: int  # of the sessions that stood or were asked for

    @property
    def mean(self) -> float:
        """What a packet cost."""
        return mean(second.microseconds for second in self.seconds)

    @property
    def drift(self) -> float:
        """How much dearer the last tenth is than the first."""
        tenth = max(1, len(self.seconds) // 10)
        first = median(second.microseconds for second in self.seconds[:tenth])
        return median(second.microseconds for second in self.seconds[-tenth:]) / first - 1


def resident() -> int:
    """Return how many octets of memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def flood(policy: str, attackers: int, seconds: int, seed: int, rate: int | None = None) -> Flood:
    """Flood an edge; without a rate, as in the paper."""
    rng = random.Random(seed)
    edge = Edge(seed, naive=policy == NAIVE)
    frame = attack(rng)
    for _ in range(200):  # what is only made once
        edge.switch.inject(2, frame(), 0)
    peers = [Peer(number, seed + number) for number in range(1, LEGITIMATE_BEFORE + 2 * seconds + 1)]
    before = [peer.connect(edge) for peer in peers[:LEGITIMATE_BEFORE]]
    a_second, beside = rate or RATE * attackers, []
    for peer in peers[LEGITIMATE_BEFORE + seconds :]:
        for _ in range(a_second):
            edge.now += 1 / a_second
            edge.take(ORDINARY)
        beside.append(peer.connect(edge))
    gc.collect()
    memory, during, each, sent = resident(), [], [], 0
    for second in range(seconds):
        times = []
        for number in range(a_second):
            edge.now += 1 / a_second
            one = frame()
            began = time.perf_counter()
            edge.take(one)
            times.append(time.perf_counter() - began)
            if number == a_second // 2:
                during.append(peers[LEGITIMATE_BEFORE + second].connect(edge))
        sent += a_second
        each.append(Second(second + 1, median(times) * 1e6, len(edge.endpoint.cache)))
    grown = resident() - memory
    standing = sum(peer.session is not None for peer in peers)
    made = len(edge.endpoint.cache) - standing
    return Flood(
        policy,
        attackers,
        sent,
        tuple(each),
        made,
        grown,
        median(before),
        median(beside),
        median(during),
        len(peers) - standing,
    )


def fastest(seconds: int, seed: int) -> Flood:
    """Flood as fast as packets can be put in, for so many seconds of this machine."""
    edge, frame = Edge(seed), attack(random.Random(seed))
    frames = [frame() for _ in range(20_000)]
    began = time.perf_counter()
    for one in frames:
        edge.take(one)
    rate = round(len(frames) / (time.perf_counter() - began))
    return flood(THREE_WAY, 1, seconds, seed, rate)


def run(seed: int, quick: bool) -> list[Result]:
    """Measure both policies, and the highest rate."""
    seconds = QUICK_SECONDS if quick else SECONDS
    floods = [flood(policy, attackers, seconds, seed) for policy in (NAIVE, THREE_WAY) for attackers in ATTACKERS]
    most = fastest(QUICK_FASTEST_SECONDS if quick else FASTEST_SECONDS, seed)
    missed = [goal for one in (*floods, most) if one.policy == THREE_WAY for goal in _missed(one)]
    rows = [
        (
            one.policy if one is not most else "three-way, fastest",
            one.attackers,
            one.packets,
            f"{one.mean:.1f} µs",
            f"{100 * one.drift:+.1f} %",
            one.made,
            f"{one.memory / 1e6:.1f} MB",
            f"{one.before * 1e6:.0f} µs",
            f"{one.ordinary * 1e6:.0f} µs",
            f"{one.during * 1e6:.0f} µs",
            one.lost,
        )
        for one in (*floods, most)
    ]
    head = ("policy", "attackers", "packets", "each", "last/first", "sessions made", "memory", "a session before")
    text = table((*head, "beside others", "during", "lost"), rows)
    text += ["", f"fastest: {most.packets // len(most.seconds)} packets a second"]
    figure_3 = Result(
        "ilcc-figure-3",
        {"measured": [asdict(one) for one in (*floods, most)], "paper": _PAPER},
        [_panel(attackers, floods) for attackers in ATTACKERS],
        text,
        missed,
    )
    bars = [Bars(policy, [one.mean for one in floods if one.policy == policy]) for policy in (NAIVE, THREE_WAY)]
    panel = Panel("A packet of the flood, mean (paper: figure 4)", "attackers", "µs", bars, [str(n) for n in ATTACKERS])
    data = {
        policy: {one.attackers: one.mean for one in floods if one.policy == policy} for policy in (NAIVE, THREE_WAY)
    }
    figure_4 = Result("ilcc-figure-4", {"measured": data, "paper": _PAPER}, [panel, _cache(floods)], ())
    return [figure_3, figure_4]


_PAPER = {
    "stated": "one attacker: naive 424 µs at the end of 60 s, three-way around 34 µs; 28 µs whatever the attackers",
}


def _missed(one: Flood) -> list[str]:
    missed = []
    if one.made:
        missed.append(f"{one.attackers} attackers: the flood made {one.made} sessions")
    if abs(one.drift) > FLAT:
        missed.append(f"{one.attackers} attackers: a packet cost {100 * one.drift:+.1f} % more in the end")
    if one.during > one.before * (1 + FLAT):
        missed.append(f"{one.attackers} attackers: a session took {one.during / one.before:.2f} times as long")
    if one.lost:
        missed.append(f"{one.attackers} attackers: {one.lost} sessions were lost")
    return missed


def _panel(attackers: int, floods: list[Flood]) -> Panel:
    lines = [
        Line(one.policy, [(second.at, second.microseconds) for second in one.seconds], marks=False)
        for one in floods
        if one.attackers == attackers
    ]
    if attackers == 1:
        end = floods[0].seconds[-1].at
        lines.append(Line("paper, three-way", ((0, PAPER_THREE_WAY), (end, PAPER_THREE_WAY)), of_paper=True))
        lines.append(
            Line("paper, naive at 60 s", ((end * 0.95, PAPER_NAIVE_AT_END), (end, PAPER_NAIVE_AT_END)), of_paper=True)
        )
    title = f"{attackers} attacker{'s' if attackers > 1 else ''} (paper: figure 3)"
    return Panel(title, "seconds", "µs for a packet, median", lines, log_y=True)


def _cache(floods: list[Flood]) -> Panel:
    lines = [
        Line(f"{one.policy}, {one.attackers}", [(second.at, second.sessions) for second in one.seconds], marks=False)
        for one in floods
    ]
    return Panel("Sessions in the cache", "seconds", "sessions", lines)
