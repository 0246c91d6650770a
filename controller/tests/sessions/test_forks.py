"""Flows with a session of their own, beside the one that their hosts have (RFC 5533, sections 7.15 and 13)."""

from __future__ import annotations

import pytest
from sessions.pair import Pair, Side

from wayname.edge.boundary import SessionEvent
from wayname.p4_constants import SessionEventKind
from wayname.session.session import Fork, Session
from wayname.shim6.edge.forks import Forks
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.errors import ErrorCode
from wayname.wire.shim6.messages import Error, Keepalive, decode, encode

OURS, THEIRS = 5001, 80


@pytest.fixture
def pair() -> Pair:
    """Two sides with a session, and a fork of it that a began."""
    pair = Pair()
    pair.talk()
    pair.drive(5)
    fork(pair, pair.a)
    return pair


def fork(pair: Pair, side: Side) -> None:
    """Let a side fork its first session."""
    assert side.sessions is not None
    side.sessions.fork(1, OURS, THEIRS, pair.now)
    pair.collect(side)
    pair.drive(5)


def both(side: Side) -> tuple[Session, Session]:
    """Return the session of a side and its fork."""
    assert side.sessions is not None
    main, forked = sorted(side.sessions, key=lambda each: each.name.instance)
    return main, forked


def tables_of(side: Side) -> list[tuple[int, int, int, int, int]]:
    """Return of, next header and ports of each entry of `forks`, and its session."""
    return sorted(
        (each["session"], each["next_header"], each["source_port"], each["destination_port"], each["path"])
        for each in side.entries("forks")
    )


def test_both_sides_have_it_for_the_same_flows(pair: Pair) -> None:
    assert tables_of(pair.a) == [(2, 6, OURS, THEIRS, 0), (2, 17, OURS, THEIRS, 0)]
    assert tables_of(pair.b) == [(2, 6, THEIRS, OURS, 0), (2, 17, THEIRS, OURS, 0)]
    for side in (pair.a, pair.b):
        main, forked = both(side)
        assert (main.fork, forked.fork is not None and forked.fork.of) == (None, main.number)
        assert main.tag != forked.tag
        assert list(main.paths.values()) == list(forked.paths.values())


def test_its_packets_bear_its_tag_even_between_the_identities(pair: Pair) -> None:
    _, forked = both(pair.a)
    of_fork = [each for each in pair.a.entries("paths") if each["session"] == forked.number]
    assert len(of_fork) == len(forked.paths)
    assert {each["tag"] for each in of_fork} == {both(pair.b)[1].tag}


def test_it_is_moved_alone(pair: Pair) -> None:
    main, forked = both(pair.a)
    assert pair.a.sessions is not None
    pair.a.sessions.move(forked.number, 2, pair.now)
    pair.collect(pair.a)
    assert (main.path, forked.path) == (0, 2)
    assert {each["path"] for each in pair.a.entries("forks")} == {2}
    assert [each["path"] for each in pair.a.entries("identities")] == [0]


def test_it_is_left_without_an_answer_alone(pair: Pair) -> None:
    main, forked = both(pair.a)
    assert pair.a.sessions is not None
    pair.a.sessions.switch_event(SessionEvent(SessionEventKind.LEFT_PATH, forked.number, 0, 1, 15.0), pair.now)
    pair.collect(pair.a)
    assert (main.path, forked.path) == (0, 1)


def test_its_keepalives_are_the_controllers_own(pair: Pair) -> None:
    _, forked = both(pair.a)
    assert pair.a.sessions is not None
    before = len(pair.a.ways.within_switch)
    pair.a.sessions.switch_event(SessionEvent(SessionEventKind.SILENT, forked.number, 0, 0, 0.0), pair.now)
    pair.a.sessions.handle_timer(pair.now + forked.keepalive + 1, 0.0)
    kept = [decode(each.payload) for each in pair.a.ways.sent if each.next_header == SHIM6]
    assert Keepalive(forked.peer_tag) in kept
    assert len(pair.a.ways.within_switch) == before


def test_it_outlives_controllers(pair: Pair) -> None:
    before = [(tables_of(side), both(side)[1].tag) for side in (pair.a, pair.b)]
    pair.restart(pair.a)
    pair.restart(pair.b)
    pair.drive(5)
    assert [(tables_of(side), both(side)[1].tag) for side in (pair.a, pair.b)] == before


def test_it_ends_with_its_session(pair: Pair) -> None:
    assert pair.a.sessions is not None
    [identities] = [each for each in pair.a.held.values() if each.table_id == "identities"]
    pair.a.sessions.idle(identities, pair.now)
    pair.collect(pair.a)
    assert list(pair.a.sessions) == []
    assert pair.a.entries("forks") == pair.a.entries("context_tags") == []


