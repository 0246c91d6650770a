"""All that reads octets of others, one by one: what it is given, and what it covers.

A new decoder needs a target here, or a word on why it reads nothing of others: a test looks.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from hip.esp.associations import pair_of
from hip.esp.test_esp_beet import datagram, peers
from hip.keys import ecdsa, rsa_identity
from hip.network import A1, ALICE, B1, BOB
from hip.network import Network as HipNetwork
from hip.test_hip_directory import Desk as HipDesk
from ilnp import network as ilnp
from ilnp.test_ilnp_directory import Desk as IlnpDesk
from shim6.network import Network as Shim6Network

from fuzz import genuine, tracking
from fuzz.genuine import hip_packets, ilnp_packets, sealed_hip, sealed_packet, sealed_shim6, shim6_packets
from wayname.edge.boundary import DnsResponse
from wayname.hip import locator_set, parameters, transports
from wayname.hip.association import LocalHost
from wayname.hip.ciphers import Cipher, decrypt, encrypt
from wayname.hip.edge import inspection as hip_inspection
from wayname.hip.edwards import edwards_octets_of_length
from wayname.hip.endpoint import Endpoint as HipEndpoint
from wayname.hip.esp.errors import Rejected
from wayname.hip.groups import Group, make_pair
from wayname.hip.identities import public_key, verify
from wayname.hip.messages import HEADER_OCTETS, covered, decode_parameters, encode_parameters, without_initiator
from wayname.hip.messages import decode as decode_hip
from wayname.hip.parameters import HostId, Puzzle, Reader
from wayname.hip.puzzles import Asked, solve
from wayname.hip.suites import Algorithm, hit_of
from wayname.identity.errors import ProofError
from wayname.identity.extensions import decode_extensions, octets_of_prefixes
from wayname.identity.keys import key_length, rsa_key
from wayname.identity.parameters import Parameters, Prover
from wayname.ilnp.endpoint import Endpoint as IlnpEndpoint
from wayname.ilnp.handshake import Handshake
from wayname.ilnp.locator_update import LocatorUpdate
from wayname.ilnp.nonce import nonce_of, without_nonce
from wayname.ilnp.sequence import sequence_of
from wayname.ioam.nodes import nodes_of
from wayname.ioam.options import TraceOption, trace_in
from wayname.session.errors import quoted_in
from wayname.shim6.context import KnownPeer
from wayname.shim6.edge import inspection as shim6_inspection
from wayname.shim6.endpoint import Endpoint as Shim6Endpoint
from wayname.shim6.locators import learn
from wayname.token_buckets import PrefixTokenBuckets, Rate
from wayname.wire import dhcpv6, discovery, icmpv6, udp
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import Frame, Tag
from wayname.wire.ipv6 import EXTENSIONS, ICMPV6, ROUTING, UDP, Packet
from wayname.wire.segments import ProvenSegments, SegmentHeader
from wayname.wire.shim6.messages import decode as decode_shim6
from wayname.wire.shim6.messages import kind_and_tag
from wayname.wire.shim6.options import CgaParameters, OptionType, decode_options
from wayname.wire.shim6.payload import PayloadHeader
from wayname.wire.source_routes import SourceRouteHeader

# What may be wrong with a message; anything else is a mistake of the program.
REFUSALS: tuple[type[Exception], ...] = (DecodeError, ProofError, Rejected)
NO_LIMIT = Rate(1e12, 1e12)


@dataclass(frozen=True)
class Target:
    """Something that reads octets: genuine ones to begin with, and what makes changed ones right again."""

    name: str
    covers: tuple[str, ...]
    seeds: Callable[[], list[bytes]]
    read: Callable[[bytes], object]
    seal: Callable[[bytes], bytes] = bytes


def octets_of(packets: Callable[[], tuple[Packet, ...]]) -> Callable[[], list[bytes]]:
    """Return seeds that are packets."""
    return lambda: [packet.encode() for packet in packets()]


def carrying(number: int) -> Callable[[], list[bytes]]:
    """Return seeds that are packets which carry a protocol right behind their header."""
    return lambda: [packet.encode() for packet in genuine.other_packets() if packet.next_header == number]


def payloads_of(packets: Callable[[], tuple[Packet, ...]]) -> Callable[[], list[bytes]]:
    """Return seeds that are what packets carry."""
    return lambda: [packet.payload for packet in packets()]


def bodies(*wanted: int) -> Callable[[], list[bytes]]:
    """Return seeds that are bodies of ICMPv6 messages of these types."""

    def seeds() -> list[bytes]:
        packets = (*ilnp_packets(), *genuine.discovery_packets(), *genuine.other_packets())
        found = [packet.upper_layer() for packet in packets]
        return [each.data[4:] for each in found if each.number == 58 and each.data[0] in wanted]

    return seeds


def read_packet(octets: bytes) -> object:
    """Walk a packet in the ways that the edge does."""
    packet = Packet.decode(octets)
    for skipped in (EXTENSIONS, EXTENSIONS - {139}, EXTENSIONS - {140}, EXTENSIONS - {43}):
        packet.upper_layer(skipped)
    return icmpv6.may_be_reported(packet), packet.encode()


def read_hip(octets: bytes) -> object:
    """Read a HIP message, and all that it holds."""
    message = decode_hip(octets, A1, B1)
    covered(octets, 61697), without_initiator(octets)
    for one in message.parameters:
        if isinstance(one, HostId):
            check_host(one)
        if isinstance(one, Puzzle) and one.difficulty < 4:
            solve(one, Asked(message.sender, message.receiver, A1, B1), random.Random(1), 4)
    return message


def check_host(host: HostId) -> None:
    """Read an identity, and check a signature with it."""
    hit_of(host)
    public_key(host)
    verify(host, host.algorithm, bytes(256), b"data")


def read_host(octets: bytes) -> None:
    """Read an identity."""
    check_host(HostId.of(octets))


def read_shim6(octets: bytes) -> object:
    """Read a Shim6 message, and look at what it proves."""
    message = decode_shim6(octets)
    options = getattr(message, "options", ())
    return learn(genuine.HERE, options, KnownPeer(frozenset({genuine.HERE})))


def read_cga(octets: bytes) -> object:
    """Read CGA Parameters, and look at what they prove."""
    parameters = Parameters.decode(octets)
    for extension in parameters.extensions:
        octets_of_prefixes(extension)
    assert parameters.encode() == octets
    Prover(parameters).prove_member(parameters.address(0))
    return parameters.multi_prefix


def read_key(octets: bytes) -> object:
    """Read an RSA key of CGA Parameters, and check a signature with it."""
    return key_length(octets), rsa_key(octets)


def parameter_seeds(number: int) -> Callable[[], list[bytes]]:
    """Return the contents of a HIP parameter as genuine messages have it, and contents of its least size."""

    def seeds() -> list[bytes]:
        messages = (decode_hip(packet.payload, packet.source, packet.destination) for packet in hip_packets())
        found = [one.contents() for message in messages for one in message.parameters if one.number == number]
        return found or [bytes(12)]

    return seeds


READERS: dict[int, Reader] = parameters.READERS | transports.READERS | locator_set.READERS


def parameter(number: int, reader: Any) -> Target:
    """Return the target of a HIP parameter; those that mean something to one end only are all read alike."""
    function, kind = reader.__func__, reader.__self__
    covers = () if function.__qualname__.startswith("_") else (f"{function.__module__}.{function.__qualname__}",)
    return Target(f"HIP parameter {kind.__name__}", covers, parameter_seeds(number), reader)


_PARAMETERS = [parameter(number, reader) for number, reader in READERS.items()]


@cache
def hip_endpoint() -> HipEndpoint:
    """Return an endpoint with an association."""
    network = HipNetwork()
    network.connect(network.a)
    network.drive(2.0)
    endpoint = network.b.endpoint
    endpoint.serve(LocalHost(ecdsa(1), (B1,)), network.now)
    return endpoint


@cache
def shim6_endpoint() -> Shim6Endpoint:
    """Return an endpoint with a context."""
    network = Shim6Network(1, learn)
    return network.b.endpoint


@cache
def ilnp_endpoint() -> IlnpEndpoint:
    """Return an endpoint with a session."""
    network = ilnp.Network()
    network.establish()
    return network.b.endpoint


def into_endpoint(endpoint: Callable[[], HipEndpoint | Shim6Endpoint | IlnpEndpoint]) -> Callable[[bytes], object]:
    """Return what gives packets to an endpoint, at a time at which all its rations are full."""
    now = 2000.0

    def receive(octets: bytes) -> object:
        nonlocal now
        now += 1.0
        endpoint().receive(Packet.decode(octets), now)
        return endpoint().take_outputs()

    return receive


def inspect_hip(octets: bytes) -> object:
    """Look at a HIP message as an edge that verifies."""
    inspection = hip_inspection.HipInspection(random.Random(1))
    inspection.know(ALICE.host, A1)
    inspection.know(BOB.host, B1)
    return inspection.check(Packet.decode(octets), 0.0)


@cache
def shim6_looks() -> shim6_inspection.Shim6Inspection:
    """Return an inspection that knows contexts."""
    inspection = shim6_inspection.Shim6Inspection(random.Random(1))
    inspection._strangers = inspection._updates = PrefixTokenBuckets(random.Random(1), NO_LIMIT, NO_LIMIT)
    for number, packet in enumerate(shim6_packets()[:4]):
        inspection.check(packet, number % 2, 0.0)
    return inspection


def inspect_shim6(octets: bytes) -> None:
    """Look at a Shim6 message as an edge that verifies."""
    shim6_looks().check(Packet.decode(octets), len(octets) % 2, 0.0)


def answer_to_hip(octets: bytes) -> object:
    """Let a HIP directory take an answer to its question."""
    desk = HipDesk()
    desk.directory.seek(next(iter(desk.directory.peers)), 0.0)
    [(number, asked)] = desk.directory._server._asked.items()
    desk.directory.answered(DnsResponse(asked.question, number.to_bytes(2) + octets[2:]), 0.0)
    return desk.found


def answer_to_ilnp(octets: bytes) -> object:
    """Let an ILNP directory take an answer to each of its questions."""
    desk = IlnpDesk()
    desk.directory.watch(list(desk.directory.peers), 0.0)
    for number, asked in list(desk.directory._server._asked.items()):
        if number in desk.directory._server._asked:
            desk.directory.answered(DnsResponse(asked.question, number.to_bytes(2) + octets[2:]), 0.0)
    return desk.found


def open_esp(octets: bytes) -> object:
    """Open ESP as a host of labs does."""
    _, incoming = pair_of()
    _, beet = peers()
    beet.unwrap(Packet(A1, B1, 50, octets))
    return incoming.open(octets)


def esp_seeds() -> list[bytes]:
    """Return ESP packets."""
    a, _ = peers()
    sealed_ones = [a.wrap(datagram()) for _ in range(3)]
    return [packet.payload for packet in sealed_ones if packet is not None]


def share(octets: bytes) -> object:
    """Take a peer's Diffie-Hellman value of the group that the first octet chooses."""
    groups = (Group.P256, Group.P384, Group.P521)
    group = groups[octets[0] % len(groups)] if octets else Group.P256
    return make_pair(group, random.Random(1)).shared_with(octets[1:])


