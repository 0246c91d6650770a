"""tshark reads every message that an endpoint makes, with the dissector in `topo/wireshark`.

Its own one tells the header and whether the checksum is right; what it shows of the rest of a control message is not
what is there (seen with version 4.0.17).
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence

import pytest
from repository import REPOSITORY
from shim6.network import A1, B1, Network
from shim6.test_shim6_codec import MESSAGES
from shim6.test_shim6_proofs import FOUR, KEY, TWO, networked, signing

from wayname.session.keys import Pair
from wayname.shim6.locators import tell
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import (
    I2,
    R2,
    Error,
    I2bis,
    Keepalive,
    Message,
    MessageType,
    Probe,
    R1bis,
    decode,
    encode,
)
from wayname.wire.shim6.options import LocatorList
from wayname.wire.shim6.payload import PayloadHeader

TSHARK = shutil.which("tshark")
DISSECTOR = REPOSITORY / "topo" / "wireshark" / "shim6.lua"
FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, 229)  # version 2.4, IPv6
TCP_SYN = bytes.fromhex("c000138800000001000000005002ffff00000000")

pytestmark = pytest.mark.skipif(TSHARK is None, reason="needs tshark")

ALL = [message for message, _ in MESSAGES]


def read(packets: Sequence[bytes], *fields: str, ours: bool = True) -> list[list[list[str]]]:
    """Return for each packet the values of each field; the marks of what is wrong with it come first."""
    records = b"".join(struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet for packet in packets)
    command = [str(TSHARK), "-n", "-r", "-", "-T", "fields", "-E", "separator=|"]
    for field in ("_ws.malformed", "_ws.expert.message", *fields):
        command += ["-e", field]
    if ours:
        command += ["-X", f"lua_script:{DISSECTOR}"]
    done = subprocess.run(command, input=FILE_HEADER + records, capture_output=True, check=True, timeout=60)
    lines = done.stdout.decode().splitlines()
    assert len(lines) == len(packets)
    return [[cell.split(",") if cell else [] for cell in line.split("|")] for line in lines]


def packet(message: Message) -> bytes:
    """Return a message in a packet from A to B."""
    return Packet(A1, B1, SHIM6, encode(message)).encode()


def number(values: list[str]) -> list[int]:
    """Return numbers as tshark writes them."""
    return [int(value, 0) for value in values]


def test_its_own_dissector_finds_the_type_and_the_checksum_right() -> None:
    seen = read([packet(message) for message in ALL], "shim6.type", "shim6.checksum.status", ours=False)
    for message, (_, _, kind, status) in zip(ALL, seen, strict=True):
        assert (number(kind), status) == ([encode(message)[2]], ["1"])


def test_it_reads_what_was_written() -> None:
    fields = ("type", "tag", "packet_tag", "initiator_nonce", "responder_nonce", "option.type", "option.length")
    seen = read([packet(message) for message in ALL], *(f"rfc5533.{field}" for field in fields))
    for message, (malformed, rate_limited_events, kind, *others) in zip(ALL, seen, strict=True):
        octets = encode(message)
        assert (malformed, rate_limited_events, number(kind)) == ([], [], [octets[2]])
        tag, packet_tag, initiator, responder, options, lengths = others
        for values, name in (
            (tag, "tag"),
            (packet_tag, "packet_tag"),
            (initiator, "initiator_nonce"),
            (responder, "responder_nonce"),
        ):
            assert number(values) == [value for value in (getattr(message, name, None),) if value is not None]
        told = () if isinstance(message, Error) else message.options
        assert number(lengths) == [len(option.contents()) for option in told]
        assert len(options) == len(told)


def test_it_reads_locators_probes_and_errors() -> None:
    fields = ("locator", "method", "state", "probe.source", "probe.nonce", "error.code", "error.pointer")
    seen = read([packet(message) for message in ALL], *(f"rfc5533.{field}" for field in fields))
    for message, (_, _, locators, methods, state, sources, nonces, code, pointer) in zip(ALL, seen, strict=True):
        told = () if isinstance(message, Error) else message.options
        listed = [one for option in told if isinstance(option, LocatorList) for one in option.locators]
        assert locators == [str(one.address) for one in listed]
        assert number(methods) == [one.verification for one in listed]
        records = (*message.sent, *message.received) if isinstance(message, Probe) else ()
        assert sources == [str(record.source) for record in records]
        assert number(nonces) == [record.nonce for record in records]
        assert number(state) == ([int(message.state)] if isinstance(message, Probe) else [])
        assert number(code) == ([message.code] if isinstance(message, Error) else [])
        assert number(pointer) == ([message.pointer] if isinstance(message, Error) else [])


class Tap:
    """Keeps what passes between two endpoints."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.packets: dict[bytes, None] = {}

    def keep(self) -> None:
        """Take note of what is under way."""
        self.packets |= dict.fromkeys(one.encode() for _, one in self._network.under_way)

    def drive(self) -> None:
        """Let all that happens happen."""
        self.keep()
        self._network.drive(each=self.keep)


