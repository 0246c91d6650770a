"""Whether sessions are answered: what the data plane does by itself, and when (RFC 5534, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from carriers import hop_less, ipv6
from session_cases import DATAGRAM
from session_site import (
    FOLLOW,
    HOLD,
    KEEPALIVE,
    LOCAL,
    OUR_TAG,
    PEERS_TAG,
    REMOTE,
    REPORT,
    SEND_TIMEOUT,
    SESSION,
    Session,
    in_by,
    out_by,
)
from session_switch import (
    FOLLOWED,
    HEARD,
    INWARD,
    LEFT_PATH,
    OUTWARD,
    SILENT,
    UNANSWERED,
    WATCH,
    SessionEvent,
    SessionSwitch,
)
from shim6_layers import SHIM6, Shim6Keepalive

from small_site import CPU, OUT, PACKET_IN_BYTES, PUNT

SECOND = 1_000_000
BACKUP = Session().backup(0, 2)
Make = Callable[..., SessionSwitch]


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda session, *more: SessionSwitch(session, *more, backend=request.param)


def event(kind: int, path_from: int = 0, path_to: int | None = None, age: int = 0) -> SessionEvent:
    return SessionEvent(kind, SESSION, path_from, path_from if path_to is None else path_to, age)


def test_the_packet_that_finds_the_path_failed_leaves_by_the_backup(make: Make) -> None:
    switch = make(Session(), BACKUP)
    assert switch.sends(1) == 0
    assert switch.session_events() == [event(WATCH)]
    assert switch.sends(SEND_TIMEOUT) == 0
    assert switch.session_events() == []
    assert switch.sends(1 + SEND_TIMEOUT) == 2
    assert switch.session_events() == [event(LEFT_PATH, 0, 2, SEND_TIMEOUT)]
    assert switch.sends(2 + SEND_TIMEOUT) == 2
    assert switch.session_events() == []


def test_the_backup_is_watched_from_its_first_packet_on(make: Make) -> None:
    switch = make(Session(), BACKUP, Session().backup(2, 1))
    assert [switch.sends(time * SEND_TIMEOUT + 1) for time in (0, 1)] == [0, 2]
    assert switch.sends(2 * SEND_TIMEOUT) == 2
    assert switch.sends(2 * SEND_TIMEOUT + 1) == 1
    assert switch.session_events() == [
        event(WATCH),
        event(LEFT_PATH, 0, 2, SEND_TIMEOUT),
        event(LEFT_PATH, 2, 1, SEND_TIMEOUT),
    ]


def test_without_a_backup_it_is_told_once_in_a_send_timeout(make: Make) -> None:
    switch = make(Session())
    for time in range(1, 2 * SEND_TIMEOUT + 1, SEND_TIMEOUT // 10):
        assert switch.sends(time) == 0
    told = switch.session_events()
    assert told == [event(WATCH), event(UNANSWERED, age=SEND_TIMEOUT)]
    assert switch.sends(1 + 2 * SEND_TIMEOUT) == 0
    assert switch.session_events() == [event(UNANSWERED, age=2 * SEND_TIMEOUT)]


@pytest.mark.parametrize("path", [0, 1, 2])
def test_whatever_is_heard_by_a_proven_path_is_an_answer(make: Make, path: int) -> None:
    switch = make(Session(), BACKUP)
    switch.sends(1)
    switch.hears(SEND_TIMEOUT, path)
    assert switch.sends(1 + SEND_TIMEOUT) == 0
    assert switch.sends(2 * SEND_TIMEOUT) == 0
    assert LEFT_PATH not in {each.kind for each in switch.session_events()}


def test_a_stolen_tag_is_no_answer(make: Make) -> None:
    switch = make(Session(), BACKUP)
    switch.sends(1)
    forged = ipv6(17, DATAGRAM, "2001:db8:bad::1", "2001:db8:1:a::11")
    header = bytes([17, 0]) + (1 << 47 | OUR_TAG).to_bytes(6)
    forged = forged[:4] + (len(forged) - 32).to_bytes(2) + bytes([140]) + forged[7:40] + header + forged[40:]
    assert switch.send(4, bytes.fromhex("02ed9e000100 02990000000a 86dd") + forged) == []
    assert switch.sends(1 + SEND_TIMEOUT) == 2


def test_a_keepalive_is_an_answer_and_is_not_answered(make: Make) -> None:
    switch = make(Session(), BACKUP)
    switch.sends(1)
    assert switch.hears_keepalive(SEND_TIMEOUT, OUR_TAG) == []
    assert switch.sends(1 + SEND_TIMEOUT) == 0
    assert [each.kind for each in switch.session_events()] == [WATCH]


def test_the_controller_may_say_that_it_heard_the_peer(make: Make) -> None:
    switch = make(Session(), BACKUP)
    switch.sends(1)
    frame = in_by(4, ipv6(SHIM6, bytes(Shim6Keepalive(tag=OUR_TAG)), REMOTE, LOCAL))
    header = bytes([OUT["PACKET_OUT_SUBMIT"]]) + (4).to_bytes(2) + bytes(2)
    assert switch.at(SEND_TIMEOUT, CPU, header + bytes(frame)) == []
    assert switch.sends(1 + SEND_TIMEOUT) == 0


def test_a_silent_hosts_session_is_moved_by_a_question(make: Make) -> None:
    switch = make(Session(), BACKUP)
    switch.sends(1)
    switch.session_events()
    switch.checks(SEND_TIMEOUT)
    assert switch.session_events() == [event(WATCH, age=SEND_TIMEOUT - 1)]
    switch.checks(1 + SEND_TIMEOUT)
    assert switch.session_events() == [event(LEFT_PATH, 0, 2, SEND_TIMEOUT)]
    switch.checks(2 + 2 * SEND_TIMEOUT)
    assert switch.session_events() == [], "nothing was sent by the backup"
    assert switch.sends(3 + 2 * SEND_TIMEOUT) == 2
    assert switch.session_events() == [event(WATCH, 2)]


def test_nothing_unanswered_is_nothing_to_tell(make: Make) -> None:
    switch = make(Session(), BACKUP)
    switch.sends(1)
    switch.hears(2)
    switch.session_events()
    switch.checks(1 + SEND_TIMEOUT)
    assert switch.session_events() == []
    switch.sends(2 + SEND_TIMEOUT)
    assert switch.session_events() == [event(WATCH)], "it is not watched any more"


def test_a_busy_session_tells_little(make: Make) -> None:
    switch = make(Session(), BACKUP)
    for time in range(1, 4 * SEND_TIMEOUT, 2000):
        switch.sends(time)
        switch.hears(time + 1000)
    told = [each.kind for each in switch.session_events()]
    assert told.count(WATCH) == 2
    assert told.count(SILENT) == 2 * SEND_TIMEOUT // KEEPALIVE
    assert len(told) == told.count(WATCH) + told.count(SILENT)


def test_a_new_generation_moves_it_and_begins_anew(make: Make) -> None:
    switch = make(Session(), BACKUP)
    assert [switch.sends(time) for time in (1, 1 + SEND_TIMEOUT)] == [0, 2]
    switch.use(Session(path=0))
    assert switch.sends(2 + SEND_TIMEOUT) == 2, "the same generation says nothing of the path"
    switch.use(Session(path=1, generation=2))
    assert switch.sends(2 * SEND_TIMEOUT) == 1
    assert switch.sends(3 * SEND_TIMEOUT - 1) == 1
    switch.session_events()
    assert switch.sends(3 * SEND_TIMEOUT) == 1
    assert switch.session_events() == [event(UNANSWERED, 1, age=SEND_TIMEOUT)]


def test_without_a_send_timeout_nobody_waits(make: Make) -> None:
    switch = make(Session(watched=False), BACKUP)
    assert [switch.sends(1 + time * SEND_TIMEOUT) for time in range(5)] == [0] * 5
    switch.hears(6 * SEND_TIMEOUT)
    assert switch.session_events() == []


def test_it_follows_the_peer_from_the_path_that_both_were_on(make: Make) -> None:
    switch = make(Session(mode=FOLLOW))
    switch.hears(1, 0)
    assert switch.sends(2) == 0
    switch.hears(SEND_TIMEOUT, 0)
    switch.session_events()
    switch.hears(2 + SEND_TIMEOUT, 2)
    assert switch.session_events() == [event(FOLLOWED, 0, 2)]
    assert switch.sends(3 + SEND_TIMEOUT) == 2
    switch.hears(2 + 2 * SEND_TIMEOUT, 1)
    assert FOLLOWED in {each.kind for each in switch.session_events()}
    assert switch.sends(3 + 2 * SEND_TIMEOUT) == 1


def test_who_follows_tells_since_when_nothing_was_heard(make: Make) -> None:
    switch = make(Session(mode=FOLLOW))
    switch.hears(1, 0)
    assert switch.sends(2) == 0
    switch.hears(SEND_TIMEOUT, 0)
    assert switch.sends(SEND_TIMEOUT + 1) == 0
    switch.session_events()
    # The peer was silent for so long, and what was sent meanwhile may be lost.
    switch.hears(SEND_TIMEOUT + 101, 2)
    assert switch.session_events() == [event(FOLLOWED, 0, 2, 100)]


def test_a_late_packet_by_the_old_path_is_not_followed_back(make: Make) -> None:
    switch = make(Session(mode=FOLLOW))
    switch.hears(1, 0)
    switch.sends(2)
    switch.hears(2 + SEND_TIMEOUT, 2)
    switch.hears(3 + SEND_TIMEOUT, 0)
    switch.hears(4 + SEND_TIMEOUT, 2)
    switch.hears(1 + 2 * SEND_TIMEOUT, 0)
    assert switch.sends(2 + 2 * SEND_TIMEOUT) == 2


def test_it_does_not_follow_where_it_has_left_already(make: Make) -> None:
    switch = make(Session(mode=FOLLOW), BACKUP)
    switch.hears(1, 0)
    assert switch.sends(2) == 0
    assert switch.sends(2 + SEND_TIMEOUT) == 2
    switch.hears(3 + SEND_TIMEOUT, 1)
    assert switch.sends(4 + SEND_TIMEOUT) == 2


def test_it_does_not_follow_unasked(make: Make) -> None:
    switch = make(Session())
    switch.hears(1, 0)
    switch.hears(2, 2)
    assert switch.sends(3) == 0


def test_a_keepalive_leaves_when_nothing_was_sent(make: Make) -> None:
    switch = make(Session(path=1))
    assert switch.keeps(1, PEERS_TAG) == [], "nothing was heard"
    switch.hears(2, 1)
    assert switch.session_events() == [event(SILENT, 1)]
    assert switch.keeps(1 + KEEPALIVE, PEERS_TAG) == []
    assert switch.session_events() == [event(SILENT, 1, age=KEEPALIVE - 1)]
    ((port, frame),) = switch.keeps(2 + KEEPALIVE, PEERS_TAG)
    message = ipv6(SHIM6, bytes(Shim6Keepalive(tag=PEERS_TAG)), "2001:db8:1:a::11", "2001:db8:f01::1")
    assert (port, frame) == (4, bytes(out_by(4, hop_less(message))))
    assert switch.session_events() == []
    assert switch.keeps(2 + 3 * KEEPALIVE, PEERS_TAG) == [], "the peer has its answer"


def test_no_keepalive_where_the_host_replies(make: Make) -> None:
    switch = make(Session())
    switch.hears(1)
    switch.sends(KEEPALIVE)
    assert switch.keeps(1 + KEEPALIVE, PEERS_TAG) == []
    assert SILENT not in {each.kind for each in switch.session_events()[2:]}


def test_a_packet_heard_after_the_reply_is_not_forgotten(make: Make) -> None:
    switch = make(Session())
    switch.hears(1)
    switch.sends(2)
    switch.hears(KEEPALIVE // 2)
    switch.session_events()
    assert switch.keeps(1 + KEEPALIVE, PEERS_TAG) == []
    ((_, _, _, _, age),) = switch.session_events()
    assert age == 1 + KEEPALIVE - KEEPALIVE // 2
    assert len(switch.keeps(KEEPALIVE // 2 + KEEPALIVE, PEERS_TAG)) == 1


def test_neither_keepalives_nor_questions_wait_for_an_answer(make: Make) -> None:
    switch = make(Session(), BACKUP)
    switch.hears(1)
    assert len(switch.keeps(1 + KEEPALIVE, PEERS_TAG)) == 1
    switch.checks(2 + KEEPALIVE)
    assert switch.sends(2 + KEEPALIVE + 2 * SEND_TIMEOUT) == 0
    assert [each.kind for each in switch.session_events()] == [SILENT, WATCH]


def test_what_is_heard_is_reported_on_request(make: Make) -> None:
    switch = make(Session(mode=REPORT))
    switch.hears(0)
    assert switch.session_events() == [event(SILENT)], "one thing at a time"
    for time, path in ((1, 0), (2, 0), (3, 2), (4, 2), (5, 1), (5 + SEND_TIMEOUT // 8, 1)):
        switch.hears(time, path)
    heard = [(each.path_to) for each in switch.session_events() if each.kind == HEARD]
    assert heard == [0, 2, 1, 1]


def test_what_may_be_lost_is_held(make: Make) -> None:
    switch = make(Session(mode=HOLD))
    soon = SEND_TIMEOUT // 32
    copies = []
    for time in (1, soon, 1 + soon, SEND_TIMEOUT, SEND_TIMEOUT + 5):
        outputs = switch.at(time, 1, bytes.fromhex("02ed9e000001 020000000011 86dd") + OUTWARD)
        copies.append([packet for port, packet in outputs if port == CPU])
        assert [port for port, _ in outputs if port != CPU] == [4]
    # The first for a long time is one of few.
    assert copies[1] == []
    for (copy,) in copies[:1] + copies[2:]:
        assert copy[0] == PUNT["PUNT_SESSION_HELD"]
        assert copy[PACKET_IN_BYTES + 14 :] == OUTWARD
    switch.hears(SEND_TIMEOUT + 6)
    outputs = switch.at(SEND_TIMEOUT + 7, 1, bytes.fromhex("02ed9e000001 020000000011 86dd") + OUTWARD)
    assert [port for port, _ in outputs] == [4]


def test_all_packets_of_a_host_that_sends_few_are_held(make: Make) -> None:
    switch = make(Session(mode=HOLD))
    apart = SEND_TIMEOUT // 16

    def copies(time: int) -> int:
        outputs = switch.at(time, 1, bytes.fromhex("02ed9e000001 020000000011 86dd") + OUTWARD)
        return [port for port, _ in outputs].count(CPU)

    time = 1
    for _ in range(5):
        time += apart
        assert copies(time) == 1
        # Answered: what follows begins anew, and may be what the path loses.
        switch.hears(time + 1)
    # Those of a host that sends many wait for its first packet to grow old.
    time += apart - 1
    assert copies(time) == 0
    assert copies(time + apart - 1) == 1


def test_what_the_controller_sends_again_is_not_held_again(make: Make) -> None:
    switch = make(Session(mode=HOLD))
    switch.sends(1)
    assert [port for port, _ in switch.asks(SEND_TIMEOUT - 1, "SUBMIT", OUTWARD)] == [4]


def test_flows_are_spread_and_never_moved(make: Make) -> None:
    switch = make(Session(ecmp_paths=3), BACKUP, Session().backup(1, 2), Session().backup(2, 0))

    def flow(number: int) -> bytes:
        return ipv6(17, number.to_bytes(2) + DATAGRAM[2:], LOCAL, REMOTE)

    first = [switch.sends(1, flow(number)) for number in range(96)]
    assert set(first) == {0, 1, 2} and min(first.count(path) for path in (0, 1, 2)) > 16
    later = [switch.sends(1 + 2 * SEND_TIMEOUT, flow(number)) for number in range(96)]
    assert later == first
    assert [each.kind for each in switch.session_events()] == [WATCH, UNANSWERED]


@pytest.mark.parametrize("number", [131072, 1048575])
def test_a_high_number_is_not_watched(make: Make, number: int) -> None:
    switch = make(Session(number=number, path=1, mode=REPORT | HOLD), Session(number=number).backup(1, 2))
    for time in (1, 2 * SEND_TIMEOUT):
        assert switch.sends(time) == 1
        switch.hears(time, 1)
    assert switch.session_events() == []


def test_a_high_number_is_spread(make: Make) -> None:
    switch = make(Session(number=131072, ecmp_paths=3))
    flows = [ipv6(17, number.to_bytes(2) + DATAGRAM[2:], LOCAL, REMOTE) for number in range(96)]
    first = [switch.sends(1, flow) for flow in flows]
    assert set(first) == {0, 1, 2}
    assert [switch.sends(1 + 2 * SEND_TIMEOUT, flow) for flow in flows] == first
    assert switch.session_events() == []


def test_a_number_of_its_own_for_each_session(make: Make) -> None:
    switch = make(Session(), BACKUP)
    switch.add(
        "identities",
        "send_in_session",
        {"local": "2001:db8:1::12", "remote": REMOTE},
        {
            "session": SESSION + 1,
            "path": 0,
            "generation": 1,
            "ecmp_paths": 0,
            "send_timeout": SEND_TIMEOUT,
            "keepalive": 0,
            "mode": 0,
        },
    )
    switch.add("paths", "send_plain", {"session": SESSION + 1, "path": 0}, {"vrf": 0})
    switch.sends(1)
    other = ipv6(17, DATAGRAM, "2001:db8:1::12", REMOTE)
    assert len(switch.at(2, 2, bytes.fromhex("02ed9e000001 020000000012 86dd") + other)) == 1
    back = ipv6(17, DATAGRAM, REMOTE, "2001:db8:1::12")
    assert len(switch.at(3, 4, bytes.fromhex("02ed9e000100 02990000000a 86dd") + back)) == 1
    assert switch.sends(1 + SEND_TIMEOUT) == 2, "the other one's answer is not ours"
    assert back != INWARD
