"""A provider's router on the link to a site: it delegates prefixes by DHCPv6, in the words that hosts are told.

python -m wayname_lab.delegating_router --wire PATH --mac MAC      is one at the end of a wire

{"command": "delegate", "prefix": PREFIX}       from now on, and it knows nothing of others
{"command": "renumber", "prefix": PREFIX}       from now on, and the one before lasts until it ends
{"command": "withdraw"}                         nothing, from now on
"""

from __future__ import annotations

import argparse
import asyncio
import json
from ipaddress import IPv6Network
from pathlib import Path

from wayname.wire.dhcpv6 import ALL_SERVERS, CLIENT_PORT, SERVER_PORT, Message
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import UDP, Packet
from wayname.wire.mac import Mac
from wayname.wire.udp import Datagram
from wayname_lab.delegation_server import DelegationServer
from wayname_lab.host_process import HostProcess

SECOND = 1_000_000_000
# Of a prefix, in seconds: short, so that a lab shows what becomes of it. The site asks again after half of the first.
PREFERRED, VALID = 10, 20


class DelegatingRouter:
    """Answers clients of DHCPv6 and nobody else; times in nanoseconds."""

    def __init__(self, mac: str, preferred: int, valid: int) -> None:
        self._mac = Mac.parse(mac)
        self._server = DelegationServer(preferred, valid)
        self._out: list[bytes] = []
        self._events: list[dict[str, object]] = []
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
        self._events.append({"event": "started", "app": command["command"], "flow": self._flows})
        return self._flows

    def events(self) -> list[str]:
        """Return what happened since the last call."""
        told, self._events = self._events, []
        return [json.dumps(event) for event in told]

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


def delegate(prefix: IPv6Network) -> dict[str, object]:
    """Return the command that lets a site have a prefix, and no other."""
    return {"command": "delegate", "prefix": str(prefix)}


def main() -> None:
    """Run one until nobody is left who commands."""
    parser = argparse.ArgumentParser(prog="wayname_lab.delegating_router", description="Delegates a prefix.")
    parser.add_argument("--wire", type=Path, required=True)
    parser.add_argument("--mac", required=True)
    given = parser.parse_args()
    asyncio.run(HostProcess(DelegatingRouter(given.mac, PREFERRED, VALID), given.wire).run())


if __name__ == "__main__":
    main()
