"""The messages that anybody can send, one by one: genuine in form, and worth nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from ipaddress import IPv6Address, IPv6Network

from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from bench.attacks.lone_edge import HOST, INSIDE, INSIDE_PORT, OUTSIDE, OUTSIDE_PORT, PEER, LoneEdge, identity
from wayname.hip.edge.sessions import HipSessions
from wayname.hip.groups import Group, make_pair
from wayname.hip.identities import Identity, identity_of
from wayname.hip.messages import Kind, Message, decode, encode, with_checksum
from wayname.hip.parameters import (
    DhGroupList,
    DiffieHellman,
    HipCipher,
    HipMac,
    HipSignature,
    Notification,
    Parameter,
    Puzzle,
    R1Counter,
    Seq,
    Solution,
)
from wayname.hip.proofs import sign, sign_r1
from wayname.hip.puzzles import Asked, solve
from wayname.hip.transports import EspInfo, Tagged, TransportFormatList
from wayname.identity.generate import generate_cga
from wayname.identity.parameters import Parameters
from wayname.ilnp.handshake import SESSION_REQUEST, Control, Handshake
from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate, Operation
from wayname.ilnp.nonce import with_nonce
from wayname.ilnp.vectors import Vector
from wayname.p4_constants import Punt
from wayname.session.keys import Pair, SessionKey
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname.shim6.machine import r1_question
from wayname.wire import icmpv6
from wayname.wire.checksum import internet_checksum
from wayname.wire.discovery import ALL_ROUTERS, HOP_LIMIT, NeighbourSolicitation, RouterSolicitation
from wayname.wire.ipv6 import HIP, SHIM6, UDP, Packet
from wayname.wire.mac import Mac, solicited_node
from wayname.wire.shim6 import messages as shim6
from wayname.wire.shim6.options import (
    CgaParameters,
    CgaSignature,
    Locator,
    LocatorList,
    Option,
    ResponderValidator,
    UlidPair,
    Verification,
)
from wayname.wire.shim6.payload import PayloadHeader

STRANGER = IPv6Address("2001:db8:666::1")
ON_LINK = IPv6Address("2001:db8:101:10:1::")
ATTACKERS_MAC = Mac.parse("02:00:00:00:06:66")
MOST_BITS = 4096

Make = Callable[[LoneEdge, IPv6Address], Packet]


class Stage(StrEnum):
    """What its sender has shown."""

    BEFORE = "before"  # nothing: its address may be anybody's
    AFTER = "after"  # that answers reach it
    LINK = "link"  # that it is on a link of the router


@dataclass(frozen=True)
class Row:
    """A message: to an edge of which mode, at which stage, why the switch passes it on, and how one is made."""

    mode: str
    message: str
    stage: Stage
    reason: Punt
    make: Make
    source: IPv6Address = STRANGER
    # Whether it can be sent from many addresses; what must be a peer's can not.
    varies: bool = True

    @property
    def port(self) -> int:
        """Where it comes from."""
        return INSIDE_PORT if self.stage is Stage.LINK else OUTSIDE_PORT


def hip(octets: bytes, source: IPv6Address) -> Packet:
    """Return a HIP message to the host."""
    return Packet(source, HOST, HIP, with_checksum(octets, source, HOST))


def unsigned(kind: Kind, sender: Identity, *parameters: Parameter) -> Make:
    """Return what makes a HIP message that nobody signed."""
    octets = encode(Message(kind, sender.hit, identity(1).hit, parameters))
    return lambda _edge, source: hip(octets, source)


def self_signed(kind: Kind, sender: Callable[[], Identity]) -> Make:
    """Return what makes a message with its sender's own identity in it, signed: a key costs nothing."""

    @cache
    def octets() -> bytes:
        told = sender()
        if kind is Kind.R1:
            puzzle = Puzzle(0, 38, bytes(2), bytes(48))
            return sign_r1(Message(kind, told.hit, identity(1).hit, (puzzle, told.host)), told)
        more = EspInfo(0, 0, 0x10000) if kind is Kind.I2 else Notification(44)
        return sign(Message(kind, told.hit, identity(1).hit, (more, told.host)), told)

    return lambda _edge, source: hip(octets(), source)


