"""Live: unmodified hosts behind edges that tell each other what came, beside MPTCP at both hosts over the same links.

The lab `many-paths` in namespaces twice, side by side: once with whole edges, once with edges that only route and an
address of each provider at the hosts. Links are changed while a connection lasts. Both labs have the same draws.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from threading import Barrier

from bench.figures import Panel
from bench.in_namespaces import end, inside, line_of, start_end
from bench.mptcp import IN_KERNEL, join_providers, only_routing, other_addresses
from bench.multipath import edges, kernel_counters
from bench.multipath.changing_links import BEFORE, NOTHING, Changes, ChangingLinks, carried, drawn_changes
from bench.multipath.draws import near
from bench.multipath.edges import LINKS, RECEIVER, SENDER
from bench.multipath.ideal import DELAY
from bench.multipath.many_paths import many_paths
from bench.multipath.path import Route
from bench.multipath.report import Goal, Result, bars_of, drawn, percent, rates_of, shares_of
from bench.shim6.report import table
from bench.side_by_side import side_by_side
from bench.spread import headed
from wayname.config.schedules import Source
from wayname_lab.host_handle import Event
from wayname_lab.load import LabError
from wayname_lab.model import Link, Quality
from wayname_lab.namespaces import Namespaces, missing_for_namespaces
from wayname_lab.plan import plan_lab
from wayname_lab.running import LabFolder, RunningLab

SECONDS = 3.0
# Until the queues of a run are empty, and until edges and providers have noticed that a link is back.
PAUSE, ROUTED = 0.7, 1.5
PATIENCE = 20.0
ROUTES = tuple(Route(rate, DELAY, 100) for rate in LINKS.values())
PROGRAM = "bench.multipath.linux_tcp"
# Of a frame of 1514 octets: what is no header of Ethernet, IPv6, TCP, timestamps. What edges and MPTCP add is theirs.
PAYLOAD = 1428 / 1514
JOINED = kernel_counters.Counter("netstat", "MPTcpExt", "MPJoinAckRx")


@dataclass(frozen=True, slots=True)
class Way:
    """How a connection gets to all paths, or to one."""

    name: str
    congestion: str = "cubic"
    mptcp: bool = False
    behind_edges: bool = False
    by_last_provider: bool = False  # to the address that the peer has of it: the best path


OURS = Way("TCP cubic behind edges", behind_edges=True)
BBR = Way("TCP bbr behind edges", "bbr", behind_edges=True)
MPTCP = Way("MPTCP cubic at hosts", mptcp=True)
BEST_PATH = Way("TCP cubic, best path", by_last_provider=True)
WAYS = (OURS, BBR, MPTCP, BEST_PATH)
COMPARED = (OURS, MPTCP)
MAIN = (NOTHING, "a path dies", "a path's rate is halved")
# Twelve minutes hold no more: rows beside the main ones have fewer draws, and the other two ways fewer rows as well.
FEWER_DRAWS = 8
ROWS_OF_ALL_WAYS = (NOTHING, "a path dies")
# With all rows a draw takes a minute.
QUICK_DRAWS = 1


@dataclass(frozen=True, slots=True)
class Run:
    """A connection of a draw."""

    row: str
    way: Way
    links: Mapping[str, Link]
    changes: Changes = ()

    @property
    def limit(self) -> float:
        """The bit/s that all paths carry on average while something happens to one, without headers."""
        rates: float = sum(self.links[name].quality.rate or 0 for name in LINKS)
        if self.changes:
            quality = self.links[self.changes[0].link].quality
            rates += carried(quality, self.changes, SECONDS) / SECONDS - (quality.rate or 0)
        return rates * PAYLOAD


@dataclass(frozen=True, slots=True)
class Seen:
    """What a connection came to."""

    row: str
    way: str
    goodput: float
    limit: float
    subflows: int


@dataclass(frozen=True, slots=True)
class Lane:
    """The runs of one lab."""

    behind_edges: bool
    runs: Sequence[Run]


def drawn_runs(quick: bool, seed: int) -> list[list[Run]]:
    """Draw what paths are like, what happens to which link, and in which order a draw's connections come."""
    of_draws = []
    for number, draw in enumerate(islice(near(ROUTES, quick, seed), QUICK_DRAWS if quick else None)):
        rng, links = draw.rng, links_of(draw.routes)
        # Each path in turn, at one of its two links.
        link = links[rng.choice("ab") + list(LINKS)[number % len(LINKS)][1:]]
        runs = [
            Run(row, way, links, changes)
            for row, changes in drawn_changes(link, SECONDS, rng).items()
            for way in WAYS
            if number < FEWER_DRAWS or (row in MAIN and way in COMPARED)
            if row in ROWS_OF_ALL_WAYS or way in COMPARED
        ]
        of_draws.append(rng.sample(runs, len(runs)))
    return of_draws


