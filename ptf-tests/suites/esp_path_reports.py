"""Numbers and reports of ESP, in destination options right before it (docs/hip-tables.md)."""

from carriers import hop_less
from esp_site import OUR_SPI, PEERS_SPI, esp
from numbered_esp_switch import NumberedEspSession, before_esp, lone, read, sealed
from numbered_switch import Numbered, Report, with_option
from schedule_site import CLOSE, SCHEDULE, PathOf, Schedule, locator
from session_site import REMOTE, REMOTE_1, from_host, in_by, to_host

from harness.edge_test import EdgeTest

HALF_AN_HOUR = 1800 * 1_000_000


class NumberedEspTest(EdgeTest):
    """A test with a scheduled session whose host encrypts."""

    session = NumberedEspSession(number=163, generation=0)

    def setUp(self) -> None:
        """Set it up: of two paths, the second one is faster."""
        super().setUp()
        number = self.session.number
        schedule = Schedule([PathOf(HALF_AN_HOUR, 0), PathOf(0, 0)], feedback=CLOSE, session=number, number=number)
        self.hold(self.session.entries())
        self.hold(schedule.entries())

    def goes_numbered(self, sequence: int) -> Numbered:
        """A packet of the host goes to the peer with a number, and is as it was behind that."""
        self.enter(1, from_host(sealed(sequence)))
        (frame,) = self.collector.collect(self).frames[4]
        numbered = read(frame)
        self.assertEqual(numbered.packet, sealed(sequence)[40:])
        return numbered


class Reports(NumberedEspTest):
    """A numbered packet is counted and loses its number; the next one to the peer bears a report of it."""

    def runTest(self) -> None:
        packet = esp(REMOTE_1, locator(1), OUR_SPI)
        self.passes(4, in_by(4, with_option(packet, before_esp(3, 100))), 1, to_host(hop_less(packet)))
        first = self.goes_numbered(1)
        report = first.report
        assert report is not None
        self.assertEqual((report.slot, report.newest, report.received, report.marked), (3, 100, 100, 0))
        second = self.goes_numbered(2)
        self.assertIsNone(second.report, "nothing came since")
        self.assertEqual((second.slot, second.path), (1, 1))
        self.assertEqual(second.sequence, (first.sequence + 1) % (1 << 24))


class ForgedReports(NumberedEspTest):
    """A report of what was never sent ends here, and is counted as such; one with another SPI is no report."""

    session = NumberedEspSession(number=164, generation=0)

    def runTest(self) -> None:
        forged = before_esp(0, 0, Report(0, 1, 2, 3), counted=0)
        before = self.counter("path_reports_heard")[2]
        self.drops(4, in_by(4, with_option(lone(OUR_SPI, 1), forged)), "DROP_REPORT_HEARD")
        self.assertEqual(self.counter("path_reports_heard")[2], before + 1)
        guessed = with_option(lone(PEERS_SPI ^ 1, 1), forged)
        self.passes(4, in_by(4, guessed), 1, to_host(hop_less(guessed)))
        self.drops(4, in_by(4, with_option(esp(REMOTE, locator(1), OUR_SPI), forged)), "DROP_ESP_LOCATORS")
        self.assertEqual(self.counter("path_reports_heard")[2], before + 1)


class NotAgreed(NumberedEspTest):
    """Without an agreement packets have no numbers, and what comes with one is the host's."""

    session = NumberedEspSession(number=165, generation=0, mode=SCHEDULE)

    def runTest(self) -> None:
        self.enter(1, from_host(sealed(1)))
        (frame,) = self.collector.collect(self).frames[4]
        self.assertEqual(frame[14 + 40 :], sealed(1)[40:])
        packet = with_option(esp(REMOTE_1, locator(1), OUR_SPI), before_esp(3, 100))
        self.passes(4, in_by(4, packet), 1, to_host(hop_less(packet)))
