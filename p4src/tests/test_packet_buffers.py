"""What a dead path held goes by the others, and what came by several is put in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from carriers import ipv6
from finsy.proto import p4i
from google.protobuf import text_format
from numbered_switch import option, read
from ordered_switch import BUFFERED, EDGE, HOST, OrderedSession, OrderedSwitch, order_option, to_host, to_peer
from schedule_site import ACK, CLOSE, TCP, PathOf, Schedule, datagram, segment
from session_site import LOCAL, REMOTE, SEND_TIMEOUT, from_host
from site_switch import MAIN, with_sizes
from wayname_switch import Switch, device_config

from small_site import CPU
from wayname.p4_constants import Drop, SessionMode

MILLISECOND, SECOND = 1_000, 1_000_000
OCTET = 1 << 24  # a microsecond an octet
PATHS = [PathOf(10 * MILLISECOND, OCTET), PathOf(15 * MILLISECOND, OCTET)]
CLOSING = Schedule(PATHS, feedback=CLOSE, tolerance=50 * MILLISECOND, probe_interval=10 * SECOND)
# Of the first packets: their delivery, the slowest path's delay, and 20 ms that a report may wait.
HOLD = 60 * MILLISECOND
LONGEST_HELD = 400 * MILLISECOND
BEGUN = 40 * MILLISECOND
HELD = OrderedSession(mode=OrderedSession.mode | SessionMode.HOLD, watched=True)
Make = Callable[[Schedule], OrderedSwitch]


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda schedule: OrderedSwitch(schedule, backend=request.param)


def limited(tmp_path: Path, **sizes: int) -> Path:
    """The program with buffers of other sizes."""
    return with_sizes(tmp_path, **sizes).with_name(BUFFERED.name)


def drops(switch: OrderedSwitch, why: Drop) -> int:
    return switch.counted("ingress_drops", why)


def begun(switch: OrderedSwitch) -> OrderedSwitch:
    """Both paths had a packet, of which the peer told."""
    sent = {each.slot: each for each in [switch.orders(0, number, 3000) for number in range(4)]}
    for slot in (0, 1):
        switch.told(BEGUN - 1, slot, sent[slot].sequence)
    return switch


# Sent.


def test_what_wants_order_has_one_number_for_all_paths(make: Make) -> None:
    switch = make(CLOSING)
    sent = [switch.orders(0, number) for number in range(40)]
    assert {each.slot for each in sent} == {0, 1}
    assert [each.order for each in sent] == [(sent[0].order + each) % 2**32 for each in range(40)]
    assert all(0 < each.wait <= LONGEST_HELD for each in sent)


def test_pure_acknowledgements_and_datagrams_have_none(make: Make) -> None:
    switch = make(CLOSING)
    for packet in (datagram(1000), ipv6(TCP, segment(0, 5, 0, ACK, (1000, 80)), LOCAL, REMOTE)):
        assert switch.numbers(0, packet).counted, "it has a number of version 1"


def test_under_round_robin_a_packet_that_bears_a_report_has_no_order(make: Make) -> None:
    """All of them would have the same one, and the peer drops what comes twice."""
    switch = begun(make(CLOSING))
    switch.reschedule(replace(CLOSING, policy="weighted_round_robin"))
    for number in range(1, 4):
        at = BEGUN + number * 100 * MILLISECOND
        switch.comes(at, 0, option(0, number), ipv6(TCP, segment(number, 0, 100, ACK, (80, 1000)), REMOTE, LOCAL))
        (frame,) = switch.sends_segment(at + 50 * MILLISECOND, number)
        sent = read(frame)
        assert (sent.counted, sent.report is not None) == (False, True)


def test_without_buffers_the_switch_numbers_alike() -> None:
    plain = OrderedSwitch(CLOSING, program=MAIN)
    sent = [plain.orders(0, number) for number in range(3)]
    assert [each.order - sent[0].order for each in sent] == [0, 1, 2]


def test_what_a_path_held_that_tells_nothing_goes_by_the_other(make: Make) -> None:
    switch = begun(make(CLOSING))
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 18)]
    lost = [each for each in sent if each.slot == 0]
    for each in sent:
        if each.slot == 1:
            switch.told(BEGUN + 30 * MILLISECOND, 1, each.sequence)
    assert len(lost) >= 4
    left = to_peer(switch.passes(BEGUN + 2 * HOLD))
    assert [(each.slot, each.order, each.segment) for each in left] == [(1, each.order, each.segment) for each in lost]


@pytest.mark.parametrize(("reports", "dead"), [(4, False), (5, True)])
def test_a_path_is_dead_once_others_were_reported_on_twice_each(make: Make, reports: int, dead: bool) -> None:
    """Fewer may come while reports are lost."""
    switch = begun(make(replace(CLOSING, tolerance=SECOND)))
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 50)]
    others = [each for each in sent if each.slot == 1]
    left = []
    for number, each in enumerate(others[:reports]):
        left += to_peer(switch.told(BEGUN + (45 + number) * MILLISECOND, 1, each.sequence))
    left += to_peer(switch.passes(BEGUN + HOLD + 20 * MILLISECOND))
    assert bool(left) is dead
    assert {each.slot for each in left} <= {1}


@pytest.mark.parametrize("tells", [False, True])
def test_what_a_silent_path_held_goes_one_after_the_other_until_it_tells_something(make: Make, tells: bool) -> None:
    """All at once would fill the other's queue, for nothing if it lives."""
    switch = begun(make(replace(CLOSING, tolerance=SECOND)))
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 90)]
    first, *lost = [each for each in sent if each.slot == 0]
    switch.told(BEGUN + 25 * MILLISECOND, 0, first.sequence)
    for each in [each for each in sent if each.slot == 1]:
        switch.told(BEGUN + 40 * MILLISECOND, 1, each.sequence)
    left = []
    for step in range(41, 150):
        left.append(to_peer(switch.passes(BEGUN + step * MILLISECOND)))
        if tells and sum(map(len, left)) >= 5:
            switch.told(BEGUN + step * MILLISECOND, 0, lost[-1].sequence)
            tells = False
            lost = lost[: sum(map(len, left))]
    assert max(map(len, left)) <= 2
    assert [(each.slot, each.order) for batch in left for each in batch] == [(1, each.order) for each in lost]


