"""Figures 3 and 4: floods of UDP with the nonce option from random identifiers, against a live edge with a host.

Switches, controllers, hosts and attackers are processes, joined by wires. A host elsewhere pings the target, and a host
beside the target, within sessions, before the flood and during it; what it sees is the figure. Each run draws the
target's port, when each attacker begins, and the identifiers.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from threading import Barrier
from typing import Any

import httpx

from bench.figures import Bars, Line, Panel
from bench.shim6.report import Result, table
from bench.side_by_side import AT_ONCE, side_by_side
from bench.spread import HEADS, Spread, headed
from wayname.composition.configuration import parse_config
from wayname.wire.mac import Mac
from wayname_lab.configuration import Controlled, controller_toml
from wayname_lab.load import LabError, load_lab
from wayname_lab.model import Lab, LabIlnp
from wayname_lab.plan import plan_lab
from wayname_lab.planned import Plan
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.wires import Wires

LAB = Path(__file__).with_name("flooded.toml")
TARGET, BESIDE, FRIEND = "a1", "a2", "b1"
RATE = 43.0  # packets a second of an attacker, as in the paper
FULL = "full rate"
ATTACKERS: tuple[int | str, ...] = (1, 5, 10, FULL)
ATTACKERS_AT_FULL_RATE = 2
NAIVE, THREE_WAY, ANSWERED = "naive", "three-way", "three-way, the host answers everything"
POLICIES = (NAIVE, THREE_WAY, ANSWERED)
DRAWS, DRAWS_OF_A_LAB = 30, 5
SECONDS, QUICK_SECONDS = 3.0, 1.0
BEFORE = 0.5
PING_EVERY = 0.02
PING_TIMEOUT_NS = 1_000_000_000
PATIENCE, PAUSE = 60.0, 0.1
TICKS = os.sysconf("SC_CLK_TCK")
PAPER = {
    "stated": "one attacker: naive 424 µs at the end of 60 s, three-way around 34 µs; 28 µs whatever the attackers;"
    " naive: scheduling errors after 30 s of five attackers, no answer after 20 s of ten",
    "differs": "the paper shows the time of a kernel's function for a packet of the flood, at a host that takes ILNP's"
    f" options itself; here is what another host sees of an edge before the target, during floods of {SECONDS:g} s",
}


@dataclass
class Run:
    """A flood, and what the target's friend saw: round trips in milliseconds, by the seconds since it began."""

    policy: str
    attackers: int | str
    before: list[float] = field(default_factory=list)
    during: list[tuple[float, float]] = field(default_factory=list)
    lost: int = 0
    # The same of the host beside the target, which the flood does not reach.
    beside: list[float] = field(default_factory=list)
    beside_lost: int = 0
    lost_without: int = 0  # pings of either that were sent before the flood began, or after it
    packets: int = 0
    places: int = 0  # of the cache that the flood took
    # Microseconds of the target's switch and controller for a packet of the flood, beyond what they use without it.
    processor: float = 0.0

    @property
    def loss(self) -> float:
        """The part of the pings during the flood that was lost."""
        return self.lost / max(1, self.lost + len(self.during))

    @property
    def beside_loss(self) -> float:
        """The same of the host beside the target."""
        return self.beside_lost / max(1, self.beside_lost + len(self.beside))


@dataclass(frozen=True, slots=True)
class Part:
    """What one lab is used for: a flood with each seed."""

    policy: str
    attackers: int | str
    seconds: float
    seeds: Sequence[int]


def described(policy: str, attackers: int) -> Lab:
    """Return the lab with so many attackers."""
    lab = load_lab(LAB)
    there = {
        router.name for router in lab.routers if not router.name.startswith("x") or int(router.name[1:]) <= attackers
    }
    return replace(
        lab,
        ilnp=replace(lab.ilnp or LabIlnp(), naive=policy == NAIVE),
        routers=tuple(router for router in lab.routers if router.name in there),
        links=tuple(link for link in lab.links if {link.a, link.b} <= there),
    )