def links_of(routes: Sequence[Route]) -> dict[str, Link]:
    """Return the links of the labs where their paths are such; both of a path's links are alike."""
    found = {}
    for link in many_paths(Source.FEEDBACK).links:
        route = routes[list(LINKS).index(f"a-{link.b}")]
        quality = Quality(rate=round(route.rate), delay=route.delay // 2, queue=route.queue)
        found[link.name] = replace(link, quality=quality)
    return found


class Live:
    """A lab while it runs, and connections of Linux through it."""

    def __init__(self, lab: RunningLab, until_ready: Callable[[], Awaitable[None]]) -> None:
        self.lab = lab
        self._until_ready = until_ready
        self._quiet_at = 0.0
        self._links = ChangingLinks(lab)

    async def connection(self, run: Run) -> Seen:
        """Let one connection send while something happens to a link."""
        await self._links.become(run.links)
        joined = await kernel_counters.counter(self.lab, RECEIVER, JOINED)
        before = [change for change in run.changes if change.at < 0]
        kind = ["mptcp"] if run.way.mptcp else []
        async with AsyncExitStack() as ending:
            receiver = await self._start(ending, RECEIVER, *kind, "receive", str(SECONDS))
            await line_of(receiver, PATIENCE)
            await asyncio.sleep(self._quiet_at - time.monotonic())
            await self._until_ready()
            if before:
                await self._links.apply(before, time.monotonic() + BEFORE)
                await asyncio.sleep(BEFORE)
            sender = await self._start(ending, SENDER, *kind, "send", self._to(run.way), run.way.congestion)
            begin = float(json.loads(await line_of(sender, PATIENCE))["begin"])
            ending.push_async_callback(self._links.restore, run.changes)
            await self._links.apply(run.changes[len(before) :], begin)
            goodput = float(json.loads(await line_of(receiver, PATIENCE))["goodput"])
        was_dead = any(change.quality.loss == 1 for change in run.changes)
        self._quiet_at = time.monotonic() + (ROUTED if was_dead else PAUSE)
        subflows = 1 + await kernel_counters.counter(self.lab, RECEIVER, JOINED) - joined
        return Seen(run.row, run.way.name, goodput, run.limit, subflows)

    def _to(self, way: Way) -> str:
        host = self.lab.plan.hosts[RECEIVER]
        return str(other_addresses(self.lab.plan, host)[-1] if way.by_last_provider else host.address.ip)

    async def _start(self, ending: AsyncExitStack, host: str, *words: str) -> asyncio.subprocess.Process:
        process = await start_end(self.lab, host, PROGRAM, *words)
        ending.push_async_callback(end, process)
        return process


@asynccontextmanager
async def behind_edges() -> AsyncIterator[Live]:
    """Have the lab run with whole edges, and a session that goes by all paths."""
    async with edges.running(Source.FEEDBACK) as live:
        await _keep_no_metrics(live.lab)
        yield Live(live.lab, live.until_all_paths)


@asynccontextmanager
async def only_routed() -> AsyncIterator[Live]:
    """Have the lab run with edges that only route, and MPTCP at its hosts that goes by all paths."""
    plan = only_routing(plan_lab(many_paths(Source.FEEDBACK)))
    with LabFolder() as folder:
        async with RunningLab(plan, Namespaces(plan, folder), folder, _nothing) as lab:
            # With `subflow` at the sender MPTCP gets less, with `fullmesh` as much.
            await join_providers(lab, plan.hosts[SENDER], None)
            await join_providers(lab, plan.hosts[RECEIVER], "signal")
            await _keep_no_metrics(lab)
            live = Live(lab, partial(asyncio.sleep, 0))
            deadline = lab.elapsed() + PATIENCE
            # The first packets may be lost, as next hops are not found yet.
            while (await live.connection(Run(NOTHING, MPTCP, links_of(ROUTES)))).subflows < len(LINKS):
                if lab.elapsed() > deadline:
                    raise LabError(f"MPTCP does not go by all paths after {PATIENCE:.0f} s of connections")
            yield live


async def _keep_no_metrics(lab: RunningLab) -> None:
    """Have each connection know nothing of those before it."""
    for host in (SENDER, RECEIVER):
        await inside(lab, host, "sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1")


def _nothing(host: str, event: Event) -> None:
    """Hosts carry connections of our own programs; nothing else is asked of them."""


def measure(drawn: Sequence[Sequence[Run]]) -> list[Seen]:
    """Make all connections: those behind edges in one lab, the others in the other at the same time."""
    runs = [run for of_draw in drawn for run in of_draw]
    lanes = [Lane(behind, [run for run in runs if run.way.behind_edges is behind]) for behind in (True, False)]
    return [seen for lane in side_by_side(_measured, lanes, len(lanes)) for seen in lane]


def _measured(lane: Lane, all_started: Barrier) -> list[Seen]:
    return asyncio.run(_measure(lane, all_started))


async def _measure(lane: Lane, all_started: Barrier) -> list[Seen]:
    async with behind_edges() if lane.behind_edges else only_routed() as live:
        await asyncio.to_thread(all_started.wait)
        return [await live.connection(run) for run in lane.runs]


def summed_up(seen: Sequence[Seen]) -> tuple[list[str], list[Goal]]:
    """Return the tables of all rows, and whether ours has at least as much goodput as MPTCP in each."""
    rows: list[Sequence[object]] = []
    pairs: list[Sequence[object]] = []
    goals: list[Goal] = []
    for row in rows_of(seen):
        of_row = {way: [each for each in seen if (each.row, each.way) == (row, way.name)] for way in WAYS}
        for way, of_way in of_row.items():
            if of_way:
                shares = percent([each.goodput for each in of_way], [each.limit for each in of_way])
                goodput = f"{rates_of([each.goodput for each in of_way]).median:.2f}"
                rows.append((row, way.name, len(of_way), goodput, *shares_of(shares).cells(1)))
        ours, other = ([each.goodput for each in of_row[way]] for way in (OURS, MPTCP))
        ratios = shares_of(percent(ours, other))
        pairs.append((row, *ratios.cells(1)))
        medians = [rates_of(each).median for each in (ours, other)]
        told = f"{row}: {medians[0]:.2f} Mbit/s at the median behind edges, {medians[1]:.2f} with MPTCP"
        goals.append(Goal(f"{told}; at least as much wanted", medians[0] >= medians[1]))
        goals.append(Goal.of_nine_draws_in_ten(f"{row}: of MPTCP's goodput in each draw", percent(ours, other), 100.0))
    head = ("", "way", "draws", "Mbit/s: median", *headed("% of the limit"))
    return [*table(head, rows), "", *table(("", *headed("% of MPTCP's goodput in each draw")), pairs)], goals


def rows_of(seen: Sequence[Seen]) -> list[str]:
    """Return what happened to links, in the order of the table."""
    met = {each.row for each in seen}
    return [row for row in drawn_changes(links_of(ROUTES)["a-p"], SECONDS, random.Random()) if row in met]


def missing() -> str:
    """Return what this machine lacks, in words, if anything."""
    if lacking := missing_for_namespaces():
        return f"namespaces {lacking}"
    return "" if IN_KERNEL.exists() else "this kernel has no MPTCP"


def run_all(quick: bool, seed: int) -> Result:
    """Compare both where nothing happens to links, and where something does."""
    if lacking := missing():
        return Result("multipath-mptcp", {}, [f"skipped: {lacking}"])
    runs = drawn_runs(quick, seed)
    loads = [os.getloadavg()[0]]
    seen = measure(runs)
    loads.append(os.getloadavg()[0])
    text, goals = summed_up(seen)
    subflows = Counter(each.subflows for each in seen if each.way == MPTCP.name)
    by_subflows = ", ".join(f"{count} with {number}" for number, count in sorted(subflows.items()))
    text.append(f"connections of MPTCP: {by_subflows} subflows")
    text.append(
        f"{drawn(len(runs), seed)}; {SECONDS:g} s each;"
        f" load of the machine {loads[0]:.1f} before and {loads[1]:.1f} after"
    )
    names = rows_of(seen)
    bars = [
        bars_of(
            way.name,
            [rates_of([each.goodput for each in seen if (each.row, each.way) == (row, way.name)]) for row in names],
        )
        for way in COMPARED
    ]
    panel = Panel("Linux TCP behind edges, and MPTCP; 10th to 90th percentile", "", "goodput in Mbit/s", bars, names)
    return Result("multipath-mptcp", [asdict(each) for each in seen], text, goals, (panel,))
