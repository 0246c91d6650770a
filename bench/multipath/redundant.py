"""A link of the lab `many-paths` is cut under datagrams and a connection: what is lost, and how long is TCP silent?

Whole edges with their controllers on the virtual clock, schedules by what the peer's edge reports. Each packet goes by
one path (`fastest-first`) or by two at once (`redundant`), with the same draws of a link, what it loses, and when.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass

from bench.multipath.many_paths import NAME, many_paths
from bench.multipath.report import Goal, Result
from bench.multipath.silence import BEGIN, MOST_LATER, RECEIVER, SENDER, SETTLED, STEP, WATCHED, Cut, Way
from bench.shim6.report import table
from bench.spread import Spread, headed
from wayname.config.schedules import SchedulingPolicy, Source
from wayname_lab.load import find_lab
from wayname_lab.virtual.lab import VirtualLab

POLICIES = (SchedulingPolicy.FASTEST_FIRST, SchedulingPolicy.REDUNDANT)
DATAGRAMS, CONNECTION = 5001, 5002  # ports
# What fits twice into the paths that are left.
RATE, SIZE, PACE, BUFFER = 100, 1000, 1_000_000, 65536
DRAWS, QUICK_DRAWS = 30, 3


@dataclass(frozen=True, slots=True)
class Missed:
    """What a cut led to: datagrams lost, and the longest time without an octet of the connection."""

    datagrams: int
    seconds: float


def cuts(draws: int, seed: int) -> Iterator[Cut]:
    """Draw a link, what it loses and when."""
    rng = random.Random(seed)
    links = [link.name for link in find_lab(NAME).links]
    for _ in range(draws):
        way, moment = rng.choice(list(Way)), rng.uniform(0, MOST_LATER)
        yield Cut(Source.FEEDBACK, rng.choice(links), way, moment, rng.getrandbits(32))


def run(policy: SchedulingPolicy, cut: Cut) -> Missed:
    """Let hosts talk, and cut a link."""
    lab = VirtualLab(many_paths(cut.source, policy), cut.seed)
    lab.run_until(BEGIN)
    lab.command(RECEIVER, "udp_receive", port=DATAGRAMS, interval=STEP)
    lab.command(RECEIVER, "tcp_serve", port=CONNECTION, interval=STEP)
    to = str(lab.plan.hosts[RECEIVER].address.ip)
    lab.command(SENDER, "udp_send", to=to, port=DATAGRAMS, rate=RATE, size=SIZE)
    lab.command(SENDER, "tcp_send", to=to, port=CONNECTION, pace=PACE, buffer=BUFFER)
    lab.run_until(SETTLED + cut.moment)
    [*_, before] = lab.events_of(RECEIVER, "udp_report")
    begun = lab.now
    lab.cut(cut.link, cut.loser)
    lab.run_for(WATCHED)
    [*_, after] = lab.events_of(RECEIVER, "udp_report")
    rates = [rate["longest_gap_ns"] for rate in lab.events_of(RECEIVER, "rate") if rate["at_ns"] / 1e9 > begun]
    return Missed(after["lost"] - before["lost"], max(rates) / 1e9)


def run_all(quick: bool, seed: int) -> Result:
    """Cut links at drawn moments, with each policy."""
    drawn = list(cuts(QUICK_DRAWS if quick else DRAWS, seed))
    tried = [(policy, cut) for cut in drawn for policy in POLICIES]
    with ProcessPoolExecutor() as pool:
        seen = list(zip(tried, pool.map(run, *zip(*tried, strict=True)), strict=True))
    rows: list[Sequence[object]] = []
    for policy in POLICIES:
        mine = [missed for (which, _), missed in seen if which is policy]
        rows.append(
            (
                policy.value,
                *Spread.of([missed.datagrams for missed in mine]).cells(0),
                *Spread.of([1000 * missed.seconds for missed in mine]).cells(0),
            )
        )
    heads = (*headed("datagrams lost"), *headed("ms of TCP's silence"))
    lost = sum(missed.datagrams > 0 for (policy, _), missed in seen if policy is SchedulingPolicy.REDUNDANT)
    text = [*table(("policy", *heads), rows), f"{len(drawn)} draws, seed {seed}"]
    goal = Goal(f"in {lost} of {len(drawn)} cuts redundant lost a datagram; none wanted", not lost)
    data = [{"policy": policy.value} | asdict(cut) | asdict(missed) for (policy, cut), missed in seen]
    return Result("multipath-redundant", data, text, [goal])
