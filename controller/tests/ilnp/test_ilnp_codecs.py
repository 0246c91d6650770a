"""The codecs of ILNP beside layers of scapy that were written apart, and beside tshark."""

from __future__ import annotations

import json
import shutil
import subprocess
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ilnp import scapy_ilnp as other
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, PadN
from scapy.utils import wrpcap

from wayname.ilnp.errors import MessageError
from wayname.ilnp.handshake import SESSION_REQUEST, Control, Handshake
from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate, Operation
from wayname.ilnp.nonce import nonce_header, nonce_of, with_nonce, without_nonce
from wayname.ilnp.vectors import L64, NID, Vector, half_text, is_routable, read_half
from wayname.wire.icmpv6 import Message
from wayname.wire.ipv6 import Packet

A, B = IPv6Address("2001:db8:a:1:0:ff:fe00:a"), IPv6Address("2001:db8:b:1:0:ff:fe00:b")
SHORT, LONG = b"\x01\x02\x03\x04", bytes(range(1, 13))
LOCATORS = (
    Listed(L64(0x2001_0DB8_000A_0001), 10, 300),
    Listed(L64(0x2001_0DB8_000A_0002), 20, 0),
)

nonces = st.sampled_from((4, 12)).flatmap(lambda size: st.binary(min_size=size, max_size=size)).filter(any)
routable = st.integers(0, (1 << 64) - 1).map(L64).filter(is_routable)
words = st.integers(0, 0xFFFF)
lists = st.lists(
    st.builds(Listed, routable, words, words), min_size=1, max_size=255, unique_by=lambda one: one.locator
).map(tuple)
updates = st.builds(LocatorUpdate, st.sampled_from(Operation), lists)


@st.composite
def handshakes(draw: st.DrawFn) -> Handshake:
    control = draw(st.sampled_from(Control))
    source = draw(nonces)
    same = st.binary(min_size=len(source), max_size=len(source)).filter(any)
    destination = draw(st.none() | same if control is Control.REQUEST else same)
    return Handshake(control, source, destination)


def scapy_packet(*layers: object) -> bytes:
    packet: Any = IPv6(src=str(A), dst=str(B), hlim=64)
    for layer in layers:
        packet = packet / layer
    return bytes(packet)


@pytest.mark.parametrize("nonce", [SHORT, LONG])
def test_a_nonce_on_a_packet_is_what_scapy_writes(nonce: bytes) -> None:
    plain = Packet.decode(scapy_packet(UDP(sport=1, dport=2) / b"data"))
    borne = with_nonce(plain, nonce)
    layers = IPv6ExtHdrDestOpt(nh=17, options=[other.Nonce(nonce=nonce)], autopad=0), bytes(plain.payload)
    assert borne.encode() == bytes(IPv6(src=str(A), dst=str(B), hlim=64, nh=60) / layers[0] / layers[1])
    assert nonce_of(borne) == nonce
    assert without_nonce(borne) == plain


def test_a_nonce_stands_behind_routing_and_before_other_destination_options() -> None:
    layers = (
        IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))]),
        IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(4))]),
        IPv6ExtHdrRouting(addresses=[str(B)]),
        IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(4))]),
        UDP(sport=1, dport=2),
    )
    plain = Packet.decode(scapy_packet(*layers))
    borne = with_nonce(plain, LONG)
    read: Any = IPv6(borne.encode())
    names, options = [], []
    while read:
        names.append(read.name)
        if isinstance(read, IPv6ExtHdrDestOpt):
            options.append([option.otype for option in read.options])
        read = read.payload
    destination = "IPv6 Extension Header - Destination Options Header"
    assert names[1:6] == [
        "IPv6 Extension Header - Hop-by-Hop Options Header",
        destination,
        "IPv6 Option Header Routing",
        destination,
        destination,
    ]
    assert options == [[1], [0x8B], [1]]
    assert nonce_of(borne) == LONG
    assert without_nonce(borne) == plain


def test_a_nonce_beside_other_options_becomes_padding() -> None:
    options = [PadN(optdata=bytes(2)), other.Nonce(nonce=SHORT), PadN(otype=0x1E, optdata=bytes(2))]
    packet = Packet.decode(scapy_packet(IPv6ExtHdrDestOpt(options=options), UDP(sport=1, dport=2)))
    assert nonce_of(packet) == SHORT
    off = without_nonce(packet)
    assert nonce_of(off) is None
    assert len(off.payload) == len(packet.payload)


