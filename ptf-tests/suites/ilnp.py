"""ILNP: nonces on and off, locators and checksums, what the controller is given and told (RFC 6740 to 6744)."""

import finsy as fy
from carriers import hop_less, octets
from ilnp_cases import UPDATE, WRONG, request
from ilnp_flows import (
    ACK,
    HOSTS_ACK,
    HOSTS_FIRST,
    HOSTS_SYN,
    HOSTS_SYN_ACK,
    PEERS_ACK,
    PEERS_FIRST,
    PEERS_SYN,
    PEERS_SYN_ACK,
    SYN,
    segment,
)
from ilnp_site import (
    DATAGRAM,
    ICMPV6,
    ILNP_SPOKEN,
    KINDS,
    OPENS,
    PEERS_LONG,
    PEERS_SHORT,
    TCP,
    UDP,
    came_by,
    entries,
    identities,
    packet,
    sent_by,
    takes_nonces,
    with_nonce,
)
from keyed_hash import KEYS
from session_site import LOCAL, LOCAL_1, LOCATORS, PORTS, REMOTE, endpoint_policy, from_host, in_by, out_by, to_host
from suites.sessions import ToldTest

from harness.edge_test import EdgeTest

STRANGER = "2001:db8:f00::2"


class IlnpTest(EdgeTest):
    """A test with one session."""

    def setUp(self) -> None:
        """Set it up."""
        super().setUp()
        self.hold(entries())

    def reaches(self, came: bytes, reached: bytes, port: int = 4) -> None:
        """A packet from outside comes to the host as this."""
        self.passes(port, in_by(port, came), 1, to_host(hop_less(reached)))


class ByEachPath(IlnpTest):
    """Its locators and its nonce; each path is counted."""

    def runTest(self) -> None:
        for path, port in PORTS.items():
            entry = identities(path=path)
            self.entries.modify(
                self.entries.entry(entry.table, entry.keys, entry.action, **(entry.parameters | {"generation": path}))
            )
            for number, data in KINDS.values():
                self.passes(
                    1, from_host(packet(number, data)), port, out_by(port, hop_less(sent_by(path, number, data)))
                )
            self.assertEqual(self.entry_counter("paths", session=11, path=path)[0], len(KINDS))


class ByEachNonce(IlnpTest):
    """From any locators, with either nonce; each nonce is counted."""

    def runTest(self) -> None:
        for nonce in (PEERS_LONG, PEERS_SHORT):
            for path, port in PORTS.items():
                for number, data in KINDS.values():
                    self.reaches(came_by(path, number, data, nonce), packet(number, data, REMOTE, LOCAL), port)
        moved = packet(UDP, DATAGRAM, "2001:db8:bad::1", LOCAL_1, ilnp=True)
        self.reaches(with_nonce(moved, PEERS_LONG), packet(UDP, DATAGRAM, REMOTE, LOCAL))
        keys = {"local": 0x11, "remote": 1, "nonce": int.from_bytes(PEERS_LONG)}
        self.assertEqual(self.entry_counter("ilnp_nonces", **keys)[0], len(KINDS) * len(LOCATORS) + 1)


class OtherNonces(IlnpTest):
    """Between identities with a session they are forged; of strangers they come off, and nothing else happens."""

    def runTest(self) -> None:
        came = packet(UDP, DATAGRAM, REMOTE, LOCAL, ilnp=True)
        self.drops(4, in_by(4, with_nonce(came, WRONG)), "DROP_NONCE_WRONG")
        self.drops(4, in_by(4, with_nonce(with_nonce(came, PEERS_LONG), PEERS_LONG)), "DROP_NONCE_TWICE")
        self.drops(4, in_by(4, with_nonce(came, bytes(20))), "DROP_NONCE_LENGTH")
        beside = with_nonce(came, PEERS_LONG + b"\x1e\x06" + bytes(6))
        beside = beside[:43] + bytes([12]) + beside[44:]
        self.drops(4, in_by(4, beside), "DROP_NONCE_BESIDE")
        stranger = packet(UDP, DATAGRAM, STRANGER, LOCAL, ilnp=True)
        self.reaches(with_nonce(stranger, PEERS_LONG), packet(UDP, DATAGRAM, STRANGER, LOCAL))