@cache
def rsa_key() -> rsa.RSAPrivateKey:
    """Return the longest key that is taken."""
    return rsa.generate_private_key(65537, MOST_BITS)


@cache
def rsa_identity() -> Identity:
    """Return an identity with it."""
    return identity_of(rsa_key())


@cache
def eddsa_identity() -> Identity:
    """Return an identity whose hash is made in Python."""
    return identity_of(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


@cache
def half_of_an_exchange() -> DiffieHellman:
    """Return a Diffie-Hellman value."""
    pair = make_pair(Group.P384, random.Random(1))
    return DiffieHellman(pair.group, pair.public)


def solved_i2(edge: LoneEdge, source: IPv6Address) -> Packet:
    """Return an I2 with a puzzle of the edge's own, solved; all that is dear is still to come, and is wrong."""
    sessions = edge.edge.manager(HipSessions)
    assert sessions is not None
    exchange, sender = sessions._endpoint._exchange, identity(3)
    asked = Asked(sender.hit, identity(1).hit, source, HOST)
    r1 = exchange._replies.r1(identity(1), (Group.P384,), asked, 1, edge.now)
    told = decode(with_checksum(r1, HOST, source), HOST, source)
    parameters: tuple[Parameter, ...] = (
        told.need(R1Counter),
        solve(told.need(Puzzle), asked, random.Random(1), 8),
        half_of_an_exchange(),
        HipCipher((4,)),
        sender.host,
        TransportFormatList((Tagged.number,)),
        Tagged(1),
        HipMac(bytes(48)),
        HipSignature(7, bytes(96)),
    )
    return hip(encode(Message(Kind.I2, sender.hit, identity(1).hit, parameters)), source)


def of_shim6(message: shim6.Message) -> Make:
    """Return what makes a message of Shim6 to the host."""
    octets = shim6.encode(message)
    return lambda _edge, source: Packet(source, HOST, SHIM6, octets)


def of_unknown_type(_edge: LoneEdge, source: IPv6Address) -> Packet:
    """Return a message of a type that there is not, which has to be answered by an Error."""
    octets = shim6.encode(shim6.Keepalive(7))
    octets = octets[:2] + bytes([100]) + octets[3:4] + bytes(2) + octets[6:]
    return Packet(source, HOST, SHIM6, octets[:4] + internet_checksum(octets).to_bytes(2) + octets[6:])


@cache
def wrongly_signed() -> tuple[IPv6Address, tuple[Option, ...]]:
    """Return a host's address, and locators of it with a wrong signature, which costs as much as a right one."""
    public = rsa_key().public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    prefix = IPv6Network((int(STRANGER) >> 64 << 64, 64))
    ulid, parameters = generate_cga(prefix, public, 0, lambda tail, sec: bytes(16), lambda _: False)
    assert isinstance(parameters, Parameters)
    listed = LocatorList(1, (Locator(ulid, Verification.CGA),))
    return ulid, (listed, CgaParameters(parameters.encode()), CgaSignature(bytes(MOST_BITS // 8)))


def validated_i2(edge: LoneEdge, source: IPv6Address) -> Packet:
    """Return an I2 with a validator that the edge gave out for its sender."""
    ulid, options = wrongly_signed()
    sessions = edge.edge.manager(Shim6Sessions)
    assert sessions is not None
    validators = sessions._endpoint._machine.validators
    question = r1_question(Pair(HOST, source), 7, SessionKey(HOST, ulid))
    nonce, validator = validators.make(question, edge.now)
    message = shim6.I2(7, 8, nonce, (ResponderValidator(validator), UlidPair(ulid, HOST), *options))
    return Packet(source, HOST, SHIM6, shim6.encode(message))


def passing_i2(_edge: LoneEdge, source: IPv6Address) -> Packet:
    """Return an I2 between hosts that speak Shim6 themselves, in the name of the host whose parameters it has."""
    ulid, options = wrongly_signed()
    number = int(source) & 0xFFFF
    return Packet(ulid, HOST, SHIM6, shim6.encode(shim6.I2(number, number, 1, options)))


def handshake(message: Handshake) -> Make:
    """Return what makes a message of ILNP's handshake."""
    body = message.encode()
    return lambda _edge, source: with_nonce(
        icmpv6.Message(SESSION_REQUEST, 0, body).packet(source, HOST), message.source_nonce
    )


def locator_update(_edge: LoneEdge, source: IPv6Address) -> Packet:
    """Return a Locator Update with a nonce that is no session's."""
    update = LocatorUpdate(Operation.ADVERTISEMENT, (Listed(Vector.of(source).locator, 1, 300),))
    return with_nonce(icmpv6.Message(LOCATOR_UPDATE, 0, update.encode()).packet(source, HOST), NONCE)


def error_about(quoted: Packet) -> Make:
    """Return what makes an ICMPv6 error about a packet of the host's."""
    body = bytes(4) + quoted.encode()
    return lambda _edge, source: icmpv6.Message(icmpv6.UNREACHABLE, 0, body).packet(source, HOST)


NONCE, OTHER_NONCE = b"\1" * 12, b"\2" * 12
TAG = 0x1234_5678_9ABC
TO_PEER = Packet(HOST, PEER, SHIM6, PayloadHeader(UDP, TAG).encode() + bytes(40))
BEARING = with_nonce(Packet(HOST, PEER, UDP, bytes(40)), NONCE)
WRONG = Solution(8, bytes(2), bytes(48), bytes(48))
SEALED = (Seq(1), HipMac(bytes(48)), HipSignature(7, bytes(96)))
PROBE = shim6.Probe(TAG, shim6.ProbeState.EXPLORING, (shim6.ProbeRecord(STRANGER, HOST, 1),))
HIP_FOR, HIP_VERIFIED = "HIP, for hosts", "HIP, verified"
SHIM6_FOR, SHIM6_VERIFIED, ILNP_FOR, ROUTER = "Shim6, for hosts", "Shim6, verified", "ILNP, for hosts", "router"
BEFORE, AFTER, LINK = Stage.BEFORE, Stage.AFTER, Stage.LINK

ROWS: tuple[Row, ...] = (
    Row(HIP_FOR, "I1 of a stranger", BEFORE, Punt.HIP, unsigned(Kind.I1, identity(3), DhGroupList((8,)))),
    Row(
        HIP_FOR,
        "I1 in a peer's name",
        BEFORE,
        Punt.HIP,
        unsigned(Kind.I1, identity(2), DhGroupList((8,))),
        PEER,
        varies=False,
    ),
    Row(HIP_FOR, "R1 that was not asked for", BEFORE, Punt.HIP, self_signed(Kind.R1, lambda: identity(3))),
    Row(HIP_FOR, "I2, no puzzle of ours", BEFORE, Punt.HIP, unsigned(Kind.I2, identity(3), WRONG)),
    Row(HIP_FOR, "R2 that was not asked for", BEFORE, Punt.HIP, unsigned(Kind.R2, identity(3), *SEALED[1:])),
    Row(HIP_FOR, "UPDATE of no association", BEFORE, Punt.HIP, unsigned(Kind.UPDATE, identity(3), *SEALED)),
    Row(HIP_FOR, "NOTIFY of no association", BEFORE, Punt.HIP, unsigned(Kind.NOTIFY, identity(3), Notification(44))),
    Row(HIP_FOR, "I2, puzzle solved, MAC wrong", AFTER, Punt.HIP, solved_i2),
    Row(HIP_VERIFIED, "I1", BEFORE, Punt.HIP_VERIFY, unsigned(Kind.I1, identity(3), DhGroupList((8,)))),
    Row(
        HIP_VERIFIED,
        "R1 by a key of its own, P-384",
        BEFORE,
        Punt.HIP_VERIFY,
        self_signed(Kind.R1, lambda: identity(3)),
    ),
    Row(HIP_VERIFIED, "I2 by a key of its own, RSA 4096", BEFORE, Punt.HIP_VERIFY, self_signed(Kind.I2, rsa_identity)),
    Row(HIP_VERIFIED, "I2 by a key of its own, Ed25519", BEFORE, Punt.HIP_VERIFY, self_signed(Kind.I2, eddsa_identity)),
    Row(
        HIP_VERIFIED,
        "NOTIFY by a key of its own",
        BEFORE,
        Punt.HIP_VERIFY,
        self_signed(Kind.NOTIFY, lambda: identity(3)),
    ),
    Row(HIP_VERIFIED, "UPDATE of an unknown key", BEFORE, Punt.HIP_VERIFY, unsigned(Kind.UPDATE, identity(3), *SEALED)),
    Row(SHIM6_FOR, "I1", BEFORE, Punt.SHIM6, of_shim6(shim6.I1(7, 8))),
    Row(
        SHIM6_FOR,
        "R1 that was not asked for",
        BEFORE,
        Punt.SHIM6,
        of_shim6(shim6.R1(7, 8, (ResponderValidator(NONCE),))),
    ),
    Row(
        SHIM6_FOR,
        "I2, no validator of ours",
        BEFORE,
        Punt.SHIM6,
        of_shim6(shim6.I2(7, 8, 9, (ResponderValidator(NONCE),))),
    ),
    Row(SHIM6_FOR, "R2 that was not asked for", BEFORE, Punt.SHIM6, of_shim6(shim6.R2(7, 8))),
    Row(SHIM6_FOR, "update of an unknown tag", BEFORE, Punt.SHIM6, of_shim6(shim6.UpdateRequest(TAG, 8))),
    Row(SHIM6_FOR, "keepalive of an unknown tag", BEFORE, Punt.SHIM6, of_shim6(shim6.Keepalive(TAG))),
    Row(SHIM6_FOR, "probe of an unknown tag", BEFORE, Punt.SHIM6, of_shim6(PROBE)),
    Row(
        SHIM6_FOR,
        "packet of an unknown tag",
        BEFORE,
        Punt.SHIM6_UNKNOWN_TAG,
        lambda _edge, source: Packet(source, HOST, SHIM6, PayloadHeader(UDP, TAG).encode() + bytes(40)),
    ),
    Row(SHIM6_FOR, "message of an unknown type", BEFORE, Punt.SHIM6, of_unknown_type),
    Row(SHIM6_FOR, "ICMPv6 error", BEFORE, Punt.SESSION_ERROR, error_about(TO_PEER)),
    Row(SHIM6_FOR, "I2, validator ours, signature wrong", AFTER, Punt.SHIM6, validated_i2),
    Row(SHIM6_VERIFIED, "I2, RSA 4096, signature wrong", BEFORE, Punt.SHIM6_VERIFY, passing_i2),
    Row(SHIM6_VERIFIED, "update of an unknown tag", BEFORE, Punt.SHIM6_VERIFY, of_shim6(shim6.UpdateRequest(TAG, 8))),
    Row(ILNP_FOR, "request", BEFORE, Punt.SESSION_REQUEST, handshake(Handshake(Control.REQUEST, NONCE))),
    Row(
        ILNP_FOR,
        "acknowledgement, no nonce of ours",
        BEFORE,
        Punt.SESSION_REQUEST,
        handshake(Handshake(Control.ACKNOWLEDGE, NONCE, OTHER_NONCE)),
    ),
    Row(ILNP_FOR, "Locator Update, no nonce of ours", BEFORE, Punt.LOCATOR_UPDATE, locator_update),
    Row(
        ILNP_FOR,
        "packet with an unknown nonce",
        BEFORE,
        Punt.NONCE_UNKNOWN,
        lambda _edge, source: with_nonce(Packet(source, HOST, UDP, bytes(40)), NONCE),
    ),
    Row(ILNP_FOR, "ICMPv6 error", BEFORE, Punt.ILNP_ERROR, error_about(BEARING)),
    Row(
        ROUTER,
        "echo request",
        BEFORE,
        Punt.LOCAL,
        lambda _edge, source: icmpv6.Message(icmpv6.ECHO_REQUEST, 0, bytes(60)).packet(source, OUTSIDE),
    ),
    Row(
        ROUTER,
        "neighbour solicitation",
        LINK,
        Punt.NEIGHBOUR_SOLICITATION,
        lambda _edge, source: (
            NeighbourSolicitation(INSIDE, ATTACKERS_MAC).message().packet(source, solicited_node(INSIDE), HOP_LIMIT)
        ),
        ON_LINK,
    ),
    Row(
        ROUTER,
        "router solicitation",
        LINK,
        Punt.ROUTER_SOLICITATION,
        lambda _edge, source: RouterSolicitation(ATTACKERS_MAC).message().packet(source, ALL_ROUTERS, HOP_LIMIT),
        ON_LINK,
    ),
)
