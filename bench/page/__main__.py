"""The live page under load: `python -m bench.page`, `--quick` in short."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import click
import httpx

from bench.cost.edge import EDGE, PROVIDER, RunningEdge
from bench.page.seen import Seen, watch
from bench.shim6.report import table
from bench.spread import HEADS_OF_MANY, Spread
from harness.browser import CHROMIUM, DRIVER, MISSING, chromium
from wayname.wire import icmpv6
from wayname.wire.ipv6 import ICMPV6, Packet
from wayname_lab.programs import python

SITES = """
[[provider]]
name = "q"
prefix = "2001:db8:201::/48"
via = ["2001:db8:0:1::9"]
[[shim6]]
prefixes = ["2001:db8:101:10::/64", "2001:db8:201:10::/64"]
security = "none"
most = 131071
"""
# Of each site: by two of our providers to two of its prefixes.
LINKS_OF_SITE = 4


@dataclass(frozen=True, slots=True)
class Load:
    """How much there is to see, and for how long."""

    sessions: int
    links: int
    events: int  # a second
    seconds: float


FULL = Load(100_000, 1_000, 10_000, 600.0)
QUICK = Load(20_000, 1_000, 1_000, 40.0)
PINGS = 20  # a second in the mean
LOST = 5.0  # seconds
GOAL_TASK, GOAL_AGE, GOAL_LATENCY, GOAL_GROWTH = 200.0, 1.0, 1.10, 1.10


@dataclass(slots=True)
class Phase:
    """What was measured while nobody, a program or a browser looked."""

    name: str
    seconds: float = 0.0
    round_trips: list[float] = field(default_factory=list)
    lost: int = 0
    controller: float = 0.0  # processor seconds
    resident: int = 0

    @property
    def row(self) -> tuple[str, ...]:
        """It, in a line; times in milliseconds."""
        times = Spread.of([each * 1e3 for each in self.round_trips or [LOST]]).cells_of_many(2)
        used = f"{self.controller / self.seconds:.0%}"
        return self.name, str(len(self.round_trips)), *times, str(self.lost), used, f"{self.resident / 2**20:.0f}"


def measure(edge: RunningEdge, name: str, seconds: float, rng: random.Random, meanwhile: Callable[[], object]) -> Phase:
    """Ping the controller at random moments while something goes on beside it."""
    phase = Phase(name)
    beside = threading.Thread(target=meanwhile)
    before, began = edge.spent(), time.monotonic()
    beside.start()
    waiting: dict[int, float] = {}

    def take(packet: Packet) -> None:
        if packet.next_header == ICMPV6 and packet.payload[0] == icmpv6.ECHO_REPLY:
            number = struct.unpack_from("!H", packet.payload, 6)[0]
            if number in waiting:
                phase.round_trips.append(time.monotonic() - waiting.pop(number))

    sent, next_at = 0, began
    while time.monotonic() < began + seconds or beside.is_alive():
        now = time.monotonic()
        if now >= next_at:
            sent += 1
            next_at += rng.uniform(0, 2 / PINGS)
            waiting[sent & 0xFFFF] = now
            edge.send(echo_request(sent & 0xFFFF))
        for number in [number for number, at in waiting.items() if now - at > LOST]:
            del waiting[number]
            phase.lost += 1
        edge.receive(take, 0.002)
    beside.join()
    spent = edge.spent().since(before)
    phase.seconds = time.monotonic() - began
    phase.controller, phase.resident = spent.controller, spent.resident
    return phase


def echo_request(number: int) -> Packet:
    """A ping of the edge's own address: the controller answers."""
    message = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, struct.pack("!HH", 1, number) + bytes(8))
    return message.packet(PROVIDER, EDGE)


