"""The controller and the switch as processes, and somebody on the hosts' link who floods, claims and forges."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from ipaddress import IPv6Address
from pathlib import Path

import finsy as fy
from test_adapter import SwitchProcess, event, running
from wire_host import WireHost

from wayname.adapter import Controller
from wayname.composition.configuration import parse_config
from wayname.p4_constants import Drop, Guard
from wayname.wire import ipv6
from wayname.wire.discovery import ALL_NODES, HOP_LIMIT, NeighbourAdvertisement
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac, group_mac

LAN = """
[switch]
address = "127.0.0.1:{port}"
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[port]]
number = 3
vlan = 10
max_macs = 64
[[interface]]
vlan = 10
mac = "02:00:00:00:00:0a"
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 20
mac = "02:00:00:00:00:14"
addresses = ["2001:db8:2::1/64"]
"""
ROUTER = Mac.parse("02:00:00:00:00:0a")
FLOOD = 3000


class Attacker:
    """A wire by which anything is sent; what comes by it is thrown away."""

    def __init__(self, path: Path) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.setblocking(False)
        self._listener.bind(str(path))
        self._listener.listen()
        self._wire: socket.socket | None = None
        self.heard: list[bytes] = []

    async def run(self) -> None:
        """Take what comes until cancelled."""
        loop = asyncio.get_running_loop()
        with self._listener:
            self._wire, _ = await loop.sock_accept(self._listener)
            with self._wire:
                while octets := await loop.sock_recv(self._wire, 65536):
                    self.heard.append(octets)

    async def send(self, source: Mac, destination: Mac, packet: ipv6.Packet) -> None:
        """Send a packet from any MAC."""
        assert self._wire is not None
        frame = Frame(destination, source, TYPE_IPV6, packet.encode()).encode()
        await asyncio.get_running_loop().sock_sendall(self._wire, frame)


def another(number: int) -> tuple[Mac, Mac, ipv6.Packet]:
    """Return another station's packet, from another address."""
    source = IPv6Address(int(IPv6Address("2001:db8:1::6:0")) + number)
    return Mac(0x02_00_00_01_00_00 + number), ROUTER, ipv6.Packet(source, IPv6Address("2001:db8:2::22"), 59, b"")


async def the_switch_knows_that_a_port_is_full(controller: Controller) -> None:
    """Wait for it."""
    while True:
        members = await controller.read([fy.P4TableEntry("vlan_members")])
        actions = [each.action for each in members if isinstance(each, fy.P4TableEntry)]
        guards = [each.args.get("guards", 0) for each in actions if isinstance(each, fy.P4TableAction)]
        if any(each & Guard.MACS_FULL for each in guards):
            return


async def dropped(controller: Controller, reason: Drop) -> int:
    """Return how many packets ingress dropped by a reason."""
    [counter] = await controller.read([fy.P4CounterEntry("ingress_drops", index=reason)])
    assert isinstance(counter, fy.P4CounterEntry)
    assert counter.data is not None
    return counter.data.packet_count


@contextlib.asynccontextmanager
async def attacked(folder: Path) -> AsyncIterator[tuple[Controller, WireHost, WireHost, Attacker]]:
    """Start all of it, until both hosts can talk."""
    victim = WireHost(folder / "1", "02:00:00:00:00:01", "2001:db8:1::11", str(ROUTER))
    far = WireHost(folder / "2", "02:00:00:00:00:02", "2001:db8:2::22", "02:00:00:00:00:14")
    attacker = Attacker(folder / "3")
    switch = SwitchProcess(folder)
    tasks = [asyncio.create_task(each.run()) for each in (victim, far, attacker)]
    try:
        switch.start("-i", f"3@wire:{folder}/3")
        async with running(Controller(parse_config(LAN.format(port=switch.port)))) as controller:
            await event(controller, "switch.up")
            await victim.ping("2001:db8:2::22")
            await far.ping("2001:db8:1::11")
            yield controller, victim, far, attacker
    finally:
        switch.kill()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_nobody_on_the_link_takes_a_hosts_traffic(tmp_path: Path) -> None:
    async with asyncio.timeout(60), attacked(tmp_path) as (controller, victim, far, attacker):
        mine = Mac.parse("02:00:00:00:66:66")
        own = IPv6Address("2001:db8:1::66")
        # A frame with its MAC, an advertisement of its address, a packet from its address.
        forged = NeighbourAdvertisement(victim.address, mine, override=True).message()
        await attacker.send(victim.mac, mine, ipv6.Packet(own, victim.address, 59, b""))
        await attacker.send(mine, group_mac(ALL_NODES), forged.packet(own, ALL_NODES, HOP_LIMIT))
        await attacker.send(mine, ROUTER, ipv6.Packet(victim.address, far.address, 59, b"forged"))
        await event(controller, "station.refused")
        await event(controller, "binding.refused")
        for _ in range(5):
            await far.ping("2001:db8:1::11")
        assert controller.edge.fdb.port_of(10, victim.mac) == 1
        assert not any(b"forged" in octets for octets in attacker.heard)
        assert "station.moved" not in {each.event.kind for each in controller.events.since(0)}


async def test_one_port_floods_stations_sources_and_neighbours(tmp_path: Path) -> None:
    async with asyncio.timeout(120), attacked(tmp_path) as (controller, victim, far, attacker):
        for number in range(FLOOD):
            await attacker.send(*another(number))
        await event(controller, "stations.port_full")
        await the_switch_knows_that_a_port_is_full(controller)
        for number in range(FLOOD, FLOOD + 100):
            await attacker.send(*another(number))
        edge = controller.edge
        assert edge.fdb.count(3) <= 64
        assert edge.bindings.count(3) <= edge.host_ports.max_addresses(3)
        for _ in range(5):
            await far.ping("2001:db8:1::11")
            await victim.ping("2001:db8:2::22")
        assert edge.fdb.port_of(10, victim.mac) == 1
        assert edge.bindings.count(1) >= 1
        while not await dropped(controller, Drop.MAC_LIMIT):
            continue
