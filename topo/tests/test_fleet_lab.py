"""A fleet in a lab: two controllers and three members of etcd for one of two sites that have sessions, with traffic.

The switches, controllers, hosts and servers of etcd are processes; links are wires.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from test_running import lacking

from wayname.fleet.sealing import new_key
from wayname.private_files import write_private
from wayname_lab.commands import controller
from wayname_lab.etcd import EtcdCluster, missing_for_etcd
from wayname_lab.load import find_lab
from wayname_lab.plan import plan_lab
from wayname_lab.planned import Plan, RouterPlan
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.wires import Wires

PATIENCE = 120.0
FROM, TO = "a1", "b1"
# A ping of this size is worth a session at once.
PING = {"command": "ping", "count": 0, "interval": 0.02, "size": 1100}
FLEET = """
[fleet]
endpoints = {endpoints}
edge = "a"
controller = "{name}"
sealing_key = "fleet.key"
lease = {lease}
"""
SECOND = "a-second"

pytestmark = pytest.mark.skipif(bool(lacking("wires") or missing_for_etcd()), reason="needs the switch and etcd")


class FleetLab(RunningLab):
    """A lab in which edge a has two controllers."""

    # How long a leader may be silent, in seconds.
    lease = 1

    def __init__(self, plan: Plan, folder: Path, cluster: EtcdCluster) -> None:
        self.cluster = cluster
        self.replies: list[tuple[float, int]] = []
        fleet = FLEET.format(endpoints=json.dumps(cluster.endpoints), name="first", lease=self.lease)
        a = replace(plan.routers["a"], configuration=plan.routers["a"].configuration + fleet)
        plan = replace(plan, routers={**plan.routers, "a": a})
        super().__init__(plan, Wires(plan, folder), folder, self._reply)

    def _reply(self, host: str, event: dict[str, Any]) -> None:
        if host == FROM and event["event"] == "ping_reply":
            self.replies.append((time.monotonic(), event["sequence"]))

    async def _start_router(self, router: RouterPlan) -> None:
        if router.name == "a":
            write_private(self.folder / "fleet.key", new_key() + "\n")
        await super()._start_router(router)

    async def start_second(self) -> None:
        """Start the other controller of edge a."""
        text = (self.folder / "a.toml").read_text()
        text = text.replace('"first"', '"second"').replace("/a.api", f"/{SECOND}.api")
        write_private(self.folder / f"{SECOND}.toml", text)
        await self.supervisor.keep(SECOND, controller(self.folder / f"{SECOND}.toml"))

    def kinds(self, process: str) -> list[str]:
        """Return the kinds of what a process logged."""
        lines = (self.folder / f"{process}.log").read_text(errors="replace").splitlines()
        return [json.loads(line)["kind"] for line in lines if line.startswith('{"kind"')]

    async def ask(self, name: str, path: str) -> Any:
        """Return what a controller answers; None if it does not."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.folder / f"{name}.api"))
        async with httpx.AsyncClient(transport=transport, base_url="http://controller", timeout=10) as client:
            try:
                answer = await client.get(path)
            except httpx.TransportError:
                return None
            return answer.json() if answer.is_success else None

    async def session_of(self, name: str) -> Any:
        """Return the one session that a controller knows."""
        found = await self.ask(name, "/v1/sessions")
        return found[0] if found else None


async def until(holds: Callable[[], object], what: str) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, what
        await asyncio.sleep(0.01)


@asynccontextmanager
async def with_session(name: str, kind: type[FleetLab] = FleetLab) -> AsyncIterator[FleetLab]:
    """A lab whose hosts ping each other by a session, with a second controller that waits."""
    with LabFolder() as folder:
        etcds = folder / "etcds"
        etcds.mkdir()
        with EtcdCluster(etcds) as cluster:
            plan = plan_lab(replace(find_lab(name), flows=()))
            async with kind(plan, folder, cluster) as lab:
                await lab.hosts[FROM].start({**PING, "to": str(plan.hosts[TO].address.ip)})
                for edge in ("a", "b"):
                    while not (found := await lab.session_of(edge)) or len(found["paths"]) < 4:  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                await lab.start_second()
                await until(lambda: "fleet.standby" in lab.kinds(SECOND), "the second as standby")
                await until(lambda: len(lab.replies) > 50, "answers")
                yield lab


