"""Two edges for one site, each with a switch and a controller, beside a site with one edge.

The switches, controllers, hosts, LANs and members of etcd are processes; links are wires.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from wayname.fleet.sealing import new_key
from wayname.private_files import write_private
from wayname_lab.commands import lan_arguments
from wayname_lab.etcd import EtcdCluster
from wayname_lab.fleet_lab import FROM, PATIENCE, TO, until
from wayname_lab.load import find_lab
from wayname_lab.plan import plan_lab
from wayname_lab.planned import Plan, PlannedPort, RouterPlan
from wayname_lab.running import LabFolder
from wayname_lab.running_fleet import RunningFleet
from wayname_lab.wires import Wires

FIRST, SECOND = "a", "z"
PAIR = """
[fleet]
endpoints = {endpoints}
edge = "site"
controller = "{name}"
sealing_key = "fleet.key"

[vrrp]
priority = {priority}
"""


class Lans(Wires):
    """Wires, but the two edges of the site are on one LAN with its hosts, and on one with each provider."""

    def device(self, router: RouterPlan, port: PlannedPort) -> str:
        if router.name in (FIRST, SECOND):
            return f"wire:{self.end(router.name, port.peer)}"
        return super().device(router, port)

    def end(self, edge: str, peer: str) -> Path:
        return self.path("edge", f"{edge}.{peer}")

    def lans(self, ports: Iterable[PlannedPort]) -> list[list[Path]]:
        by_vlan: dict[int, list[Path]] = {}
        for port in ports:
            ends = by_vlan.setdefault(port.vlan, [self.end(edge, port.peer) for edge in (FIRST, SECOND)])
            ends.append(self.path(FIRST, port.peer))
        return list(by_vlan.values())


class TwoEdges(RunningFleet):
    """A lab in which a site has two edges."""

    def __init__(self, plan: Plan, folder: Path, cluster: EtcdCluster) -> None:
        self.cluster = cluster
        self.replies: list[tuple[float, int]] = []
        self.requests: list[dict[str, Any]] = []
        # As their peer sees them, connections by their ports at the site.
        self.connected: list[str] = []
        self.wires = Lans(plan, folder)
        self.lans = self.wires.lans(plan.routers[FIRST].ports)
        edges = {
            name: self._edge(plan.routers[FIRST], name, number, cluster) for number, name in ((1, FIRST), (99, SECOND))
        }
        super().__init__(replace(plan, routers={**plan.routers, **edges}), self.wires, folder, self._note)

    @staticmethod
    def _edge(router: RouterPlan, name: str, number: int, cluster: EtcdCluster) -> RouterPlan:
        interfaces = tuple(replace(each, virtual_router_id=number) for number, each in enumerate(router.interfaces, 1))
        # One port for each LAN: with two of them in a VLAN, bridges and edges were a loop.
        ports = tuple({port.vlan: port for port in reversed(router.ports)}.values())
        text = PAIR.format(endpoints=json.dumps(cluster.endpoints), name=name, priority=200 - number)
        return replace(
            router,
            name=name,
            device_id=number,
            interfaces=interfaces,
            ports=ports,
            configuration=router.configuration + text,
        )

    def _note(self, host: str, event: dict[str, Any]) -> None:
        if host == FROM and event["event"] == "ping_reply":
            self.replies.append((time.monotonic(), event["sequence"]))
        elif host == FROM and event["event"].startswith("requests"):
            self.requests.append(event)
        elif host == TO and event["event"] == "tcp_connected":
            self.connected.append(event["remote"])

    async def _start_router(self, router: RouterPlan) -> None:
        if not (self.folder / "fleet.key").exists():
            write_private(self.folder / "fleet.key", new_key() + "\n")
            await self.supervisor.keep("lan", lan_arguments(self.lans))
            await until(lambda: all(path.exists() for lan in self.lans for path in lan), "LANs")
        await super()._start_router(router)

    def kinds(self, process: str) -> list[str]:
        """Return the kinds of what the controller of an edge logged."""
        return super().kinds(f"{process}-controller")

    def missing(self, since: float) -> list[int]:
        """Return the pings without an answer since shortly before a moment."""
        known = {number for at, number in self.replies if at > since - 1}
        return sorted(set(range(min(known), max(known))) - known)

    def gap(self, since: float) -> float:
        """Return the longest time without an answer since then."""
        times = [at for at, _ in self.replies if at > since - 1]
        return max(later - sooner for sooner, later in itertools.pairwise(times))

    async def roles(self) -> tuple[str, str]:
        """Return the edges once one is the router and leads, and the other one is its backup."""
        async with asyncio.timeout(PATIENCE):
            while True:
                found = {edge: await self.ask(edge, "/v1/fleet") for edge in (FIRST, SECOND)}
                roles = {answer["vrrp"]: edge for edge, answer in found.items() if answer}
                if len(roles) == 2 and found[roles["active"]]["leads"]:
                    return roles["active"], roles["backup"]
                await asyncio.sleep(0.05)

    async def until_next_hops_answer(self, edge: str) -> None:
        """Wait until a router knows that its next hops are there: it uses one of which it knows nothing, too."""
        async with asyncio.timeout(PATIENCE):
            while True:
                routes = await self.ask(edge, "/v1/routes") or []
                if {via["health"] for route in routes for via in route["via"]} == {"up"}:
                    return
                await asyncio.sleep(0.05)

    async def session_at(self, edge: str) -> Any:
        """Return the one session that a controller knows, once it has all its paths."""
        async with asyncio.timeout(PATIENCE):
            while not (found := await self.ask(edge, "/v1/sessions")) or len(found[0]["paths"]) < 4:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert len(found) == 1
        return found[0]

    async def until_kept(self, edge: str, flows: int) -> None:
        """Wait until an edge has so many flows on its switch that another one told of."""
        async with asyncio.timeout(PATIENCE):
            while True:
                table = await self.ask(edge, "/v1/tables/established_flows")
                if table and len(table["entries"]) >= flows:
                    return
                await asyncio.sleep(0.05)

    async def more_answers(self, count: int = 100) -> None:
        """Wait for answers to pings and to requests over each TCP connection."""
        seen = len(self.replies)
        await until(lambda: len(self.replies) > seen + count, "answers to pings")
        flows = {each["flow"] for each in self.requests}
        # A report that is under way tells of what was before; one of a connection that is new may come as well.
        asked = len(self.requests) + len(flows)
        await until(
            lambda: flows <= {each["flow"] for each in self.requests[asked:] if each["answered"]}, "answers over TCP"
        )

    async def fail_over(self, dying: str, other: str) -> float:
        """Kill an edge's switch and controller; once hosts have answers by the other edge, return when that was."""
        taken = self.kinds(other).count("vrrp.active")
        at = time.monotonic()
        self.kill_switch(dying)
        self.kill_controller(dying)
        await until(lambda: self.kinds(other).count("vrrp.active") > taken, "the other edge as router")
        await self.more_answers()
        return at


@asynccontextmanager
async def two_edges(name: str = "two-sites", rules: str = "") -> AsyncIterator[TwoEdges]:
    """Start a lab in which a site has two edges; `rules` are more of their configuration."""
    with LabFolder() as folder:
        etcds = folder / "etcds"
        etcds.mkdir()
        with EtcdCluster(etcds) as cluster:
            sites = find_lab(name)
            routers = (replace(each, configuration=rules) if each.name == FIRST else each for each in sites.routers)
            plan = plan_lab(replace(sites, flows=(), routers=tuple(routers)))
            async with TwoEdges(plan, folder, cluster) as lab:
                yield lab
