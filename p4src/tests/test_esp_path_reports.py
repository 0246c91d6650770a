"""Packets of ESP sessions are numbered by path, in a header of their own before ESP, and edges report what came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from carriers import hop_less, ipv6
from esp_site import ESP, ESP_SESSION, INWARD, OUR_SPI, PEERS_SPI, esp
from finsy.proto import p4r
from numbered_esp_switch import (
    NumberedEspSession,
    NumberedEspSwitch,
    before_esp,
    host_got,
    lone,
    peer_got,
    read,
    routed_once,
    sealed,
    with_headers,
)
from numbered_switch import (
    DESTINATION_OPTIONS,
    NUMBER_OCTETS,
    NUMBERS,
    REPORT_OCTETS,
    Peer,
    Report,
    option,
    read_option,
    with_option,
)
from schedule_site import CLOSE, LARGEST, SCHEDULE, PathOf, Schedule, locator
from session_site import LOCAL, REMOTE, REMOTE_1, from_host, in_by

from small_site import HOST
from wayname.p4_constants import Drop
from wayname.wire import icmpv6
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.ipv6 import Packet

MILLISECOND, SECOND = 1_000, 1_000_000
OCTET = 1 << 24  # a microsecond an octet
TOLERANCE = 5 * MILLISECOND
PATHS = [PathOf(10 * MILLISECOND, OCTET), PathOf(30 * MILLISECOND, OCTET)]
CLOSING = Schedule(PATHS, feedback=CLOSE, tolerance=TOLERANCE, probe_interval=SECOND, session=ESP_SESSION)
LENGTH = 1000
DUE = 10 * MILLISECOND + LENGTH + NUMBER_OCTETS  # of a packet by the first path, if nothing waits
LATE = REPORT_OCTETS + TOLERANCE + 1  # of one that takes a report along: too late
CLOCK = 77 * SECOND  # the peer's is ahead by so much
GUARD_SOURCES = 1
INTERVAL = 5 * MILLISECOND  # between reports
HOP_BY_HOP, ROUTING, UDP = 0, 43, 17
PADDING = bytes([1, 4, 0, 0, 0, 0])
Make = Callable[[Schedule], NumberedEspSwitch]
# Extension headers of the host, before ESP: the number of the first, and the headers.
OF_HOST = {
    "none": (ESP, b""),
    "hop-by-hop": (HOP_BY_HOP, bytes([ESP, 0]) + PADDING),
    "options": (DESTINATION_OPTIONS, bytes([ESP, 0]) + PADDING),
    "both": (HOP_BY_HOP, bytes([DESTINATION_OPTIONS, 0]) + PADDING + bytes([ESP, 0]) + PADDING),
    "routing": (ROUTING, routed_once(REMOTE_1, ESP)),
    "behind routing": (ROUTING, routed_once(REMOTE_1, DESTINATION_OPTIONS) + bytes([ESP, 0]) + PADDING),
}


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda schedule: NumberedEspSwitch(schedule, backend=request.param)


def kinds(switch: NumberedEspSwitch) -> list[tuple[str, int]]:
    return [(each.kind, each.place) for each in switch.path_events()]


def heard(switch: NumberedEspSwitch) -> list[int]:
    """How many reports were taken, old, of unknown packets and implausible."""
    return [switch.counted("path_reports_heard", index) for index in range(4)]


# Numbers.


def test_each_packet_of_a_path_has_the_next_number_and_is_the_host_s_behind_it(make: Make) -> None:
    switch = make(CLOSING)
    sent = [switch.numbers(0, sealed(number)) for number in range(40)]
    assert {each.slot for each in sent} == {0, 1}
    for slot in (0, 1):
        numbers = [each.sequence for each in sent if each.slot == slot]
        assert numbers == [(numbers[0] + each) % NUMBERS for each in range(len(numbers))]
    assert all(each.path == each.slot and each.counted and each.report is None for each in sent)
    assert [each.packet for each in sent] == [sealed(number)[40:] for number in range(40)]


def test_a_peer_that_has_not_agreed_gets_no_option(make: Make) -> None:
    switch = make(CLOSING)
    switch.use(NumberedEspSession(mode=SCHEDULE))
    (frame,) = switch.frames(0, sealed(1))
    assert (frame[14 + 6], frame[14 + 40 :]) == (ESP, sealed(1)[40:])
    assert switch.counted("path_reports_heard", 0) == 0


@pytest.mark.parametrize("kind", OF_HOST)
def test_the_option_stands_right_before_esp_and_the_host_gets_what_was_sent(make: Make, kind: str) -> None:
    near, far = make(CLOSING), make(CLOSING)
    first, headers = OF_HOST[kind]
    packet = with_headers(sealed(7), first, headers)
    (frame,) = near.frames(0, packet)
    numbered = read_option(frame[14:], 40 + len(headers), ESP)
    assert numbered.packet == sealed(7)[40:]
    got = host_got(far.crosses(0, frame))
    assert [each[4:7] + each[40:] for each in got] == [
        packet[4:7] + packet[40:].replace(PEERS_SPI.to_bytes(4), OUR_SPI.to_bytes(4))
    ]
    report = far.numbers(INTERVAL).report
    assert report is not None
    assert report.newest == numbered.sequence


def test_a_new_spi_goes_on_with_the_numbers_of_the_session(make: Make) -> None:
    switch = make(CLOSING)
    before = switch.numbers(0, sealed(1))
    switch.comes(1, 0, before_esp(0, 100))
    switch.rekeys(ours=0x5555_0001, peers=0x5555_0002)
    after = switch.numbers(SECOND, esp(LOCAL, REMOTE_1, 0x5555_0002))
    assert after.sequence == (before.sequence + 1) % NUMBERS
    assert after.report is not None
    switch.comes(SECOND + 1, 0, before_esp(0, 101), esp(REMOTE_1, locator(0), 0x5555_0001))
    report = switch.numbers(SECOND + 2 * INTERVAL).report
    assert report is not None
    assert (report.newest, report.received) == (101, 101)


def test_fragments_are_no_session_s_and_bear_no_number(make: Make) -> None:
    switch = make(CLOSING)
    packet = with_headers(sealed(1), 44, bytes([ESP, 0, 0, 1]) + bytes(4))
    (frame,) = switch.frames(0, packet)
    assert frame[14 + 40 :] == packet[40:]


def test_the_host_is_told_of_an_mtu_that_leaves_room_for_number_and_report(make: Make) -> None:
    switch = make(CLOSING)
    mtu = LARGEST + 8
    (port, answer) = switch.at(0, 1, bytes(from_host(sealed(1, mtu - 8 - 16 + 1))))[0]
    assert port == 1
    assert answer[14 + 40] == 2, "Packet Too Big"
    assert int.from_bytes(answer[14 + 44 : 14 + 48]) == mtu - 8 - 16
    assert read(switch.frames(SECOND, sealed(2, mtu - 8 - 16))[0]).counted


@pytest.mark.parametrize(("mtu", "left"), [(1500, 1468), (1400, 1368), (1300, 1280), (1280, 1280), (1000, 1000)])
def test_a_router_further_on_that_finds_it_too_big_is_heard_so_too(make: Make, mtu: int, left: int) -> None:
    switch = make(CLOSING)
    (frame,) = switch.frames(0, sealed(1, 1480))
    (got,) = host_got(switch.at(1, 4, bytes(in_by(4, too_big(frame[14:], mtu)))))
    assert got[40:42] == bytes([2, 0])
    assert int.from_bytes(got[44:48]) == left
    assert got[48:] == frame[14 : 14 + len(got) - 48], "it quotes the packet as it went"
    assert icmpv6_checksum(got) == 0


@pytest.mark.parametrize("next_header", [ESP, UDP])
def test_an_error_about_what_has_no_number_is_left_alone(make: Make, next_header: int) -> None:
    switch = make(CLOSING)
    about = ipv6(next_header, bytes(600), locator(0), REMOTE_1)
    (got,) = host_got(switch.at(1, 4, bytes(in_by(4, too_big(about, 1400)))))
    assert int.from_bytes(got[44:48]) == 1400


def too_big(quoted: bytes, mtu: int) -> bytes:
    """What a router on the first path says of a packet that left from there."""
    message = icmpv6.Message(icmpv6.PACKET_TOO_BIG, 0, mtu.to_bytes(4) + quoted[:600])
    return message.packet(IPv6Address(REMOTE), IPv6Address(locator(0))).encode()


def icmpv6_checksum(packet: bytes) -> int:
    """0 if it is right."""
    read = Packet.decode(packet)
    return upper_layer_checksum(read.source, read.destination, 58, read.payload)


# What comes.


@pytest.mark.parametrize("put", [before_esp(1, 5), before_esp(1, 6, Report(0, 0, 0, 0))])
def test_the_host_gets_its_packet_without_the_option(make: Make, put: bytes) -> None:
    switch = make(CLOSING)
    packet = esp(REMOTE_1, locator(0), OUR_SPI)
    assert host_got(switch.comes(0, 0, put, packet)) == [hop_less(packet)]


def test_what_came_is_reported_with_the_next_packet(make: Make) -> None:
    switch = make(CLOSING)
    for time, number in enumerate([100, 101, 104, 103, 103, 104, 110]):
        switch.comes(time, 1, before_esp(3, number))
    report = switch.numbers(INTERVAL).report
    assert report is not None
    came = NUMBERS - 1 - 0b10011111
    assert report._replace(arrived=0) == Report(3, 110, 0, 104, 0, came), "102 and 105 to 109 are missing"
    assert switch.numbers(2 * INTERVAL).report is None, "and nothing came since"


def test_a_replayed_packet_is_not_counted(make: Make) -> None:
    switch = make(CLOSING)
    for time, number in enumerate([*range(100, 200), 100, 120, 199]):
        switch.comes(time, 0, before_esp(0, number))
    report = switch.numbers(INTERVAL).report
    assert report is not None
    assert (report.newest, report.received) == (199, 199)


def test_an_option_that_is_not_right_before_esp_is_a_host_s(make: Make) -> None:
    switch = make(CLOSING)
    host_s = bytes([ESP, 0]) + PADDING
    packet = with_headers(esp(REMOTE_1, locator(0), OUR_SPI), DESTINATION_OPTIONS, host_s)
    (got,) = host_got(switch.comes(0, 0, option(0, 5, follows=DESTINATION_OPTIONS), packet))
    assert got[40:48] == option(0, 5, follows=DESTINATION_OPTIONS)
    assert switch.numbers(INTERVAL).report is None


def test_a_late_packet_closes_its_path(make: Make) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    switch.reports(2 * DUE, peer.report(0))
    peer.hears(SECOND + DUE + LATE, switch.numbers(SECOND))
    switch.reports(SECOND + 3 * DUE, peer.report(0), 2)
    assert kinds(switch) == [("late", 0)]
    assert switch.numbers(SECOND + SECOND // 2).slot == 1


def test_a_closed_path_is_probed_with_an_esp_header_that_has_nothing_behind_it(make: Make) -> None:
    switch, far, peer = make(CLOSING), make(CLOSING), Peer(CLOCK)
    for time, late in ((0, 0), (SECOND, LATE)):
        peer.hears(time + DUE + late, switch.numbers(time))
        switch.reports(time + 3 * DUE, peer.report(0), 1 + time)
    assert kinds(switch) == [("late", 0)]
    due = SECOND + 3 * DUE + SECOND
    assert switch.numbers(due - 1).slot == 1
    frames = switch.frames(due, sealed(9))
    itself, probe = (read(frame) for frame in frames)
    assert (itself.slot, itself.packet) == (1, sealed(9)[40:])
    assert (probe.slot, probe.path, probe.counted) == (0, 0, True)
    assert probe.packet == PEERS_SPI.to_bytes(4) + bytes(4), "the peer's SPI, and a sequence number that no host has"
    assert probe.sequence == (peer.slots[0].newest + 1) % NUMBERS
    assert host_got(far.crosses(due, frames[1])) == []
    assert far.counted("ingress_drops", Drop.REPORT_HEARD) == 1
    report = far.numbers(due + INTERVAL).report
    assert report is not None
    assert (report.slot, report.newest) == (0, probe.sequence)
    switch.reports(due + 3 * DUE, report._replace(arrived=due + DUE + CLOCK), 2 * SECOND)
    assert kinds(switch) == [("opened", 0)]


def test_a_probe_is_no_packet_of_the_host_whose_port_guards_sources(make: Make) -> None:
    """It is made of one that came by that port, and leaves from a HIT at first."""
    switch, peer = make(CLOSING), Peer(CLOCK)
    switch.add("vlan_members", "admit_host", {"port": 1, "vlan": 1}, {"guards": GUARD_SOURCES}, p4r.Update.MODIFY)
    switch.add("source_bindings", "bind_source", {"vlan": 1, "address": LOCAL}, {"port": 1, "mac": HOST[1]})
    for time, late in ((0, 0), (SECOND, LATE)):
        peer.hears(time + DUE + late, switch.numbers(time))
        switch.reports(time + 3 * DUE, peer.report(0), 1 + time)
    assert [read(frame).slot for frame in switch.frames(SECOND + 3 * DUE + SECOND, sealed(9))] == [1, 0]


# Reports by themselves.


def test_where_nothing_goes_to_the_peer_a_report_goes_by_itself(make: Make) -> None:
    switch = make(CLOSING)
    left = [(time, peer_got(switch.comes(time * MILLISECOND, 1, before_esp(1, 100 + time)))) for time in range(50)]
    alone = [(time, read(frame)) for time, frames in left for frame in frames]
    assert [time for time, _ in alone] == [10, 25, 40]
    for time, packet in alone:
        assert not packet.counted
        assert packet.packet == PEERS_SPI.to_bytes(4) + bytes(4), "nothing of the packet that it was made of"
        assert packet.report is not None
        assert packet.report._replace(arrived=0) == Report(1, 100 + time, 0, 100 + time)
    assert switch.counted("ingress_drops", Drop.REPORT_NEEDLESS) == 0


def test_a_report_by_itself_is_heard_by_the_peer_s_edge_and_ends_there(make: Make) -> None:
    near, far = make(CLOSING), make(CLOSING)
    alone = []
    for number in range(5):
        (frame,) = near.frames(number * MILLISECOND, sealed(number))
        alone += peer_got(far.crosses((15 + 5 * number) * MILLISECOND, frame))
    (report,) = alone
    assert near.crosses(90 * MILLISECOND, report) == []
    assert heard(near) == [1, 0, 0, 0]
    assert near.counted("ingress_drops", Drop.REPORT_HEARD) == 1
    assert near.crosses(95 * MILLISECOND, report) == []
    assert heard(near) == [1, 1, 0, 0], "and once only"


def test_an_esp_header_with_nothing_behind_it_is_the_host_s_if_it_bears_no_option(make: Make) -> None:
    switch = make(CLOSING)
    packet = lone(OUR_SPI)
    outputs = switch.at(0, 4, bytes(in_by(4, packet)))
    assert host_got(outputs) == [hop_less(packet)]
    assert switch.counted("ingress_drops", Drop.REPORT_HEARD) == 0


# Forged, old and replayed.


def test_a_report_that_is_repeated_or_older_than_the_last_says_nothing(make: Make) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    first = peer.report(0)
    peer.hears(DUE + 5, switch.numbers(5))
    switch.reports(2 * DUE, peer.report(0))
    for sequence, report in enumerate([peer.report(0), first], 2):
        switch.reports(SECOND, report, sequence)
    assert heard(switch) == [1, 2, 0, 0]
    assert kinds(switch) == []


@pytest.mark.parametrize("ahead", [1, 1 << 14, 1 << 23])
def test_a_report_of_packets_that_were_never_sent_says_nothing(make: Make, ahead: int) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    honest = peer.report(0)
    switch.reports(2 * DUE, honest._replace(newest=(honest.newest + ahead) % NUMBERS))
    switch.reports(2 * DUE, honest._replace(received=(honest.received + 1) % NUMBERS), 2)
    assert heard(switch) == [0, 0, 1, 1]
    switch.reports(2 * DUE, honest, 3)
    assert heard(switch) == [1, 0, 1, 1], "and takes nothing from the true one"


def forgeries(report: Report) -> dict[str, bytes]:
    """What somebody off the path may send in the peer's name."""
    right, nearly = before_esp(0, 1, report), OUR_SPI ^ 1
    return {
        "another SPI": with_option(esp(REMOTE_1, locator(0), nearly), right),
        "alone, another SPI": with_option(lone(nearly), before_esp(0, 0, report, counted=0)),
        "from elsewhere": with_option(esp(REMOTE, locator(0), OUR_SPI), right),
        "alone, from elsewhere": with_option(
            ipv6(ESP, OUR_SPI.to_bytes(4) + bytes(4), REMOTE, locator(0)), before_esp(0, 0, report, counted=0)
        ),
        "without ESP": with_option(ipv6(UDP, bytes(8), REMOTE_1, locator(0)), option(0, 1, report, follows=UDP)),
        "with nothing": with_option(ipv6(59, b"", REMOTE_1, locator(0)), option(0, 0, report, follows=59, counted=0)),
        "with a guessed tag": with_option(
            ipv6(140, bytes([59, 0, 0x80, 0, 0, 0, 0, 1]), REMOTE_1, locator(0)), option(0, 1, report)
        ),
        "in a fragment": with_option(
            with_headers(INWARD, 44, bytes([ESP, 0, 0, 1]) + bytes(4)), option(0, 1, report, follows=44)
        ),
    }


