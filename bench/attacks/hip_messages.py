"""Messages of HIP from somewhere in the Internet: to an edge that speaks for hosts, and past one that verifies."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from ipaddress import IPv6Address

from cryptography.hazmat.primitives.asymmetric import ec

from bench.attacks.attack import Attack, Draw, Group, from_provider
from bench.attacks.site import A, B
from wayname.hip.association import LocalHost, Names
from wayname.hip.endpoint import Endpoint
from wayname.hip.identities import Identity, identity_of
from wayname.hip.messages import Kind, Message, encode, with_checksum
from wayname.hip.outputs import Send
from wayname.hip.parameters import Ack, DhGroupList, HipMac, HipSignature, HostId, Notification, Parameter, Seq
from wayname.hip.proofs import sign
from wayname.hip.settings import Settings
from wayname.hip.suites import Algorithm, hit_of
from wayname.session.keys import Pair
from wayname.wire.ipv6 import HIP, Packet
from wayname_lab.hip.identities import identity_of_host

HOST, PEER = A.host("hip"), B.host("hip")
VERIFIED, VERIFIED_PEER = A.host("verify"), B.host("verify")
HIT, PEER_HIT = (identity_of_host(each.name).hit for each in (HOST, PEER))
# The prefix of HITs (RFC 7343) with the suite of ECDSA.
HITS = int(IPv6Address("2001:22::")) >> 96 << 96
GROUPS = (9, 8, 7)
IDENTITIES = 64
MAC_OCTETS, SIGNATURE_OCTETS = 48, 64
LARGE_BITS = 3072
NOTIFY_TYPE = 70


def _packet(octets: bytes, source: IPv6Address, destination: IPv6Address) -> bytes:
    return from_provider(Packet(source, destination, HIP, with_checksum(octets, source, destination)))


def _some_hit(draw: Draw) -> IPv6Address:
    return IPv6Address(HITS | draw.rng.getrandbits(96))


def _i1(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        octets = encode(Message(Kind.I1, _some_hit(draw), HIT, (DhGroupList(GROUPS),)))
        return _packet(octets, draw.forged(), HOST.address)

    return draw.times(one)


@cache
def _whole_i2(source: IPv6Address) -> bytes:
    """Return an I2 as a host sends it who solved a puzzle: here one that the edge never gave out."""
    rng = random.Random(int(source))
    responder, initiator = (Endpoint(rng, Settings(), lambda names, pair: None) for _ in range(2))
    guest = _identities()[int(source) % IDENTITIES]
    responder.serve(LocalHost(identity_of_host(HOST.name), (HOST.address,)), 0.0)
    initiator.serve(LocalHost(guest, (source,)), 0.0)
    initiator.connect(Names(guest.hit, HIT), Pair(source, HOST.address), 0.0)
    for sender, receiver in ((initiator, responder), (responder, initiator)):
        for output in sender.take_outputs():
            if isinstance(output, Send):
                receiver.receive(output.packet, 0.0)
    return next(each.packet.payload for each in initiator.take_outputs() if isinstance(each, Send))


@cache
def _identities() -> list[Identity]:
    return [identity_of(ec.generate_private_key(ec.SECP256R1())) for _ in range(IDENTITIES)]


def _i2(draw: Draw) -> list[bytes]:
    sources = [draw.forged() for _ in range(IDENTITIES)]
    return [_packet(_whole_i2(source), source, HOST.address) for source in sources]


def _signed(kind: Kind, parameters: Callable[[Draw], tuple[Parameter, ...]]) -> Callable[[Draw], list[bytes]]:
    """Return what makes messages that unknown hosts sign themselves, to a host whose edge verifies."""

    def make(draw: Draw) -> list[bytes]:
        frames = []
        for identity in _identities():
            message = Message(kind, identity.hit, VERIFIED.address, (*parameters(draw), identity.host))
            frames.append(_packet(sign(message, identity), draw.forged(), VERIFIED.locators[0]))
        return frames

    return make


def _in_peers_name(kind: Kind, parameters: Callable[[Draw], tuple[Parameter, ...]]) -> Callable[[Draw], list[bytes]]:
    """Return what makes messages in the names of both peers, with MACs and signatures that are none."""

    def make(draw: Draw) -> list[bytes]:
        def one() -> bytes:
            to_proxy = draw.rng.random() < 0.5
            ends = (PEER_HIT, HIT) if to_proxy else (VERIFIED_PEER.address, VERIFIED.address)
            forged: tuple[Parameter, ...] = (
                *parameters(draw),
                HipMac(draw.rng.randbytes(MAC_OCTETS)),
                HipSignature(Algorithm.ECDSA, draw.rng.randbytes(SIGNATURE_OCTETS)),
            )
            octets = encode(Message(kind, *ends, forged))
            if to_proxy:
                return _packet(octets, PEER.address, HOST.address)
            return _packet(octets, VERIFIED_PEER.locators[0], VERIFIED.locators[0])

        return draw.times(one)

    return make


def _i2_large_exponent(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        modulus = (draw.rng.getrandbits(LARGE_BITS) | 1 | 3 << LARGE_BITS - 2).to_bytes(LARGE_BITS // 8)
        exponent = (draw.rng.getrandbits(LARGE_BITS) | 1 | 1 << LARGE_BITS - 1).to_bytes(LARGE_BITS // 8)
        exponent = min(exponent, (int.from_bytes(modulus) - 2).to_bytes(LARGE_BITS // 8))
        host = HostId(Algorithm.RSA, b"\0" + len(exponent).to_bytes(2) + exponent + modulus)
        signature = HipSignature(Algorithm.RSA, draw.rng.randbytes(LARGE_BITS // 8))
        message = Message(Kind.I2, hit_of(host), VERIFIED.address, (host, signature))
        return _packet(encode(message), draw.forged(), VERIFIED.locators[0])

    return draw.times(one, IDENTITIES)


def _i2_without_key(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        host = HostId(Algorithm.RSA, b"", 1, draw.rng.randbytes(1))
        signature = HipSignature(Algorithm.RSA, b"\0")
        message = Message(Kind.I2, hit_of(host), VERIFIED.address, (host, signature))
        return _packet(encode(message), draw.forged(), VERIFIED.locators[0])

    return draw.times(one, IDENTITIES)


def _attack(name: str, about: str, make: Callable[[Draw], list[bytes]]) -> Attack:
    return Attack(f"hip-{name}", about, Group.OFF_PATH, "a-p", make, is_message=True)


def _seq(draw: Draw) -> tuple[Parameter, ...]:
    return (Seq(draw.rng.getrandbits(16)), Ack((draw.rng.getrandbits(16),)))


def _notification(draw: Draw) -> tuple[Parameter, ...]:
    return (Notification(NOTIFY_TYPE, draw.rng.randbytes(8)),)


ATTACKS = (
    _attack("i1", "I1 of forged HITs from forged sources", _i1),
    _attack("i2", "whole I2s for puzzles that this edge never gave out", _i2),
    _attack(
        "i2-exponent", "I2 whose RSA key has an exponent of 3072 bits, past an edge that verifies", _i2_large_exponent
    ),
    _attack("i2-empty-key", "I2 with an empty RSA key, past an edge that verifies", _i2_without_key),
    _attack(
        "notify",
        "NOTIFYs that unknown hosts sign themselves, past an edge that verifies",
        _signed(Kind.NOTIFY, _notification),
    ),
    _attack("update", "UPDATEs in peers' names with signatures that are none", _in_peers_name(Kind.UPDATE, _seq)),
    _attack(
        "close", "CLOSEs in peers' names with signatures that are none", _in_peers_name(Kind.CLOSE, lambda draw: ())
    ),
)