def points() -> list[bytes]:
    """Return points of curves."""
    groups = (Group.P256, Group.P384, Group.P521)
    return [bytes([at]) + make_pair(group, random.Random(2)).public for at, group in enumerate(groups)]


def read_trace(octets: bytes) -> object:
    """Read a trace out of hop-by-hop options, and what nodes wrote."""
    trace = trace_in(octets)
    return trace and nodes_of(trace)


def hop_by_hops() -> list[bytes]:
    """Return hop-by-hop headers."""
    return [
        packet.payload[: (packet.payload[1] + 1) * 8] for packet in genuine.other_packets() if not packet.next_header
    ]


def icmp_in(octets: bytes) -> icmpv6.Message:
    """Return the ICMPv6 message of a packet."""
    return icmpv6.Message.decode(Packet.decode(octets))


def dhcp_option(code: int) -> Callable[[], list[bytes]]:
    """Return the data of an option as messages have it."""

    def seeds() -> list[bytes]:
        outer = [each for octets in genuine.dhcp_messages() for each in dhcpv6._options(octets[4:])]
        inner = [each for number, data in outer if number == 3 for each in dhcpv6._options(data[12:])]
        return [data for number, data in (*outer, *inner) if number == code]

    return seeds


def encrypted() -> list[bytes]:
    """Return identities as an initiator hides them."""
    key, rng = bytes(16), random.Random(1)
    plain = (encode_parameters([identity.host]) for identity in (ALICE, rsa_identity()))
    return [encrypt(Cipher.AES_128_CBC, key, each, rng) for each in plain]


