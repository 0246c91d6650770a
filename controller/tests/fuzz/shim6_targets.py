"""Decoders of Shim6 and of what proves its locators (CGA, HBA)."""

from __future__ import annotations

import random
from functools import cache

from shim6.network import Network as Shim6Network

from fuzz import genuine
from fuzz.genuine import sealed_packet, sealed_shim6, shim6_packets
from fuzz.target import Target, into_endpoint, octets_of, payloads_of
from wayname.identity.extensions import decode_extensions, octets_of_prefixes
from wayname.identity.keys import key_length, rsa_key
from wayname.identity.parameters import Parameters, Prover
from wayname.shim6.context import KnownPeer
from wayname.shim6.edge import inspection as shim6_inspection
from wayname.shim6.endpoint import Endpoint as Shim6Endpoint
from wayname.shim6.host_record import KEY_OCTETS, FleetTags, HostRecord
from wayname.shim6.locators import learn
from wayname.token_buckets import PrefixTokenBuckets, Rate
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import decode as decode_shim6
from wayname.wire.shim6.messages import kind_and_tag
from wayname.wire.shim6.options import CgaParameters, OptionType, decode_options, encode_options
from wayname.wire.shim6.payload import PayloadHeader

NO_LIMIT = Rate(1e12, 1e12)


def read_shim6(octets: bytes) -> object:
    """Read a Shim6 message, and look at what it proves."""
    message = decode_shim6(octets)
    options = getattr(message, "options", ())
    return learn(genuine.HERE, options, KnownPeer(frozenset({genuine.HERE})))


@cache
def host_records() -> list[bytes]:
    """Return what edges of a fleet tell of the hosts that messages tell of."""
    key = FleetTags(random.Random(2)).public_key
    records: list[bytes] = []
    for packet in shim6_packets():
        if not packet.payload[2] & 0x80 and (options := getattr(decode_shim6(packet.payload), "options", ())):
            records.append(key + packet.source.packed + encode_options(options))
    return records


def read_host_record(octets: bytes) -> object:
    """Read what a fleet's directory has of a host, look at what it proves, and derive tags from it."""
    record = HostRecord.decode(octets)
    ours = HostRecord(bytes(KEY_OCTETS), genuine.HERE, (), b"ours")
    tags = FleetTags(random.Random(1)).derive(ours, record)
    return tags, learn(record.ulid, record.options, KnownPeer(frozenset({record.ulid})))


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


@cache
def shim6_endpoint() -> Shim6Endpoint:
    """Return an endpoint with a context."""
    network = Shim6Network(1, learn)
    return network.b.endpoint


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


SHIM6_TARGETS: tuple[Target, ...] = (
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
        "the record of a host in a fleet's directory",
        ("wayname.shim6.host_record.HostRecord.decode",),
        host_records,
        read_host_record,
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
)
