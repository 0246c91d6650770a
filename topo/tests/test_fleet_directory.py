"""Two edges of a fleet: sessions between their hosts begin without messages, where the directory has what proves them.

Switches, controllers, hosts and etcd are processes; links are wires. Edge b says what passes its uplinks.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from test_running import lacking

from wayname.cli.packets import read_pcap
from wayname.fleet.directory import FORM
from wayname.fleet.etcd import Etcd, EtcdError, Put
from wayname.fleet.keys import FleetKeys
from wayname.fleet.sealing import new_key
from wayname.private_files import write_private
from wayname.shim6.host_record import KEY_OCTETS, ULID_OCTETS
from wayname.wire.ethernet import Frame
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import MessageType
from wayname.wire.shim6.payload import is_payload
from wayname_lab.etcd import EtcdCluster, missing_for_etcd
from wayname_lab.load import find_lab
from wayname_lab.plan import plan_lab
from wayname_lab.planned import Plan, RouterPlan
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.wires import Wires

PATIENCE = 120.0
KEYS = FleetKeys("wayname")
# A ping of this size is worth a session at once.
PING = {"command": "ping", "count": 0, "interval": 0.1, "size": 1100}
FLEET = '\n[fleet]\nendpoints = {endpoints}\nedge = "{edge}"\nsealing_key = "{edge}.fleet"\nlease = 30\n'
T = TypeVar("T")
SET_UP = {"I1", "R1", "I2", "R2", "R1BIS", "I2BIS"}

pytestmark = pytest.mark.skipif(bool(lacking("wires") or missing_for_etcd()), reason="needs the switch and etcd")


class DirectoryLab(RunningLab):
    """A lab whose edges are of one fleet, each with a sealing key of its own."""

    def __init__(self, plan: Plan, folder: Path, etcd: EtcdCluster) -> None:
        routers = dict(plan.routers)
        for edge in ("a", "b"):
            fleet = FLEET.format(endpoints=json.dumps(etcd.endpoints), edge=edge)
            routers[edge] = replace(routers[edge], configuration=routers[edge].configuration + fleet)
        plan = replace(plan, routers=routers)
        super().__init__(plan, Wires(plan, folder), folder, lambda host, event: None)
        # What passed b's uplinks, as files of pcap.
        self.taken: dict[int, bytearray] = {}

    async def _start_router(self, router: RouterPlan) -> None:
        write_private(self.folder / f"{router.name}.fleet", new_key() + "\n")
        await super()._start_router(router)

    def client(self, edge: str) -> httpx.AsyncClient:
        """Return somebody who asks a controller."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.folder / f"{edge}.api"))
        return httpx.AsyncClient(transport=transport, base_url="http://controller", timeout=PATIENCE)

    async def listen(self, port: int, listens: asyncio.Event) -> None:
        """Take what passes an uplink of b."""
        taken = self.taken.setdefault(port, bytearray())
        async with (
            self.client("b") as client,
            client.stream("POST", "/v1/capture", json={"port": port, "direction": "both"}) as answer,
        ):
            answer.raise_for_status()
            async for octets in answer.aiter_bytes():
                # The header of the file says that packets are copied from now on.
                taken += octets
                listens.set()

    def passed(self) -> Counter[str]:
        """Return the Shim6 messages that passed b's uplinks, by kind."""
        captured = (each for taken in self.taken.values() for each in read_pcap([bytes(taken)]))
        packets = [Packet.decode(Frame.decode(each.octets).payload) for each in captured]
        shim6 = (each.payload for each in packets if each.next_header == SHIM6)
        return Counter(MessageType(each[2] & 0x7F).name for each in shim6 if not is_payload(each))

    def address(self, host: str) -> IPv6Address:
        """Return the identity of a host."""
        return self.plan.hosts[host].address.ip

    async def session(self, edge: str, host: str, peer: str) -> Any:
        """Return the session of two hosts when all its paths are there and well."""
        between = [str(self.address(host)), str(self.address(peer))]
        async with self.client(edge) as client:
            while True:
                for each in (await client.get("/v1/sessions")).json():
                    works = all(path["state"] == "works" for path in each["paths"])
                    if [each["local"], each["peer"]] == between and len(each["paths"]) == 4 and works:
                        return each
                await asyncio.sleep(0.05)

    async def lookups(self, edge: str) -> dict[str, int]:
        """Return what came of an edge's questions to the directory."""
        async with self.client(edge) as client:
            lines = (await client.get("/metrics")).text.splitlines()
        name = 'wayname_directory_lookups_total{result="'
        found = [line.removeprefix(name).split('"} ') for line in lines if line.startswith(name)]
        return {result: int(float(count)) for result, count in found}

    async def refusals(self, edge: str) -> list[str]:
        """Return what an edge said of records that it does not believe."""
        async with self.client(edge) as client:
            events = (await client.get("/v1/events")).json()
        return [each["text"] for each in events if each["kind"] == "directory.refused"]

    async def talk(self, host: str, peer: str) -> None:
        """Have two hosts exchange what is worth a session, and wait for it at both ends."""
        await self.hosts[host].start({**PING, "to": str(self.address(peer))})
        await self.session("a", host, peer)
        await self.session("b", peer, host)


