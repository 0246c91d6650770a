"""Parameters that are fixed, follow the marks, or follow what traces (IOAM) tell (N3).

Whole edges with their controllers on the virtual clock (`measured.toml`), where the configuration is wrong or a path
changes. With IOAM the sender's edge sends probes, which come back to it with their traces.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Panel
from bench.multipath.draws import DRAWS, QUICK_DRAWS
from bench.multipath.edges import LINKS, PORT, RECEIVER, SENDER
from bench.multipath.report import Goal, Result, bars_of, counted, drawn, percent, rates_of, shares_of
from bench.multipath.segments import Watch
from bench.shim6.report import table
from bench.spread import headed
from wayname.config.schedules import Source
from wayname_lab.load import parse_lab
from wayname_lab.model import Lab, Quality
from wayname_lab.virtual.clock import MILLISECOND, SECOND
from wayname_lab.virtual.lab import VirtualLab

LAB = Path(__file__).with_name("measured.toml")
# Seconds: when the connection begins, and when a path changes after the measurement began.
BEGIN = (0.5, 1.0)
WARM_UP = 1.5
CHANGE = (0.5, 1.5)
SECONDS, QUICK_SECONDS = 3.0, 2.0
BUFFER = 131_072
INTERVAL = 0.1
QUEUE = 100
GOAL = 90.0  # percent of the limit, with the best source
# Of a frame of 1514 octets: what is no header of Ethernet, IPv6, session payload and TCP.
PAYLOAD = 1432 / 1514
PROVIDER, LINK, RATE = "r", "a-r", LINKS["a-r"]
DELAY = 0.02  # seconds of its path


@dataclass(frozen=True, slots=True)
class Scene:
    """What the configuration says wrongly of a provider's path, and how the path changes."""

    configured: tuple[str, str] | None = None  # a key of `[[schedule.path]]` and its value
    delay: int | None = None  # nanoseconds of its link
    rate: float | None = None  # bits per second of its link
    limit: float = sum(LINKS.values())  # what all paths carry on average, with headers


@dataclass(frozen=True, slots=True)
class Draw:
    """When the connection begins, when a path changes after the measurement began, and the scenes."""

    seed: int
    begin: float
    change: float
    scenes: dict[str, Scene]


def drawn_scenes(seconds: float, seed: int) -> Draw:
    """Draw moments, and by how much something is wrong or changes."""
    rng = random.Random(seed)
    begin, change = rng.uniform(*BEGIN), rng.uniform(*CHANGE)
    longer, shorter, more = rng.uniform(0.02, 0.04), rng.uniform(0.01, 0.018), rng.uniform(1.3, 1.7)
    rise, slower = rng.uniform(20, 60), rng.uniform(1.5e6, 2.5e6)
    left = sum(LINKS.values()) - (RATE - slower) * (seconds - change) / seconds
    scenes = {
        "all is as configured": Scene(),
        "a delay said to be 20 to 40 ms longer": Scene(("delay", f"{DELAY + longer:.4f}")),
        "a delay said to be 10 to 18 ms shorter": Scene(("delay", f"{DELAY - shorter:.4f}")),
        "a bandwidth said to be 1.3 to 1.7 times": Scene(("bandwidth", f"{round(RATE * more)}")),
        "a path's delay rises by 20 to 60 ms": Scene(delay=round((10 + rise) * MILLISECOND)),
        "a path's bandwidth falls from 5 to 1.5 to 2.5 Mbit/s": Scene(rate=slower, limit=left),
    }
    return Draw(seed, begin, change, scenes)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a connection got, and what it met."""

    goodput: float
    retransmitted: int
    reordered: int


def lab_with(source: Source, scene: Scene) -> Lab:
    """Return the lab with schedules fed from a source, and with what the scene says wrongly."""
    text = LAB.read_text().replace('source = "ioam"', f'source = "{source.value}"')
    if source is Source.FEEDBACK:
        text = text.replace(f'source = "{Source.MARKS}"', f'source = "{source}"')
    if source is not Source.IOAM:
        text = re.sub(r'(trace|probe) = ".+\n', "", text)
    if scene.configured:
        key, value = scene.configured
        text = re.sub(rf'(provider = "{PROVIDER}"\n(?:.+\n)*?{key} = ).+', rf"\g<1>{value}", text, count=1)
    return parse_lab(text, LAB.name, LAB.stem)


def measure(source: Source, name: str, draw: Draw, seconds: float) -> Seen:
    """Let one connection send as fast as it can."""
    scene = draw.scenes[name]
    lab = VirtualLab(lab_with(source, scene), draw.seed)
    watch = Watch()
    _watch(lab, SENDER, watch.note_sent)
    _watch(lab, RECEIVER, watch.note_arrived)
    lab.run_until(draw.begin)
    lab.command(RECEIVER, "tcp_serve", port=PORT, interval=INTERVAL)
    to = str(lab.plan.hosts[RECEIVER].address.ip)
    lab.command(SENDER, "tcp_send", to=to, port=PORT, buffer=BUFFER)
    lab.run_for(WARM_UP)
    begin = lab.now
    lab.run_for(draw.change)
    _change(lab, scene)
    lab.run_for(seconds - draw.change)
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
    rng = random.Random(seed)
    draws = [drawn_scenes(seconds, rng.getrandbits(32)) for _ in range(QUICK_DRAWS if quick else DRAWS)]
    cases = list(draws[0].scenes)
    with ProcessPoolExecutor() as pool:
        runs = {
            (name, source): [pool.submit(measure, source, name, draw, seconds) for draw in draws]
            for name in cases
            for source in Source
        }
        seen = {key: [run.result() for run in of_draws] for key, of_draws in runs.items()}
    rows: list[Sequence[object]] = []
    goals: list[Goal] = []
    for name in cases:
        limits = [draw.scenes[name].limit * PAYLOAD for draw in draws]
        shares = {source: percent([each.goodput for each in seen[name, source]], limits) for source in Source}
        for source in Source:
            again, mixed = (
                [getattr(each, what) for each in seen[name, source]] for what in ("retransmitted", "reordered")
            )
            rows.append((name, source.value, *shares_of(shares[source]).cells(1), counted(again), counted(mixed)))
        best = max(Source, key=lambda source: shares_of(shares[source]).tenth)
        what = f"{name}: of the limit with {best.value}, the best source"
        goals.append(Goal.of_nine_draws_in_ten(what, shares[best], GOAL))
    head = ("", "source", *headed("% of the limit"), "retransmitted: median (worst)", "reordered")
    text = [*table(head, rows), drawn(len(draws), seed)]
    bars = [
        bars_of(source.value, [rates_of([each.goodput for each in seen[name, source]]) for name in cases])
        for source in Source
    ]
    title = "Where parameters come from; 10th to 90th percentile"
    panel = Panel(title, "", "goodput in Mbit/s", bars, cases)
    data = {f"{name}, {source.value}": [each.goodput for each in of_draws] for (name, source), of_draws in seen.items()}
    return Result("multipath-fed", data, text, goals, (panel,))
