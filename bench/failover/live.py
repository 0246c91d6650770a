"""The network in namespaces of Linux while it runs: hosts with the kernel's TCP, and a link that is cut."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.in_namespaces import end, line_of, start_end
from bench.lateness import Arrival
from bench.mptcp import join_providers
from wayname_lab.host_handle import Event
from wayname_lab.lab_events import LabEvent
from wayname_lab.load import LabError
from wayname_lab.namespaces import Namespaces
from wayname_lab.planned import Plan
from wayname_lab.running import LabFolder, RunningLab

SENDER, RECEIVER = "a1", "b1"
CUT = "p-r"  # the first path goes by it
FIRST_PATH = 0
CUT_FOR = 3.0
PAUSE = 0.1
ROUTED = 1.5
PATIENCE = 60.0
PINGS = {"command": "ping", "count": 0, "interval": 0.05}
TRAFFIC = "bench.failover.traffic"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A connection that lived through a cut."""

    begin: float
    cut: float
    send_timeout: float | None  # the longer one of both edges at that moment; None where they keep no sessions
    arrivals: list[Arrival]
    gave_up: float | None  # when the receiver waited no longer for a connection that did not go on
    told: list[LabEvent]  # by edges and lab, from the cut on
    is_hit: bool  # whether it went by the link that was cut: on a busy machine a session may have left that before


class Live:
    """The network while it runs."""

    def __init__(self, lab: RunningLab, folder: Path, mptcp: bool) -> None:
        self._lab = lab
        self._folder = folder
        self._kind = ["mptcp"] if mptcp else []
        self._from, self._to = (str(lab.plan.hosts[host].address.ip) for host in (SENDER, RECEIVER))
        self._link = next(link for link in lab.plan.lab.links if link.name == CUT)

    async def transfer(self, moment: float, seconds: float, octets: int, interval: float) -> Transfer:
        """Let a connection run for some seconds, and cut the link meanwhile; for bulk the interval is 0."""
        receiver = await self._start(RECEIVER, "receive")
        await _told(receiver)
        sender = await self._start(SENDER, "send", self._from, self._to, str(seconds), str(octets), str(interval))
        told: list[LabEvent] = []
        edges = self._lab.plan.lab.edges
        try:
            begin = float((await _told(sender))["begin"])
            await asyncio.sleep(begin + moment - time.monotonic())
            sessions = [session for edge in edges if (session := await self._session(edge.name))]
            self._lab.event_log.listeners.append(told.append)
            cut = time.monotonic()
            await self._lab.set_cut(self._link, True)
            await asyncio.sleep(cut + CUT_FOR - time.monotonic())
            await self._lab.set_cut(self._link, False)
            received = await _told(receiver)
        finally:
            if self._link.name in self._lab.cut_links:
                await self._lab.set_cut(self._link, False)
            for process in (sender, receiver):
                await end(process)
        self._lab.event_log.listeners.remove(told.append)
        arrivals = [Arrival(*each) for each in received["arrivals"]]
        send_timeout = max((float(session["send_timeout"]) for session in sessions), default=None)
        is_hit = all(session["path"] == FIRST_PATH for session in sessions)
        return Transfer(begin, cut, send_timeout, arrivals, received["gave_up"], told, is_hit)

    async def until_steady(self) -> None:
        """Wait until the sessions of both edges are on their first path and all others are proven."""
        deadline = time.monotonic() + PATIENCE
        # Edges look after sessions that are in use.
        pings = await self._lab.hosts[SENDER].start(PINGS | {"to": self._to})
        while True:
            found = [await self._session(edge.name) for edge in self._lab.plan.lab.edges]
            known = [session for session in found if session is not None]
            if len(known) == len(found) and all(map(_is_steady, known)):
                self._lab.hosts[SENDER].stop(pings)
                return
            for edge, session in zip(self._lab.plan.lab.edges, found, strict=True):
                if session is not None and session["path"] != FIRST_PATH and session["paths"][0]["state"] == "works":
                    path = f"/v1/sessions/{session['number']}/move"
                    await self._ask(edge.name, "POST", path, {"path": str(FIRST_PATH)})
            if time.monotonic() > deadline:
                raise LabError(f"sessions are not on their first path again in {PATIENCE:.0f} s: {known}")
            await asyncio.sleep(PAUSE)

    async def until_routed(self) -> None:
        """Wait until providers, who look at each other several times a second, have noticed that the link is back."""
        await asyncio.sleep(ROUTED)

    async def _session(self, edge: str) -> dict[str, Any] | None:
        found = (await self._ask(edge, "GET", "/v1/sessions")).json()
        return dict(found[0]) if found else None

    async def _ask(self, edge: str, method: str, path: str, body: object = None) -> httpx.Response:
        transport = httpx.AsyncHTTPTransport(uds=str(self._folder / f"{edge}.api"))
        async with httpx.AsyncClient(transport=transport, base_url="http://controller", timeout=10) as client:
            return await client.request(method, path, json=body)

    async def _start(self, host: str, *words: str) -> asyncio.subprocess.Process:
        return await start_end(self._lab, host, TRAFFIC, *self._kind, *words)


@asynccontextmanager
async def running(plan: Plan, *, mptcp: bool = False) -> AsyncIterator[Live]:
    """Have the network run; with MPTCP its hosts have an address of each of their providers."""
    with LabFolder() as folder:
        async with RunningLab(plan, Namespaces(plan, folder), folder, _nothing) as lab:
            for host in plan.hosts.values() if mptcp else ():
                await join_providers(lab, host, "subflow" if host.name == SENDER else "signal")
            yield Live(lab, folder, mptcp)


def _is_steady(session: dict[str, Any]) -> bool:
    return session["path"] == FIRST_PATH and all(path["state"] == "works" for path in session["paths"])


async def _told(process: asyncio.subprocess.Process) -> dict[str, Any]:
    return dict(json.loads(await line_of(process, PATIENCE)))


def _nothing(host: str, event: Event) -> None:
    """Hosts carry connections of our own programs; nothing else is asked of them."""
