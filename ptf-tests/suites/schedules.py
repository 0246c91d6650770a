"""Each packet by a path of its own. Delays are half an hour or nothing, and weights need no clock."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import finsy as fy
from carriers import hop_less, ipv6
from numbered_switch import Numbered, Report, option, read, with_option
from ordered_switch import order_option
from replicated_packets import replica
from schedule_site import CLOSE, FOLLOW, HOLD, SCHEDULE, TCP, PathOf, Schedule, segment
from session_cases import DATAGRAM, OUTWARD
from session_site import (
    LOCAL,
    LOCAL_1,
    OUR_TAG,
    REMOTE,
    Session,
    between,
    came_by,
    from_host,
    in_by,
    out_by,
    sent_by,
    to_host,
    with_header,
)
from suites.sessions import SessionTest

from wayname.p4_constants import Drop, PathEventKind, SessionMode

HALF_AN_HOUR = 1_800_000_000
LONG = 2**32 - 1
FLOWS = 64
# Registers remember what earlier tests did: each has a session and a schedule of its own.
FIRST = Session(number=140, send_timeout=0, keepalive=0, mode=SCHEDULE)


class ScheduleTest(SessionTest):
    """A test with a session that has a schedule."""

    session = FIRST

    def schedule(self, schedule: Schedule) -> None:
        """Give the session this schedule, under its own number."""
        own = replace(schedule, session=self.session.number, number=self.session.number)
        self.hold(own.entries())

    def peer_sends(self, path: int, put: bytes, packet: bytes) -> bytes:
        """The frame of a packet of the peer that comes by a path with this before the session's header."""
        return bytes(in_by(out_of(path), with_option(bytes(came_by(path, packet)), put)))

    def reschedule(self, schedule: Schedule) -> None:
        """Give it another one in its place."""
        for entry in replace(schedule, session=self.session.number, number=self.session.number).entries():
            self.entries.modify(self.entries.entry(entry.table, entry.keys, entry.action, **entry.parameters))

    def goes(self, path: int, packet: bytes = OUTWARD) -> None:
        """A packet of the host goes by this path."""
        port = out_of(path)
        self.passes(1, from_host(packet), port, out_by(port, hop_less(sent_by(path, packet))))

    def acknowledged(self, sequence: int) -> None:
        """The peer says up to where it has everything."""
        packet = acknowledgement(sequence)
        self.passes(4, in_by(4, came_by(0, packet)), 1, to_host(hop_less(packet)))


def out_of(path: int) -> int:
    """The port that a path leaves by."""
    return 5 if path == 2 else 4


def acknowledgement(sequence: int) -> bytes:
    return ipv6(TCP, segment(7, sequence, 0, 16, (80, 1000)), REMOTE, LOCAL)


def data(sequence: int) -> bytes:
    return ipv6(TCP, segment(sequence, 0, 100, 16, (1000, 80)), LOCAL, REMOTE)


class FastestFirst(ScheduleTest):
    """The path with the least delay has them all, while nothing waits."""

    session = replace(FIRST, number=141)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(HALF_AN_HOUR, 0), PathOf(HALF_AN_HOUR // 2, 0), PathOf(0, 0)]))
        for _ in range(3):
            self.goes(2)


class Ties(ScheduleTest):
    """Paths that deliver at once take turns."""

    session = replace(FIRST, number=142)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(0, 0), PathOf(0, 0), PathOf(0, 0)]))
        for path in (0, 1, 2, 0, 1):
            self.goes(path)


class Full(ScheduleTest):
    """What does not fit into a path's queue goes by another."""

    session = replace(FIRST, number=150)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(0, 1 << 24, queue=1), PathOf(HALF_AN_HOUR, 0), PathOf(LONG >> 1, 0)]))
        for _ in range(3):
            self.goes(1)


class FullEverywhere(ScheduleTest):
    """What fits nowhere goes by the path that delivers first."""

    session = replace(FIRST, number=151)

    def runTest(self) -> None:
        delays = (HALF_AN_HOUR, 0, HALF_AN_HOUR)
        self.schedule(Schedule([PathOf(delay, 1 << 24, queue=1) for delay in delays]))
        for _ in range(3):
            self.goes(1)