@pytest.mark.parametrize("name", ["two-sites", "hip-edges"])
async def test_a_session_outlives_its_controller_without_a_lost_packet(name: str) -> None:
    async with asyncio.timeout(2 * PATIENCE), with_session(name) as lab:
        before = await lab.session_of("a")
        killed, seen = time.monotonic(), len(lab.replies)
        lab.kill_controller("a")
        await until(lambda: "fleet.leads" in lab.kinds(SECOND), "a new leader")
        elected = time.monotonic() - killed
        await until(lambda: "switch.up" in lab.kinds(SECOND), "that it has the switch")
        print(f"{name}: a new leader after {elected:.2f} s, which has the switch after {time.monotonic() - killed:.2f}")
        while not (after := await lab.session_of(SECOND)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        # HIP keeps no keys over a controller's end (RFC 7401, section 6.16): the edges agree anew.
        same = ("local", "peer") if name == "hip-edges" else ("local", "peer", "number", "path")
        assert [after[key] for key in same] == [before[key] for key in same]
        await until(lambda: len(lab.replies) > seen + 100, "answers")
        assert missing_answers(lab, killed) == []
        # It is the second one's now: it moves the session when its path fails.
        used = (await lab.session_of(SECOND))["path"]
        link = next(each for each in lab.plan.lab.links if each.name == "a-p")
        await lab.set_cut(link, True)
        cut = len(lab.replies)
        await until(lambda: len(lab.replies) > cut + 100, "answers by the other provider")
        while (await lab.session_of(SECOND))["path"] == used:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await until(lambda: "fleet.standby" in lab.kinds("a-controller"), "the first as standby")


def missing_answers(lab: FleetLab, since: float) -> list[tuple[int, float]]:
    """Return the pings without an answer since shortly before a moment, and how long after it that was."""
    known = {number: at for at, number in lab.replies if at > since - 1}
    lost = set(range(min(known), max(known))) - known.keys()
    return [(number, known[max(each for each in known if each < number)] - since) for number in sorted(lost)]


async def test_etcds_own_leader_dies_with_the_controller() -> None:
    async with asyncio.timeout(2 * PATIENCE), with_session("two-sites") as lab:
        dying = await asyncio.to_thread(lab.cluster.leader)
        killed, seen = time.monotonic(), len(lab.replies)
        lab.cluster.kill(dying)
        lab.kill_controller("a")
        await until(lambda: "fleet.leads" in lab.kinds(SECOND), "a new leader")
        elected = time.monotonic() - killed
        await until(lambda: "switch.up" in lab.kinds(SECOND), "that it has the switch")
        print(f"a new leader after {elected:.2f} s, which has the switch after {time.monotonic() - killed:.2f}")
        await until(lambda: len(lab.replies) > seen + 100, "answers")
        assert missing_answers(lab, killed) == []


async def test_the_majority_of_etcd_dies_and_a_path_too() -> None:
    async with asyncio.timeout(2 * PATIENCE), with_session("two-sites") as lab:
        before = await lab.session_of("a")
        killed, seen = time.monotonic(), len(lab.replies)
        for member in lab.cluster.members[:2]:
            lab.cluster.kill(member)
        await until(lambda: "fleet.held" in lab.kinds("a-controller"), "that etcd is missed")
        await until(lambda: len(lab.replies) > seen + 100, "answers")
        assert missing_answers(lab, killed) == []
        # The data plane does not wait for etcd: the session goes by the other provider.
        link = next(each for each in lab.plan.lab.links if each.name == "a-p")
        await lab.set_cut(link, True)
        cut = len(lab.replies)
        await until(lambda: len(lab.replies) > cut + 100, "answers by the other provider")
        assert "fleet.leads" not in lab.kinds(SECOND)
        for member in lab.cluster.members[:2]:
            await asyncio.to_thread(lab.cluster.start, member)
        changes_go_on = time.monotonic() + PATIENCE
        while (await lab.ask("a", "/v1/fleet"))["why"] and (await lab.ask(SECOND, "/v1/fleet"))["why"]:
            assert time.monotonic() < changes_go_on
            await asyncio.sleep(0.05)
        # Whoever leads now knows the session, and where it goes.
        leader = "a" if not (await lab.ask("a", "/v1/fleet"))["why"] else SECOND
        while not (after := await lab.session_of(leader)) or after["path"] == before["path"]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        assert [after[key] for key in ("local", "peer")] == [before[key] for key in ("local", "peer")]
        seen = len(lab.replies)
        await until(lambda: len(lab.replies) > seen + 50, "answers")
