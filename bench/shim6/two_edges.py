"""Two running edges that are each other's next hop, with the hosts behind them and the wire between them in our hands.

    hosts (here) -- edge a: switch and controller -- the wire between them (here) -- edge b -- hosts (here)

Hosts are so many addresses behind one MAC. What goes between the edges is handed on at once, and Shim6's messages are
noted as they pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import httpx

from bench.attacks.frames import framed
from bench.attacks.packets import datagram
from bench.attacks.wire import Wire
from wayname.wire.discovery import HOP_LIMIT, NeighbourAdvertisement
from wayname.wire.icmpv6 import NEIGHBOUR_SOLICITATION
from wayname.wire.ipv6 import ICMPV6, SHIM6
from wayname.wire.mac import Mac
from wayname.wire.shim6.messages import MessageType
from wayname_lab.load import LabError
from wayname_lab.model import Quality
from wayname_lab.planned import PlannedPort, RouterPlan
from wayname_lab.running_edges import PAUSE, RunningEdges

LAN, BETWEEN = 1, 1001
LAN_PORT, BETWEEN_PORT = 1, 2
LINK = IPv6Network("2001:db8:ffff::/64")
PORTS = (4000, 9)
DATA = bytes(32)
FOUND = 1.0
# Ethernet's header, and where IPv6 and Shim6 (RFC 5533, section 5.1) say what follows.
_IPV6, _NEXT_HEADER, _SOURCE, _PAYLOAD, _MESSAGE = 14, 6, 8, 40, 2


@dataclass(frozen=True, slots=True)
class SiteHost:
    """A host as its edge is told of it; without parameters nothing proves its locators."""

    address: IPv6Address
    parameters: bytes | None


@dataclass(frozen=True, slots=True)
class Network:
    """Prefixes of a site that belong together, and the hosts in them."""

    prefixes: tuple[IPv6Network, ...]
    hosts: tuple[SiteHost, ...]
    is_secure: bool


@dataclass(frozen=True, slots=True)
class Site:
    """An edge with its networks."""

    name: str
    number: int
    networks: tuple[Network, ...]

    @property
    def host_mac(self) -> Mac:
        """The MAC of its hosts."""
        return Mac(0x020000000011 | self.number << 8)

    def router_mac(self, vlan: int) -> Mac:
        """Its own MAC in a VLAN."""
        return Mac(0x02AA00000000 | self.number << 16 | vlan)

    def configuration(self, peer: Site, switch: str, api: Path, idle: float) -> Iterable[str]:
        """Yield the lines of its configuration."""
        yield from ("[switch]", f'address = "{switch}"', f"device_id = {self.number}")
        yield from ("[api]", f'socket = "unix:{api}"')
        for number, vlan, name in ((LAN_PORT, LAN, "lan"), (BETWEEN_PORT, BETWEEN, "between")):
            yield from ("[[port]]", f"number = {number}", f'name = "{name}"', f"vlan = {vlan}")
        inside = [f"{prefix[1]}/64" for network in self.networks for prefix in network.prefixes]
        for vlan, addresses in ((LAN, inside), (BETWEEN, [f"{LINK[self.number]}/64"])):
            listed = ", ".join(f'"{address}"' for address in addresses)
            yield from ("[[interface]]", f"vlan = {vlan}", f"addresses = [{listed}]")
            yield f'mac = "{self.router_mac(vlan)}"'
        yield from ("[[route]]", 'prefix = "::/0"', f'via = ["{LINK[peer.number]}"]')
        for network in self.networks:
            listed = ", ".join(f'"{prefix}"' for prefix in network.prefixes)
            yield from ("[[shim6]]", f"prefixes = [{listed}]", f"bytes = 1\nidle = {idle}")
            yield from () if network.is_secure else ('security = "none"',)
            for host in network.hosts:
                yield from ("[[shim6.host]]", f'address = "{host.address}"')
                yield from () if host.parameters is None else (f'parameters = "{host.parameters.hex()}"',)


class TwoEdges(RunningEdges):
    """The network between its start and its end: `async with TwoEdges(...) as edges`."""

    def __init__(self, folder: Path, sites: Sequence[Site], idle: float) -> None:
        super().__init__(folder, lambda who, how: None)
        self._sites = sites
        self._idle = idle
        self._lan: dict[str, Wire] = {}
        # When each kind of message last passed between two addresses.
        self._passed: dict[tuple[bytes, bytes, int], float] = {}
        self._event_came = asyncio.Event()

    def send(self, source: IPv6Address, destination: IPv6Address) -> float:
        """Let a host of the first site say something; return when."""
        site = self._sites[0]
        frame = framed(datagram(source, destination, PORTS, DATA), site.router_mac(LAN), site.host_mac)
        at = time.perf_counter()
        self._lan[site.name].send(frame)
        return at

    async def message(
        self, kind: MessageType, source: IPv6Address, destination: IPv6Address, since: float, patience: float
    ) -> float:
        """Return when a message of Shim6 passed between two hosts."""
        async with asyncio.timeout(patience):
            while True:
                at = self._passed.get((source.packed, destination.packed, kind), float("-inf"))
                if at >= since:
                    return at
                self._event_came.clear()
                await self._event_came.wait()

    async def until_met(self, source: IPv6Address, destination: IPv6Address, patience: float) -> None:
        """Wait until the edges have found each other: two hosts have a context."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            began = self.send(source, destination)
            with contextlib.suppress(TimeoutError):
                await self.message(MessageType.R2, destination, source, began, FOUND)
                return
        raise LabError(f"the edges have not found each other in {patience:.0f} s")

    async def until_forgotten(self, patience: float) -> None:
        """Wait until no edge has a session any more."""
        deadline = time.monotonic() + patience
        for site in self._sites:
            transport = httpx.AsyncHTTPTransport(uds=str(self.folder / f"{site.name}.api"))
            async with httpx.AsyncClient(transport=transport, base_url="http://controller", timeout=10) as client:
                while (await client.get("/v1/sessions")).json():
                    if time.monotonic() > deadline:
                        raise LabError(f"edge {site.name} has sessions after {patience:.0f} s of silence")
                    await asyncio.sleep(PAUSE)

    async def _start(self) -> None:
        for site, peer in zip(self._sites, reversed(self._sites), strict=True):
            address, api = f"unix:{self.folder / f'{site.name}.p4runtime'}", self.folder / f"{site.name}.api"
            ports = [
                PlannedPort(LAN_PORT, LAN, "lan", Quality()),
                PlannedPort(BETWEEN_PORT, BETWEEN, "next", Quality()),
            ]
            router = RouterPlan(site.name, site.number, True, tuple(ports), (), ())
            config = self.folder / f"{site.name}.toml"
            lines = site.configuration(peer, address, api, self._idle)
            config.write_text("\n".join(lines) + "\n", encoding="utf-8")
            await self._start_edge(router, address, config, self._device(site))
        loop = asyncio.get_running_loop()
        ends = [Wire(self.folder / f"{site.name}-next") for site in self._sites]
        for end, other in zip(ends, reversed(ends), strict=True):
            loop.add_reader(end, self._hand_on, end, other)
        for site in self._sites:
            lan = self._lan[site.name] = Wire(self.folder / f"{site.name}-lan")
            hosts = {host.address.packed for network in site.networks for host in network.hosts}
            loop.add_reader(lan, self._answer, lan, site, hosts)
        await self._until_ready()

    def _device(self, site: Site) -> Callable[[PlannedPort], str]:
        return lambda port: f"wire:{self.folder / f'{site.name}-{port.peer}'}"

    def _hand_on(self, end: Wire, other: Wire) -> None:
        while (frame := end.receive()) is not None:
            other.send(frame)
            if len(frame) > _IPV6 + _PAYLOAD + _MESSAGE and frame[_IPV6 + _NEXT_HEADER] == SHIM6:
                addresses = frame[_IPV6 + _SOURCE : _IPV6 + _PAYLOAD]
                kind = frame[_IPV6 + _PAYLOAD + _MESSAGE] & 0x7F
                self._passed[addresses[:16], addresses[16:], kind] = time.perf_counter()
                self._event_came.set()

    def _answer(self, lan: Wire, site: Site, hosts: set[bytes]) -> None:
        """Answer the edge that looks for a host (RFC 4861, section 7.2.4)."""
        while (frame := lan.receive()) is not None:
            packet = frame[_IPV6:]
            is_asked = packet[_NEXT_HEADER] == ICMPV6 and packet[_PAYLOAD] == NEIGHBOUR_SOLICITATION
            if is_asked and (asked := packet[_PAYLOAD + 8 : _PAYLOAD + 24]) in hosts:
                target, router = IPv6Address(asked), IPv6Address(packet[_SOURCE : _SOURCE + 16])
                said = NeighbourAdvertisement(target, site.host_mac, solicited=True, override=True).message()
                lan.send(framed(said.packet(target, router, HOP_LIMIT), site.router_mac(LAN), site.host_mac))