class RoundRobin(ScheduleTest):
    """Paths get octets by their capacity."""

    session = replace(FIRST, number=143)

    def runTest(self) -> None:
        paths = [PathOf(0, 2000), PathOf(0, 1000), PathOf(0, 1000)]
        self.schedule(Schedule(paths, policy="weighted_round_robin"))
        for path in (1, 2, 0, 1, 2, 1, 2, 0):
            self.goes(path)


class BeginsAnew(ScheduleTest):
    """A new generation forgets what was sent; the same one goes on."""

    session = replace(FIRST, number=152)

    def runTest(self) -> None:
        paths = [PathOf(0, 2000), PathOf(0, 1000), PathOf(0, 1000)]
        schedule = Schedule(paths, policy="weighted_round_robin")
        self.schedule(schedule)
        for path in (1, 2, 0, 1):
            self.goes(path)
        self.reschedule(schedule)
        self.goes(2)
        self.reschedule(replace(schedule, generation=2))
        for path in (1, 2, 0, 1, 2):
            self.goes(path)


class PerFlow(ScheduleTest):
    """A flow keeps to its path, and flows use all paths."""

    session = replace(FIRST, number=153)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(0, 0), PathOf(0, 0), PathOf(0, 0)], policy="per_flow"))
        flows = [ipv6(17, port.to_bytes(2) + DATAGRAM[2:], LOCAL, REMOTE) for port in range(1000, 1000 + FLOWS)]
        ways = self.ways(flows)
        self.assertEqual(self.ways(flows), ways)
        self.assertGreater(min(Counter(ways).get(path, 0) for path in range(3)), FLOWS // 6, ways)

    def ways(self, packets: Sequence[bytes]) -> list[int]:
        """By which path each of the packets left."""
        for packet in packets:
            self.enter(1, from_host(packet))
        found = self.collector.collect(self)
        left = {frame for frames in found.frames.values() for frame in frames}
        ways = [
            [path for path in range(3) if bytes(out_by(out_of(path), hop_less(sent_by(path, packet)))) in left]
            for packet in packets
        ]
        self.assertEqual([len(paths) for paths in ways], [1] * len(packets))
        return [paths[0] for paths in ways]


class BestPath(ScheduleTest):
    """One path has them all, whatever the session's entry says."""

    session = replace(FIRST, number=144, path=1)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(0, 0)] * 3))
        best = self.entries.entry("schedules", {"schedule": self.session.number}, "best_path", slot=2)
        self.entries.modify(best)
        for port in range(3):
            self.goes(2, ipv6(17, port.to_bytes(2) + DATAGRAM[2:], LOCAL, REMOTE))


class NoSchedule(ScheduleTest):
    """Without an entry the session's own path is taken."""

    session = replace(FIRST, number=145, path=1)

    def runTest(self) -> None:
        self.goes(1)


class Loses(ScheduleTest):
    """Three duplicates of what is overdue close its path; the controller is told."""

    session = replace(FIRST, number=146)

    def runTest(self) -> None:
        paths = [PathOf(0, 0), PathOf(HALF_AN_HOUR, 0)]
        self.schedule(Schedule(paths, feedback=CLOSE, tolerance=LONG >> 1, probe_interval=LONG))
        self.entries.add(fy.P4DigestEntry("path_events", max_list_size=1, ack_timeout_ns=0))
        for number in range(3):
            self.goes(0, data(100 * number))
        for _ in range(3):
            self.acknowledged(0)
        told = [int.from_bytes(member) for member in self.told("path_events")[:5]]
        self.assertEqual(told, [PathEventKind.LOST, 146, 146, 0, 0])
        self.goes(1, data(0))
        self.goes(1)


