"""Stations are learnt by digest: told once, acknowledged, told again when they move."""

import finsy as fy
from finsy.proto import p4r
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

from harness.edge_test import EdgeTest
from small_site import HOST, IP_OF, from_host, udp

WAITS_FOR_ACK = 100_000_000_000
Station = tuple[int, int, str]
TO_SECOND = from_host(udp(to=IP_OF[2]), HOST[2])


class LearningTest(EdgeTest):
    """A test that listens for digests."""

    def setUp(self) -> None:
        """Ask for each digest at once."""
        super().setUp()
        self.digests: list[p4r.DigestList] = []
        self._marked = 0
        wish = fy.P4DigestEntry("learn", max_list_size=1, ack_timeout_ns=WAITS_FOR_ACK)
        self.entries.add(wish)
        # Stations of the site that the tests are not about.
        for port in (2, 3):
            known = {"port": port, "vlan": 1, "source": HOST[port]}
            self.entries.insert("learned_macs", known, "known_mac")
        # Where digests come in their own time, one of the test before may come as late as this. And a target may take a
        # station for told that it met before anybody listened; it forgets them with the wish for digests.
        self.learned()
        self.entries.delete(wish)
        self.entries.add(wish)
        self.digests.clear()

    def learned(self) -> list[Station]:
        """The stations that digests told of since the last call.

        Where they come in their own time, a station made up for it is sent last: what its digest does not follow is not
        there.
        """
        marker = None
        if not self.target.at_once:
            self._marked += 1
            marker = f"02:4d:61:72:6c:{self._marked:02x}"
            frame = Ether(src=marker, dst=HOST[1]) / IPv6() / UDP()
            self.passes(2, frame, 1)
        stations: list[Station] = []
        while (message := self.target.next("digest")) is not None:
            self.digests.append(message.digest)
            for data in message.digest.data:
                port, vlan, source = (int.from_bytes(member.bitstring) for member in data.struct.members)
                mac = source.to_bytes(6).hex(":")
                if mac == marker:
                    return stations
                stations.append((port, vlan, mac))
        self.assertIsNone(marker, "the digest of the last station did not come")
        return stations


class NewStation(LearningTest):
    """Its port, its VLAN, its MAC; what becomes of the packet does not depend on it."""

    def runTest(self) -> None:
        self.passes(1, TO_SECOND, 2)
        self.assertEqual(self.learned(), [(1, 1, HOST[1])])
        tagged = Ether(src=HOST[1], dst=HOST[2]) / Dot1Q(vlan=20) / udp()
        self.drops(3, tagged, "DROP_FLOOD_COPY")
        self.assertEqual(self.learned(), [(3, 20, HOST[1])])


class KnownStation(LearningTest):
    """A station in `sources` is not told of, until it comes by another port."""

    def runTest(self) -> None:
        self.entries.insert("learned_macs", {"port": 1, "vlan": 1, "source": HOST[1]}, "known_mac")
        self.passes(1, TO_SECOND, 2)
        self.assertEqual(self.learned(), [])
        moved = Ether(src=HOST[1], dst=HOST[3]) / udp()
        self.passes(2, moved, 3, Ether(src=HOST[1], dst=HOST[3]) / Dot1Q(vlan=1) / udp())
        self.assertEqual(self.learned(), [(2, 1, HOST[1])])


class MalformedPacketsTeachNothing(LearningTest):
    """What is dropped before the bridge says nothing about stations."""

    def runTest(self) -> None:
        self.drops(1, bytes(TO_SECOND)[:40], "DROP_TRUNCATED")
        self.drops(1, Ether(src="03:00:00:00:00:01", dst=HOST[2]) / udp(), "DROP_SOURCE_MAC")
        self.assertEqual(self.learned(), [])


class Acknowledged(LearningTest):
    """A digest has an id and a list; when it is acknowledged, the station is told of again."""

    def runTest(self) -> None:
        self.passes(1, TO_SECOND, 2)
        self.assertEqual(self.learned(), [(1, 1, HOST[1])])
        digest = self.digests[0]
        self.assertEqual(digest.digest_id, self.target.schema.digests["learn"].id)
        self.assertEqual(len(digest.data), 1)
        ack = p4r.DigestListAck(digest_id=digest.digest_id, list_id=digest.list_id)
        self.target.send(p4r.StreamMessageRequest(digest_ack=ack))
        self.passes(1, TO_SECOND, 2)
        again = self.learned()
        # Nobody says when an acknowledgement has arrived: where it takes its time, so do we.
        while not self.target.at_once and not again and not self.out_of_patience():
            self.passes(1, TO_SECOND, 2)
            again = self.learned()
        self.assertEqual(again, [(1, 1, HOST[1])])


class NotAcknowledged(LearningTest):
    """Until a digest is acknowledged, or its time for that is over, the same station is not told of again."""

    def runTest(self) -> None:
        self.needs_own_time()
        self.passes(1, TO_SECOND, 2)
        self.passes(1, TO_SECOND, 2)
        self.assertEqual(self.learned(), [(1, 1, HOST[1])])
        self.target.pass_time(WAITS_FOR_ACK / 1e9)
        self.passes(1, TO_SECOND, 2)
        self.assertEqual(self.learned(), [(1, 1, HOST[1])])
