"""Packets that are numbered by path, what each end reports of those that came, and what that teaches a schedule."""

from __future__ import annotations

from dataclasses import replace

import pytest
from carriers import ipv6
from closing_schedule import (
    CLOCK,
    CLOSING,
    INTERVAL,
    LENGTH,
    MILLISECOND,
    OCTET,
    PATHS,
    SECOND,
    TOLERANCE,
    Make,
    kinds,
    lone,
)
from numbered_switch import (
    NUMBER_OCTETS,
    NUMBERS,
    REPORT_OCTETS,
    Numbered,
    NumberedSession,
    NumberedSwitch,
    Peer,
    Report,
    option,
    read,
    with_option,
    without_numbers,
)
from schedule_site import FOLLOW, datagram
from session_site import LOCAL, OUR_TAG, REMOTE, between, in_by, with_header
from session_switch import SILENT

from small_site import CPU
from wayname.p4_constants import Drop

DUE = 10 * MILLISECOND + LENGTH + NUMBER_OCTETS  # of a packet by the first path, if nothing waits
LATE = REPORT_OCTETS + TOLERANCE + 1  # of one that takes a report along: too late
PASSED_ON = 54 + 8  # octets of what the host gets of a peer's empty datagram
UDP, ESP, TCP = 17, 50, 6


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda schedule: NumberedSwitch(schedule, backend=request.param)


@pytest.mark.parametrize("next_header", [UDP, ESP, TCP, 59])
def test_each_packet_of_a_path_has_the_next_number(make: Make, next_header: int) -> None:
    switch = make(CLOSING)
    packet = ipv6(next_header, bytes(LENGTH - 40), LOCAL, REMOTE)
    sent = [switch.numbers(0, packet) for _ in range(40)]
    assert {each.slot for each in sent} == {0, 1}
    for slot in (0, 1):
        numbers = [each.sequence for each in sent if each.slot == slot]
        assert numbers == [(numbers[0] + each) % NUMBERS for each in range(len(numbers))]
    assert all(each.path == each.slot and each.counted and each.report is None for each in sent)
    assert all(each.packet == packet[40:] for each in sent)


def test_numbers_begin_where_nobody_can_tell(make: Make) -> None:
    first = [make(CLOSING).numbers(time).sequence for time in range(8)]
    assert len(set(first)) == len(first)


def test_a_peer_that_does_not_know_the_option_gets_none(make: Make) -> None:
    switch = make(CLOSING)
    without_numbers(switch)
    (frame,) = switch.frames(0, datagram(LENGTH))
    assert frame[14 + 6] == 140, "Shim6 follows the IPv6 header"


def test_the_host_gets_its_packet_without_the_option(make: Make) -> None:
    switch = make(CLOSING)
    packet = ipv6(UDP, bytes(8), REMOTE, LOCAL)
    for put in (option(1, 5), option(1, 6, Report(0, 0, 0, 0))):
        ((port, frame),) = switch.comes(0, 0, put, packet)
        assert port == 1
        assert frame[14 : 14 + 7] == packet[:7]
        assert frame[14 + 8 :] == packet[8:]


def test_an_option_of_another_version_is_left_alone(make: Make) -> None:
    switch = make(CLOSING)
    put = bytearray(option(0, 5))
    put[4] = 2 << 4
    ((_, frame),) = switch.comes(0, 0, bytes(put))
    assert frame[14 + 40 : 14 + 48] == bytes([UDP, *put[1:]]), "it is a destination option like any"
    assert switch.numbers(INTERVAL).report is None


def test_what_came_is_reported_with_the_next_packet(make: Make) -> None:
    switch = make(CLOSING)
    for number in range(10):
        switch.comes(number, 1, option(3, 100 + number))
    report = switch.numbers(INTERVAL).report
    assert report is not None
    assert report._replace(arrived=0) == Report(3, 109, 0, 109)
    assert switch.numbers(2 * INTERVAL).report is None, "and nothing came since"