async def answer_of(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask etcd until it answers, however busy the machine is."""
    while True:
        try:
            return await ask()
        except EtcdError:
            await asyncio.sleep(0.1)


@asynccontextmanager
async def fleet_of_two() -> AsyncIterator[tuple[DirectoryLab, Etcd]]:
    """A lab whose hosts are in the directory, and somebody who may write there what he likes."""
    with LabFolder() as folder:
        etcds = folder / "etcds"
        etcds.mkdir()
        with EtcdCluster(etcds, 1) as cluster:
            plan = plan_lab(replace(find_lab("two-sites"), flows=()))
            etcd = Etcd(cluster.endpoints)
            try:
                async with DirectoryLab(plan, folder, cluster) as lab:
                    while len((await answer_of(partial(etcd.below, b"wayname/directory/")))[1]) < 8:  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                    yield lab, etcd
            finally:
                await etcd.close()


async def test_sessions_of_a_fleet_begin_without_messages_and_with_proofs() -> None:
    async with asyncio.timeout(2 * PATIENCE), fleet_of_two() as (lab, etcd), asyncio.TaskGroup() as group:
        ports = [lab.plan.routers["b"].port_to(each).number for each in ("p", "q")]
        listening = [(port, asyncio.Event()) for port in ports]
        listeners = [group.create_task(lab.listen(*each)) for each in listening]
        for _, listens in listening:
            await listens.wait()

        await lab.talk("a1", "b1")
        passed = lab.passed()
        assert not SET_UP & passed.keys(), passed
        # What proves the paths passed there, so somebody listened.
        assert passed["PROBE"] and await lab.lookups("a") == await lab.lookups("b") == {"agreed": 1}

        # Somebody has b2's packets come to a place of his own.
        genuine = await answer_of(partial(etcd.get, KEYS.host(lab.address("b2"))))
        assert genuine is not None
        head, listed = genuine.value[: 1 + KEY_OCTETS + ULID_OCTETS], genuine.value[1 + KEY_OCTETS + ULID_OCTETS :]
        place = IPv6Address("2001:db8:666::1")
        forged = head + listed.replace(lab.address("b2").packed, place.packed, 1)
        assert forged != genuine.value
        await answer_of(partial(etcd.transact, [], Put(genuine.key, forged)))
        await lab.talk("a2", "b2")
        assert {"I1", "R1", "I2", "R2"} <= lab.passed().keys()
        [refusal] = await lab.refusals("a")
        assert str(lab.address("b2")) in refusal
        found = await lab.session("a", "a2", "b2")
        assert str(place) not in {path["peer"] for path in found["paths"]}

        # A newer edge writes what this one does not know.
        key = KEYS.host(lab.address("b1"))
        await answer_of(partial(etcd.transact, [], Put(key, bytes([FORM + 1]) + bytes(100))))
        await lab.talk("a2", "b1")
        lookups = await lab.lookups("a")
        assert lookups["newer"] == lookups["unproven"] == 1
        for each in listeners:
            each.cancel()