@pytest.mark.parametrize("kind", forgeries(Report(0, 0, 0, 0)))
def test_nobody_off_the_path_reports(make: Make, kind: str) -> None:
    """Who sees no packet knows neither the SPI nor the locators that prove it, nor the number of a packet."""
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    late = peer.report(0)._replace(arrived=peer.report(0).arrived + SECOND)
    outputs = switch.at(2 * DUE, 4, bytes(in_by(4, forgeries(late)[kind])))
    assert peer_got(outputs) == []
    assert heard(switch) == [0, 0, 0, 0]
    assert kinds(switch) == []
    assert switch.numbers(SECOND).report is None, "and what came was not counted"


@pytest.mark.parametrize("mode", [SCHEDULE, 0])
def test_what_was_not_agreed_on_is_the_host_s(make: Make, mode: int) -> None:
    switch = make(CLOSING)
    switch.use(NumberedEspSession(mode=mode))
    put = before_esp(0, 1, Report(0, 1, 2, 3))
    (got,) = host_got(switch.comes(0, 0, put))
    assert got[40 : 40 + len(put)] == put, "who does not know the option skips it"
    assert heard(switch) == [0] * 4


@pytest.mark.parametrize("packets_a_second", [100, 700])
def test_a_dead_path_is_found_by_what_is_sent_one_way_alone(make: Make, packets_a_second: int) -> None:
    """Two switches; the host behind the second one answers nothing."""
    near, far = make(replace(CLOSING, probe_interval=10 * SECOND)), make(CLOSING)
    cut, last = SECOND, 0
    to_far: list[tuple[int, bytes]] = []
    to_near: list[tuple[int, bytes]] = []
    for time in range(0, 2 * SECOND, SECOND // packets_a_second):
        for due, frame in sorted(each for each in to_far if each[0] <= time):
            to_near += [(due + 10 * MILLISECOND, out) for out in peer_got(far.crosses(due, frame))]
        for due, frame in sorted(each for each in to_near if each[0] <= time):
            near.crosses(due, frame)
        to_far, to_near = ([each for each in way if each[0] > time] for way in (to_far, to_near))
        (frame,) = near.frames(max(time, near.time), sealed(time))
        slot = read(frame).slot
        last = time if slot == 0 else last
        if slot == 1 or time < cut:
            to_far.append((time + (10 + 20 * slot) * MILLISECOND + LENGTH, frame))
    assert ("lost", 0) in kinds(near)
    assert last < cut + max(SECOND // 5, 8 * SECOND // packets_a_second)
