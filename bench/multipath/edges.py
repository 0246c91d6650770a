"""Live, through the edges with their controllers: the lab `many-paths` in namespaces, Linux's TCP at its ends.

Paths are links of 2, 4 and 5 Mbit/s that the switches shape, schedules come from `[[schedule]]`. What TCP met is read
from the kernel's counters in the hosts' namespaces.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace

from bench.figures import Bars, Line, Panel
from bench.multipath.experiment import megabits
from bench.multipath.report import Goal, Result, share
from bench.multipath.tap import missing
from bench.shim6.report import table
from wayname.config.schedules import SchedulingPolicy
from wayname_lab.host_handle import Event
from wayname_lab.load import LabError, find_lab
from wayname_lab.namespaces import Namespaces
from wayname_lab.plan import plan_lab
from wayname_lab.running import LabFolder, RunningLab

LAB = "many-paths"
SENDER, RECEIVER = "a1", "b1"
LINKS = {"a-p": 2e6, "a-q": 4e6, "a-r": 5e6}
DYING = "a-r"
SCHEDULE = "sites"
PORT = 5001
SECONDS, QUICK_SECONDS = 8.0, 3.0
SAMPLE = 0.25
PAUSE = 1.0
PATIENCE = 30.0
# Of a frame of 1514 octets: what is no header of Ethernet, IPv6, session payload, TCP, timestamps.
PAYLOAD = 1420 / 1514
GOAL = 0.9
# Linux's counters of all connections of a namespace.
RETRANSMITTED = ("snmp", "Tcp", "RetransSegs")
OUT_OF_ORDER = ("netstat", "TcpExt", "TCPOFOQueue")


@dataclass(slots=True)
class Scene:
    """A connection for some seconds, and what it met."""

    goodput: float = 0.0
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
        self._lab = lab
        self._arrived = arrived
        self._next_port = PORT

    async def connection(self, seconds: float, *, sack: bool = True, dies: float | None = None) -> Scene:
        """Let one connection send, with selective acknowledgements or not; a path may die on the way."""
        for host in (SENDER, RECEIVER):
            await self._inside(host, "sysctl", "-qw", f"net.ipv4.tcp_sack={int(sack)}")
        before = await self._counters()
        port, self._next_port = self._next_port, self._next_port + 1
        to = str(self._lab.plan.hosts[RECEIVER].address.ip)
        serving = await self._lab.hosts[RECEIVER].start({"command": "tcp_serve", "port": port, "interval": SAMPLE})
        flow = await self._lab.hosts[SENDER].start({"command": "tcp_send", "to": to, "port": port})
        sampling = asyncio.create_task(self._sample(seconds))
        if dies is not None:
            await asyncio.sleep(dies)
            await self._set_cut(True)
        sending = await sampling
        received = self._arrived.octets.get(port, 0)
        self._lab.hosts[SENDER].stop(flow)
        if dies is not None:
            await self._set_cut(False)
        await asyncio.sleep(PAUSE)
        self._lab.hosts[RECEIVER].stop(serving)
        after = await self._counters()
        retransmitted, out_of_order = (late - early for early, late in zip(before, after, strict=True))
        return Scene(received * 8 / seconds, retransmitted, out_of_order, sending)

    async def set_policy(self, policy: SchedulingPolicy) -> None:
        """Have both edges share packets out this way."""
        for edge in self._lab.plan.lab.edges:
            await self._lab.controllers[edge.name].set_policy(SCHEDULE, policy.value)

    async def until_all_paths(self) -> None:
        """Wait until both edges send by all paths."""
        deadline = self._lab.elapsed() + PATIENCE
        for edge in self._lab.plan.lab.edges:
            while await self._lab.controllers[edge.name].scheduled_paths(SCHEDULE) < len(LINKS):
                if self._lab.elapsed() > deadline:
                    raise LabError(f"edge {edge.name} has not proven all paths in {PATIENCE:.0f} s")
                await asyncio.sleep(SAMPLE)

    async def _set_cut(self, cut: bool) -> None:
        link = next(link for link in self._lab.plan.lab.links if link.name == DYING)
        await self._lab.set_cut(link, cut)

    async def _sample(self, seconds: float) -> dict[str, list[tuple[float, float]]]:
        links = [link for link in self._lab.plan.lab.links if link.name in LINKS]
        sending: dict[str, list[tuple[float, float]]] = {link.name: [] for link in links}
        begin = self._lab.elapsed()
        last: dict[str, tuple[float, int]] = {}
        while (now := self._lab.elapsed()) < begin + seconds:
            for link in links:
                octets = (await self._lab.link_octets(link)).sent
                if link.name in last:
                    at, before = last[link.name]
                    sending[link.name].append((now - begin, (octets - before) * 8 / (now - at)))
                last[link.name] = now, octets
            await asyncio.sleep(SAMPLE)
        return sending

    async def _counters(self) -> tuple[int, int]:
        return await self._counter(SENDER, *RETRANSMITTED), await self._counter(RECEIVER, *OUT_OF_ORDER)

    async def _counter(self, host: str, file: str, group: str, name: str) -> int:
        names, values = (
            line.split()[1:]
            for line in (await self._inside(host, "cat", f"/proc/net/{file}")).splitlines()
            if line.startswith(f"{group}:")
        )
        return int(values[names.index(name)])

    async def _inside(self, host: str, *command: str) -> str:
        arguments = [*self._lab.medium.prefix(host), *command]
        process = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
        said, _ = await process.communicate()
        if process.returncode:
            raise OSError(f"`{' '.join(arguments)}` failed with status {process.returncode}")
        return said.decode()


@asynccontextmanager
async def running() -> AsyncIterator[Live]:
    """Have the lab run, with a session that goes by all paths."""
    plan = plan_lab(replace(find_lab(LAB), flows=()))
    arrived = Arrived()
    with LabFolder() as folder:
        async with RunningLab(plan, Namespaces(plan, folder), folder, arrived.take) as lab:
            live = Live(lab, arrived)
            # Packets begin the session.
            await live.connection(PAUSE)
            await live.until_all_paths()
            yield live


async def measure(seconds: float) -> dict[str, Scene]:
    """Run all scenes."""
    seen: dict[str, Scene] = {}
    async with running() as live:
        for policy in SchedulingPolicy:
            await live.set_policy(policy)
            name = policy.value
            seen[name] = await live.connection(seconds)
            if policy in (SchedulingPolicy.FASTEST_FIRST, SchedulingPolicy.WEIGHTED_ROUND_ROBIN):
                seen[f"{name}, no SACK"] = await live.connection(seconds, sack=False)
            if policy in (SchedulingPolicy.FASTEST_FIRST, SchedulingPolicy.BEST_PATH):
                for sack in (True, False):
                    dying = f"{name}, a path dies{'' if sack else ', no SACK'}"
                    seen[dying] = await live.connection(seconds, sack=sack, dies=seconds / 3)
                    await live.until_all_paths()
    return seen


def run_all(quick: bool) -> Result:
    """Compare policies, with and without SACK, and with a path that dies."""
    lacking = missing()
    if lacking:
        return Result("multipath-edges", {}, [f"skipped: a live run between Linux hosts needs {lacking}"])
    seconds = QUICK_SECONDS if quick else SECONDS
    seen = asyncio.run(measure(seconds))
    whole = sum(LINKS.values()) * PAYLOAD
    left = whole - LINKS[DYING] * PAYLOAD * 2 / 3
    rows: list[Sequence[object]] = []
    for name, scene in seen.items():
        limit = left if "dies" in name else whole
        shown = megabits(scene.goodput), megabits(limit), share(scene.goodput, limit)
        rows.append((name, *shown, scene.retransmitted, scene.out_of_order))
    text = table(("policy, Linux TCP", "goodput", "limit", "of limit", "retransmitted", "out of order"), rows)
    first, best = (
        seen[policy.value].goodput for policy in (SchedulingPolicy.FASTEST_FIRST, SchedulingPolicy.BEST_PATH)
    )
    reached = f"{megabits(first)} of {megabits(whole)} Mbit/s, {share(first, whole)}"
    others = max(seen[policy.value].goodput for policy in SchedulingPolicy)
    goals = [
        Goal(f"three paths through the edges: {reached}; 90 % wanted", first >= GOAL * whole),
        Goal(
            f"fastest first has {share(first, others)} of the best policy's {megabits(others)} Mbit/s, and"
            f" {first / best:.2f} times what the best path has; 99 % wanted",
            first >= 0.99 * others,
        ),
    ]
    panels = [
        Panel(
            "Linux TCP through the edges",
            "",
            "goodput in Mbit/s",
            (Bars("Linux TCP", [scene.goodput / 1e6 for scene in seen.values()]),),
            list(seen),
        ),
        *(
            Panel(f"Sending rate: {name}", "seconds", "Mbit/s", _lines(seen[name]))
            for name in (SchedulingPolicy.FASTEST_FIRST.value, f"{SchedulingPolicy.FASTEST_FIRST.value}, a path dies")
        ),
    ]
    return Result("multipath-edges", {name: asdict(scene) for name, scene in seen.items()}, text, goals, panels)


def _lines(scene: Scene) -> list[Line]:
    return [
        Line(f"link {link} of {LINKS[link] / 1e6:g} Mbit/s", [(at, rate / 1e6) for at, rate in points], marks=False)
        for link, points in scene.sending.items()
    ]