class FloodedLab(RunningLab):
    """The lab without the attackers' edges, which processes of their own stand for."""

    def __init__(self, plan: Plan, medium: Wires, folder: Path) -> None:
        self.run: Run | None = None
        self.flow_beside: int | None = None
        self.flooded_at: int | None = None
        self.over_at: int | None = None
        self.whole = plan
        started = replace(plan, routers={name: each for name, each in plan.routers.items() if not name.startswith("x")})
        super().__init__(started, medium, folder, self._note)

    def _note(self, host: str, event: dict[str, Any]) -> None:
        if self.run is None or host != FRIEND or event["event"] not in ("ping_reply", "ping_lost"):
            return
        run, is_beside = self.run, event["flow"] == self.flow_beside
        if event["event"] == "ping_lost":
            # The host gives a ping up a second after it sent it: what was sent before the flood is not its doing.
            if self._is_flooded(event["at_ns"] - PING_TIMEOUT_NS):
                run.lost, run.beside_lost = run.lost + (not is_beside), run.beside_lost + is_beside
            else:
                run.lost_without += 1
            return
        milliseconds = event["rtt_ns"] / 1e6
        if self.flooded_at is None and not is_beside:
            run.before.append(milliseconds)
        elif self.flooded_at is not None and self.over_at is None:
            if is_beside:
                run.beside.append(milliseconds)
            else:
                run.during.append(((event["at_ns"] - self.flooded_at) / 1e9, milliseconds))

    def _is_flooded(self, at: int) -> bool:
        return self.flooded_at is not None and at >= self.flooded_at and (self.over_at is None or at <= self.over_at)

    async def policies(self) -> dict[str, Any]:
        """Return what the target's edge says of its cache."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.folder / "a.api"))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge", timeout=PATIENCE) as client:
            answer: dict[str, Any] = (await client.get("/v1/ilnp/policies")).json()
        return answer

    def processor_time(self) -> float:
        """Return the processor seconds that the target's switch and controller have used."""
        ids = [self.supervisor.processes[f"a-{part}"].process.pid for part in ("switch", "controller")]
        fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in ids]
        return sum(int(each[11]) + int(each[12]) for each in fields) / TICKS


async def flood(part: Part, all_started: Barrier) -> list[Run]:
    """Start everything, let the friend's sessions stand, and flood the target once with each seed."""
    count = part.attackers if isinstance(part.attackers, int) else ATTACKERS_AT_FULL_RATE
    plan = plan_lab(described(part.policy, count))
    with LabFolder() as folder:
        wires = Wires(plan, folder)
        async with FloodedLab(plan, wires, folder) as lab:
            await asyncio.to_thread(all_started.wait)
            ping = {"command": "ping", "count": 0, "interval": PING_EVERY, "timeout": PING_TIMEOUT_NS / 1e9}
            to, beside = (str(plan.hosts[name].address.ip) for name in (TARGET, BESIDE))
            await lab.hosts[FRIEND].start({**ping, "to": to})
            lab.flow_beside = await lab.hosts[FRIEND].start({**ping, "to": beside})
            await _until_there_are_sessions(lab)
            return [await _flood_once(lab, wires, part, count, seed) for seed in part.seeds]


async def _flood_once(lab: FloodedLab, wires: Wires, part: Part, count: int, seed: int) -> Run:
    rng, run = random.Random(f"{seed} {part.policy} {part.attackers}"), Run(part.policy, part.attackers)
    port = rng.randrange(6000, 60000)
    serve = {"command": "udp_echo"} if part.policy == ANSWERED else {"command": "udp_receive"}
    serving = await lab.hosts[TARGET].start({**serve, "port": port})
    rate = RATE if isinstance(part.attackers, int) else None
    starts = (_start(lab.whole, wires, at, port, rate, part.seconds, rng.getrandbits(32)) for at in range(1, count + 1))
    processes = await asyncio.gather(*starts)
    lab.run, lab.flooded_at, lab.over_at = run, None, None
    idle = lab.processor_time()
    await asyncio.sleep(BEFORE)
    idle = (lab.processor_time() - idle) / BEFORE
    places = (await lab.policies())["places"]
    busy, lab.flooded_at = lab.processor_time(), _now()
    sent = await asyncio.gather(*(_attack(each, rng.uniform(0, 1 / RATE)) for each in processes))
    lab.over_at = _now()
    run.packets = sum(sent)
    busy = lab.processor_time() - busy - idle * (lab.over_at - lab.flooded_at) / 1e9
    run.processor = busy * 1e6 / max(1, run.packets)
    run.places = (await lab.policies())["places"] - places
    await asyncio.sleep(PING_TIMEOUT_NS / 1e9)
    lab.run = None
    lab.hosts[TARGET].stop(serving)
    return run


