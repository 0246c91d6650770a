"""Parameters that are fixed, follow the marks, or follow what traces (IOAM) tell (N3).

Whole edges with their controllers on the virtual clock (`measured.toml`), where the configuration is wrong or a path
changes. With IOAM the sender's edge sends probes, which come back to it with their traces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Bars, Panel
from bench.multipath.edges import LINKS, PORT, RECEIVER, SENDER
from bench.multipath.experiment import megabits
from bench.multipath.report import Goal, Result, share
from bench.multipath.segments import Watch
from bench.shim6.report import table
from wayname.config.schedules import Source
from wayname_lab.load import parse_lab
from wayname_lab.model import Lab, Quality
from wayname_lab.virtual.clock import MILLISECOND, SECOND
from wayname_lab.virtual.lab import VirtualLab

LAB = Path(__file__).with_name("measured.toml")
BEGIN = 0.5
WARM_UP = 1.5
SECONDS, QUICK_SECONDS = 6.0, 2.0
CHANGE = 1.0  # seconds after the measurement began
BUFFER = 131_072
INTERVAL = 0.1
QUEUE = 100
GOAL = 0.9
# Of a frame of 1514 octets: what is no header of Ethernet, IPv6, session payload and TCP.
PAYLOAD = 1432 / 1514
PROVIDER, LINK, RATE = "r", "a-r", LINKS["a-r"]
SLOWER = 2e6


@dataclass(frozen=True, slots=True)
class Scene:
    """What the configuration says wrongly of a provider's path, and how the path changes."""

    configured: tuple[str, str] | None = None  # a key of `[[schedule.path]]` and its value
    delay: int | None = None  # nanoseconds of its link
    rate: float | None = None  # bits per second of its link
    limit: float = sum(LINKS.values())  # what all paths carry on average, with headers
    ack_delay: float = 0.0


def scenes(seconds: float) -> dict[str, Scene]:
    """Return what is compared, by name."""
    slower = sum(LINKS.values()) - (RATE - SLOWER) * (seconds - CHANGE) / seconds
    return {
        "all is as configured": Scene(),
        "a delay said to be 30 ms longer": Scene(("delay", "0.05")),
        "a delay said to be 15 ms shorter": Scene(("delay", "0.005")),
        "a bandwidth said to be half as much again": Scene(("bandwidth", "7_500_000")),
        "acknowledgements are delayed by 10 ms": Scene(ack_delay=0.01),
        "a path's delay rises by 40 ms": Scene(delay=50 * MILLISECOND),
        "a path's bandwidth falls from 5 to 2 Mbit/s": Scene(rate=SLOWER, limit=slower),
    }


@dataclass(frozen=True, slots=True)
class Seen:
    """What a connection got, and what it met."""

    goodput: float
    retransmitted: int
    reordered: int


def lab_with(source: Source, scene: Scene) -> Lab:
    """Return the lab with schedules fed from a source, and with what the scene says wrongly."""
    text = LAB.read_text().replace('source = "ioam"', f'source = "{source.value}"')
    if source is not Source.IOAM:
        text = re.sub(r'(trace|probe) = ".+\n', "", text)
    if scene.configured:
        key, value = scene.configured
        text = re.sub(rf'(provider = "{PROVIDER}"\n(?:.+\n)*?{key} = ).+', rf"\g<1>{value}", text, count=1)
    return parse_lab(text, LAB.name, LAB.stem)


def measure(source: Source, scene: Scene, seconds: float, seed: int) -> Seen:
    """Let one connection send as fast as it can."""
    lab = VirtualLab(lab_with(source, scene), seed)
    watch = Watch()
    _watch(lab, SENDER, watch.note_sent)
    _watch(lab, RECEIVER, watch.note_arrived)
    lab.run_until(BEGIN)
    lab.command(RECEIVER, "tcp_serve", port=PORT, interval=INTERVAL, ack_delay=scene.ack_delay)
    to = str(lab.plan.hosts[RECEIVER].address.ip)
    lab.command(SENDER, "tcp_send", to=to, port=PORT, buffer=BUFFER)
    lab.run_for(WARM_UP)
    begin = lab.now
    lab.run_for(CHANGE)
    _change(lab, scene)
    lab.run_for(seconds - CHANGE)
    rates = lab.events_of(RECEIVER, "rate")
    octets: int = sum(each["bytes"] for each in rates if each["at_ns"] / SECOND > begin)
    return Seen(octets * 8 / seconds, watch.retransmissions, watch.reordered)


def _watch(lab: VirtualLab, host: str, note: Callable[[bytes], None]) -> None:
    edge = lab.plan.hosts[host].edge
    link = lab.links[f"{edge}-{host}"]
    # Where what the sender sends, and what the receiver gets, passes.
    end = edge if host == SENDER else host
    deliver = link.receivers[end]

    def passing(frame: bytes) -> None:
        note(frame)
        deliver(frame)

    link.connect(end, passing)


def _change(lab: VirtualLab, scene: Scene) -> None:
    if scene.delay is not None:
        lab.links[LINK].become(Quality(delay=scene.delay))
    if scene.rate is not None:
        edge, _, provider = LINK.partition("-")
        port = lab.plan.routers[edge].port_to(provider).number
        lab.switches[edge].shape(port, round(scene.rate), QUEUE)


def run_all(quick: bool, seed: int) -> Result:
    """Run each scene with each source."""
    seconds = QUICK_SECONDS if quick else SECONDS
    cases = scenes(seconds)
    with ProcessPoolExecutor() as pool:
        runs = {
            (name, source): pool.submit(measure, source, scene, seconds, seed)
            for name, scene in cases.items()
            for source in Source
        }
        seen = {key: run.result() for key, run in runs.items()}
    rows: list[Sequence[object]] = []
    goals: list[Goal] = []
    for name, scene in cases.items():
        limit = scene.limit * PAYLOAD
        by_source = [seen[name, source] for source in Source]
        rows.append(
            (
                name,
                *(f"{megabits(each.goodput)} ({each.retransmitted}, {each.reordered})" for each in by_source),
                megabits(limit),
            )
        )
        best = max(by_source, key=lambda each: each.goodput)
        source = tuple(Source)[by_source.index(best)].value
        told = f"{name}: {share(best.goodput, limit)} of the limit with {source}; 90 % wanted with one of them"
        goals.append(Goal(told, best.goodput >= GOAL * limit))
    head = ("goodput (retransmitted, reordered)", *(source.value for source in Source), "limit")
    bars = [Bars(source.value, [seen[name, source].goodput / 1e6 for name in cases]) for source in Source]
    panel = Panel("Where parameters come from", "", "goodput in Mbit/s", bars, list(cases))
    data = {f"{name}, {source.value}": each.goodput for (name, source), each in seen.items()}
    return Result("multipath-fed", data, table(head, rows), goals, (panel,))
