"""Whether sessions are answered. Times are a microsecond or an hour: the rest needs a clock of the test's own."""

from dataclasses import replace

import finsy as fy
from carriers import hop_less, ipv6
from session_cases import INWARD, OUTWARD
from session_site import (
    HOLD,
    LOCAL,
    LOCAL_1,
    PEERS_TAG,
    REMOTE,
    REMOTE_1,
    Session,
    came_by,
    from_host,
    in_by,
    out_by,
    sent_by,
    to_host,
)
from shim6_layers import SHIM6, Shim6Keepalive
from suites.sessions import SessionTest

LONG = 2**32 - 1
UDP = 17
WATCH, SILENT, LEFT_PATH, UNANSWERED = 1, 2, 3, 4
# Registers remember what earlier tests did: each has a session of its own, and begins with another generation.
FIRST = Session(number=100, send_timeout=0, keepalive=0)


class LivenessTest(SessionTest):
    """A test with a session that somebody waits for."""

    session = FIRST

    def setUp(self) -> None:
        """Let the generation that the test begins with be a new one."""
        super().setUp()
        self.goes(0)
        self.session = replace(self.session, generation=2)

    def goes(self, path: int) -> None:
        """A packet of the host goes by this path."""
        port = 5 if path == 2 else 4
        self.passes(1, from_host(OUTWARD), port, out_by(port, hop_less(sent_by(path, OUTWARD))))

    def comes(self) -> None:
        """A packet of the peer comes."""
        self.passes(4, in_by(4, came_by(1, INWARD)), 1, to_host(hop_less(INWARD)))

    def ask_for_events(self) -> None:
        """From now on digests tell what becomes of sessions."""
        self.entries.add(fy.P4DigestEntry("session_events", max_list_size=1, ack_timeout_ns=0))

    def session_event(self) -> list[int]:
        """The next of this test's session: kind, session, paths."""
        while True:
            event = [int.from_bytes(member) for member in self.told("session_events")[:4]]
            if event[1] == self.session.number:
                return event


class LeavesThePath(LivenessTest):
    """The packet that finds nothing answered goes by the backup; the controller is told."""

    session = replace(FIRST, number=101)

    def runTest(self) -> None:
        self.hold([self.session.backup(0, 2)])
        self.ask_for_events()
        self.use(replace(self.session, send_timeout=1))
        self.goes(0)
        self.assertEqual(self.session_event(), [WATCH, 101, 0, 0])
        self.goes(2)
        self.assertEqual(self.session_event(), [LEFT_PATH, 101, 0, 2])
        self.use(replace(self.session, send_timeout=LONG))
        self.goes(2)
        self.use(replace(self.session, send_timeout=LONG, generation=3, path=1))
        self.goes(1)


class HasNoBackup(LivenessTest):
    """It stays, and the controller is told."""

    session = replace(FIRST, number=102)

    def runTest(self) -> None:
        self.ask_for_events()
        self.use(replace(self.session, send_timeout=1))
        self.goes(0)
        self.assertEqual(self.session_event()[0], WATCH)
        self.goes(0)
        self.assertEqual(self.session_event(), [UNANSWERED, 102, 0, 0])


class IsAnswered(LivenessTest):
    """What is answered is not left."""

    session = replace(FIRST, number=103)

    def runTest(self) -> None:
        self.hold([self.session.backup(0, 2)])
        self.use(replace(self.session, send_timeout=1))
        for _ in range(4):
            self.goes(0)
            self.comes()


class OnlyAsked(LivenessTest):
    """A question of the controller finds it out, too."""

    session = replace(FIRST, number=104)

    def runTest(self) -> None:
        self.hold([self.session.backup(0, 2)])
        self.use(replace(self.session, send_timeout=1))
        self.ask_for_events()
        self.goes(0)
        self.assertEqual(self.session_event(), [WATCH, 104, 0, 0])
        self.verify([self.out("CHECK", from_host(ipv6(59, b"", LOCAL, REMOTE)), 1)], dropped={"DROP_CHECKED": 1})
        self.assertEqual(self.session_event(), [LEFT_PATH, 104, 0, 2])
        self.goes(2)


class Keepalives(LivenessTest):
    """By the path in use, once, and only where something was heard and nothing sent."""

    session = replace(FIRST, number=105, keepalive=1)

    def runTest(self) -> None:
        self.use(replace(self.session, path=1))
        self.goes(1)
        body = bytes(Shim6Keepalive(tag=PEERS_TAG))
        keepalive = self.out("KEEPALIVE", from_host(ipv6(SHIM6, body, LOCAL, REMOTE)), 1)
        self.verify([keepalive], dropped={"DROP_KEEPALIVE_NOT_DUE": 1})
        self.comes()
        self.verify([keepalive], [(4, out_by(4, hop_less(ipv6(SHIM6, body, LOCAL_1, REMOTE_1))))])
        self.verify([keepalive], dropped={"DROP_KEEPALIVE_NOT_DUE": 1})
        self.use(replace(self.session, path=1, keepalive=LONG))
        self.comes()
        self.verify([keepalive], dropped={"DROP_KEEPALIVE_NOT_DUE": 1})


class Held(LivenessTest):
    """The controller gets copies of what may be lost."""

    session = replace(FIRST, number=106)

    def runTest(self) -> None:
        self.use(replace(self.session, send_timeout=1, mode=HOLD))
        leaves = [(4, out_by(4, hop_less(OUTWARD)))]
        copy = self.punt("PUNT_SESSION_HELD", 1, 1, from_host(OUTWARD))
        for _ in range(2):
            self.verify([(1, from_host(OUTWARD))], leaves, [copy])
        self.comes()
        self.use(replace(self.session, send_timeout=LONG, mode=HOLD))
        self.goes(0)


class PairTest(SessionTest):
    """A test of pairs without a session, which are told with their first octet."""

    def setUp(self) -> None:
        """Hear of pairs."""
        super().setUp()
        self.entries.add(fy.P4DigestEntry("pair_active", max_list_size=1, ack_timeout_ns=0))
        proxy = self.entries.entry(
            "endpoint_policy_sources", {"source": "2001:db8:1::/48"}, "proxy", bytes=1, time=0, protocols=1
        )
        self.entries.modify(proxy)

    def begins(self, peer: str) -> None:
        """The host begins to talk to a peer, and the pair is told."""
        packet = ipv6(UDP, bytes(60), LOCAL, peer)
        self.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
        source, destination, size, _, opened_here = self.told("pair_active")
        self.assertEqual((source, destination, int.from_bytes(size)), (packet[8:24], packet[24:40], 100))
        self.assertEqual(int.from_bytes(opened_here), 1)


class ThePairIsTold(PairTest):
    """Two addresses without a session that exchange enough."""

    def runTest(self) -> None:
        self.begins("2001:db8:f01::51")


class WhoAnswersIsNotTold(PairTest):
    """A datagram of a host that answers one begins nothing: the next pair is the first that is told."""

    def runTest(self) -> None:
        peer = "2001:db8:f01::53"
        asks = ipv6(UDP, bytes([1, 2, 3, 4]) + bytes(56), peer, LOCAL)
        answers = ipv6(UDP, bytes([3, 4, 1, 2]) + bytes(56), LOCAL, peer)
        self.passes(4, in_by(4, asks), 1, to_host(hop_less(asks)))
        self.passes(1, from_host(answers), 4, out_by(4, hop_less(answers)))
        self.begins("2001:db8:f01::52")