def unfork(pair: Pair, side: Side) -> None:
    """Let a side end its fork."""
    assert side.sessions is not None
    side.sessions.unfork(both(side)[1].number, pair.now)
    pair.collect(side)


def test_it_ends_by_command_on_both_sides(pair: Pair) -> None:
    _, forked = both(pair.a)
    unfork(pair, pair.a)
    # Nothing more is sent by it, but what is still under way is taken.
    assert pair.a.entries("forks") == []
    assert forked.tag in {each["tag"] for each in pair.a.entries("context_tags")}
    assert pair.a.sessions is not None
    assert pair.a.sessions.state_of(forked) == "ends"
    pair.drive(10)
    for side in (pair.a, pair.b):
        assert side.sessions is not None
        assert [each.fork for each in side.sessions] == [None]
        assert side.entries("forks") == []
        assert len(side.entries("context_tags")) == 1
        assert len([key for key in side.memory if key.startswith("context")]) == 1
    assert "(the peer ended the fork)" in pair.b.events[-1].text
    assert "(by command)" in pair.a.events[-1].text


def test_the_peer_is_told_again_if_it_does_not_hear(pair: Pair) -> None:
    pair.dead.add("2001:db8:101::")
    unfork(pair, pair.a)
    pair.drive(1.5)
    assert pair.b.entries("forks") != []
    pair.dead.clear()
    pair.drive(10)
    assert pair.a.entries("forks") == pair.b.entries("forks") == []


def test_it_comes_back_if_the_peer_never_hears_of_its_end(pair: Pair) -> None:
    pair.dead |= {"2001:db8:101::", "2001:db8:201::"}
    unfork(pair, pair.a)
    pair.drive(6)
    _, forked = both(pair.b)
    pair.dead.clear()
    assert pair.a.sessions is not None
    stale = Packet(forked.pair.local, forked.pair.peer, SHIM6, encode(Keepalive(forked.peer_tag)))
    pair.a.sessions.packet(stale, pair.now)
    pair.collect(pair.a)
    pair.drive(10)
    assert [each[1:] for each in tables_of(pair.a)] == [(6, OURS, THEIRS, 0), (17, OURS, THEIRS, 0)]
    assert both(pair.a)[1].tag == both(pair.b)[1].peer_tag


def test_it_may_be_begun_again_afterwards(pair: Pair) -> None:
    unfork(pair, pair.a)
    pair.drive(10)
    fork(pair, pair.a)
    assert len(tables_of(pair.a)) == len(tables_of(pair.b)) == 2


def test_both_sides_may_end_it_at_once(pair: Pair) -> None:
    unfork(pair, pair.a)
    unfork(pair, pair.b)
    pair.drive(10)
    assert pair.a.entries("forks") == pair.b.entries("forks") == []
    assert "shim6.dropped" not in pair.a.kinds()


def test_nobody_who_does_not_know_its_tag_ends_it(pair: Pair) -> None:
    main, forked = both(pair.b)
    assert pair.b.sessions is not None
    for tag in (forked.peer_tag ^ 1, main.peer_tag):
        about = Packet(forked.pair.local, forked.pair.peer, SHIM6, encode(Keepalive(tag)))
        error = encode(Error(ErrorCode.FORK_ENDED, 0, about.encode()))
        pair.b.sessions.packet(Packet(forked.pair.peer, forked.pair.local, SHIM6, error), pair.now)
        pair.collect(pair.b)
    # Nor is a session ended that is no fork.
    assert both(pair.b) == (main, forked)


def test_what_may_not_be_ended(pair: Pair) -> None:
    main, forked = both(pair.a)
    assert pair.a.sessions is not None
    forks = pair.a.sessions.forks
    assert forks.ending_refusal(main) == "session 1 is no fork; it ends when its hosts have nothing to say"
    assert forks.ending_refusal(forked) is None
    unfork(pair, pair.a)
    assert forks.ending_refusal(forked) == "session 2 ends already"


def test_what_may_not_be_forked(pair: Pair) -> None:
    main, forked = both(pair.a)
    assert pair.a.sessions is not None
    forks = pair.a.sessions.forks
    assert forks.refusal(main, OURS, THEIRS) == "session 2 is for these flows"
    assert forks.refusal(forked, 1, 2) == "session 2 is a fork itself; fork session 1"
    assert forks.refusal(main, 0, THEIRS) == "0 and 80 are not both ports; write numbers from 1 to 65535"
    assert forks.refusal(main, OURS, THEIRS + 1) is None


def test_a_fork_that_came_before_its_session_waits_for_it(pair: Pair) -> None:
    main, forked = both(pair.b)
    forks = Forks()
    forks.add(forked)
    assert forked.fork == Fork(0, THEIRS, OURS)
    forks.add(main)
    assert forks.adopt(main) == [forked]
    assert forked.fork == Fork(main.number, THEIRS, OURS)
    assert forks.adopt(main) == []
