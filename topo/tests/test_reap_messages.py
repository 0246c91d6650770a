"""REAP as the providers see it: what each probe and keepalive says, read by RFC 5534, section 5, alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import pytest
from site_pair import SEND_TIMEOUT, talking

from wayname_lab.virtual.lab import VirtualLab

ETHERNET, IPV6 = 14, 40
SHIM6 = 140
KEEPALIVE, PROBE = 66, 67
OPERATIONAL, EXPLORING, INBOUND_OK = range(3)
RECORD = 40
SECONDS = 30.0
SITE_OF_SOURCE, SITE_OF_DESTINATION = 8 + 5, 24 + 5  # 2001:db8:PPSS::, as labs number their prefixes
AT_ONCE = 0.017  # an uplink's delay, and two milliseconds at the controller
SITES = {"a": 1, "b": 2}
UPLINKS = ("a-p", "a-q", "b-p", "b-q")


@dataclass(frozen=True)
class Reading:
    """A probe: its state, its own record, and those that it reports."""

    state: int
    own: bytes
    reports: tuple[bytes, ...]
    may_report: bool


@dataclass
class Provider:
    """What passes the uplinks of both sites; probes as they leave.

    A sender in state InboundOk MUST report a probe that arrived since it last began to explore (section 5.2). Where
    packets of hosts are all that arrived since then, it has to say InboundOk too (6.1), and has nothing to report.
    """

    lab: VirtualLab
    probes: list[Reading] = field(default_factory=list)
    keepalives: int = 0  # at each uplink that they pass
    # When a probe came to a site first since it began to explore.
    _arrived: dict[int, float] = field(default_factory=dict)
    # Records of probes that left before anybody looked.
    _before: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name in UPLINKS:
            self.lab.links[name].connect("reader", partial(self._read, SITES[name[0]]))

    def _read(self, uplink_of: int, frame: bytes) -> None:
        packet = frame[ETHERNET:]
        if packet[6] != SHIM6:
            return
        message = packet[IPV6:]
        if message[2] & 0x80:  # a payload header
            return
        kind = message[2] & 0x7F
        if kind == KEEPALIVE:
            self.keepalives += 1
        elif kind == PROBE and uplink_of == packet[SITE_OF_DESTINATION]:
            self._arrived.setdefault(uplink_of, self.lab.now)
        elif kind == PROBE:
            received, sent = message[12] >> 4, message[12] & 0xF
            records = [message[16 + RECORD * n : 16 + RECORD * (n + 1)] for n in range(sent + received)]
            assert sent >= 1
            assert records[0][:32] == packet[8:40]
            assert len(message) == 16 + RECORD * (sent + received)
            state, site = message[13] >> 6, packet[SITE_OF_SOURCE]
            if state == EXPLORING:
                self._arrived.pop(site, None)
            may_report = site in self._arrived and self.lab.now - self._arrived[site] > AT_ONCE
            self.probes.append(Reading(state, records[0], tuple(records[sent:]), may_report))

    def look(self) -> None:
        """Begin now: what left before may be reported."""
        self._before |= {probe.own for probe in self.probes}
        self.probes.clear()
        self.keepalives = 0

    def wrong_reports(self) -> list[Reading]:
        """Probes that report what nobody sent before, and those in state InboundOk that report nothing."""
        sent = set(self._before)
        wrong = []
        for probe in self.probes:
            if not sent.issuperset(probe.reports) or (
                probe.state == INBOUND_OK and probe.may_report and not probe.reports
            ):
                wrong.append(probe)
            sent.add(probe.own)
        return wrong


@pytest.fixture(scope="module")
def provider() -> Provider:
    """Half a minute of traffic both ways."""
    lab = talking()
    provider = Provider(lab)
    lab.run_for(3)
    provider.look()
    lab.run_for(SECONDS)
    return provider


def test_a_probe_says_that_its_sender_is_well_while_it_is(provider: Provider) -> None:
    assert {probe.state for probe in provider.probes} == {OPERATIONAL}


def test_probes_report_what_came_and_nothing_else(provider: Provider) -> None:
    assert not provider.wrong_reports()


def test_no_keepalive_is_sent_where_hosts_speak(provider: Provider) -> None:
    assert provider.keepalives == 0


def test_each_backup_is_asked_and_answered_once_in_a_while(provider: Provider) -> None:
    # Three pairs of each side are checked every four send timeouts, or a little more often; each is answered.
    asked = [probe for probe in provider.probes if not probe.reports]
    assert len(asked) <= 2 * 3 * SECONDS / (4 * SEND_TIMEOUT * 0.8) + 6
    assert len(provider.probes) == pytest.approx(2 * len(asked), abs=4)


def test_an_exploration_says_what_it_is_and_what_came() -> None:
    lab = talking()
    provider = Provider(lab)
    lab.run_for(3)
    provider.look()
    lab.cut("b-p")
    lab.run_for(5)
    assert {EXPLORING, INBOUND_OK} <= {probe.state for probe in provider.probes}
    assert not provider.wrong_reports()