def test_missing_late_and_repeated_packets_are_counted_once(make: Make) -> None:
    switch = make(CLOSING)
    for time, number in enumerate([100, 101, 104, 103, 103, 104, 110]):
        switch.comes(time, 0, option(0, number))
    report = switch.numbers(INTERVAL).report
    assert report is not None
    assert (report.newest, report.newest - report.received) == (110, 6), "102 and 105 to 109 are missing"


def test_a_replayed_packet_is_not_counted(make: Make) -> None:
    switch = make(CLOSING)
    for time, number in enumerate([*range(100, 200), 100, 120, 199]):
        switch.comes(time, 0, option(0, number))
    report = switch.numbers(INTERVAL).report
    assert report is not None
    assert (report.newest, report.received) == (199, 199)


@pytest.mark.parametrize("jump", [1 << 15, 1 << 20, -50])
def test_numbers_out_of_nowhere_change_nothing_while_packets_come(make: Make, jump: int) -> None:
    switch = make(CLOSING)
    for time in range(5):
        switch.comes(time, 0, option(0, 100 + time))
    switch.comes(5, 0, option(0, 104 + jump))
    report = switch.numbers(INTERVAL).report
    assert report is not None
    assert (report.newest, report.received) == (104, 104)


def test_a_peer_that_begins_anew_is_counted_anew(make: Make) -> None:
    switch = make(CLOSING)
    switch.comes(0, 0, option(0, 100))
    assert switch.numbers(1).report is not None
    switch.comes(SECOND + 1, 0, option(0, 9_000_000))
    report = switch.numbers(SECOND + 1 + INTERVAL).report
    assert report is not None
    assert (report.newest, report.received) == (9_000_000, 9_000_000)


def test_marks_of_congestion_are_reported(make: Make) -> None:
    switch = make(CLOSING)
    packet = ipv6(UDP, bytes(8), REMOTE, LOCAL)
    marked = packet[:1] + bytes([packet[1] | 3 << 4]) + packet[2:]
    for time in range(5):
        switch.comes(time, 0, option(0, 100 + time), marked if time % 2 else packet)
    report = switch.numbers(INTERVAL).report
    assert report is not None
    assert report.marked == 2


def test_paths_are_reported_in_turn_and_not_too_often(make: Make) -> None:
    switch = make(CLOSING)
    for slot in range(3):
        switch.comes(slot, 0, option(slot, 100))
    reports = [switch.numbers(time * MILLISECOND).report for time in range(1, 20)]
    assert [None if each is None else each.slot for each in reports[:11:5]] == [1, 2, 0]
    assert sum(each is not None for each in reports) == 3