def of_packet(read: Callable[[Packet], object]) -> Callable[[bytes], object]:
    """Return what reads a packet's octets."""
    return lambda octets: read(Packet.decode(octets))


@cache
def cga_parameters() -> list[bytes]:
    """Return the parameters of a host that signs, and of one with a hash-based set."""
    found: list[bytes] = []
    for packet in shim6_packets():
        if packet.payload[2] & 0x80:
            continue
        for option in getattr(decode_shim6(packet.payload), "options", ()):
            if isinstance(option, CgaParameters) and len(option.parameters) > 30:
                found.append(option.parameters)
    return found


def edwards_as_decoded(octets: bytes) -> object:
    """Read an EdDSA key as `public_key` does, which turns what is wrong with it into a refusal."""
    return edwards_octets_of_length(octets), public_key(HostId(Algorithm.EDDSA, octets))


_SHIM6_OPTIONS = tuple(
    f"wayname.wire.shim6.options.{kind}.of"
    for kind in (
        "CgaParameters",
        "CgaSignature",
        "ExactKeepaliveTimeout",
        "ForkedInstance",
        "KeepaliveTimeout",
        "LocatorList",
        "LocatorPreferences",
        "ResponderValidator",
        "UlidPair",
    )
)

TARGETS: tuple[Target, ...] = (
    Target(
        "Ethernet",
        ("wayname.wire.ethernet.Frame.decode", "wayname.wire.mac.Mac.unpack"),
        lambda: genuine.frames(genuine.other_packets()),
        Frame.decode,
    ),
    Target("a VLAN tag", ("wayname.wire.ethernet.Tag.decode",), lambda: [b"\x20\x0a"], Tag.decode),
    Target(
        "IPv6",
        ("wayname.wire.ipv6.Packet.decode", "wayname.wire.icmpv6.may_be_reported"),
        octets_of(genuine.all_packets),
        read_packet,
        sealed_packet,
    ),
    Target("ICMPv6", ("wayname.wire.icmpv6.Message.decode",), octets_of(genuine.other_packets), icmp_in, sealed_packet),
    Target(
        "quoted packets",
        ("wayname.session.errors.quoted_in",),
        carrying(ICMPV6),
        lambda octets: quoted_in(icmp_in(octets)),
        sealed_packet,
    ),
    Target(
        "discovery",
        (
            "wayname.wire.discovery.decode",
            "wayname.wire.discovery.Prefix.decode",
            "wayname.wire.discovery.Resolvers.decode",
        ),
        octets_of(genuine.discovery_packets),
        of_packet(discovery.decode),
        sealed_packet,
    ),
    Target(
        "UDP",
        ("wayname.wire.udp.Datagram.decode",),
        carrying(UDP),
        of_packet(udp.Datagram.decode),
        sealed_packet,
    ),
    Target(
        "answers to probes of providers",
        (
            "wayname.wire.tcp.Segment.decode",
            "wayname.edge.tracking.probes.Probe.answered",
            "wayname.edge.tracking.probes.EchoProbe.answered",
            "wayname.edge.tracking.probes.TcpProbe.answered",
            "wayname.edge.tracking.probes.DnsProbe.answered",
            "wayname.edge.tracking.target.TrackedTarget.answered",
        ),
        tracking.answers,
        tracking.take,
        sealed_packet,
    ),
    Target(
        "DHCPv6",
        ("wayname.wire.dhcpv6.Message.decode", "wayname.wire.dhcpv6.Refused.decode"),
        lambda: list(genuine.dhcp_messages()),
        dhcpv6.Message.decode,
    ),
    Target("DHCPv6 IA_NA", ("wayname.wire.dhcpv6.Association.decode",), dhcp_option(3), dhcpv6.Association.decode),
    Target("DHCPv6 address", ("wayname.wire.dhcpv6.Lease.decode",), dhcp_option(5), dhcpv6.Lease.decode),
    Target("DHCPv6 status", ("wayname.wire.dhcpv6.Status.decode",), dhcp_option(13), dhcpv6.Status.decode),
    Target(
        "segments",
        ("wayname.wire.segments.SegmentHeader.find",),
        carrying(ROUTING),
        of_packet(SegmentHeader.find),
        sealed_packet,
    ),
    Target(
        "proven segments",
        ("wayname.wire.segments.ProvenSegments.find",),
        lambda: [genuine.proven_packet().encode()],
        of_packet(ProvenSegments.find),
        sealed_packet,
    ),
    Target(
        "source routes",
        ("wayname.wire.source_routes.SourceRouteHeader.find",),
        carrying(ROUTING),
        of_packet(SourceRouteHeader.find),
        sealed_packet,
    ),
    Target(
        "a trace", ("wayname.ioam.options.TraceOption.decode", "wayname.ioam.options.trace_in"), hop_by_hops, read_trace
    ),
    Target(
        "a trace option",
        ("wayname.ioam.options.TraceOption.decode",),
        lambda: [bytes.fromhex("00 00 0007 1002 c00000 00") + bytes(16)],
        lambda octets: nodes_of(TraceOption.decode(octets)),
    ),
    Target(
        "Shim6",
        ("wayname.wire.shim6.messages.decode", "wayname.wire.shim6.messages.ProbeRecord.of", *_SHIM6_OPTIONS),
        payloads_of(shim6_packets),
        read_shim6,
        sealed_shim6,
    ),
    Target(
        "Shim6 options",
        ("wayname.wire.shim6.options.decode_options",),
        payloads_of(shim6_packets),
        lambda octets: decode_options(octets, 24, tuple(OptionType)),
    ),
    Target(
        "a Shim6 message that is quoted",
        ("wayname.wire.shim6.messages.kind_and_tag",),
        payloads_of(shim6_packets),
        kind_and_tag,
    ),
    Target(
        "a Shim6 payload header",
        ("wayname.wire.shim6.payload.PayloadHeader.decode",),
        payloads_of(shim6_packets),
        PayloadHeader.decode,
    ),
    Target(
        "Shim6's endpoint",
        (
            "wayname.shim6.endpoint.Endpoint.receive",
            "wayname.wire.shim6.messages.place_in",
            "wayname.wire.shim6.options.place_of",
        ),
        octets_of(lambda: shim6_packets() + genuine.other_packets()),
        into_endpoint(shim6_endpoint),
        sealed_packet,
    ),
    Target(
        "Shim6's inspection",
        ("wayname.shim6.edge.inspection.Shim6Inspection.check",),
        octets_of(shim6_packets),
        inspect_shim6,
        sealed_packet,
    ),
    Target("CGA Parameters", ("wayname.identity.parameters.Parameters.decode",), cga_parameters, read_cga),
    Target(
        "CGA extensions",
        ("wayname.identity.extensions.decode_extensions",),
        lambda: [octets[-24:] for octets in cga_parameters()],
        decode_extensions,
    ),
    Target(
        "CGA keys",
        ("wayname.identity.keys.key_length", "wayname.identity.keys.rsa_key"),
        lambda: [Parameters.decode(octets).public_key for octets in cga_parameters()],
        read_key,
    ),
    Target(
        "HIP",
        (
            "wayname.hip.messages.decode",
            "wayname.hip.messages.own_octets",
            "wayname.hip.messages.covered",
            "wayname.hip.messages.without_initiator",
            "wayname.hip.framing.places",
        ),
        payloads_of(hip_packets),
        read_hip,
        sealed_hip,
    ),
    Target(
        "HIP parameters",
        ("wayname.hip.messages.decode_parameters",),
        lambda: [packet.payload[HEADER_OCTETS:] for packet in hip_packets()],
        decode_parameters,
    ),
    *_PARAMETERS,
    Target(
        "HIP identities",
        ("wayname.hip.identities.verify", "wayname.hip.edwards.edwards_key"),
        parameter_seeds(HostId.number),
        read_host,
    ),
    Target(
        "EdDSA keys",
        ("wayname.hip.edwards.edwards_key", "wayname.hip.edwards.edwards_octets_of_length"),
        lambda: [b"\0\1\0\0" + bytes(range(32)), b"\0\3\0\0" + bytes(57)],
        edwards_as_decoded,
    ),
    Target(
        "Diffie-Hellman values",
        ("wayname.hip.groups.KeyPair.shared_with", "wayname.hip.identities.point_key"),
        points,
        share,
    ),
    Target(
        "what HIP encrypts",
        ("wayname.hip.ciphers.decrypt",),
        encrypted,
        lambda octets: decode_parameters(decrypt(Cipher.AES_128_CBC, bytes(16), octets)),
    ),
    Target(
        "HIP's endpoint",
        (
            "wayname.hip.endpoint.Endpoint.receive",
            "wayname.hip.messages.solution_at",
            "wayname.hip.exchange.Exchange.check_r1",
            "wayname.hip.exchange.Exchange.check_r2",
            "wayname.hip.exchange.Exchange.r2",
            "wayname.hip.proofs.check_mac",
            "wayname.hip.error_replies.ErrorReplies.dropped",
        ),
        octets_of(hip_packets),
        into_endpoint(hip_endpoint),
        sealed_packet,
    ),
    Target(
        "HIP's inspection",
        (
            "wayname.hip.edge.inspection.HipInspection.check",
            "wayname.hip.proofs.check_r1",
            "wayname.hip.proofs.check_signature",
        ),
        octets_of(hip_packets),
        inspect_hip,
        sealed_packet,
    ),
    Target(
        "ESP",
        (
            "wayname.hip.esp.associations.Incoming.open",
            "wayname.hip.esp.beet.Beet.unwrap",
            "wayname.hip.esp.protection.Protection.unseal",
        ),
        esp_seeds,
        open_esp,
    ),
    Target(
        "a handshake of ILNP",
        ("wayname.ilnp.handshake.Handshake.decode",),
        bodies(160),
        lambda octets: Handshake.decode(0, octets),
    ),
    Target(
        "a Locator Update",
        ("wayname.ilnp.locator_update.LocatorUpdate.decode",),
        bodies(156),
        lambda octets: LocatorUpdate.decode(0, octets),
    ),
    Target(
        "nonces",
        (
            "wayname.ilnp.nonce.nonce_of",
            "wayname.ilnp.nonce.without_nonce",
            "wayname.ilnp.nonce.destination_options",
            "wayname.ilnp.sequence.sequence_of",
        ),
        octets_of(ilnp_packets),
        of_packet(lambda packet: (nonce_of(packet), without_nonce(packet), sequence_of(packet))),
        sealed_packet,
    ),
    Target(
        "ILNP's endpoint",
        ("wayname.ilnp.endpoint.Endpoint.receive",),
        octets_of(ilnp_packets),
        into_endpoint(ilnp_endpoint),
        sealed_packet,
    ),
    Target(
        "HIP records",
        (),
        lambda: list(genuine.answers()),
        answer_to_hip,
    ),
    Target(
        "records of ILNP",
        (),
        lambda: list(genuine.answers()),
        answer_to_ilnp,
    ),
)