@pytest.mark.parametrize("remembered", [True, False])
def test_what_the_peer_told_of_is_not_sent_again(make: Make, remembered: bool) -> None:
    switch = begun(make(CLOSING))
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 18)]
    if not remembered:
        switch.clear_register("numbered_packets")
    for slot in (0, 1):
        switch.told(BEGUN + 30 * MILLISECOND, slot, max(each.sequence for each in sent if each.slot == slot))
    assert to_peer(switch.passes(SECOND)) == []
    assert switch.path_events() == []


@pytest.mark.parametrize("places", [(0,), (2,), (1, 2, 5), (0, 1, 2, 3, 4)])
def test_what_a_report_says_is_missing_goes_by_the_other_path(make: Make, places: tuple[int, ...]) -> None:
    """At once, with the order that it had, and nothing else does; however many are missing, the path stays open."""
    switch = begun(make(CLOSING))
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 40)]
    of_path = [each for each in sent if each.slot == 0]
    assert len(of_path) > 6
    lost = [of_path[place] for place in places]
    told = switch.told(BEGUN + 30 * MILLISECOND, 0, of_path[6].sequence, tuple(each.sequence for each in lost))
    left = to_peer(told + switch.passes(BEGUN + 31 * MILLISECOND))
    assert [(each.slot, each.order, each.segment) for each in left] == [(1, each.order, each.segment) for each in lost]
    assert switch.path_events() == []
    assert {switch.orders(BEGUN + 32 * MILLISECOND, number).slot for number in range(40, 80)} == {0, 1}


def test_a_path_that_goes_on_telling_keeps_what_waits_in_it(make: Make) -> None:
    switch = begun(make(replace(CLOSING, tolerance=SECOND)))
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 50)]
    # Reports come, and each of one packet more: a long queue.
    left = []
    for step in range(1, 12):
        now = BEGUN + step * 20 * MILLISECOND
        left += to_peer(switch.passes(now))
        for slot in (0, 1):
            switch.told(now, slot, [each.sequence for each in sent if each.slot == slot][step])
    assert left == []
    assert drops(switch, Drop.COPY_NEEDLESS) > 0, "they were looked at"


def test_a_copy_that_stays_in_the_buffer_takes_no_report(make: Make) -> None:
    """However many of them are looked at: the next packet of the host has it."""
    switch = begun(make(replace(CLOSING, tolerance=SECOND)))
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 50)]
    soon = BEGUN + HOLD - MILLISECOND
    for slot in (0, 1):
        switch.told(soon, slot, next(each.sequence for each in sent if each.slot == slot))
    switch.comes(soon, 0, option(0, 7), ipv6(17, bytes(8), REMOTE, LOCAL))
    assert to_peer(switch.passes(BEGUN + HOLD + 2 * MILLISECOND)) == []
    assert drops(switch, Drop.COPY_NEEDLESS) > 10, "they were looked at"
    report = switch.numbers(BEGUN + HOLD + 3 * MILLISECOND).report
    assert report is not None
    assert report.newest == 7


