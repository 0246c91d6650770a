"""Messages of Shim6 and ILNP from somewhere in the Internet, from sources that are nobody's or in a peer's name."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address

from bench.attacks.attack import Attack, Draw, Group, Make, from_provider
from bench.attacks.packets import SYN, datagram, segment_of_ilnp
from bench.attacks.site import FORGED, A, B
from wayname.ilnp.handshake import SESSION_REQUEST, Control, Handshake
from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate, Operation
from wayname.ilnp.nonce import LONG_NONCE, with_nonce
from wayname.ilnp.vectors import L64
from wayname.wire import icmpv6
from wayname.wire.ipv6 import SHIM6, UDP, Packet
from wayname.wire.shim6.messages import (
    I1,
    I2,
    TAG_BITS,
    Error,
    I2bis,
    Keepalive,
    Message,
    Probe,
    ProbeRecord,
    ProbeState,
    R1bis,
    UpdateAcknowledgement,
    UpdateRequest,
    encode,
)
from wayname.wire.shim6.options import Locator, LocatorList, ResponderValidator, Verification
from wayname.wire.shim6.payload import PayloadHeader

HOST, PEER = A.host("shim6").address, B.host("shim6").address
ILNP_HOST, ILNP_PEER = A.host("ilnp").address, B.host("ilnp").address
ELSEWHERE = L64(int(FORGED.network_address) >> 64)
VALIDATOR_OCTETS = 16
CLOSED_PORT, ANY_PORT = 9, 4000
UNKNOWN_KIND = 99


def _shim6(name: str, about: str, message: Callable[[Draw], Message], in_peers_name: bool = False) -> Attack:
    def make(draw: Draw) -> list[bytes]:
        def one() -> bytes:
            source = PEER if in_peers_name else draw.forged()
            return from_provider(Packet(source, HOST, SHIM6, encode(message(draw))))

        return draw.times(one)

    return _off_path(f"shim6-{name}", about, make)


def _off_path(name: str, about: str, make: Make) -> Attack:
    return Attack(name, about, Group.OFF_PATH, "a-p", make, is_message=True)


def _tag(draw: Draw) -> int:
    return draw.rng.getrandbits(TAG_BITS)


def _word(draw: Draw) -> int:
    return draw.rng.getrandbits(32)


def _bad_i2(draw: Draw) -> I2:
    validator = ResponderValidator(draw.rng.randbytes(VALIDATOR_OCTETS))
    return I2(_tag(draw), _word(draw), _word(draw), (validator,))


def _bad_i2bis(draw: Draw) -> I2bis:
    validator = ResponderValidator(draw.rng.randbytes(VALIDATOR_OCTETS))
    return I2bis(_tag(draw), _word(draw), _word(draw), _tag(draw), (validator,))


def _update(draw: Draw) -> UpdateRequest:
    listed = LocatorList(9, tuple(Locator(each, Verification.HBA) for each in (PEER, draw.forged())))
    return UpdateRequest(_tag(draw), _word(draw), (listed,))


def _probe(draw: Draw) -> Probe:
    return Probe(_tag(draw), ProbeState.EXPLORING, (ProbeRecord(PEER, HOST, _word(draw)),))


def _unknown_tag(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        payload = PayloadHeader(UDP, _tag(draw)).encode() + bytes(24)
        return from_provider(Packet(draw.forged(), HOST, SHIM6, payload))

    return draw.times(one)


def _unknown_kind(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        octets = bytearray(encode(Keepalive(_tag(draw))))
        octets[2] = UNKNOWN_KIND
        return from_provider(Packet(draw.forged(), HOST, SHIM6, bytes(octets)))

    return draw.times(one)


def _icmp_errors(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        payload = PayloadHeader(UDP, _tag(draw)).encode() + bytes(40)
        quoted = Packet(HOST, PEER, SHIM6, payload)
        kind = draw.rng.choice((icmpv6.UNREACHABLE, icmpv6.TIME_EXCEEDED, icmpv6.PACKET_TOO_BIG))
        return from_provider(icmpv6.Message(kind, 0, bytes(4) + quoted.encode()).packet(draw.forged(), HOST))

    return draw.times(one)


def _nonce(draw: Draw) -> bytes:
    return draw.rng.randbytes(LONG_NONCE)


def _ilnp_request(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        nonce = _nonce(draw)
        body = Handshake(Control.REQUEST, nonce).encode()
        packet = icmpv6.Message(SESSION_REQUEST, 0, body).packet(draw.forged(), ILNP_HOST)
        return from_provider(with_nonce(packet, nonce))

    return draw.times(one)


def _ilnp_acknowledgement(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        nonce = _nonce(draw)
        body = Handshake(Control.ACKNOWLEDGE, nonce, _nonce(draw)).encode()
        packet = icmpv6.Message(SESSION_REQUEST, 0, body).packet(draw.forged(), ILNP_HOST)
        return from_provider(with_nonce(packet, nonce))

    return draw.times(one)


def _ilnp_update(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        body = LocatorUpdate(Operation.ADVERTISEMENT, (Listed(ELSEWHERE, 1, 300),)).encode()
        packet = icmpv6.Message(LOCATOR_UPDATE, 0, body).packet(ILNP_PEER, ILNP_HOST)
        return from_provider(with_nonce(packet, _nonce(draw)))

    return draw.times(one)


def _ilnp_unknown_nonce(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        source = draw.forged() if draw.rng.random() < 0.5 else ILNP_PEER
        packet = datagram(source, ILNP_HOST, (ANY_PORT, CLOSED_PORT), bytes(24))
        return from_provider(with_nonce(packet, _nonce(draw)))

    return draw.times(one)


def _ilnp_syn(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        ports = (draw.rng.randrange(1024, 65536), CLOSED_PORT)
        return from_provider(segment_of_ilnp(draw.forged(), ILNP_HOST, ports, SYN, _nonce(draw), _word(draw)))

    return draw.times(one)


def _ilnp_errors(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        quoted = with_nonce(datagram(ILNP_HOST, ILNP_PEER, (ANY_PORT, CLOSED_PORT), bytes(8)), _nonce(draw))
        error = icmpv6.Message(icmpv6.PARAMETER_PROBLEM, 2, (42).to_bytes(4) + quoted.encode())
        return from_provider(error.packet(draw.forged(), ILNP_HOST))

    return draw.times(one)


def addressed(host: IPv6Address, draw: Draw) -> Packet:
    """Return a datagram to a host from a forged source."""
    return datagram(draw.forged(), host, (ANY_PORT, CLOSED_PORT), bytes(24))


ATTACKS = (
    _shim6("i1", "I1 from forged sources", lambda draw: I1(_tag(draw), _word(draw))),
    _shim6("i2", "I2 with a validator that nobody gave out", _bad_i2),
    _shim6("i2bis", "I2bis with a validator that nobody gave out", _bad_i2bis),
    _shim6("r1bis", "R1bis in the peer's name, about a tag that is not used", lambda draw: R1bis(_tag(draw), 1), True),
    _off_path("shim6-unknown-tag", "payload with tags of no context, from forged sources", _unknown_tag),
    _shim6("update", "Update Request in the peer's name: locators that are the attacker's", _update, True),
    _shim6("update-ack", "its acknowledgement", lambda draw: UpdateAcknowledgement(_tag(draw), _word(draw)), True),
    _shim6("probe", "Probe in the peer's name", _probe, True),
    _shim6("keepalive", "Keepalive in the peer's name", lambda draw: Keepalive(_tag(draw)), True),
    _shim6("error", "Error in the peer's name", lambda draw: Error(2, 0, draw.rng.randbytes(40)), True),
    _off_path("shim6-unknown-kind", "a message of a type that is not defined", _unknown_kind),
    _off_path("shim6-icmp", "ICMPv6 errors about packets of a session, with guessed tags", _icmp_errors),
    _off_path("ilnp-request", "session requests (ICMPv6 160) of forged identifiers", _ilnp_request),
    _off_path("ilnp-acknowledgement", "the third message, with nonces that nobody gave out", _ilnp_acknowledgement),
    _off_path("ilnp-update", "Locator Update in the peer's name, with guessed nonces", _ilnp_update),
    _off_path("ilnp-nonce", "datagrams with nonces of no session", _ilnp_unknown_nonce),
    _off_path("ilnp-syn", "SYN with a nonce, to a port where nobody listens", _ilnp_syn),
    _off_path("ilnp-error", "ICMPv6 errors about packets with nonces", _ilnp_errors),
)