@contextmanager
def page_of(folder: Path) -> Iterator[str]:
    """Run `wayname page`."""
    words = [python(), "-m", "wayname", "--api", f"unix:{folder}/api", "--json", "page"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield str(json.loads(process.stdout.readline())["address"])
        finally:
            process.terminate()


def read_feed(folder: Path, seconds: float) -> None:
    """Take frames as a page does, and draw nothing."""
    end = time.monotonic() + seconds
    transport = httpx.HTTPTransport(uds=str(folder / "api"))
    with (
        httpx.Client(transport=transport, base_url="http://localhost", timeout=30) as client,
        client.stream("GET", "/page/feed") as answer,
    ):
        for _ in answer.iter_raw():
            if time.monotonic() > end:
                return


@click.command()
@click.option("--quick", is_flag=True, help="Less of it, and for less time.")
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Draws the moments of pings, and what sessions do."
)
@click.option("--sessions", type=int)
@click.option("--events", type=int, help="A second.")
@click.option("--seconds", type=float, help="Of each phase.")
def main(quick: bool, seed: int, sessions: int | None, events: int | None, seconds: float | None) -> None:
    """Measure, and print; status 1 if a goal is missed."""
    if not (CHROMIUM and DRIVER):
        sys.exit(MISSING)
    scale = QUICK if quick else FULL
    load = Load(sessions or scale.sessions, scale.links, events or scale.events, seconds or scale.seconds)
    seen: list[Seen] = []
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="wayname-") as name:
        folder = Path(name)
        words = [python(), "-m", "bench.page.edge", "--seed", str(seed), "--events", str(load.events)]
        words += ["--sessions", str(load.sessions), "--sites", str(load.links // LINKS_OF_SITE)]
        with RunningEdge(folder, SITES, words) as edge, page_of(folder) as address, chromium(folder) as browser:
            phases = [
                measure(edge, "nobody", load.seconds, rng, lambda: None),
                measure(edge, "a reader", load.seconds, rng, lambda: read_feed(folder, load.seconds)),
                measure(
                    edge, "a browser", load.seconds, rng, lambda: seen.append(watch(browser, address, load.seconds))
                ),
                measure(edge, "nobody again", load.seconds, rng, lambda: None),
            ]
            complaints = browser.console()
    sizes = f"{load.sessions} sessions, {load.links} links, {load.events} events a second"
    click.echo(f"{sizes}, {load.seconds:.0f} s each")
    head = ("who looks", "packets in, ms", *HEADS_OF_MANY, "lost", "controller", "MiB")
    click.echo("\n".join(table(head, [phase.row for phase in phases])))
    missed = judge(seen[0], phases, complaints)
    click.echo(f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores")
    for each in missed:
        click.echo(f"MISSED: {each}")
    sys.exit(1 if missed else 0)


def judge(seen: Seen, phases: list[Phase], complaints: list[str]) -> list[str]:
    """Print what the browser saw, and return which goals are missed."""
    longest = max(seen.long_tasks, default=0.0)
    oldest = max(seen.ages, default=0.0)
    growth = growth_of(seen.heap)
    alone, watched = (median(phases[number].round_trips or [LOST]) for number in (0, 2))
    ratio = watched / alone
    click.echo(f"page: {seen.links} links drawn, {seen.sessions} sessions, {len(seen.ages)} times new events")
    click.echo(f"page: {len(seen.long_tasks)} tasks over 50 ms, the longest {longest:.0f} ms")
    ages = ", ".join(map(" ".join, zip(Spread.of(seen.ages or [0.0]).cells_of_many(2), HEADS_OF_MANY, strict=True)))
    click.echo(f"page: events on screen after so many seconds: {ages}")
    click.echo(f"page: heap {', '.join(f'{each / 2**20:.1f}' for each in seen.heap)} MiB; {seen.nodes[-1]} nodes")
    goals = [
        (longest <= GOAL_TASK, f"a task of the main thread took {longest:.0f} ms, more than {GOAL_TASK:.0f}"),
        (oldest <= GOAL_AGE, f"an event was on screen after {oldest:.2f} s, more than {GOAL_AGE:g}"),
        (growth <= GOAL_GROWTH, f"the page's memory behind a collection grew by {growth - 1:.0%} in the last quarter"),
        (ratio <= GOAL_LATENCY, f"packet-in took {ratio:.2f} times as long with a page as without"),
        (not complaints, f"the console has {complaints[:1]}"),
    ]
    return [text for holds, text in goals if not holds]


def growth_of(heap: Sequence[float]) -> float:
    """What is kept in the last quarter over that before: the least of each, as garbage was just collected."""
    quarter = len(heap) // 4
    if quarter == 0:
        return 1.0
    return min(heap[-quarter:]) / max(min(heap[-2 * quarter : -quarter]), 1)


if __name__ == "__main__":
    main()
