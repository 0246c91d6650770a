"""Decoders of ILNP."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ilnp import network as ilnp
from ilnp.test_ilnp_directory import Desk as IlnpDesk

from fuzz import genuine
from fuzz.genuine import ilnp_packets, sealed_packet
from fuzz.target import Target, into_endpoint, octets_of, of_packet
from wayname.edge.boundary import DnsResponse
from wayname.ilnp.endpoint import Endpoint as IlnpEndpoint
from wayname.ilnp.handshake import Handshake
from wayname.ilnp.locator_update import LocatorUpdate
from wayname.ilnp.nonce import nonce_of, without_nonce
from wayname.ilnp.sequence import sequence_of


def bodies(*wanted: int) -> Callable[[], list[bytes]]:
    """Return seeds that are bodies of ICMPv6 messages of these types."""

    def seeds() -> list[bytes]:
        packets = (*ilnp_packets(), *genuine.discovery_packets(), *genuine.other_packets())
        found = [packet.upper_layer() for packet in packets]
        return [each.data[4:] for each in found if each.number == 58 and each.data[0] in wanted]

    return seeds


@cache
def ilnp_endpoint() -> IlnpEndpoint:
    """Return an endpoint with a session."""
    network = ilnp.Network()
    network.establish()
    return network.b.endpoint


def answer_to_ilnp(octets: bytes) -> object:
    """Let an ILNP directory take an answer to each of its questions."""
    desk = IlnpDesk()
    desk.directory.watch(list(desk.directory.peers), 0.0)
    for number, asked in list(desk.directory._server._asked.items()):
        if number in desk.directory._server._asked:
            desk.directory.answered(DnsResponse(asked.question, number.to_bytes(2) + octets[2:]), 0.0)
    return desk.found


ILNP_TARGETS: tuple[Target, ...] = (
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
        "records of ILNP",
        (),
        lambda: list(genuine.answers()),
        answer_to_ilnp,
    ),
)
