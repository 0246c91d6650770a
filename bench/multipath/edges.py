"""Live, through the edges with their controllers: the lab `many-paths` in namespaces, Linux's TCP at its ends.

Paths are links of 2, 4 and 5 Mbit/s that the switches shape, schedules come from `[[schedule]]`: by what TCP
acknowledges (`marks`), and fastest first also by what the peer's edge reports (`feedback`). What TCP met is read from
the kernel's counters in the hosts' namespaces.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace

from bench.figures import Line, Panel
from bench.multipath.draws import DRAWS, QUICK_DRAWS
from bench.multipath.kernel_counters import Counter, counter
from bench.multipath.many_paths import SOURCES, many_paths
from bench.multipath.report import Goal, Result, bars_of, counted, drawn, percent, rates_of, shares_of
from bench.multipath.tap import missing
from bench.shim6.report import table
from bench.spread import headed
from wayname.config.schedules import SchedulingPolicy, Source
from wayname_lab.host_handle import Event
from wayname_lab.load import LabError
from wayname_lab.namespaces import Namespaces
from wayname_lab.plan import plan_lab
from wayname_lab.running import LabFolder, RunningLab

SENDER, RECEIVER = "a1", "b1"
LINKS = {"a-p": 2e6, "a-q": 4e6, "a-r": 5e6}
DYING = "a-r"
SCHEDULE = "sites"
# The policies that share packets out: each goes once.
SHARING = tuple(policy for policy in SchedulingPolicy if policy is not SchedulingPolicy.REDUNDANT)
PORT = 5001
SECONDS = 3.0
# When a path dies, as parts of this.
DIES = (0.2, 0.5)
SAMPLE = 0.25
PAUSE = 0.5
PATIENCE = 30.0
# Of a frame of 1514 octets: what is no header of Ethernet, IPv6, session payload, TCP, timestamps.
PAYLOAD = 1420 / 1514
# Percent of the limit, and of the best policy.
GOAL, GOAL_OF_BEST = 90.0, 99.0
# Linux's counters of all connections of a namespace.
RETRANSMITTED = Counter("snmp", "Tcp", "RetransSegs")
OUT_OF_ORDER = Counter("netstat", "TcpExt", "TCPOFOQueue")


@dataclass(slots=True)
class Scene:
    """A connection for some seconds, and what it met."""

    goodput: float = 0.0
    limit: float = 0.0
    retransmitted: int = 0
    out_of_order: int = 0
    # By link: seconds and bit/s.
    sending: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


class Arrived:
    """What the receiving host got, by the port of each connection."""

    def __init__(self) -> None:
        self._ports: dict[int, int] = {}
        self.octets: dict[int, int] = {}

    def take(self, host: str, event: Event) -> None:
        """Take an event of a host."""
        if host != RECEIVER:
            return
        if event["event"] == "tcp_connected":
            self._ports[event["flow"]] = int(event["local"].rpartition(":")[2])
        elif event["event"] == "rate" and event["flow"] in self._ports:
            self.octets[self._ports[event["flow"]]] = event["total_bytes"]


class Live:
    """The lab while it runs."""

    def __init__(self, lab: RunningLab, arrived: Arrived) -> None:
        self.lab = lab
        self._arrived = arrived
        self._next_port = PORT

    async def connection(self, seconds: float, *, dies: float | None = None) -> Scene:
        """Let one connection send; a path may die on the way."""
        before = await self._counters()
        port, self._next_port = self._next_port, self._next_port + 1
        to = str(self.lab.plan.hosts[RECEIVER].address.ip)
        serving = await self.lab.hosts[RECEIVER].start({"command": "tcp_serve", "port": port, "interval": SAMPLE})
        flow = await self.lab.hosts[SENDER].start({"command": "tcp_send", "to": to, "port": port})
        sampling = asyncio.create_task(self._sample(seconds))
        if dies is not None:
            await asyncio.sleep(dies)
            await self._set_cut(True)
        sending = await sampling
        received = self._arrived.octets.get(port, 0)
        self.lab.hosts[SENDER].stop(flow)
        if dies is not None:
            await self._set_cut(False)
        await asyncio.sleep(PAUSE)
        self.lab.hosts[RECEIVER].stop(serving)
        after = await self._counters()
        retransmitted, out_of_order = (late - early for early, late in zip(before, after, strict=True))
        limit = sum(LINKS.values()) - (0.0 if dies is None else LINKS[DYING] * (1 - dies / seconds))
        return Scene(received * 8 / seconds, limit * PAYLOAD, retransmitted, out_of_order, sending)

    async def set_policy(self, policy: SchedulingPolicy) -> None:
        """Have both edges share packets out this way."""
        for edge in self.lab.plan.lab.edges:
            await self.lab.controllers[edge.name].set_policy(SCHEDULE, policy.value)

    async def until_session(self) -> None:
        """Send until a session goes by all paths: the first packets may be lost, as next hops are not found yet."""
        deadline = self.lab.elapsed() + PATIENCE
        while not all([await self._has_all_paths(edge.name) for edge in self.lab.plan.lab.edges]):
            if self.lab.elapsed() > deadline:
                raise LabError(f"no session goes by all paths after {PATIENCE:.0f} s of connections")
            await self.connection(PAUSE)

    async def until_all_paths(self) -> None:
        """Wait until both edges send by all paths."""
        deadline = self.lab.elapsed() + PATIENCE
        for edge in self.lab.plan.lab.edges:
            while not await self._has_all_paths(edge.name):
                if self.lab.elapsed() > deadline:
                    raise LabError(f"edge {edge.name} has not proven all paths in {PATIENCE:.0f} s")
                await asyncio.sleep(SAMPLE)

    async def _has_all_paths(self, edge: str) -> bool:
        return await self.lab.controllers[edge].scheduled_paths(SCHEDULE) == len(LINKS)

    async def _set_cut(self, cut: bool) -> None:
        link = next(link for link in self.lab.plan.lab.links if link.name == DYING)
        await self.lab.set_cut(link, cut)

    async def _sample(self, seconds: float) -> dict[str, list[tuple[float, float]]]:
        links = [link for link in self.lab.plan.lab.links if link.name in LINKS]
        sending: dict[str, list[tuple[float, float]]] = {link.name: [] for link in links}
        begin = self.lab.elapsed()
        last: dict[str, tuple[float, int]] = {}
        while (now := self.lab.elapsed()) < begin + seconds:
            for link in links:
                octets = (await self.lab.link_octets(link)).sent
                if link.name in last:
                    at, before = last[link.name]
                    sending[link.name].append((now - begin, (octets - before) * 8 / (now - at)))
                last[link.name] = now, octets
            await asyncio.sleep(SAMPLE)
        return sending

    async def _counters(self) -> tuple[int, int]:
        return await counter(self.lab, SENDER, RETRANSMITTED), await counter(self.lab, RECEIVER, OUT_OF_ORDER)


@asynccontextmanager
async def running(source: Source) -> AsyncIterator[Live]:
    """Have the lab run, with a session that goes by all paths."""
    plan = plan_lab(many_paths(source))
    arrived = Arrived()
    with LabFolder() as folder:
        async with RunningLab(plan, Namespaces(plan, folder), folder, arrived.take) as lab:
            live = Live(lab, arrived)
            await live.until_session()
            yield live


@dataclass(frozen=True, slots=True)
class Run:
    """A connection of a draw."""

    policy: SchedulingPolicy
    dies: float | None = None  # seconds after which a path does
    source: Source = Source.MARKS

    @property
    def name(self) -> str:
        """What it is called."""
        by = ", feedback" if self.source is Source.FEEDBACK else ""
        return self.policy.value + by + (", a path dies" if self.dies else "")


def drawn_runs(draws: int, seconds: float, seed: int) -> list[list[Run]]:
    """Draw the order of each draw's runs, and when the path dies."""
    rng = random.Random(seed)
    drawn = []
    for _ in range(draws):
        dies = seconds * rng.uniform(*DIES)
        runs = [Run(policy) for policy in SHARING]
        runs += [Run(policy, dies) for policy in (SchedulingPolicy.FASTEST_FIRST, SchedulingPolicy.BEST_PATH)]
        of_draw = rng.sample(runs, len(runs))
        fastest = [run for run in of_draw if run.policy is SchedulingPolicy.FASTEST_FIRST]
        drawn.append(of_draw + [replace(run, source=Source.FEEDBACK) for run in fastest])
    return drawn


