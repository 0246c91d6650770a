"""Sessions: locators for identities and back, payload headers, Shim6's own messages (RFC 5533)."""

from typing import Any

from carriers import hop_less, ipv6
from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6PacketTooBig, IPv6
from scapy.packet import Raw
from session_cases import CHAINS, DATAGRAM, INWARD, OUTWARD, chained
from session_site import (
    LOCAL,
    LOCAL_1,
    LOCAL_2,
    LOCATORS,
    OUR_TAG,
    PORTS,
    REMOTE,
    REMOTE_1,
    SESSION,
    Session,
    between,
    came_by,
    endpoint_policy,
    from_host,
    in_by,
    out_by,
    sent_by,
    to_host,
    with_header,
)
from shim6_layers import NO_NEXT_HEADER, SHIM6, Shim6Keepalive, control

from harness.edge_test import EdgeTest
from small_site import HOST, error_about


class ToldTest(EdgeTest):
    """A test that is told something."""

    def told(self, digest: str) -> list[bytes]:
        """The members of the next digest of a kind; one of another kind may be left from an earlier test."""
        wanted = self.target.schema.digests[digest].id
        while (message := self.target.next("digest")) is not None:
            if message.digest.digest_id == wanted:
                (data,) = message.digest.data
                return [member.bitstring for member in data.struct.members]
        raise AssertionError(f"{digest}: nothing is told")


class SessionTest(ToldTest):
    """A test with a session; unless a test says otherwise, nobody waits for its answers."""

    session = Session(watched=False, generation=0)

    def use(self, session: Session) -> None:
        """Let the session be as this, and no other way."""
        entry = session.identities()
        self.entries.modify(self.entries.entry(entry.table, entry.keys, entry.action, **entry.parameters))

    def setUp(self) -> None:
        """Set the session up."""
        super().setUp()
        self.hold(self.session.entries())


class ByEachPath(SessionTest):
    """A write with a new generation moves it; each path is counted."""

    def runTest(self) -> None:
        for generation, path in ((1, 1), (2, 2), (3, 0), (255, 2), (0, 0)):
            self.use(Session(path=path, generation=generation, watched=False))
            self.passes(1, from_host(OUTWARD), PORTS[path], out_by(PORTS[path], hop_less(sent_by(path, OUTWARD))))
        for path, packets in ((0, 2), (1, 1), (2, 2)):
            self.assertEqual(self.entry_counter("paths", session=SESSION, path=path)[0], packets)


class ThePathAlone(SessionTest):
    """Another path of the same generation is not a move."""

    def runTest(self) -> None:
        self.use(Session(path=1, generation=7, watched=False))
        self.passes(1, from_host(OUTWARD), 4, out_by(4, hop_less(sent_by(1, OUTWARD))))
        self.use(Session(path=2, generation=7, watched=False))
        self.passes(1, from_host(OUTWARD), 4, out_by(4, hop_less(sent_by(1, OUTWARD))))


class BehindExtensionHeaders(SessionTest):
    """The header goes where routers do not look, and is taken off wherever it is."""

    def runTest(self) -> None:
        self.use(Session(path=1, generation=9, watched=False))
        for name, (headers, at, said) in CHAINS.items():
            with self.subTest(name):
                packet = chained(LOCAL, REMOTE, *headers)
                self.passes(1, from_host(packet), 4, out_by(4, hop_less(sent_by(1, packet, at, said))))
                packet = chained(REMOTE, LOCAL, *headers)
                self.passes(4, in_by(4, came_by(1, packet, at, said)), 1, to_host(hop_less(packet)))


class FromEachPath(SessionTest):
    """The identities are back; each path is counted."""

    def runTest(self) -> None:
        for path, port in PORTS.items():
            self.passes(port, in_by(port, came_by(path, INWARD)), 1, to_host(hop_less(INWARD)))
            here, there = LOCATORS[path]
            self.assertEqual(self.entry_counter("locator_pairs", session=SESSION, source=there, destination=here)[0], 1)


class Unproven(SessionTest):
    """A stolen tag is worth nothing: locators must be proven, and be a pair."""

    def runTest(self) -> None:
        for source, destination in (("2001:db8:bad::1", LOCAL_1), (REMOTE_1, LOCAL_2), (REMOTE, LOCAL_1)):
            packet = in_by(4, with_header(between(INWARD, source, destination), OUR_TAG))
            self.drops(4, packet, "DROP_LOCATORS_UNPROVEN")


class Malformed(SessionTest):
    """Payload headers of a wrong length; paths that are not there."""

    def runTest(self) -> None:
        body = b"\x11\x01\x80" + bytes(5) + bytes(8) + DATAGRAM
        self.drops(4, in_by(4, ipv6(SHIM6, body, REMOTE_1, LOCAL_1)), "DROP_PAYLOAD_HEADER")
        self.drops(4, in_by(4, ipv6(SHIM6, b"\x11\x05\x80" + bytes(5), REMOTE_1, LOCAL_1)), "DROP_EXTENSION_PAST_END")
        self.drops(4, in_by(4, ipv6(SHIM6, b"\x11\0\x80\0", REMOTE_1, LOCAL_1)), "DROP_EXTENSION_PAST_END")
        self.use(Session(path=9, generation=11, watched=False))
        self.drops(1, from_host(OUTWARD), "DROP_PATH_UNKNOWN")


class UnknownTag(SessionTest):
    """The controller asks the sender to set its context up again."""

    def runTest(self) -> None:
        self.punts(4, in_by(4, came_by(1, INWARD, tag=0x99)), "PUNT_SHIM6_UNKNOWN_TAG", 100)


