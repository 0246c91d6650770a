"""IPv6 extension headers: every kind, in any order; what is malformed ends by its reason.

The parser against very many packets: p4src/tests/parser_fuzz.py.
"""

import itertools
import random

from scapy.layers.inet import TCP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting
from scapy.packet import Packet

from harness.edge_test import EdgeTest
from small_site import FAR, HOST, IP_OF, authentication, fragment, from_host, in_chain, options, out_first, to_router

# Kinds of headers that may stand in any order behind hop-by-hop options, each with a body of its form.
BODIES = {
    43: options(24),
    44: fragment(0, 0),
    51: authentication(24),
    60: options(8),
    135: options(16),
    139: options(40),
    140: options(8),
    253: options(16),
}


# Packets at once: a slow switch must hold them while they wait, and BMv2 does not hold many.
BURST = 10


class ChainTest(EdgeTest):
    """A test with extension headers in front of a routed packet."""

    def all_pass(self, packets: list[Packet]) -> None:
        """Each is routed, and nothing in it changed."""
        for start in range(0, len(packets), BURST):
            burst = packets[start : start + BURST]
            self.verify([(1, packet) for packet in burst], [(4, out_first(packet)) for packet in burst])


class AnyOrder(ChainTest):
    """All orders of up to three kinds, with and without hop-by-hop options before."""

    def runTest(self) -> None:
        before: list[tuple[tuple[int, bytes], ...]] = [(), ((0, options(16)),)]
        chains = [
            (*first, *((kind, BODIES[kind]) for kind in order))
            for first in before
            for length in (1, 2, 3)
            for order in itertools.permutations(BODIES, length)
        ]
        self.all_pass([in_chain(*chain) for chain in chains])


class LongChains(ChainTest):
    """Ten headers, in orders drawn at random; kinds may come again."""

    def runTest(self) -> None:
        dice = random.Random(8200)
        chains = [[(kind, BODIES[kind]) for kind in dice.choices(list(BODIES), k=10)] for _ in range(50)]
        for half in (chains[:25], chains[25:]):
            self.all_pass([in_chain(*chain) for chain in half])


class Lengths(ChainTest):
    """From the shortest to the longest header there is."""

    def runTest(self) -> None:
        self.all_pass([in_chain((60, options(length))) for length in (8, 16, 256, 1024)])
        # Longer than the router's MTU: bridged.
        longest = from_host(in_chain((60, options(2048)), (43, options(2048)))[IPv6], HOST[2])
        self.passes(1, longest, 2)


class AsOthersWriteThem(ChainTest):
    """A chain of scapy's own headers."""

    def runTest(self) -> None:
        chain = (
            IPv6ExtHdrHopByHop()
            / IPv6ExtHdrDestOpt()
            / IPv6ExtHdrRouting(addresses=["2001:db8:f00::2"], segleft=1)
            / IPv6ExtHdrFragment(m=0)
            / IPv6ExtHdrDestOpt()
        )
        self.all_pass([to_router(IPv6(src=IP_OF[1], dst=FAR) / chain / TCP(sport=1, dport=2, flags="S"))])


class Unknown(ChainTest):
    """What is not known is skipped by its length; where that makes no sense, it is an upper layer."""

    def runTest(self) -> None:
        self.all_pass(
            [
                in_chain((200, options(24)), (60, options())),
                in_chain((60, options()), upper=200, payload=b"\x00\xff" + bytes(30)),
                in_chain(upper=150, payload=b"\x3c\x00abc"),
                in_chain(upper=150, payload=b"\x00\x00abcdef" + bytes(8)),
                in_chain((50, b""), upper=0, payload=bytes(32)),
                in_chain(upper=89, payload=bytes(24)),
                to_router(IPv6(src=IP_OF[1], dst=FAR, nh=59)),
            ],
        )


class Fragments(ChainTest):
    """The first with all headers, others with anything."""

    def runTest(self) -> None:
        self.all_pass(
            [
                in_chain((44, fragment(0, 1))),
                in_chain((44, fragment(0, 1)), (60, options())),
                in_chain((60, options()), (44, fragment(100, 1)), upper=60, payload=b"\xff" * 40),
                in_chain((44, fragment(185, 0)), upper=17, payload=b"end"),
            ],
        )


class Malformed(EdgeTest):
    """Each fault by its reason, routed or bridged."""

    def runTest(self) -> None:
        for packet, reason in (
            (in_chain((60, options()), (0, options())), "DROP_HOP_BY_HOP_NOT_FIRST"),
            (in_chain((0, options()), (0, options())), "DROP_HOP_BY_HOP_NOT_FIRST"),
            (in_chain(*[(60, options())] * 11), "DROP_TOO_MANY_EXTENSIONS"),
            (in_chain((60, bytes([40]) + bytes(6))), "DROP_EXTENSION_PAST_END"),
            (in_chain(upper=43, payload=b"\x3b\x00\x00\x00"), "DROP_EXTENSION_PAST_END"),
            (in_chain(upper=60, payload=b""), "DROP_EXTENSION_PAST_END"),
            (in_chain((51, bytes([0]) + bytes(6)), upper=59, payload=bytes(16)), "DROP_AUTHENTICATION_LENGTH"),
            (in_chain((44, fragment(0, 1)), upper=60, payload=b"\x11\x02" + bytes(6)), "DROP_FIRST_FRAGMENT_SHORT"),
            (in_chain((44, fragment(0, 1)), upper=6, payload=bytes(4)), "DROP_FIRST_FRAGMENT_SHORT"),
            (in_chain(plen=200), "DROP_PAYLOAD_LENGTH"),
        ):
            self.drops(1, packet, reason)
            self.drops(1, from_host(packet[IPv6], HOST[2]), reason)