async def _until_there_are_sessions(lab: FloodedLab) -> None:
    for _ in range(round(PATIENCE / PAUSE)):
        if (await lab.policies())["sessions"] == 2:
            return
        await asyncio.sleep(PAUSE)
    raise LabError(f"{FRIEND} has no sessions with {TARGET} and {BESIDE}")


async def _start(
    plan: Plan, wires: Wires, number: int, port: int, rate: float | None, seconds: float, seed: int
) -> asyncio.subprocess.Process:
    edge = f"x{number}"
    arguments = {
        "--wire": wires.path("p", edge),
        "--router": _router(plan, edge),
        "--locator": plan.routers[edge].providers[0].prefix,
        "--host": plan.hosts[TARGET].address.ip,
        "--port": port,
        "--seconds": seconds,
        "--seed": seed,
        **({} if rate is None else {"--rate": rate}),
    }
    words = [str(word) for pair in arguments.items() for word in pair]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.ilcc.attacker", *words, stdin=pipe, stdout=pipe
    )
    assert process.stdout is not None
    if await process.stdout.readline() != b"ready\n":
        raise LabError(f"attacker {number} did not start")
    return process


async def _attack(process: asyncio.subprocess.Process, after: float) -> int:
    await asyncio.sleep(after)
    sent, _ = await process.communicate(b"\n")
    return int(sent)


def _router(plan: Plan, edge: str) -> Mac:
    """Return the address of the provider's interface towards an attacker."""
    config = parse_config(controller_toml(plan.routers["p"], Controlled("127.0.0.1:9559", "unix:/p.api")), "p.toml")
    interface = config.interface(plan.routers["p"].port_to(edge).vlan)
    assert interface is not None
    return interface.mac


def _now() -> int:
    return int(asyncio.get_running_loop().time() * 1e9)


def parts(draws: int, seconds: float, seed: int) -> list[Part]:
    """Divide the draws among labs, all policies and attackers by turns."""
    seeds = range(seed * 1000, seed * 1000 + draws)
    return [
        Part(policy, attackers, seconds, seeds[start : start + DRAWS_OF_A_LAB])
        for start in range(0, draws, DRAWS_OF_A_LAB)
        for attackers in ATTACKERS
        for policy in POLICIES
    ]


def _flooded(part: Part, all_started: Barrier) -> list[Run]:
    return asyncio.run(flood(part, all_started))


def run(seed: int, quick: bool) -> list[Result]:
    """Flood under all policies, by all numbers of attackers."""
    draws, seconds = (1, QUICK_SECONDS) if quick else (DRAWS, SECONDS)
    every = parts(draws, seconds, seed)
    # Who floods as fast as the machine can has it alone.
    slow, fast = ([part for part in every if (part.attackers == FULL) is full] for full in (False, True))
    runs = [one for some in (*side_by_side(_flooded, slow), *side_by_side(_flooded, fast, 1)) for one in some]
    rows = [_row(policy, attackers, runs) for attackers in ATTACKERS for policy in POLICIES]
    head = ("policy", "attackers", "packets", "before", *headed("during"), "lost", "worst run")
    head_beside = ("beside: median", "worst", "lost", "worst run")
    text = table((*head, *head_beside, "places taken", "worst run", "processor time a packet"), rows)
    text.append(
        f"{draws} draws of {seconds:g} s each, {AT_ONCE} labs at once below the full rate; round trips in milliseconds;"
        f" {PAPER['differs']}"
    )
    missed = [goal for one in runs for goal in _missed(one)]
    data = {"measured": [_summary(one) for one in runs], "paper": PAPER}
    figure_3 = Result("ilcc-figure-3", data, [_over_time(attackers, runs) for attackers in ATTACKERS], text, missed)
    figure_4 = Result("ilcc-figure-4", {"paper": PAPER, "from": "ilcc-figure-3"}, _bars(runs), ())
    return [figure_3, figure_4]


