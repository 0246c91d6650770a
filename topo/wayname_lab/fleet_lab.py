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

from wayname.fleet.sealing import new_key
from wayname.private_files import write_private
from wayname_lab.commands import controller
from wayname_lab.etcd import EtcdCluster
from wayname_lab.load import find_lab
from wayname_lab.plan import plan_lab
from wayname_lab.planned import Plan, RouterPlan
from wayname_lab.running import LabFolder
from wayname_lab.running_fleet import RunningFleet
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


class FleetLab(RunningFleet):
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


def missing_answers(lab: FleetLab, since: float) -> list[tuple[int, float]]:
    """Return the pings without an answer since shortly before a moment, and how long after it that was."""
    known = {number: at for at, number in lab.replies if at > since - 1}
    lost = set(range(min(known), max(known))) - known.keys()
    return [(number, known[max(each for each in known if each < number)] - since) for number in sorted(lost)]