@pytest.mark.parametrize("next_header", [UDP, ESP, TCP])
@pytest.mark.parametrize("over", [0, 1])
def test_whatever_packets_bear_a_late_one_closes_its_path(make: Make, next_header: int, over: int) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    packet = ipv6(next_header, bytes(LENGTH - 40), LOCAL, REMOTE)
    peer.hears(DUE, switch.numbers(0, packet))
    switch.reports(2 * DUE, peer.report(0))
    late = switch.numbers(SECOND, packet)
    assert late.slot == 0
    peer.hears(SECOND + DUE + LATE - 1 + over, late)
    switch.reports(SECOND + 3 * DUE, peer.report(0), 2)
    told = [(each.kind, each.place, each.late) for each in switch.path_events()]
    assert told == ([("late", 0, TOLERANCE + 1)] if over else [])
    assert switch.numbers(SECOND + SECOND // 2, packet).slot == over


@pytest.mark.parametrize("next_header", [UDP, ESP, TCP])
def test_a_closed_path_is_probed_with_a_packet_that_has_nothing_in_it(make: Make, next_header: int) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    packet = ipv6(next_header, bytes(LENGTH - 40), LOCAL, REMOTE)
    for time, late in ((0, 0), (SECOND, LATE)):
        peer.hears(time + DUE + late, switch.numbers(time, packet))
        switch.reports(time + 3 * DUE, peer.report(0), 1 + time)
    assert kinds(switch) == [("late", 0)]
    due = SECOND + 3 * DUE + SECOND
    assert switch.numbers(due - 1, packet).slot == 1
    itself, probe = (read(frame) for frame in switch.frames(due, packet))
    assert (itself.slot, itself.packet) == (1, packet[40:])
    assert (probe.slot, probe.path, probe.counted, probe.packet) == (0, 0, True, b"")
    assert probe.sequence == (peer.slots[0].newest + 1) % NUMBERS
    assert switch.numbers(due + 1, packet).slot == 1
    peer.hears(due + DUE, probe)
    switch.reports(due + 3 * DUE, peer.report(0), 2 * SECOND)
    assert kinds(switch) == [("opened", 0)]


def test_a_probe_is_counted_and_ends_here(make: Make) -> None:
    switch = make(CLOSING)
    assert switch.comes(0, 1, option(3, 100), ipv6(59, b"", REMOTE, LOCAL)) == []
    assert switch.counted("ingress_drops", Drop.REPORT_HEARD) == 1
    report = switch.numbers(INTERVAL).report
    assert report is not None
    assert (report.slot, report.newest, report.received) == (3, 100, 100)


def test_a_path_with_another_delay_than_its_entry_is_found_without_tcp(make: Make) -> None:
    schedule = replace(CLOSING, feedback=FOLLOW)
    switch, peer = make(schedule), Peer(CLOCK)
    taken = []
    for number in range(40):
        time = number * 100 * MILLISECOND
        packet = switch.numbers(time)
        taken.append(packet.slot)
        # The first path takes 60 ms, the second one 30 as its entry says.
        arrived = time + LENGTH + (60 if packet.slot == 0 else 30) * MILLISECOND
        peer.hears(arrived, packet)
        switch.reports(time + 90 * MILLISECOND, peer.report(packet.slot), 1 + number)
    assert taken[-20:].count(1) > 15, "and now and then a probe"


def test_what_waits_less_than_believed_makes_no_other_path_look_late(make: Make) -> None:
    """Else each error in what is believed of one path would be taken for the clock's, and be one of all others."""
    switch, peer = make(CLOSING), Peer(CLOCK)
    sent = [switch.numbers(0) for _ in range(40)]
    by_path = [[packet for packet in sent if packet.slot == slot] for slot in (0, 1)]
    for slot, packets in enumerate(by_path):
        assert len(packets) > 5
        for packet in packets if slot == 0 else packets[:1]:
            peer.hears(PATHS[slot].delay + LENGTH + NUMBER_OCTETS, packet)
        switch.reports((50 + 6 * slot) * MILLISECOND, peer.report(slot), 1 + slot)
    assert kinds(switch) == []


def test_lost_packets_close_their_path(make: Make) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    sent = [switch.numbers(time * MILLISECOND) for time in range(0, 20, 2)]
    assert {each.slot for each in sent} == {0}
    peer.hears(DUE, sent[0])
    switch.reports(20 * MILLISECOND, peer.report(0))
    peer.hears(DUE + 18 * MILLISECOND, sent[9])
    switch.reports(40 * MILLISECOND, peer.report(0), 2)
    assert kinds(switch) == [("lost", 0)]
    assert switch.numbers(41 * MILLISECOND).slot == 1


def test_where_all_paths_are_closed_whatever_comes_in_time_opens_its_path(make: Make) -> None:
    """Not the one packet in a probe interval alone, of which a report may say nothing."""
    switch, peer = make(CLOSING), Peer(CLOCK)

    def sends(time: int) -> Numbered:
        return read(switch.frames(time, datagram(LENGTH))[0])  # beside it may be a probe

    time = 0
    for slot, path in enumerate(PATHS):
        sent = [sends(time + 2 * each * MILLISECOND) for each in range(10)]
        assert {each.slot for each in sent} == {slot}
        for which, told in ((0, 40), (9, 60)):
            peer.hears(time + 2 * which * MILLISECOND + path.delay + LENGTH, sent[which])
            switch.reports(time + told * MILLISECOND, peer.report(slot), 1 + time + which)
        time += 60 * MILLISECOND + 1
    assert kinds(switch) == [("lost", 0), ("lost", 1)]
    sent = [sends(time) for _ in range(8)]
    assert {each.slot for each in sent} == {0}
    for number, packet in enumerate(sent):
        peer.hears(time + DUE + number * LENGTH, packet)
    switch.reports(time + 30 * MILLISECOND, peer.report(0), 1 + time)
    assert kinds(switch) == [("opened", 0)]


def heard(switch: NumberedSwitch) -> list[int]:
    """How many reports were taken, old, of unknown packets and implausible."""
    return [switch.counted("path_reports_heard", index) for index in range(4)]


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


@pytest.mark.parametrize("ahead", [1, 2, 1 << 14, 1 << 23])
def test_a_report_of_packets_that_were_never_sent_says_nothing(make: Make, ahead: int) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    honest = peer.report(0)
    forged = honest._replace(newest=(honest.newest + ahead) % NUMBERS, received=(honest.received + ahead) % NUMBERS)
    switch.reports(2 * DUE, forged._replace(arrived=honest.arrived + SECOND))
    switch.reports(2 * DUE, honest._replace(slot=5), 2)
    assert heard(switch) == [0, 0, 2, 0]
    switch.reports(2 * DUE, honest, 3)
    assert heard(switch) == [1, 0, 2, 0], "and takes nothing from the true one"


def test_a_report_whose_packet_is_not_remembered_says_what_came_and_not_how_late(make: Make) -> None:
    """Another path's packet took the place of what was remembered."""
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    switch.reports(2 * DUE, peer.report(0))
    peer.hears(SECOND, switch.numbers(3 * DUE))
    switch.clear_register("numbered_packets")
    switch.reports(SECOND + DUE, peer.report(0), 2)
    assert heard(switch) == [2, 0, 0, 0]
    assert kinds(switch) == [], "it came late, but nobody knows when it was sent"
    peer.hears(2 * SECOND, switch.numbers(2 * SECOND))
    switch.reports(2 * SECOND + DUE, peer.report(0)._replace(newest=peer.report(0).newest + 1), 3)
    assert heard(switch) == [2, 0, 1, 0], "that one was never sent"


def test_who_has_reported_nothing_yet_has_to_name_a_packet_that_is_remembered(make: Make) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    switch.clear_register("numbered_packets")
    switch.reports(2 * DUE, peer.report(0))
    assert heard(switch) == [0, 0, 1, 0]


@pytest.mark.parametrize("received", [1, 2, 1000])
def test_a_report_of_more_packets_than_were_sent_says_nothing(make: Make, received: int) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    honest = peer.report(0)
    switch.reports(2 * DUE, honest._replace(received=(honest.received + received) % NUMBERS))
    assert heard(switch) == [0, 0, 0, 1]


def test_nobody_off_the_path_reports(make: Make) -> None:
    """Who sees no packet knows neither the tag nor the locators that prove it, nor the number of a packet."""
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    late = peer.report(0)._replace(arrived=peer.report(0).arrived + SECOND)
    switch.reports(2 * DUE, late, tag=OUR_TAG ^ 1)
    plain = with_option(ipv6(UDP, bytes(8), REMOTE, LOCAL), option(0, 1, late, follows=UDP))
    switch.at(2 * DUE, 4, bytes(in_by(4, plain)))
    elsewhere = with_header(between(ipv6(UDP, bytes(8), REMOTE, LOCAL), REMOTE, LOCAL), OUR_TAG)
    switch.at(2 * DUE, 4, bytes(in_by(4, with_option(elsewhere, option(0, 1, late)))))
    assert heard(switch) == [0, 0, 0, 0]
    assert kinds(switch) == []
    assert switch.numbers(SECOND).report is None, "and what came was not counted"


def test_a_receiver_that_lies_makes_no_path_faster_than_four_times(make: Make) -> None:
    schedule = replace(CLOSING, feedback=FOLLOW, probe_interval=MILLISECOND)
    switch, peer = make(schedule), Peer(CLOCK)
    sequence = 0
    for time in range(0, SECOND, 400):
        packet = switch.numbers(time)
        # All come at once, it says.
        peer.hears(time, packet)
        if time % (10 * MILLISECOND) == 0:
            for slot in peer.slots:
                sequence += 1
                switch.reports(time, peer.report(slot), sequence)
    rates = [each.inverse_rate for each in switch.path_events() if each.kind == "estimated"]
    assert rates
    assert min(rates) >= OCTET // 4


def test_where_nothing_goes_to_the_peer_a_report_goes_by_itself(make: Make) -> None:
    switch = make(CLOSING)
    left = [(time, lone(switch.comes(time * MILLISECOND, 1, option(1, 100 + time)))) for time in range(50)]
    alone = [(time, read(frame)) for time, frames in left for frame in frames]
    assert [time for time, _ in alone] == [10, 25, 40], "10 ms after it could go, and that is 5 ms after the last one"
    for time, packet in alone:
        assert not packet.counted
        assert packet.packet == b"", "nothing of the packet that it was made of"
        assert packet.report is not None
        assert packet.report._replace(arrived=0) == Report(1, 100 + time, 0, 100 + time)
    assert switch.counted("ingress_drops", Drop.REPORT_NEEDLESS) == 0


def test_of_few_packets_a_report_by_itself_is_rarer(make: Make) -> None:
    switch = make(CLOSING)
    left = [lone(switch.comes(time * 15 * MILLISECOND, 1, option(1, 100 + time))) for time in range(20)]
    assert [number for number, frames in enumerate(left) if frames] == [3, 7, 11, 15, 19]


def test_a_report_that_a_packet_took_along_does_not_go_by_itself(make: Make) -> None:
    switch = make(CLOSING)
    for time in range(100):
        assert lone(switch.comes(time * MILLISECOND, 1, option(1, 100 + time))) == []
        if time % 8 == 0:
            switch.numbers(time * MILLISECOND)


def test_a_report_by_itself_ends_here_and_is_not_answered(make: Make) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    peer.hears(DUE, switch.numbers(0))
    packet = ipv6(59, b"", REMOTE, LOCAL)
    for number in range(100):
        put = option(0, 0, peer.report(0), counted=0)
        assert switch.comes(2 * DUE + number * MILLISECOND, 0, put, packet) == []
    assert heard(switch) == [1, 99, 0, 0]
    assert switch.counted("ingress_drops", Drop.REPORT_HEARD) == 100


def test_a_report_of_nobodys_session_is_dropped(make: Make) -> None:
    switch = make(CLOSING)
    put = option(0, 0, Report(0, 1, 2, 3), counted=0)
    packet = ipv6(59, b"", REMOTE, LOCAL)
    left = switch.comes(0, 0, put, packet, tag=OUR_TAG ^ 1)
    assert [port for port, _ in left] == [CPU], "the controller tells its sender"
    assert heard(switch) == [0] * 4


def test_a_report_by_itself_is_no_traffic_of_the_session(make: Make) -> None:
    """Who only reports waits for no answer: the session's liveness is that of its hosts."""
    switch = make(CLOSING)
    switch.use(NumberedSession(watched=True))
    for time in range(0, 500, 2):
        switch.comes(time * MILLISECOND, 0, option(0, 100 + time))
    assert {each.kind for each in switch.session_events()} == {SILENT}