def _summary(one: Run) -> dict[str, object]:
    """Return a run with the spread of its round trips in the place of each of them."""
    trips = {"before": one.before, "during": [each for _, each in one.during], "beside": one.beside}
    return {**asdict(one), **{name: asdict(Spread.of(each)) if each else None for name, each in trips.items()}}


def _of(policy: str, attackers: int | str, runs: Sequence[Run]) -> list[Run]:
    return [one for one in runs if (one.policy, one.attackers) == (policy, attackers)]


def _row(policy: str, attackers: int | str, runs: Sequence[Run]) -> tuple[object, ...]:
    these = _of(policy, attackers, runs)
    before = [each for one in these for each in one.before]
    during = [each for one in these for _, each in one.during]
    beside = [each for one in these for each in one.beside]
    return (
        policy,
        attackers,
        round(median(one.packets for one in these)),
        f"{median(before):.2f}",
        *(Spread.of(during).cells(2) if during else ["none"] * len(HEADS)),
        f"{median(one.loss for one in these):.1%}",
        f"{max(one.loss for one in these):.1%}",
        f"{median(beside):.2f}" if beside else "none",
        f"{max(beside):.2f}" if beside else "none",
        f"{median(one.beside_loss for one in these):.1%}",
        f"{max(one.beside_loss for one in these):.1%}",
        round(median(one.places for one in these)),
        max(one.places for one in these),
        f"{median(one.processor for one in these):.0f} µs",
    )


def _missed(one: Run) -> list[str]:
    if one.policy == NAIVE:
        return []
    where = f"{one.policy}, attackers: {one.attackers}"
    missed = [f"{where}: the flood took {one.places} places"] if one.places else []
    lost = one.lost + one.beside_lost
    if lost and one.attackers != FULL:
        missed.append(f"{where}: {lost} pings of sessions were lost")
    return missed


def _over_time(attackers: int | str, runs: Sequence[Run]) -> Panel:
    lines = []
    for policy in POLICIES:
        points, bounds = [], []
        these = _of(policy, attackers, runs)
        last = max((at for one in these for at, _ in one.during), default=0.0)
        # The second in which it ends is no whole one.
        for second in range(max(1, int(last))):
            here = [each for one in these for at, each in one.during if second <= at < second + 1]
            if len(here) > 1:
                seen = Spread.of(here)
                points.append((second + 0.5, seen.median))
                bounds.append((seen.tenth, seen.ninetieth))
        lines.append(Line(policy, points, bounds, marks=False))
    many = f"{attackers} attacker{'' if attackers == 1 else 's'}" if attackers != FULL else "attackers at full rate"
    return Panel(f"{many} (compare the paper's figure 3)", "seconds", "ms, round trip of a session", lines, log_y=True)


def _bars(runs: Sequence[Run]) -> list[Panel]:
    groups = [str(attackers) for attackers in ATTACKERS]

    def bars(value: Any) -> list[Bars]:
        return [Bars(policy, [value(_of(policy, each, runs)) for each in ATTACKERS]) for policy in POLICIES]

    return [
        Panel(
            "Round trip of a session, median (compare the paper's figure 4)",
            "attackers",
            "ms",
            bars(lambda these: median([each for one in these for _, each in one.during] or [0.0])),
            groups,
        ),
        Panel("Lost, median", "attackers", "%", bars(lambda these: 100 * median(one.loss for one in these)), groups),
        Panel(
            "Places taken, median",
            "attackers",
            "sessions",
            bars(lambda these: median(one.places for one in these)),
            groups,
        ),
    ]