def test_a_packet_without_a_nonce_stays_as_it_is() -> None:
    packet = Packet.decode(scapy_packet(IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(4))]), UDP()))
    assert nonce_of(packet) is None
    assert without_nonce(packet) is packet


def test_two_nonces_prove_nothing() -> None:
    packet = with_nonce(with_nonce(Packet(A, B, 59, b""), SHORT), SHORT)
    with pytest.raises(MessageError, match="two nonces"):
        nonce_of(packet)


@pytest.mark.parametrize("size", [0, 3, 5, 8, 11, 13])
def test_a_nonce_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(MessageError, match="4 or 12"):
        nonce_header(bytes(size), 59)
    packet = scapy_packet(IPv6ExtHdrDestOpt(options=[other.Nonce(nonce=bytes(size))]))
    with pytest.raises(MessageError, match="4 and 12"):
        nonce_of(Packet.decode(packet))


def test_options_that_are_longer_than_their_header_are_refused() -> None:
    for octets in (b"\x3b\0\x1e\5" + bytes(4), b"\x3b\0\x8b\5" + bytes(4), b"\x3b\0\0\0\0\0\0\x1e"):
        with pytest.raises(MessageError, match="longer than its header"):
            nonce_of(Packet(A, B, 60, octets))


def test_single_octets_of_padding_are_stepped_over() -> None:
    octets = b"\x3b\1\0\x8b\4\1\2\3\4\x1e\5" + bytes(5)
    packet = Packet(A, B, 60, octets)
    assert nonce_of(packet) == SHORT
    assert without_nonce(packet).payload == octets[:3] + b"\1\4" + bytes(4) + octets[9:]


def test_a_nonce_header_cut_anywhere_is_refused() -> None:
    octets = nonce_header(LONG, 59)
    for length in range(1, len(octets)):
        with pytest.raises(MessageError):
            nonce_of(Packet(A, B, 60, octets[:length]))
    with pytest.raises(MessageError, match="longer than its header"):
        nonce_of(Packet(A, B, 60, octets[:3] + b"\x0d" + octets[4:]))


@given(updates)
def test_locator_updates_come_back(update: LocatorUpdate) -> None:
    assert LocatorUpdate.decode(0, update.encode()) == update


@pytest.mark.parametrize("operation", Operation)
def test_a_locator_update_is_what_scapy_writes(operation: Operation) -> None:
    update = LocatorUpdate(operation, LOCATORS)
    locators = [other.Listed(locator=one.locator, preference=one.preference, lifetime=one.lifetime) for one in LOCATORS]
    layer = other.LocatorUpdate(operation=int(operation), locators=locators)
    assert Message(LOCATOR_UPDATE, 0, update.encode()).packet(A, B).encode() == scapy_packet(layer)
    noisy = other.LocatorUpdate(operation=int(operation), locators=locators, reserved=0xFFFF)
    read = Message.decode(Packet.decode(scapy_packet(noisy)))
    assert LocatorUpdate.decode(read.code, read.body) == update


def test_a_locator_update_cut_anywhere_is_refused() -> None:
    octets = LocatorUpdate(Operation.ADVERTISEMENT, LOCATORS).encode()
    for length in range(len(octets)):
        with pytest.raises(MessageError):
            LocatorUpdate.decode(0, octets[:length])
    assert LocatorUpdate.decode(0, octets + b"behind").listed == LOCATORS


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda octets: (1, octets), "code 1"),
        (lambda octets: (0, b"\0" + octets[1:]), "without a locator"),
        (lambda octets: (0, octets[:1] + b"\3" + octets[2:]), "no operation 3"),
        (lambda octets: (0, octets[:16] + octets[4:16]), "listed twice"),
        (lambda octets: (0, octets[:4] + bytes(8) + octets[12:]), "no locator that packets"),
        (lambda octets: (0, octets[:4] + b"\xff\x02" + octets[6:]), "no locator that packets"),
        (lambda octets: (0, octets[:4] + b"\xfe\x80" + octets[6:]), "no locator that packets"),
    ],
)
def test_locator_updates_that_say_nothing_sensible(change: object, reason: str) -> None:
    assert callable(change)
    code, octets = change(LocatorUpdate(Operation.ADVERTISEMENT, LOCATORS).encode())
    with pytest.raises(MessageError, match=reason):
        LocatorUpdate.decode(code, octets)


