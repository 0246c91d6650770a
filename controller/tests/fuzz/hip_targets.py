"""Decoders of HIP and ESP."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from hip.esp.associations import pair_of
from hip.esp.test_esp_beet import datagram, peers
from hip.keys import ecdsa, rsa_identity
from hip.network import A1, ALICE, B1, BOB
from hip.network import Network as HipNetwork
from hip.test_hip_directory import Desk as HipDesk

from fuzz import genuine
from fuzz.genuine import hip_packets, sealed_hip, sealed_packet
from fuzz.target import Target, into_endpoint, octets_of, payloads_of
from wayname.edge.boundary import DnsResponse
from wayname.hip import locator_set, parameters, transports
from wayname.hip.association import LocalHost
from wayname.hip.ciphers import Cipher, decrypt, encrypt
from wayname.hip.edge import inspection as hip_inspection
from wayname.hip.edwards import edwards_octets_of_length
from wayname.hip.endpoint import Endpoint as HipEndpoint
from wayname.hip.errors import TooLongError
from wayname.hip.groups import Group, make_pair
from wayname.hip.identities import public_key, verify
from wayname.hip.messages import (
    HEADER_OCTETS,
    covered,
    decode_parameters,
    encode_parameters,
    with_unsigned,
    without_initiator,
)
from wayname.hip.messages import decode as decode_hip
from wayname.hip.parameters import HostId, Puzzle, Reader
from wayname.hip.path_reports import AddedPathReports
from wayname.hip.puzzles import Asked, solve
from wayname.hip.suites import Algorithm, hit_of
from wayname.wire.ipv6 import Packet


def read_hip(octets: bytes) -> object:
    """Read a HIP message, and all that it holds."""
    message = decode_hip(octets, A1, B1)
    covered(octets, 61697), without_initiator(octets)
    with suppress(TooLongError):
        with_unsigned(octets, AddedPathReports(1))
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


def inspect_hip(octets: bytes) -> object:
    """Look at a HIP message as an edge that verifies."""
    inspection = hip_inspection.HipInspection(random.Random(1))
    inspection.know(ALICE.host, A1)
    inspection.know(BOB.host, B1)
    return inspection.check(Packet.decode(octets), 0.0)


def answer_to_hip(octets: bytes) -> object:
    """Let a HIP directory take an answer to its question."""
    desk = HipDesk()
    desk.directory.seek(next(iter(desk.directory.peers)), 0.0)
    [(number, asked)] = desk.directory._server._asked.items()
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


def encrypted() -> list[bytes]:
    """Return identities as an initiator hides them."""
    key, rng = bytes(16), random.Random(1)
    plain = (encode_parameters([identity.host]) for identity in (ALICE, rsa_identity()))
    return [encrypt(Cipher.AES_128_CBC, key, each, rng) for each in plain]


def edwards_as_decoded(octets: bytes) -> object:
    """Read an EdDSA key as `public_key` does, which turns what is wrong with it into a refusal."""
    return edwards_octets_of_length(octets), public_key(HostId(Algorithm.EDDSA, octets))


HIP_TARGETS: tuple[Target, ...] = (
    Target(
        "HIP",
        (
            "wayname.hip.messages.decode",
            "wayname.hip.messages.own_octets",
            "wayname.hip.messages.covered",
            "wayname.hip.messages.without_initiator",
            "wayname.hip.messages.with_unsigned",
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
        "HIP records",
        (),
        lambda: list(genuine.answers()),
        answer_to_hip,
    ),
)