def test_it_reads_whole_exchanges_of_signed_and_hash_based_hosts() -> None:
    network, a, _ = networked()
    tap = Tap(network)
    network.establish(network.a, a)
    tap.drive()
    ulid, parameters = signing()
    network.move(network.a, tell(ulid, parameters, [ulid, TWO[7], FOUR[9]], 2, KEY))
    tap.drive()
    # B forgets all, and hears of the context.
    network.restart(network.b)
    context = network.a.endpoint.contexts.named(a)
    assert context is not None
    assert context.peer_tag is not None
    network.inject(Packet(context.pair.local, context.pair.peer, SHIM6, encode(Keepalive(context.peer_tag))))
    tap.drive()
    packets = list(tap.packets)
    kinds = [decode(Packet.decode(one).payload) for one in packets]
    assert {MessageType(encode(one)[2]).name for one in kinds} == {
        *("I1", "R1", "I2", "R2", "UPDATE_REQUEST", "UPDATE_ACKNOWLEDGEMENT", "KEEPALIVE", "R1BIS", "I2BIS")
    }
    seen = read(packets, "rfc5533.locator", "rfc5533.signature", "rfc5533.parameters")
    assert [line[:2] for line in seen] == [[[], []]] * len(packets)
    proved = {type(message): [len(values) for values in line[2:]] for message, line in zip(kinds, seen, strict=True)}
    assert (proved[I2], proved[R2], proved[I2bis]) == ([2, 1, 1], [2, 0, 1], [3, 1, 1])


def test_it_reads_an_error_and_what_follows_a_payload_header() -> None:
    pair = Pair(A1, B1)
    spoilt = packet(R1bis(1, 2))
    error = packet(Error(1, 40, spoilt))
    payload = Packet(pair.local, pair.peer, SHIM6, PayloadHeader(6, 0x1234).encode() + TCP_SYN).encode()
    first, second = read([error, payload], "rfc5533.error.packet", "rfc5533.tag", "tcp.dstport")
    assert first == [[], [], [spoilt.hex()], [], []]
    assert (number(second[3]), second[4]) == ([0x1234], ["5000"])


@pytest.mark.parametrize("at", [4, 30])
def test_it_marks_a_message_that_is_not_as_written(at: int) -> None:
    octets = bytearray(packet(ALL[1]))
    octets[40 + at] ^= 0xFF
    ((_, rate_limited_events),) = read([bytes(octets)])
    assert rate_limited_events


def test_it_marks_an_option_that_ends_behind_its_message() -> None:
    octets = bytearray(packet(ALL[1]))
    octets[40 + 18] = 0xFF
    ((_, rate_limited_events),) = read([bytes(octets)])
    assert "an option ends behind the message" in rate_limited_events
