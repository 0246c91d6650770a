"""A host at the end of a wire of a switch process: answers solicitations and pings, and pings others."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv6Address
from pathlib import Path

from wayname.wire import discovery, icmpv6, ipv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac


class WireHost:
    """Listens at the wire, so that a switch finds it however often it starts anew; knows its router's MAC."""

    def __init__(self, path: Path, mac: str, address: str, router: str) -> None:
        self.mac, self.router, self.address = Mac.parse(mac), Mac.parse(router), IPv6Address(address)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.setblocking(False)
        self._listener.bind(str(path))
        self._listener.listen()
        self._wire: socket.socket | None = None
        self._sequence = 0
        self._replies: dict[int, asyncio.Event] = {}

    async def run(self) -> None:
        """Answer until cancelled."""
        loop = asyncio.get_running_loop()
        with self._listener:
            while True:
                # `_send` forgets a wire whose switch is gone; what that has sent before is read still.
                wire, _ = await loop.sock_accept(self._listener)
                self._wire = wire
                with wire:
                    while octets := await self._receive(wire):
                        await self._take(octets)

    async def ping(self, destination: str) -> None:
        """Ping every twentieth of a second until a reply comes."""
        while not await self.ping_once(destination):
            continue

    async def ping_once(self, destination: str) -> bool:
        """Send one echo request, and wait a little for its reply."""
        try:
            async with asyncio.timeout(0.05):
                await self.ping_answered(destination)
        except TimeoutError:
            return False
        return True

    async def ping_answered(self, destination: str) -> None:
        """Send one echo request, and wait for its reply, however late: the caller's timeout finds a lost one."""
        self._sequence += 1
        reply = self._replies[self._sequence] = asyncio.Event()
        body = bytes(2) + self._sequence.to_bytes(2)
        request = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, body).packet(self.address, IPv6Address(destination))
        await self._send(self.router, request)
        await reply.wait()

    def forget(self) -> None:
        """Count anew what is asked and answered."""
        self._replies.clear()

    @property
    def asked(self) -> int:
        """Echo requests that were sent."""
        return len(self._replies)

    @property
    def answered(self) -> int:
        """Those that were answered, however late."""
        return sum(reply.is_set() for reply in self._replies.values())

    async def _receive(self, wire: socket.socket) -> bytes:
        try:
            return await asyncio.get_running_loop().sock_recv(wire, 65536)
        except ConnectionError:
            return b""

    async def _take(self, octets: bytes) -> None:
        try:
            frame = Frame.decode(octets)
            packet = ipv6.Packet.decode(frame.payload)
            message = icmpv6.Message.decode(packet)
        except DecodeError:
            return
        if message.type == icmpv6.NEIGHBOUR_SOLICITATION:
            asked = discovery.decode(packet)
            if isinstance(asked, NeighbourSolicitation) and asked.target == self.address:
                said = NeighbourAdvertisement(self.address, self.mac, solicited=True, override=True).message()
                await self._send(frame.source, said.packet(self.address, packet.source, HOP_LIMIT))
        elif packet.destination == packet.source and frame.destination == self.mac:
            # A probe of the router to itself, which any next hop sends back.
            number, payload = packet.next_header, packet.payload
            back = ipv6.Packet(packet.source, packet.destination, number, payload, packet.hop_limit - 1)
            await self._send(frame.source, back)
        elif packet.destination == self.address and message.type == icmpv6.ECHO_REQUEST:
            await self._send(self.router, icmpv6.echo_reply(message).packet(self.address, packet.source))
        elif packet.destination == self.address and message.type == icmpv6.ECHO_REPLY:
            self._replies.get(int.from_bytes(message.body[2:4]), asyncio.Event()).set()

    async def _send(self, destination: Mac, packet: ipv6.Packet) -> None:
        frame, wire = Frame(destination, self.mac, TYPE_IPV6, packet.encode()), self._wire
        if wire is None:
            return
        try:
            await asyncio.get_running_loop().sock_sendall(wire, frame.encode())
        except OSError:
            # The switch is not there: the frame is lost, as on any wire. The next one may be by now.
            if self._wire is wire:
                self._wire = None