async def measure(drawn: Sequence[Sequence[Run]], seconds: float) -> dict[str, list[Scene]]:
    """Run all of them."""
    seen: dict[str, list[Scene]] = {run.name: [] for run in sorted(drawn[0], key=lambda run: run.name)}
    for source in SOURCES:
        async with running(source) as live:
            for run in (run for of_draw in drawn for run in of_draw if run.source is source):
                await live.set_policy(run.policy)
                seen[run.name].append(await live.connection(seconds, dies=run.dies))
                if run.dies is not None:
                    await live.until_all_paths()
    return seen


def run_all(quick: bool, seed: int) -> Result:
    """Compare policies, and with a path that dies."""
    lacking = missing()
    if lacking:
        return Result("multipath-edges", {}, [f"skipped: a live run between Linux hosts needs {lacking}"])
    draws = QUICK_DRAWS if quick else DRAWS
    runs = drawn_runs(draws, SECONDS, seed)
    loads = [os.getloadavg()[0]]
    seen = asyncio.run(measure(runs, SECONDS))
    loads.append(os.getloadavg()[0])
    shares = {name: [100 * scene.goodput / scene.limit for scene in of_draws] for name, of_draws in seen.items()}
    rows = [
        (
            name,
            f"{rates_of([scene.goodput for scene in of_draws]).median:.2f}",
            *shares_of(shares[name]).cells(1),
            counted([scene.retransmitted for scene in of_draws]),
            counted([scene.out_of_order for scene in of_draws]),
        )
        for name, of_draws in seen.items()
    ]
    head = ("policy, Linux TCP", "Mbit/s: median", *headed("% of the limit"))
    text = table((*head, "retransmitted: median (worst)", "out of order"), rows)
    load = f"load of the machine {loads[0]:.1f} before and {loads[1]:.1f} after"
    text.append(f"{drawn(draws, seed)}; {SECONDS:g} s each; {load}")
    first = shares[Run(SchedulingPolicy.FASTEST_FIRST).name]
    reported = shares[Run(SchedulingPolicy.FASTEST_FIRST, source=Source.FEEDBACK).name]
    best = [max(of_draw) for of_draw in zip(*(shares[policy.value] for policy in SHARING), strict=True)]
    goals = [
        Goal.of_nine_draws_in_ten("three paths through the edges: of the limit", first, GOAL),
        Goal.of_nine_draws_in_ten("three paths through the edges, feedback: of the limit", reported, GOAL),
        Goal.of_nine_draws_in_ten("fastest first, of the best policy in each draw", percent(first, best), GOAL_OF_BEST),
    ]
    shown = [SchedulingPolicy.FASTEST_FIRST.value, f"{SchedulingPolicy.FASTEST_FIRST.value}, a path dies"]
    middle = {name: _middle(seen[name]) for name in shown}
    bars = bars_of("Linux TCP", [rates_of([scene.goodput for scene in of_draws]) for of_draws in seen.values()])
    title = "Linux TCP through the edges; 10th to 90th percentile"
    panels = [
        Panel(title, "", "goodput in Mbit/s", (bars,), list(seen)),
        *(
            Panel(f"Sending rate in the middle draw: {name}", "seconds", "Mbit/s", _lines(middle[name]))
            for name in shown
        ),
    ]
    # Rates over time fill a file: those that are drawn are kept.
    data = {
        name: [asdict(scene if scene is middle.get(name) else replace(scene, sending={})) for scene in of_draws]
        for name, of_draws in seen.items()
    }
    return Result("multipath-edges", data, text, goals, panels)


def _middle(scenes: Sequence[Scene]) -> Scene:
    """Return the draw whose goodput is in the middle."""
    return sorted(scenes, key=lambda scene: scene.goodput)[len(scenes) // 2]


def _lines(scene: Scene) -> list[Line]:
    return [
        Line(f"link {link} of {LINKS[link] / 1e6:g} Mbit/s", [(at, rate / 1e6) for at, rate in points], marks=False)
        for link, points in scene.sending.items()
    ]
