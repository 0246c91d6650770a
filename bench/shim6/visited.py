"""A server behind an edge, and peers that visit it: switches and controllers of a lab, on the virtual clock.

The peers are not hosts: what the lab delivers to them an endpoint of Shim6 takes that speaks for all of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial
from ipaddress import IPv6Address
from math import ceil

from bench.shim6.identities import hash_based
from bench.shim6.negotiating import proved
from bench.shim6.week import Exchange
from wayname.edge.boundary import Event
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname.shim6.endpoint import Endpoint
from wayname.shim6.outputs import Send
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import SHIM6, UDP, Packet
from wayname.wire.mac import Mac
from wayname_lab.load import parse_lab
from wayname_lab.virtual.clock import SECOND
from wayname_lab.virtual.lab import VirtualLab

LAB = """
title = "A server and its peers"
[shim6]
send_timeout = "1s"
bytes = {octets}
idle = "{idle}s"
[edge.s]
[edge.c]
[provider.p]
[host.s1]
edge = "s"
[host.c1]
edge = "c"
[[link]]
between = ["s", "p"]
[[link]]
between = ["c", "p"]
"""
CONVERGED = 5.0
APART = 0.2  # seconds from visit to visit
HEADERS = 48
LONGEST = 1000  # octets of a packet with its headers
AT_ONCE = 3  # packets of an exchange that are sent at once; afterwards one a second is enough to be seen
UDP_OCTETS = 8

Lifetimes = list[tuple[float, float]]


class Visited:
    """Lets visits happen, and tells when the server's edge had a session for each peer."""

    def __init__(self, octets: int, idle: float, seed: int) -> None:
        self._rng = random.Random(seed)
        self._lab = VirtualLab(parse_lab(LAB.format(octets=octets, idle=idle), "server", "server.toml"), seed)
        self._server = self._lab.plan.hosts["s1"]
        self._network = self._lab.plan.hosts["c1"].address.network
        self._endpoint = Endpoint(random.Random(seed), proved)
        self._peers: set[IPv6Address] = set()
        self._hear("c-p", "c")
        self._hear("s-s1", "s1")
        self._lab.run_until(CONVERGED)

    def lifetimes(self, visits: Sequence[Sequence[Exchange]]) -> list[Lifetimes]:
        """Return for each visit from when to when there was a session, by its first packet."""
        peers = [self._peer() for _ in visits]
        began = [self._lab.now + number * APART for number in range(len(visits))]
        for peer, start, visit in zip(peers, began, visits, strict=True):
            for at, octets in packets(visit):
                self._lab.clock.at(round((start + at) * SECOND), partial(self._talk, peer, octets))
        last = max(start + visit[-1].ends - visit[0].begins for start, visit in zip(began, visits, strict=True))
        self._lab.run_until(last)
        while self._sessions():
            self._lab.run_for(1.0)
        told = list(spans(event for router, event in self._lab.events if router == "s"))
        return [
            [(up - start, down - start) for whose, up, down in told if whose == peer]
            for peer, start in zip(peers, began, strict=True)
        ]

    def _sessions(self) -> int:
        edge = self._lab.controllers["s"].edge
        return len(list(edge.manager(Shim6Sessions) or ())) if edge is not None else 0

    def _peer(self) -> IPv6Address:
        host = hash_based((self._network,), self._rng).host
        self._peers.add(host.ulid)
        self._endpoint.serve(host, self._lab.now)
        return host.ulid

    def _hear(self, link: str, end: str) -> None:
        """Take what is for peers, and what is from them, in place of a node."""
        deliver = self._lab.links[link].receivers[end]

        def take(frame: bytes) -> None:
            decoded = Frame.decode(frame)
            packet = Packet.decode(decoded.payload) if decoded.type == TYPE_IPV6 else None
            if packet is None or not self._peers & {packet.source, packet.destination}:
                deliver(frame)
            elif packet.next_header == SHIM6:
                self._endpoint.receive(packet, self._lab.now)
                for output in self._endpoint.take_outputs():
                    if isinstance(output, Send):
                        self._send("c", "p", output.packet)

        self._lab.links[link].connect(end, take)

    def _talk(self, peer: IPv6Address, octets: int) -> None:
        """The server says something, and the peer acknowledges it."""
        server = self._server.address.ip
        self._send("s1", "s", Packet(server, peer, UDP, bytes(octets - HEADERS + UDP_OCTETS)))
        self._send("c", "p", Packet(peer, server, UDP, bytes(UDP_OCTETS)))

    def _send(self, sender: str, router: str, packet: Packet) -> None:
        """Let a packet come to a router by the link to its sender."""
        edge = self._lab.controllers[router].edge
        assert edge is not None
        port = self._lab.plan.routers[router].port_to(sender)
        interface = edge.config.interface(port.vlan)
        assert interface is not None
        link = next(each for each in self._lab.links.values() if set(each.receivers) == {sender, router})
        source = Mac.parse(self._server.mac) if sender == "s1" else self._mac(sender, router)
        link.receivers[router](Frame(interface.mac, source, TYPE_IPV6, packet.encode()).encode())

    def _mac(self, router: str, other: str) -> Mac:
        edge = self._lab.controllers[router].edge
        assert edge is not None
        interface = edge.config.interface(self._lab.plan.routers[router].port_to(other).vlan)
        assert interface is not None
        return interface.mac


def packets(visit: Sequence[Exchange]) -> Iterator[tuple[float, int]]:
    """Yield when the server sends packets, from the beginning of a visit on, and how long they are."""
    for exchange in visit:
        begins, ends = exchange.begins - visit[0].begins, exchange.ends - visit[0].begins
        left = exchange.octets
        for _ in range(min(AT_ONCE, ceil(exchange.octets / LONGEST))):
            yield begins, max(HEADERS, min(left, LONGEST))
            left -= LONGEST
        for second in range(1, ceil(ends - begins) + 1):
            if left > 0:
                yield min(begins + second, ends), LONGEST


def spans(events: Iterator[Event]) -> Iterator[tuple[IPv6Address, float, float]]:
    """Yield whose sessions there were, and from when to when."""
    up: dict[str, tuple[IPv6Address, float]] = {}
    for event in events:
        if event.kind == "session.up":
            up[event.subject] = IPv6Address(event.text.split(" with ")[1].split(": ")[0]), event.time
        elif event.kind == "session.down":
            whose, since = up.pop(event.subject)
            yield whose, since, event.time