class IsLate(ScheduleTest):
    """A path that takes longer than its entry says, by more than is tolerated, is closed; the controller is told."""

    session = replace(FIRST, number=154)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(0, 0), PathOf(HALF_AN_HOUR, 0)], feedback=CLOSE, probe_interval=LONG))
        self.entries.add(fy.P4DigestEntry("path_events", max_list_size=1, ack_timeout_ns=0))
        self.goes(0, data(0))
        self.acknowledged(100)
        told = [int.from_bytes(member) for member in self.told("path_events")]
        self.assertEqual(told[:5], [PathEventKind.LATE, 154, 154, 0, 0])
        self.assertGreater(told[5], 0)
        self.goes(1, data(100))


class OpensByItself(ScheduleTest):
    """A closed path that had nothing to be probed with for eight intervals is open."""

    session = replace(FIRST, number=155)

    def runTest(self) -> None:
        paths = [PathOf(0, 0), PathOf(HALF_AN_HOUR, 0)]
        self.schedule(Schedule(paths, feedback=CLOSE, tolerance=LONG >> 1, probe_interval=1))
        self.entries.add(fy.P4DigestEntry("path_events", max_list_size=1, ack_timeout_ns=0))
        for number in range(3):
            self.goes(0, data(100 * number))
        for _ in range(3):
            self.acknowledged(0)
        self.assertEqual(int.from_bytes(self.told("path_events")[0]), PathEventKind.LOST)
        self.goes(0)


class IsFollowed(ScheduleTest):
    """A path that takes longer than its entry says gets nothing while another is faster."""

    session = replace(FIRST, number=156)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(0, 0), PathOf(1, 0)], feedback=FOLLOW, probe_interval=LONG))
        self.goes(0, data(0))
        self.acknowledged(100)
        self.goes(1, data(100))
        self.goes(1)


class IsForged(ScheduleTest):
    """Acknowledgements of what was never sent close nothing."""

    session = replace(FIRST, number=147)

    def runTest(self) -> None:
        paths = [PathOf(0, 0), PathOf(HALF_AN_HOUR, 0)]
        self.schedule(Schedule(paths, feedback=CLOSE, tolerance=LONG >> 1, probe_interval=LONG))
        for number in range(3):
            self.goes(0, data(100 * number))
        for _ in range(4):
            self.acknowledged(301)
            self.acknowledged(2**32 - 1)
        self.goes(0, data(300))


class HoldsBack(ScheduleTest):
    """Of duplicates two pass; the others wait for what may only be late."""

    session = replace(FIRST, number=148)

    def runTest(self) -> None:
        paths = [PathOf(0, 0), PathOf(HALF_AN_HOUR, 0)]
        self.schedule(Schedule(paths, feedback=HOLD, hold=HALF_AN_HOUR))
        for number in range(12):
            self.goes(0, data(100 * number))
        for _ in range(2):
            self.acknowledged(0)
        for _ in range(2):
            self.drops(4, in_by(4, came_by(0, acknowledgement(0))), "DROP_DUPLICATE_HELD")
        self.acknowledged(100)


class Probes(ScheduleTest):
    """A closed path is probed with a copy of a packet that goes by an open one."""

    session = replace(FIRST, number=157)

    def runTest(self) -> None:
        paths = [PathOf(0, 0), PathOf(HALF_AN_HOUR, 0)]
        self.schedule(Schedule(paths, feedback=CLOSE, tolerance=0, probe_interval=LONG))
        for number in range(3):
            self.goes(0, data(100 * number))
        for _ in range(3):
            self.acknowledged(0)
        packet = data(300)
        both = [(4, out_by(4, hop_less(sent_by(path, packet)))) for path in (1, 0)]
        self.verify([(1, from_host(packet))], both)
        self.goes(1, data(400))


