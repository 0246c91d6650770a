"""A provider's router on the link to a site: it delegates prefixes by DHCPv6, in the words that hosts are told.

{"command": "delegate", "prefix": PREFIX}       from now on, and it knows nothing of others
{"command": "renumber", "prefix": PREFIX}       from now on, and the one before lasts until it ends
{"command": "withdraw"}                         nothing, from now on
"""

from __future__ import annotations

import json
from ipaddress import IPv6Network

from wayname.wire.dhcpv6 import ALL_SERVERS, CLIENT_PORT, SERVER_PORT, Message
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import UDP, Packet
from wayname.wire.mac import Mac
from wayname.wire.udp import Datagram
from wayname_lab.delegation_server import DelegationServer

SECOND = 1_000_000_000


class DelegatingRouter:
    """Answers clients of DHCPv6 and nobody else; times in nanoseconds."""

    def __init__(self, mac: str, preferred: int, valid: int) -> None:
        self._mac = Mac.parse(mac)
        self._server = DelegationServer(preferred, valid)
        self._out: list[bytes] = []
        self._flows = 0

    def command(self, line: str) -> int | None:
        """Delegate another prefix from now on."""
        command = json.loads(line)
        if command["command"] == "withdraw":
            self._server.withdraw()
        else:
            change = {"delegate": self._server.delegate, "renumber": self._server.renumber}[command["command"]]
            change(IPv6Network(command["prefix"]))
        self._flows += 1
        return self._flows

    def events(self) -> list[str]:
        """Nothing happens here that others do not hear."""
        return []

    def set_link(self, up: bool, now: int) -> None:
        """Clients ask when they see fit."""

    def receive(self, frame: bytes, now: int) -> None:
        """Answer a client."""
        try:
            arrived = Frame.decode(frame)
            if arrived.type != TYPE_IPV6:
                return
            packet = Packet.decode(arrived.payload)
            if packet.destination != ALL_SERVERS or packet.next_header != UDP:
                return
            answer = self._server.answer(Message.decode(Datagram.decode(packet).data), now / SECOND)
        except DecodeError:
            return
        if answer is not None:
            reply = Datagram(SERVER_PORT, CLIENT_PORT, answer.encode()).packet(self._mac.link_local(), packet.source)
            self._out.append(Frame(arrived.source, self._mac, TYPE_IPV6, reply.encode()).encode())

    def poll(self, now: int) -> list[bytes]:
        """Return the answers."""
        out, self._out = self._out, []
        return out

    def next_wake(self, now: int) -> int | None:
        """It only answers."""
        return None