class Messages(IlnpTest):
    """Requests, updates and errors are the controller's; without a nonce they prove nothing."""

    def runTest(self) -> None:
        for control in (1, 2, 3):
            asks = with_nonce(packet(ICMPV6, request(control), REMOTE, LOCAL), WRONG)
            self.punts(4, in_by(4, asks), "PUNT_SESSION_REQUEST", 100)
        update = packet(ICMPV6, UPDATE, REMOTE, LOCAL)
        self.punts(4, in_by(4, with_nonce(update, PEERS_LONG)), "PUNT_LOCATOR_UPDATE", 100)
        self.drops(4, in_by(4, update), "DROP_NONCE_MISSING")
        about = with_nonce(packet(UDP, DATAGRAM, LOCAL, REMOTE, ilnp=True), PEERS_LONG)
        error = packet(ICMPV6, bytes([1, 4]) + bytes(6) + about, "2001:db8:a::99", LOCAL)
        self.punts(4, in_by(4, error), "PUNT_ILNP_ERROR", 100)


class FlowTest(ToldTest):
    """A test without sessions, whose flows are told."""

    def setUp(self) -> None:
        """Ask to be told."""
        super().setUp()
        keys = fy.Action("set_hash_keys", slots=KEYS.slots, nonces=KEYS.nonces)
        self.entries.modify(fy.P4TableEntry("hash_keys", action=keys, is_default_action=True))
        self.hold(endpoint_policy(protocols=ILNP_SPOKEN | OPENS))
        self.entries.add(fy.P4DigestEntry("ilnp_flow", max_list_size=1, ack_timeout_ns=0))

    def peer(self, data: bytes, source: str) -> None:
        """The peer's segment reaches the host."""
        came = with_nonce(packet(TCP, data, source, LOCAL, ilnp=True), PEERS_LONG)
        self.passes(4, in_by(4, came), 1, to_host(hop_less(packet(TCP, data, source, LOCAL))))

    def answers(self, data: bytes, to: str) -> bytes:
        """The host's segment leaves with a nonce that is drawn for the flow: this one."""
        self.enter(1, from_host(packet(TCP, data, LOCAL, to)))
        frames = self.collector.collect(self).frames
        ((frame,),) = frames.values()
        nonce = frame[58:70]
        leaves = with_nonce(packet(TCP, data, LOCAL, to, ilnp=True), nonce)
        self.assertEqual(frames, {4: [bytes(out_by(4, hop_less(leaves)))]})
        return nonce


class FlowsAreTold(FlowTest):
    """By SYN, SYN-ACK and ACK, with the nonce that was drawn; it stays the flow's."""

    def runTest(self) -> None:
        self.peer(PEERS_SYN, REMOTE)
        drawn = self.answers(HOSTS_SYN_ACK, REMOTE)
        self.peer(PEERS_ACK, REMOTE)
        local, remote, to_peer, from_peer, size, opened = self.told("ilnp_flow")
        self.assertEqual((local, remote, from_peer), (octets(LOCAL), octets(REMOTE), PEERS_LONG))
        self.assertEqual((to_peer.rjust(12, b"\0"), int.from_bytes(size), int.from_bytes(opened)), (drawn, 12, 0))
        answer = segment(ACK, HOSTS_FIRST + 1, PEERS_FIRST + 1, mine=True)
        self.assertEqual(self.answers(answer, REMOTE), drawn)


class FlowsOpenWithNonces(FlowTest):
    """A host's SYN to who is known to take a nonce bears one, and all that follows; to others none."""

    def runTest(self) -> None:
        self.hold([takes_nonces(len(PEERS_LONG))])
        drawn = self.answers(HOSTS_SYN, REMOTE)
        self.peer(PEERS_SYN_ACK, REMOTE)
        self.assertEqual(self.answers(HOSTS_ACK, REMOTE), drawn)
        _, remote, to_peer, from_peer, _, opened = self.told("ilnp_flow")
        self.assertEqual((remote, to_peer.rjust(12, b"\0"), from_peer), (octets(REMOTE), drawn, PEERS_LONG))
        self.assertEqual(int.from_bytes(opened), 1)
        to_others = packet(TCP, HOSTS_SYN, LOCAL, STRANGER)
        self.passes(1, from_host(to_others), 4, out_by(4, hop_less(to_others)))


class SynsAreNotTold(FlowTest):
    """Of many SYNs nothing is told, and the flow that comes behind them is."""

    def runTest(self) -> None:
        for number in range(256):
            self.peer(segment(SYN, number, port=number + 1), STRANGER)
        source = "2001:db8:f00::77"
        self.peer(PEERS_SYN, source)
        self.answers(HOSTS_SYN_ACK, source)
        self.peer(PEERS_ACK, source)
        self.assertEqual(self.told("ilnp_flow")[1], octets(source))
