"""HMACs of segment lists: asked for by segment, and taken where the controller has verified them (RFC 8754, 2.1.2)."""

from carriers import ROUTING, ipv6, octets, out_by_first, segment_header
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from segment_proof_cases import MOST_SEGMENTS, hmac_tlv

from harness.edge_test import EdgeTest
from small_site import FAR, PROVIDER, ROUTER, udp

HERE, NEXT = "fd00:1::1", "fd00:99::1"
DATAGRAM = bytes(udp())[40:]


class Proofs(EdgeTest):
    """A test with a segment, and a route behind it."""

    def setUp(self) -> None:
        """Put both."""
        super().setUp()
        self.entries.insert("routes", {"destination": "fd00::/16"}, "route_nexthop", nexthop=1)
        self.entries.insert("sids", {"destination": f"{HERE}/128"}, "end", flavours=0)

    def came(self, tlv: bytes) -> Packet:
        """A packet by the segment, as it comes from the first provider."""
        packet = ipv6(ROUTING, segment_header(17, (HERE, NEXT), 1, tlvs=tlv) + DATAGRAM, FAR, HERE)
        frame: Packet = Ether(src=PROVIDER[4], dst=ROUTER[100], type=0x86DD) / Raw(packet)
        return frame

    def goes_on(self, tlv: bytes) -> None:
        """It goes to the next segment."""
        header = segment_header(17, (HERE, NEXT), 0, tlvs=tlv)
        self.passes(4, self.came(tlv), 4, out_by_first(ipv6(ROUTING, header + DATAGRAM, FAR, NEXT, 63)))


class Required(Proofs):
    """None, one that nobody verified, and one that is verified."""

    def runTest(self) -> None:
        self.entries.insert("hmac_rules", {"destination": f"{HERE}/128"}, "require_hmac")
        self.drops(4, self.came(b""), "DROP_SEGMENT_HMAC")
        tlv = hmac_tlv()
        self.punts(4, self.came(tlv), "PUNT_SEGMENT_HMAC", 100)
        segments = b"".join(map(octets, (NEXT, HERE))).ljust(16 * MOST_SEGMENTS, b"\0")
        keys = {"source": FAR, "last_entry": 1, "flags": 0}
        whole = {"segments": int.from_bytes(segments), "proof": int.from_bytes(tlv)}
        self.entries.insert("verified_segments", {**keys, **whole}, "verified")
        self.goes_on(tlv)
        self.punts(4, self.came(hmac_tlv(key=9)), "PUNT_SEGMENT_HMAC", 100)


class Checked(Proofs):
    """A list without an HMAC goes on; one with an HMAC that nobody verified does not."""

    def runTest(self) -> None:
        self.entries.insert("hmac_rules", {"destination": f"{HERE}/128"}, "check_hmac")
        self.goes_on(b"")
        self.punts(4, self.came(hmac_tlv()), "PUNT_SEGMENT_HMAC", 100)
