"""A host that speaks QUIC and nothing else: aioquic above the link of a HIP host, in the words that hosts are told.

{"command": "quic_receive", "port": PORT}                             from whoever connects first
{"command": "quic_send", "to": ADDRESS, "port": PORT, "bytes": N}     by one stream

{"event": "quic_received", "at_ns": T, "bytes": N, "intact": true}    as the program gets it, in order
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from ipaddress import IPv6Address

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import StreamDataReceived

from bench.multipath.quic_certificate import SERVER_NAME, SelfSigned
from bench.multipath.quic_packets import QuicPackets
from wayname.timers import earliest
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import UDP, Packet
from wayname.wire.mac import Mac
from wayname.wire.udp import Datagram
from wayname_lab.hip.link import LocatorLink
from wayname_lab.planned import HostPlan

SECOND = 1_000_000_000
CLIENT_PORT = 49152
PROTOCOL = "octets"
CONGESTION_CONTROL = "cubic"
# Octets of a stream repeat after as many as no packet has a multiple of.
PERIOD = bytes(random.Random(1).randbytes(997))


class QuicHost:
    """One connection's end; times in nanoseconds."""

    def __init__(self, plan: HostPlan, signed: SelfSigned, datagram: int) -> None:
        self.packets = QuicPackets()
        self._link = LocatorLink(Mac.parse(plan.mac), [plan.address.ip], plan.gateway)
        self._address = plan.address.ip
        self._signed = signed
        self._datagram = datagram
        self._port = CLIENT_PORT
        self._connection: QuicConnection | None = None
        self._to_begin: tuple[IPv6Address, int, int] | None = None
        self._received = 0
        self._events: list[dict[str, object]] = []

    def command(self, line: str) -> int | None:
        """Take a command; there is one flow at most."""
        command = json.loads(line)
        if command["command"] == "quic_send":
            self._to_begin = IPv6Address(command["to"]), command["port"], command["bytes"]
        else:
            self._port = command["port"]
        return 1

    def events(self) -> list[str]:
        """Return what happened since the last call."""
        told, self._events = self._events, []
        return [json.dumps(event) for event in told]

    def set_link(self, up: bool, now: int) -> None:
        """Go on: what is lost meanwhile is sent again."""

    def receive(self, frame: bytes, now: int) -> None:
        """Take a frame from the link."""
        packet = self._link.receive(frame)
        if packet is None or packet.next_header != UDP:
            return
        try:
            datagram = Datagram.decode(packet)
        except DecodeError:
            return
        if datagram.destination_port != self._port:
            return
        if self._connection is None:
            self._connection = self._accepting(datagram.data)
        self._connection.receive_datagram(datagram.data, (packet.source, datagram.source_port), now / SECOND)

    def poll(self, now: int) -> list[bytes]:
        """Do everything that can be done now; return the frames that leave."""
        self._link.handle_timer(now)
        if self._to_begin is not None:
            self._connection = self._connecting(*self._to_begin, now)
            self._to_begin = None
        if self._connection is not None:
            due = self._connection.get_timer()
            if due is not None and due <= now / SECOND:
                self._connection.handle_timer(now / SECOND)
            self._take_events(self._connection, now)
            for packet in self._leaving(self._connection, now):
                self._link.send(packet)
        return self._link.take_frames()

    def next_wake(self, now: int) -> int | None:
        """Return when `poll` has something to do even if no frame comes."""
        due = None if self._connection is None else self._connection.get_timer()
        return earliest((self._link.next_timer(), None if due is None else int(due * SECOND) + 1))

    def _connecting(self, to: IPv6Address, port: int, octets: int, now: int) -> QuicConnection:
        configuration = self._configuration(is_client=True)
        configuration.server_name = SERVER_NAME
        configuration.load_verify_locations(cadata=self._signed.pem)
        connection = QuicConnection(configuration=configuration)
        connection.connect((to, port), now / SECOND)
        connection.send_stream_data(connection.get_next_available_stream_id(), stream_octets(0, octets), True)
        return connection

    def _accepting(self, first: bytes) -> QuicConnection:
        configuration = self._configuration(is_client=False)
        configuration.certificate, configuration.private_key = self._signed.certificate, self._signed.key
        # The long header's destination connection id (RFC 8999, section 5.1).
        asked_for = first[6 : 6 + first[5]]
        return QuicConnection(configuration=configuration, original_destination_connection_id=asked_for)

    def _configuration(self, is_client: bool) -> QuicConfiguration:
        return QuicConfiguration(
            alpn_protocols=[PROTOCOL],
            congestion_control_algorithm=CONGESTION_CONTROL,
            is_client=is_client,
            max_datagram_size=self._datagram,
            quic_logger=self.packets,
        )

    def _leaving(self, connection: QuicConnection, now: int) -> Iterator[Packet]:
        for data, (address, port) in connection.datagrams_to_send(now / SECOND):
            yield Datagram(self._port, port, data).packet(self._address, address)

    def _take_events(self, connection: QuicConnection, now: int) -> None:
        while (event := connection.next_event()) is not None:
            if isinstance(event, StreamDataReceived):
                intact = event.data == stream_octets(self._received, len(event.data))
                self._received += len(event.data)
                told = {"event": "quic_received", "at_ns": now, "bytes": len(event.data), "intact": intact}
                self._events.append(told)


def stream_octets(begin: int, count: int) -> bytes:
    """Return what a stream bears from a place on."""
    skipped = begin % len(PERIOD)
    return (PERIOD * ((skipped + count) // len(PERIOD) + 1))[skipped : skipped + count]