def test_what_is_kept_is_not_held_by_the_controller_too(make: Make) -> None:
    """Neither when it is sent nor when it is looked at again. A datagram has no copy here, and is."""
    switch = begun(make(CLOSING))
    switch.use(HELD)
    rarely = BEGUN + SEND_TIMEOUT
    kept = ipv6(TCP, segment(10, 0, 940, ACK, (1000, 80)), LOCAL, REMOTE)
    assert [port for port, _ in switch.at(rarely, HOST, bytes(from_host(kept)))] == [EDGE]
    assert CPU not in [port for port, _ in switch.passes(rarely + HOLD)]
    assert drops(switch, Drop.COPY_NEEDLESS) > 0, "it was looked at"
    outputs = switch.at(2 * rarely, HOST, bytes(from_host(datagram(1000))))
    assert [port for port, _ in outputs].count(CPU) == 1


def test_where_one_path_had_packets_and_nothing_is_told_any_more_each_goes_three_times_at_most(make: Make) -> None:
    switch = begun(make(CLOSING))
    sent = [switch.orders(BEGUN + number * 3 * MILLISECOND, number) for number in range(10, 20)]
    assert {each.slot for each in sent} == {0}
    left = to_peer(switch.passes(2 * SECOND))
    assert max(Counter(each.order for each in left).values()) <= 2
    assert {each.order for each in left} <= {each.order for each in sent}


def test_where_several_paths_had_packets_and_nothing_is_told_any_more_none_is_dead(make: Make) -> None:
    """It is the reports that are missing: all that is under way, once more, would overflow the paths."""
    switch = begun(make(CLOSING))
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 30)]
    assert {each.slot for each in sent} == {0, 1}
    assert [to_peer(switch.passes(BEGUN + step * 5 * MILLISECOND)) for step in range(1, 200)] == [[]] * 199
    assert {switch.orders(BEGUN + SECOND + number, number).slot for number in range(30, 60)} == {0, 1}
    assert switch.path_events() == []


def test_no_copy_leaves_once_its_session_ended(make: Make) -> None:
    switch = begun(make(CLOSING))
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 18)]
    switch.ends_session()
    assert switch.passes(SECOND) == []
    assert drops(switch, Drop.COPY_NEEDLESS) == len(sent)


@pytest.mark.parametrize("size", ["REINJECTION_OCTETS", "REINJECTION_OCTETS_OF_PATH"])
def test_a_full_buffer_stops_nothing_and_is_counted(tmp_path: Path, size: str) -> None:
    switch = begun(OrderedSwitch(CLOSING, program=limited(tmp_path, **{size: 4000})))
    for number in range(10, 90):
        switch.orders(BEGUN + number, number)
    assert switch.counted("buffer_refusals", 0) >= 70
    assert len(to_peer(switch.passes(SECOND))) <= 8, "4000 octets of each path"


# Received.


def test_packets_out_of_order_reach_the_host_in_order(make: Make) -> None:
    switch = make(CLOSING)
    came = [switch.comes_in_order(time, order, sequence=time) for time, order in enumerate([1, 3, 4, 2, 7, 6, 5, 8], 1)]
    assert came == [[1], [], [], [2, 3, 4], [], [], [5, 6, 7], [8]]
    assert drops(switch, Drop.HELD_FOR_ORDER) == 4


def test_what_is_missing_is_waited_for_as_long_as_its_sender_says(make: Make) -> None:
    switch = make(CLOSING)
    assert switch.comes_in_order(0, 1) == [1]
    assert switch.comes_in_order(1_000, 4, wait=50_000, sequence=2) == []
    assert switch.comes_in_order(2_000, 3, wait=90_000, sequence=3) == []
    assert to_host(switch.passes(50_999)) == []
    assert to_host(switch.passes(51_000)) == [3, 4], "and what it has before goes first"
    assert switch.comes_in_order(60_000, 5, sequence=4) == [5]
    assert switch.comes_in_order(61_000, 2, sequence=5) == [2], "late, and no loss"


def test_nobody_makes_a_host_wait_longer_than_the_bound(make: Make) -> None:
    switch = make(CLOSING)
    switch.comes_in_order(0, 1)
    assert switch.comes_in_order(0, 3, wait=(1 << 24) - 1, sequence=2) == []
    assert to_host(switch.passes(LONGEST_HELD - 1)) == []
    assert to_host(switch.passes(LONGEST_HELD)) == [3]


