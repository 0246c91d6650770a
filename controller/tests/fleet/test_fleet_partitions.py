"""Networks of a fleet that fall apart: controllers and members of etcd in namespaces, over TLS. Needs root.

The switch is reached by a Unix socket, so a controller that is cut off from etcd still has it: the worst case.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from access.certificates import Authority
from fleet.test_fleet_controllers import make_key, nothing_is_lost, reloaded, tells, until
from test_adapter import SWITCH, hosts
from test_command import Up
from two_networks import TWO_NETWORKS
from wire_host import WireHost

from harness.namespaces import Nodes, missing
from wayname_lab.etcd import EtcdCluster, Secured, missing_for_etcd

HUB, MEMBERS, CONTROLLERS = "hub", ("e1", "e2", "e3"), ("first", "second")
CONFIG = """
[switch]
address = "unix:{folder}/s"
[api]
socket = "unix:{folder}/{name}.api"
[controller]
log_format = "json"
[fleet]
endpoints = [{endpoints}]
edge = "berlin"
controller = "{name}"
sealing_key = "fleet.key"
ca = "{ca}"
certificate = "{certificate}"
key = "{key}"
"""

pytestmark = pytest.mark.skipif(bool(missing() or missing_for_etcd()), reason="needs root and etcd")


class Network:
    """A hub with members of etcd and controllers around it."""

    def __init__(self, folder: Path, nodes: Nodes) -> None:
        self._nodes, self._folder = nodes, folder
        nodes.add(HUB, *MEMBERS, *CONTROLLERS)
        nodes.ip(HUB, "link add hub type bridge")
        nodes.ip(HUB, "link set hub up")
        self.addresses: dict[str, str] = {}
        for number, node in enumerate((*MEMBERS, *CONTROLLERS), 1):
            self.addresses[node] = f"10.99.0.{number}"
            nodes.join(HUB, f"to-{node}", node, "eth0")
            nodes.ip(HUB, f"link set to-{node} master hub")
            nodes.address(node, "eth0", f"{self.addresses[node]}/24")
        authority = Authority(folder)
        of_members = [self.addresses[each] for each in MEMBERS]
        server, client = authority.issue("etcd", addresses=of_members), authority.issue("berlin")
        places = [(self.addresses[each], nodes.inside(each)) for each in MEMBERS]
        self.cluster = EtcdCluster(folder, 3, Secured(authority.path, server, client), places)
        self._files = {"ca": authority.path, "certificate": client[0], "key": client[1]}
        self.controllers: dict[str, Up] = {}

    def start(self, name: str) -> Up:
        """Start a controller."""
        endpoints = ", ".join(f'"{each}"' for each in self.cluster.endpoints)
        config = self._folder / f"{name}.toml"
        config.write_text(
            CONFIG.format(folder=self._folder, name=name, endpoints=endpoints, **self._files) + TWO_NETWORKS
        )
        self.controllers[name] = Up(config, prefix=self._nodes.inside(name))
        return self.controllers[name]

    def cut(self, node: str, cut: bool) -> None:
        """Let a node reach nobody, or all again."""
        self._nodes.ip(HUB, f"link set to-{node} {'down' if cut else 'up'}")

    def end(self) -> None:
        """Kill all controllers."""
        for each in self.controllers.values():
            each.process.kill()
            each.process.wait()


def begun(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a process."""
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


@asynccontextmanager
async def network(folder: Path) -> AsyncIterator[tuple[Network, WireHost, WireHost]]:
    """A network in which the first controller leads, and the second waits."""
    make_key(folder)
    with Nodes("fleet") as nodes:
        made = Network(folder, nodes)
        async with hosts(folder) as (one, two), asyncio.timeout(240):
            wires = [part for n in (1, 2) for part in ("-i", f"{n}@wire:{folder}/{n}")]
            switch = begun([str(SWITCH), "--grpc-server-addr", f"unix:{folder}/s", *wires])
            try:
                with made.cluster:
                    for name, kind in zip(CONTROLLERS, ("switch.up", "fleet.standby"), strict=True):
                        running = made.start(name)
                        await until(partial(tells, running, kind), f"{kind} of {name}")
                    await one.ping(str(two.address))
                    await two.ping(str(one.address))
                    yield made, one, two
            finally:
                made.end()
                switch.kill()
                switch.wait()


async def test_a_leader_that_is_cut_off_from_etcd_gives_way(tmp_path: Path) -> None:
    async with network(tmp_path) as (made, one, two):
        first, second = (made.controllers[name] for name in CONTROLLERS)
        made.cut("first", True)
        cut = time.monotonic()
        await until(lambda: tells(second, "switch.up"), "that the second has the switch")
        print(f"a new leader after {time.monotonic() - cut:.2f} s")
        # The switch told the first that another one is heard; it had stopped by its own clock before.
        await until(lambda: tells(first, "switch.down"), "that the first has it no more")
        kinds = first.kinds()
        assert {"fleet.held", "fleet.ended"} & set(kinds[: kinds.index("switch.down")])
        await nothing_is_lost(one, two)
        made.cut("first", False)
        await until(lambda: tells(first, "fleet.ended"), "that the first knows")
        await until(lambda: tells(first, "fleet.standby"), "that it waits")
        await reloaded(second)
        assert "fleet.ended" not in second.kinds()


async def test_a_member_that_is_cut_off_is_left_for_another(tmp_path: Path) -> None:
    async with network(tmp_path) as (made, one, two):
        first, second = (made.controllers[name] for name in CONTROLLERS)
        leader = await asyncio.to_thread(made.cluster.leader)
        made.cut(MEMBERS[made.cluster.members.index(leader)], True)
        # The two that are left elect another, which gives leases their whole time again: nobody takes over.
        await reloaded(first)
        await nothing_is_lost(one, two)
        first.process.send_signal(signal.SIGTERM)
        await until(lambda: tells(second, "switch.up"), "that the second has the switch")
        assert second.kinds().count("fleet.leads") == 1
