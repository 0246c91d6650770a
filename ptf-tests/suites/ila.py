"""Identifier-locator addressing: the locator changes, and no checksum notices."""

from carriers import hop_less, ipv6_of, octets, ones_sum, out_by_first
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from harness.edge_test import EdgeTest
from small_site import FAR, HOST, IP_OF, PROVIDER, ROUTER, to_router, udp

LOCATOR = octets("2001:db8:f77::")[:8]


def neutral(address: bytes, locator: bytes) -> bytes:
    """Another locator, the C bit turned, and the last sixteen bits as they must be."""
    turned = bytes([address[8] ^ 0x10])
    other = locator + turned + address[9:14]
    difference = (ones_sum(address[:14]) - ones_sum(other)) % 0xFFFF
    return other + ((int.from_bytes(address[14:]) + difference) % 0xFFFF).to_bytes(2)


class Plainly(EdgeTest):
    """The upper half alone."""

    def runTest(self) -> None:
        keys = {"destination": "2001:db8:f01::/64"}
        self.entries.insert("encapsulations", keys, "ila_translate", locator=int.from_bytes(LOCATOR), neutral=0)
        packet = to_router(udp(to="2001:db8:f01::1:2"))
        routed = hop_less(ipv6_of(packet))
        self.passes(1, packet, 4, out_by_first(routed[:24] + LOCATOR + routed[32:]))


class ThereAndBack(EdgeTest):
    """Neutrally, and back with the other locator: the address is as it was."""

    def runTest(self) -> None:
        keys = {"destination": "2001:db8:f02::/64"}
        self.entries.insert("encapsulations", keys, "ila_translate", locator=int.from_bytes(LOCATOR), neutral=1)
        packet = to_router(udp(to="2001:db8:f02::1:2:fffe"))
        routed = hop_less(ipv6_of(packet))
        self.passes(1, packet, 4, out_by_first(routed[:24] + neutral(routed[24:40], LOCATOR) + routed[40:]))
        here = octets(IP_OF[1])
        keys = {"destination": "2001:db8:f77::/64"}
        back = {"locator": int.from_bytes(here[:8]), "neutral": 1}
        self.entries.insert("encapsulations", keys, "ila_translate", **back)
        sent = bytes(IPv6(src=FAR, dst=IP_OF[1]) / UDP() / Raw(b"neutral"))
        came = Ether(src=PROVIDER[4], dst=ROUTER[100], type=0x86DD)
        came /= Raw(sent[:24] + neutral(here, LOCATOR) + sent[40:])
        self.passes(4, came, 1, Ether(src=ROUTER[1], dst=HOST[1], type=0x86DD) / Raw(hop_less(sent)))