def test_while_packets_wait_their_sender_hears_of_them_as_often_as_it_may(make: Make) -> None:
    """The host acknowledges nothing meanwhile, so no packet takes reports along."""
    switch = make(CLOSING)
    switch.comes_in_order(0, 1)
    told = []
    for time in range(1, 40):
        packet = ipv6(TCP, segment(2 + time, 0, 100, ACK, (80, 1000)), REMOTE, LOCAL)
        outputs = switch.comes(time * MILLISECOND, 0, order_option(0, 1 + time, 2 + time, 100_000), packet)
        told += [time for port, _ in outputs if port == EDGE]
    assert told == list(range(1, 40, 5))


def test_of_two_copies_the_host_gets_one(make: Make) -> None:
    switch = make(CLOSING)
    assert switch.comes_in_order(0, 1) == [1]
    assert switch.comes_in_order(1, 1, sequence=2) == []
    assert switch.comes_in_order(2, 3, sequence=3) == []
    assert switch.comes_in_order(3, 3, slot=1) == []
    assert switch.comes_in_order(4, 2, sequence=4) == [2, 3]
    assert drops(switch, Drop.CAME_TWICE) == 2


@pytest.mark.parametrize("size", ["RESEQUENCING_OCTETS", "RESEQUENCING_OCTETS_OF_SESSION"])
def test_what_has_no_room_goes_on_and_nothing_is_lost(tmp_path: Path, size: str) -> None:
    switch = OrderedSwitch(CLOSING, program=limited(tmp_path, **{size: 1500}))
    came = switch.comes_in_order(0, 1)
    for time, order in enumerate(range(3, 60), 1):
        came += switch.comes_in_order(time, order, sequence=time)
    came += to_host(switch.passes(SECOND))
    assert sorted(came) == [1, *range(3, 60)]
    assert switch.counted("buffer_refusals", 1) >= 1


@pytest.mark.parametrize("order", [1 << 15, 1 << 20, 1 << 31, -5000])
def test_an_order_out_of_nowhere_changes_nothing(make: Make, order: int) -> None:
    switch = make(CLOSING)
    assert switch.comes_in_order(0, 10) == [10]
    assert switch.comes_in_order(1, 11 + order, sequence=2, number=1) == [1], "it goes on as it is"
    assert switch.comes_in_order(2, 12, sequence=3) == []
    assert switch.comes_in_order(3, 11, sequence=4) == [11, 12]


def test_a_sender_that_begins_anew_is_followed_after_a_second(make: Make) -> None:
    switch = make(CLOSING)
    assert switch.comes_in_order(0, 10) == [10]
    assert switch.comes_in_order(SECOND + 1, 9_000_000, sequence=2) == [9_000_000]
    assert switch.comes_in_order(SECOND + 2, 9_000_002, sequence=3) == []
    assert switch.comes_in_order(SECOND + 3, 9_000_001, sequence=4) == [9_000_001, 9_000_002]


def test_orders_go_round(make: Make) -> None:
    switch = make(CLOSING)
    begin = 2**32 - 2
    came = [
        switch.comes_in_order(time, (begin + step) % 2**32, sequence=time)
        for time, step in enumerate([0, 2, 1, 4, 3], 1)
    ]
    assert came == [[begin], [], [2**32 - 1, 0], [], [1, 2]]


def test_a_packet_of_nobodys_session_is_not_held(make: Make) -> None:
    switch = make(CLOSING)
    switch.comes_in_order(0, 1)
    packet = ipv6(TCP, segment(3, 0, 100, ACK, (80, 1000)), REMOTE, LOCAL)
    switch.comes(1, 0, order_option(0, 2, 3, 100_000), packet, tag=12345)
    assert drops(switch, Drop.HELD_FOR_ORDER) == 0
    assert to_host(switch.passes(SECOND)) == []


def test_p4info_of_the_program_with_buffers_is_that_of_the_other_and_theirs() -> None:
    folder = MAIN.parent.parent
    written = p4i.P4Info()
    for file in ("wayname.p4info.txtpb", "buffers.p4info.txtpb"):
        text_format.Merge((folder / file).read_text(), written)
    program = p4i.P4Info.FromString(Switch(device_config(str(BUFFERED)), backend="interpreter").p4info())
    for lists in (written, program):
        lists.registers.sort(key=lambda register: register.preamble.id)
    assert written == program