class Reports(ScheduleTest):
    """A numbered packet is counted and loses its number; the next one to the peer bears a report of it."""

    session = replace(FIRST, number=158, mode=SCHEDULE | SessionMode.NUMBER)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(HALF_AN_HOUR, 0), PathOf(0, 0)], feedback=CLOSE))
        packet = ipv6(17, DATAGRAM, REMOTE, LOCAL)
        numbered = with_option(bytes(came_by(1, packet)), option(3, 100))
        self.passes(4, in_by(4, numbered), 1, to_host(hop_less(packet)))
        report = self.goes_numbered().report
        assert report is not None
        self.assertEqual((report.slot, report.newest, report.received, report.marked), (3, 100, 100, 0))
        self.assertIsNone(self.goes_numbered().report, "nothing came since")

    def goes_numbered(self) -> Numbered:
        """A packet of the host goes to the peer with a number."""
        self.enter(1, from_host(OUTWARD))
        (frame,) = self.collector.collect(self).frames[4]
        return read(frame)


class ForgedReports(ScheduleTest):
    """A report of what was never sent ends here, and is counted as such."""

    session = replace(FIRST, number=159, mode=SCHEDULE | SessionMode.NUMBER)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(HALF_AN_HOUR, 0), PathOf(0, 0)], feedback=CLOSE))
        alone = bytes(came_by(1, ipv6(59, b"", REMOTE, LOCAL)))
        forged = with_option(alone, option(0, 0, Report(0, 1, 2, 3), counted=0))
        before = self.counter("path_reports_heard")[2]
        self.drops(4, in_by(4, forged), "DROP_REPORT_HEARD")
        self.assertEqual(self.counter("path_reports_heard")[2], before + 1)


class Replicates(ScheduleTest):
    """Each packet goes by two paths at once, with a number of each path and one order."""

    session = replace(FIRST, number=160, mode=SCHEDULE | SessionMode.NUMBER)

    def runTest(self) -> None:
        paths = [PathOf(HALF_AN_HOUR, 0), PathOf(0, 0), PathOf(1, 0)]
        self.schedule(Schedule(paths, feedback=CLOSE, copies=2))
        orders = []
        for _ in range(3):
            self.enter(1, from_host(OUTWARD))
            frames = self.collector.collect(self).frames
            first, second = (replica(frames[port][0]) for port in (4, 5))
            self.assertEqual([len(frames[port]) for port in (4, 5)], [1, 1])
            self.assertEqual((first.slot, second.slot), (1, 2))
            self.assertEqual((first.order, first.copies, first.wait), (second.order, 2, 0))
            self.assertEqual(first.payload, second.payload)
            orders.append(first.order)
        self.assertEqual([(order - orders[0]) % 2**32 for order in orders], [0, 1, 2])


class Eliminates(ScheduleTest):
    """The host gets the first copy; the second one is dropped, and so is who repeats one."""

    session = replace(FIRST, number=161, mode=SCHEDULE | SessionMode.NUMBER)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(HALF_AN_HOUR, 0), PathOf(0, 0)], feedback=CLOSE))
        packet = ipv6(17, DATAGRAM, REMOTE, LOCAL)
        for order in (7, 8):
            before = self.counter("ingress_drops")[Drop.ELIMINATED]
            for path in (1, 2, 1):
                self.enter(out_of(path), self.peer_sends(path, order_option(path, order, order, 0, copies=2), packet))
            # On a slow target a report goes to the peer by itself.
            self.assertEqual(self.collector.collect(self).frames[1], [bytes(to_host(hop_less(packet)))])
            self.assertEqual(self.counter("ingress_drops")[Drop.ELIMINATED], before + 2)


class ForgedCopies(ScheduleTest):
    """Who has the order alone, and not the session's locators, takes nothing from the true copy."""

    session = replace(FIRST, number=162, mode=SCHEDULE | SessionMode.NUMBER)

    def runTest(self) -> None:
        self.schedule(Schedule([PathOf(HALF_AN_HOUR, 0), PathOf(0, 0)], feedback=CLOSE))
        packet = ipv6(17, DATAGRAM, REMOTE, LOCAL)
        put = order_option(1, 9, 9, 0, copies=2)
        forged = with_option(with_header(between(packet, REMOTE, LOCAL_1), OUR_TAG), put)
        self.drops(4, in_by(4, forged), "DROP_LOCATORS_UNPROVEN")
        self.passes(4, self.peer_sends(1, put, packet), 1, to_host(hop_less(packet)))