# What has octets among its arguments and reads nothing of others: it writes, hashes or compares; or what it does is
# under a target of what calls it.
_READS_NOTHING = """
hip.ciphers.encrypt hip.cshake.absorbed hip.cshake.cshake128 hip.cshake.kmac128 hip.cshake.sponge
hip.esp.beet.Beet.wrap hip.esp.beet.Peer.wrap hip.esp.protection.Protection.seal hip.framing.frame
hip.identities.Identity.sign hip.identities.identity_of hip.keymat.Keymat.of hip.messages.with_checksum
hip.messages.with_length hip.outputs.Outbox.send hip.parameters.fixed hip.parameters.sized hip.parameters.words
hip.peer_locators.PeerLocators.verified hip.proofs.seal hip.proofs.seal_answer hip.puzzles.is_solved
hip.rhash.Rhash.mac
identity.generate.generate_cga identity.search.find_modifier
ilnp.cache.Cache.find ilnp.checksums.identifiers_checksum ilnp.cookies.Cookies.is_ours
ilnp.cookies.Cookies.is_spent ilnp.cookies.Cookies.spend ilnp.nonce.nonce_header ilnp.nonce.with_nonce
ilnp.sequence.with_sequence
ioam.options.hop_by_hop
wire.shim6.payload.is_payload shim6.validators.Validators.is_ours shim6.validators.Validators.spend
wire.checksum.internet_checksum wire.checksum.upper_layer_checksum wire.icmpv6.parameter_problem
wire.icmpv6.unreachable
edge.faults.Faults.contained edge.faults.Faults.note edge.inner_link.submitted edge.links.Links.send
edge.links.Links.answer edge.links.Links.send_to_group edge.links.Links.within
session.egress_selection.EgressSelection.arrive
session.egress_selection.EgressSelection.deliver session.egress_selection.EgressSelection.send
session.egress_selection.EgressSelection.within
"""
# Parts of an edge, which test_edges.py gives packets of every reason, digests, answers and times.
_OF_THE_EDGE = """
edge.encapsulation.manager.Encapsulation.neighbours_for
edge.encapsulation.next_hops.EncapsulationNextHops.neighbours_for
edge.identities.identities.HostIdentities.as_known edge.identities.identities.HostIdentities.as_routed
edge.liveness.Liveness.returned edge.routers.Routers.echo session.scheduling.path_estimates.PathEstimates.returned
session.scheduling.probes.Probes.returned edge.nptv6.nptv6.Nptv6Manager.as_routed
hip.edge.observations.Observations.receive hip.edge.sessions.HipSessions.error hip.edge.sessions.HipSessions.takes
ilnp.edge.errors.for_host ilnp.edge.manager.IlnpSessions.restored ilnp.edge.openings.Openings.refused
session.errors.doubtful session.errors.for_host session.errors.is_about_path session.errors.is_on
session.errors.without_header
session.reap_failover.ReapFailover.error session.protocol.SessionManager.restored
shim6.edge.sessions.Shim6Sessions.error shim6.edge.sessions.Shim6Sessions.packet
shim6.edge.sessions.Shim6Sessions.restored
"""
READS_NOTHING = frozenset(f"wayname.{name}" for name in _READS_NOTHING.split())
OF_THE_EDGE = frozenset(f"wayname.{name}" for name in _OF_THE_EDGE.split())
