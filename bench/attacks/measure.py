"""Lets attacks run against the live network, one after the other, and collects what they did."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Self

import httpx
from finsy import P4ClientError

from bench.attacks.attack import Attack, Draw, Group
from bench.attacks.connections import API, COUNT, Connections
from bench.attacks.frames import write_frames
from bench.attacks.live import Live
from bench.attacks.outcome import Admissions, Outcome, Run, Sent, Span
from bench.attacks.ports import DATAGRAM_PORT
from bench.attacks.resources import Reading, SwitchReader, read_processes
from bench.attacks.site import A, B
from bench.attacks.slots import BEGINNINGS, COLLISION, colliding
from bench.attacks.users import REPORT, Users
from wayname.composition.configuration import load_config
from wayname.pipeline.program import load_program
from wayname_lab.load import LabError

# Answers that are on their way when a flood ends.
LATE = 0.15
CONVERGED = 3.0
CONNECTING = 5.0
HANGS, RECOVERED = 5.0, 90.0
# For how many seconds is looked whether users are served again.
LOOKED = 0.7
# How often what is usual is looked at until nobody is kept waiting.
MOST_BEFORE = 3
# What others want in a draw, how fast a host sends for it, and how soon they must have it, in seconds.
WANTED, WANTED_RATE, WANTED_WITHIN = 4, 50, 1.5
OF_SESSIONS = ("session.moved", "session.down", "session.failed")
PEERS = frozenset(str(address) for host in B.hosts for address in (host.address, *host.locators))


@dataclass(frozen=True, slots=True)
class Scale:
    """How long and how often."""

    before: float  # seconds
    during: float
    draws: int
    # After so many attacks what is usual is measured again.
    usual_for: int
    # How long to wait after an attack until users are served as before.
    patience: float
    # How long all attacks may take: where it was used up by waiting, there are fewer draws.
    budget: float


FULL = Scale(before=1.5, during=1.0, draws=30, usual_for=1, patience=10.0, budget=5400.0)
QUICK = Scale(before=1.25, during=1.0, draws=1, usual_for=8, patience=4.0, budget=100.0)


@dataclass(frozen=True, slots=True)
class _Mark:
    """All counters at a moment."""

    at: float
    reading: Reading
    admissions: Admissions
    punts: Counter[int]
    events: int
    deaths: int


class Attacked:
    """The network with its users and guests, and attacks on it: `async with Attacked(...) as attacked`."""

    def __init__(self, folder: Path, seed: int, scale: Scale) -> None:
        self._rng = random.Random(seed)
        self.users = Users()
        self.live = Live(folder, seed, self.users.take)
        self.scale = scale
        self._folder = folder
        self._stack = AsyncExitStack()
        self._usual: Span | None = None
        self._usual_for = 0
        self._until = 0.0

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.live)
        try:
            config = load_config(self._folder / f"{A.name}.toml")
            self.switch = SwitchReader(self.live, load_program(config.switch))
            await self.switch.open()
            self._stack.push_async_callback(self.switch.close)
            await self.users.begin(self.live)
            await self.live.guests.ask(do="begin")
            await asyncio.sleep(CONVERGED)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._stack.aclose()

    async def run(self, attack: Attack, until: float) -> Outcome:
        """Let an attack run, some draws of it; no new ones begin after a moment."""
        self._until = until
        before, entries = read_processes(self.live), await self.switch.entries()
        outcome = Outcome(attack, await self.usual())
        if attack.against:
            outcome.wanted_before = await self._wanted(attack, None)
        for _ in range(self.scale.draws):
            draw = Draw.of(random.Random(self._rng.getrandbits(64)), attack.slowest, attack.fastest)
            run = await (self._connect if attack.group is Group.LOCAL else self._run)(attack, draw)
            outcome.runs.append(run)
            if run.during.deaths or not run.during.is_served:
                outcome.after = max(outcome.after, await self._recover(outcome))
            if outcome.runs[-1].during.deaths or outcome.after > self.scale.patience or self._is_late():
                break
        after = read_processes(self.live)
        memory = sum(getattr(after, name) - getattr(before, name) for name in ("controller_memory", "switch_memory"))
        outcome.memory = max(0, memory)
        now = await self.switch.entries()
        outcome.entries = {table: now[table] - entries[table] for table in now if now[table] > entries[table]}
        self.users.forget(time.monotonic() - 5)
        return outcome

    async def _recover(self, outcome: Outcome) -> float:
        """Wait until users are served as before, by a controller that came back if it ended; return how long."""
        run, took = outcome.runs[-1], 0.0
        if not run.during.deaths:
            took = await self._until_served()
            if took <= self.scale.patience or not await self._hangs():
                return took
            outcome.runs[-1] = replace(run, during=replace(run.during, deaths=1))
        began = time.monotonic()
        await self._until_ready()
        await self._until_served()
        return took + time.monotonic() - began

    async def _until_served(self) -> float:
        """Wait until users are served as before; return how long that took."""
        ended = time.monotonic()
        self._usual = None
        while True:
            await self.users.mend(self.live)
            mark = await self._mark()
            await asyncio.sleep(LOOKED)
            span = await self.span(mark)
            if span.is_served or mark.at - ended > self.scale.patience or self._is_late():
                return mark.at - ended

    async def usual(self) -> Span:
        """Return what is seen without an attack; measured again after some attacks."""
        if self._usual is None or self._usual_for == 0:
            self._usual, self._usual_for = await self._look(), self.scale.usual_for
        self._usual_for -= 1
        return self._usual

    async def _look(self) -> Span:
        """Look at what is seen now, more than once where somebody is still kept waiting."""
        for _ in range(MOST_BEFORE):
            await self.users.mend(self.live)
            mark = await self._mark()
            await asyncio.sleep(self.scale.before)
            span = await self.span(mark)
            if span.is_served or self._is_late():
                break
        return span

    def _is_late(self) -> bool:
        """Whether an attack has used up its time."""
        return time.monotonic() > self._until

    async def span(self, began: _Mark) -> Span:
        """Return what was seen since a mark."""
        now = await self._mark()
        await asyncio.sleep(REPORT + LATE)
        told = [event for _, event in self.live.events[began.events :]]
        of_ours = [
            event
            for event in told
            if event["kind"] in OF_SESSIONS and any(peer in event["text"].split() for peer in PEERS)
        ]
        return Span(
            seconds=now.at - began.at,
            users=self.users.seen(began.at, now.at),
            admissions={
                kind: (now.admissions[kind][0] - first, now.admissions[kind][1] - second)
                for kind, (first, second) in began.admissions.items()
            },
            processor=now.reading.controller_seconds - began.reading.controller_seconds,
            switch=now.reading.switch_seconds - began.reading.switch_seconds,
            punts=sum((now.punts - began.punts).values()),
            moved=len(of_ours),
            next_hops_down=sum(event["kind"] == "nexthop.down" for event in told),
            deaths=len(self.live.deaths) - began.deaths,
        )

    async def _run(self, attack: Attack, draw: Draw) -> Run:
        path = self._folder / "frames"
        frames = await asyncio.to_thread(attack.make, draw)
        await asyncio.to_thread(write_frames, path, frames)
        seconds = self.scale.during * attack.lasts * draw.length
        mark = await self._mark()
        await asyncio.sleep(draw.offset)
        wanted = asyncio.create_task(self._wanted(attack, draw)) if attack.against else None
        answer = await self.live.world.ask(
            do="flood", file=str(path), wire=attack.wire, rate=draw.rate, most=max(1, round(draw.rate * seconds))
        )
        during = await self.span(mark)
        if not during.deaths and await self._hangs():
            during = replace(during, deaths=1)
        counts = await self.live.world.ask(do="counts")
        names = ("to_forged", "to_forged_octets", "to_mallory", "flooded_unicast", "rogue_advertisements", "rogue_dhcp")
        sent = Sent(
            answer["sent"],
            answer["octets"],
            answer["refused"],
            answer["seconds"],
            **{name: counts[name] for name in names},
            spoofed=self.users.spoofed_arrived(mark.at),
        )
        return Run(sent, during, await wanted if wanted else (0, 0))

    async def _connect(self, attack: Attack, draw: Draw) -> Run:
        """Open connections until there are enough, and hold them for a while."""
        where = self._where(attack)
        mark, log = await self._mark(), self.live.log_octets()
        connections = Connections()
        [says] = attack.make(draw)
        try:
            await asyncio.to_thread(connections.open, where, COUNT, says, CONNECTING)
            wanted = await self._wanted(attack, draw)
            await asyncio.sleep(self.scale.during * draw.length)
            during = await self.span(mark)
        finally:
            connections.close()
        written = self.live.log_octets() - log
        sent = Sent(connections.opened, refused=connections.refused, seconds=during.seconds, log_octets=written)
        return Run(sent, during, wanted)

    def _where(self, attack: Attack) -> Path:
        return self.live.api_socket if attack.wire == API else self.live.switch_socket

    async def _wanted(self, attack: Attack, draw: Draw | None) -> tuple[int, int]:
        """Return how often others wanted what an attack is against, and got it; without a draw there is no attack."""
        if attack.against == BEGINNINGS:
            collide = attack is COLLISION and draw is not None
            return await self._begin_sessions(lambda peers: colliding(draw, peers) if collide and draw else [])
        answered = 0
        for _ in range(WANTED):
            with contextlib.suppress(httpx.HTTPError, P4ClientError, TimeoutError):
                async with asyncio.timeout(WANTED_WITHIN):
                    await (self._ask_api() if attack.wire == API else self._ask_switch())
                    answered += 1
        return WANTED, answered

    async def _ask_api(self) -> None:
        transport = httpx.AsyncHTTPTransport(uds=str(self.live.api_socket))
        async with httpx.AsyncClient(transport=transport, base_url="http://controller") as client:
            (await client.get("/v1/status")).raise_for_status()

    async def _ask_switch(self) -> None:
        reader = SwitchReader(self.live, self.switch.schema)
        await reader.open()
        try:
            await reader.punts()
        finally:
            await reader.close()

    async def _begin_sessions(self, attackers: Callable[[list[IPv6Address]], list[bytes]]) -> tuple[int, int]:
        """Let a host here talk to hosts it never talked to; return how many, and with how many it got a session."""
        answer = await self.live.guests.ask(do="expect", count=WANTED)
        peers = [IPv6Address(each) for each in answer["addresses"]]
        if frames := await asyncio.to_thread(attackers, peers):
            path = self._folder / "collisions"
            write_frames(path, frames)
            self.live.world.tell(do="flood", file=str(path), wire="a-p", rate=1000, most=len(frames), quiet=True)
            await asyncio.sleep(LATE)
        since = len(self.live.events)
        host, flows = self.live.hosts[A.host("shim6").name], []
        for peer in peers:
            command = {"command": "udp_send", "to": str(peer), "port": DATAGRAM_PORT, "rate": WANTED_RATE}
            flows.append(await host.start(command))
        await asyncio.sleep(WANTED_WITHIN)
        for flow in flows:
            host.stop(flow)
        texts = [event["text"] for _, event in self.live.events[since:] if event["kind"] == "session.up"]
        return len(peers), sum(any(str(peer) in text for text in texts) for peer in peers)

    async def _mark(self) -> _Mark:
        counts = await self.live.guests.ask(do="counts")
        return _Mark(
            time.monotonic(),
            read_processes(self.live),
            {kind: (begun, admitted) for kind, (begun, admitted) in counts.items()},
            Counter(await self.switch.punts()),
            len(self.live.events),
            len(self.live.deaths),
        )

    async def _hangs(self) -> bool:
        """Whether the controller has failed and does not end: it is as good as dead."""
        deadline = time.monotonic() + HANGS
        while not await self.live.controllers[A.name].is_ready():
            if time.monotonic() > deadline:
                return True
            await asyncio.sleep(REPORT)
        return False

    async def _until_ready(self) -> None:
        """Wait until the controller is there again and has set up its switch; one that only hangs is started anew."""
        api, since, is_anew = self.live.controllers[A.name], time.monotonic(), False
        while not await api.is_ready():
            waited = time.monotonic() - since
            if waited > HANGS and not is_anew and not self._has_died():
                self.live.supervisor.kill(f"{A.name}-controller")
                is_anew = True
            if waited > RECOVERED:
                raise LabError(f"the controller of {A.name} does not come back; {self.live.last_words()}")
            await asyncio.sleep(REPORT)

    def _has_died(self) -> bool:
        """Whether the controller ended by itself a moment ago, and is being started again."""
        return any(at > time.monotonic() - RECOVERED and A.name in who for at, who, _ in self.live.deaths)