@pytest.mark.parametrize("listed", [(), LOCATORS * 128, (Listed(LOCATORS[0].locator, 1 << 16, 0),)])
def test_locators_that_do_not_fit_are_not_written(listed: tuple[Listed, ...]) -> None:
    with pytest.raises(MessageError):
        LocatorUpdate(Operation.ADVERTISEMENT, listed).encode()


@given(handshakes())
def test_handshakes_come_back(message: Handshake) -> None:
    assert Handshake.decode(0, message.encode()) == message


@pytest.mark.parametrize("control", Control)
def test_a_handshake_is_what_scapy_writes(control: Control) -> None:
    message = Handshake(control, LONG, LONG[::-1])
    layer = other.SessionRequest(source_nonce=LONG, destination_nonce=LONG[::-1], control=int(control))
    assert Message(SESSION_REQUEST, 0, message.encode()).packet(A, B).encode() == scapy_packet(layer)


@pytest.mark.parametrize(
    ("code", "body", "reason"),
    [
        (1, SHORT * 2 + b"\1\0\0\0", "code 1"),
        (0, SHORT * 2 + b"\0\0\0\0", "no control 0"),
        (0, SHORT * 2 + b"\4\0\0\0", "no control 4"),
        (0, SHORT * 2 + b"\1\0\0", "11 octets"),
        (0, b"", "0 octets"),
        (0, bytes(4) + SHORT + b"\1\0\0\0", "without a source nonce"),
        (0, SHORT + bytes(4) + b"\2\0\0\0", "REQUEST_AND_ACKNOWLEDGE without a destination nonce"),
        (0, SHORT + bytes(4) + b"\3\0\0\0", "ACKNOWLEDGE without a destination nonce"),
    ],
)
def test_handshakes_that_say_nothing_sensible(code: int, body: bytes, reason: str) -> None:
    with pytest.raises(MessageError, match=reason):
        Handshake.decode(code, body)


@pytest.mark.parametrize(
    "message",
    [
        Handshake(Control.REQUEST, b"12345678"),
        Handshake(Control.REQUEST, bytes(4)),
        Handshake(Control.ACKNOWLEDGE, SHORT, LONG),
        Handshake(Control.ACKNOWLEDGE, SHORT, bytes(4)),
    ],
)
def test_nonces_that_do_not_fit_are_not_written(message: Handshake) -> None:
    with pytest.raises(MessageError):
        message.encode()


def test_vectors_split_and_come_together() -> None:
    vector = Vector.of(A)
    assert (vector.locator, vector.nid) == (0x2001_0DB8_000A_0001, 0x0000_00FF_FE00_000A)
    assert vector.address == A
    assert str(vector) == "2001:db8:a:1:0:ff:fe00:a"


def test_halves_are_never_shortened() -> None:
    assert half_text(NID(0x0014_4FFF_FF20_EE64)) == "0014:4fff:ff20:ee64"
    assert read_half("14:4FFF:ff20:ee64") == 0x0014_4FFF_FF20_EE64
    for text in ("::1", "1:2:3", "1:2:3:4:5", "1:2:3:4x", "12345:1:1:1", ""):
        with pytest.raises(ValueError, match="four groups"):
            read_half(text)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not there")
def test_tshark_reads_a_locator_update(tmp_path: Path) -> None:
    packets = [
        with_nonce(Message(LOCATOR_UPDATE, 0, LocatorUpdate(operation, LOCATORS).encode()).packet(A, B), LONG).encode()
        for operation in Operation
    ]
    capture = tmp_path / "updates.pcap"
    wrpcap(str(capture), [IPv6(packet) for packet in packets], linktype=101)
    command = ["tshark", "-r", str(capture), "-T", "json", "--no-duplicate-keys"]
    read = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert len(read) == 2
    for packet in read:
        text = json.dumps(packet)
        assert "malformed" not in text.lower()
        layers = packet["_source"]["layers"]
        assert layers["icmpv6"]["icmpv6.checksum.status"] == "1"
        assert layers["icmpv6"]["icmpv6.ilnp.nb_locs"] == "2"
        assert LONG.hex(":") in text