class Messages(SessionTest):
    """Shim6's own messages: the controller's, looked at, or none of ours."""

    def runTest(self) -> None:
        self.hold(endpoint_policy("verify", "2001:db8:c::/48"))
        self.hold(endpoint_policy("transparent", "2001:db8:d::/48"))
        self.punts(4, in_by(4, ipv6(SHIM6, control(1, 40), REMOTE_1, LOCAL_1)), "PUNT_SHIM6", 100)
        for source, destination in (("2001:db8:c::1", REMOTE), (REMOTE, "2001:db8:c::1")):
            packet = from_host(ipv6(SHIM6, control(3, 48), source, destination))
            self.punts(1, packet, "PUNT_SHIM6_VERIFY")
        looked_at = ipv6(SHIM6, control(3, 48), "2001:db8:c::1", REMOTE)
        self.verify([self.out("SUBMIT", from_host(looked_at), 1)], [(4, out_by(4, hop_less(looked_at)))])
        free = ipv6(SHIM6, control(3, 48), "2001:db8:d::1", REMOTE)
        self.passes(1, from_host(free), 4, out_by(4, hop_less(free)))


class Keepalives(SessionTest):
    """They end here, if they are the session's."""

    def runTest(self) -> None:
        def alive(tag: int, source: str = REMOTE_1, **fields: Any) -> bytes:
            return ipv6(SHIM6, bytes(Shim6Keepalive(tag=tag, **fields)), source, LOCAL_1)

        self.drops(4, in_by(4, alive(OUR_TAG)), "DROP_KEEPALIVE_HEARD")
        self.drops(4, in_by(4, alive(OUR_TAG, chksum=1)), "DROP_KEEPALIVE_CHECKSUM")
        self.punts(4, in_by(4, alive(0x99)), "PUNT_SHIM6", 100)
        self.punts(4, in_by(4, alive(OUR_TAG, "2001:db8:bad::1")), "PUNT_SHIM6", 100)
        self.punts(4, in_by(4, ipv6(SHIM6, control(66, 24), REMOTE_1, LOCAL_1)), "PUNT_SHIM6", 100)


class Asked(SessionTest):
    """Questions of the controller leave nothing."""

    def runTest(self) -> None:
        nobody = from_host(ipv6(NO_NEXT_HEADER, b"", LOCAL, REMOTE_1))
        somebody = from_host(ipv6(NO_NEXT_HEADER, b"", LOCAL, REMOTE))
        for kind in ("CHECK", "KEEPALIVE"):
            self.verify([self.out(kind, nobody, 1)], dropped={"DROP_SESSION_UNKNOWN": 1})
        self.verify([self.out("CHECK", somebody, 1)], dropped={"DROP_CHECKED": 1})
        self.verify([self.out("KEEPALIVE", somebody, 1)], dropped={"DROP_KEEPALIVE_NOT_DUE": 1})


class Errors(SessionTest):
    """About what a session sent: the controller's. About the rest: the host's."""

    def runTest(self) -> None:
        for quoted, to in ((sent_by(1, OUTWARD), LOCAL_1), (OUTWARD, LOCAL)):
            error = bytes(IPv6(src=REMOTE, dst=to) / ICMPv6PacketTooBig(mtu=1300) / Raw(quoted))
            if to == LOCAL:
                self.passes(4, in_by(4, error), 1, to_host(hop_less(error)))
            else:
                self.punts(4, in_by(4, error), "PUNT_SESSION_ERROR", 100)


class TooBig(SessionTest):
    """The sender is told the MTU that is left behind eight octets."""

    def runTest(self) -> None:
        self.use(Session(path=1, generation=13, watched=False))
        fits = ipv6(17, bytes(UDP(len=1452)) + bytes(1444), LOCAL, REMOTE)
        self.passes(1, from_host(fits), 4, out_by(4, hop_less(sent_by(1, fits))))
        big = from_host(ipv6(17, bytes(UDP(len=1453)) + bytes(1445), LOCAL, REMOTE))
        self.refused(1, big, "DROP_PACKET_TOO_BIG", error_about(big, ICMPv6PacketTooBig(mtu=1492), 1, HOST[1]))


class WayOut(SessionTest):
    """By the table of the path, else by the one of the provider whose prefix the packet bears."""

    def runTest(self) -> None:
        self.entries.insert("vrf_routes", {"vrf": 5, "destination": "2001:db8::/32"}, "route_nexthop", nexthop=2)
        self.passes(1, from_host(OUTWARD), 4, out_by(4, hop_less(OUTWARD)))
        self.entries.insert("source_policy_routes", {"source": "2001:db8:1::/64"}, "use_vrf", vrf=5)
        self.passes(1, from_host(OUTWARD), 5, out_by(5, hop_less(OUTWARD)))
        self.entries.insert("vrf_routes", {"vrf": 6, "destination": "::/0"}, "route_nexthop", nexthop=1)
        plain = self.entries.entry("paths", {"session": SESSION, "path": 0}, "send_plain", vrf=6)
        self.entries.modify(plain)
        self.passes(1, from_host(OUTWARD), 4, out_by(4, hop_less(OUTWARD)))


class NotOurs(SessionTest):
    """Without an entry for its prefix a packet takes part in nothing."""

    def runTest(self) -> None:
        self.use(Session(path=1, generation=15, watched=False))
        for packet in (with_header(OUTWARD, 5), ipv6(17, DATAGRAM, "2001:db8:99::1", REMOTE)):
            self.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
