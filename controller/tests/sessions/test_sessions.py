"""Sessions of two edges: from the first event to a session, and what becomes of it."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from sessions.pair import Pair, keep_copy

from wayname.p4_constants import PacketOutKind, SessionEventKind, SessionMode
from wayname.session.path_numbers import MOST_PATHS
from wayname.session.session import PathHealth
from wayname.shim6.edge.memory import context_names
from wayname.wire import icmpv6
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6 import messages, options
from wayname.wire.shim6.messages import I1, Keepalive, decode, encode
from wayname.wire.shim6.payload import PayloadHeader


def established(more: str = "") -> Pair:
    """Return two edges with a session."""
    pair = Pair(more)
    pair.talk()
    pair.drive()
    return pair


def test_hosts_that_talk_get_a_session() -> None:
    pair = Pair()
    pair.talk()
    assert pair.drive()[:4] == ["I1", "R1", "I2", "R2"]
    assert pair.agrees()
    session = pair.a.only
    assert (session.path, len(session.paths), session.pair) == (0, 4, session.name[:2])
    # The identities need no header; what shares no locator with them comes next.
    assert [entry.get("tag") is None for entry in pair.a.entries("paths")] == [True, False, False, False]
    [out] = [entry for entry in pair.a.entries("identities") if "path" in entry]
    assert (out["send_timeout"], out["keepalive"], out["generation"]) == (15_000_000, 5_000_000, 1)
    assert pair.a.kinds().count("session.up") == pair.b.kinds().count("session.up") == 1


def test_both_at_once_get_one_session() -> None:
    pair = Pair()
    pair.talk(a=True, b=True)
    pair.drive()
    assert pair.agrees()


def test_hosts_of_one_site_get_none() -> None:
    pair = Pair()
    pair.b.host = pair.a.host
    pair.talk()
    assert pair.drive() == []


def test_where_the_switch_went_is_taken_note_of() -> None:
    pair = established()
    pair.tell(pair.a, SessionEventKind.LEFT_PATH, 0, 1, 0.512)
    session = pair.a.only
    assert (session.path, session.generation) == (1, 1)
    [moved] = [event for event in pair.a.events if event.kind == "session.moved"]
    assert "no answer for 0.512 s" in moved.text
    pair.tell(pair.b, SessionEventKind.FOLLOWED, 0, 1)
    assert pair.b.only.path == 1
    # The entry says it too, so that a switch that starts again begins there.
    [out] = [entry for entry in pair.b.entries("identities") if "path" in entry]
    assert (out["path"], out["generation"]) == (1, 1)


@pytest.mark.parametrize("kind", [SessionEventKind.LEFT_PATH, SessionEventKind.FOLLOWED])
def test_events_of_what_is_not_there_change_nothing(kind: SessionEventKind) -> None:
    pair = established()
    pair.tell(pair.a, kind, 0, 9)
    assert pair.a.only.path == 0


def test_a_dead_uplink_is_left_at_once() -> None:
    pair = established()
    assert pair.a.sessions is not None
    pair.a.ways.closed.add("p")
    pair.a.sessions.next_hops_changed(pair.now)
    pair.collect(pair.a)
    session = pair.a.only
    assert (session.path, session.generation, session.reason) == (1, 2, "p is down: closed by the test")
    # No backup leads to where nothing can leave.
    closed = {number for number, locators in session.paths.items() if locators.local == pair.a.host}
    backups = {entry["path"] for entry in pair.a.entries("backups")}
    assert closed
    assert backups
    assert not backups & closed


def test_a_session_is_told_of_after_a_restart_as_before() -> None:
    pair = established()
    before = pair.a.held
    pair.restart(pair.a)
    pair.drive()
    assert pair.a.held == before
    assert pair.agrees()


def test_a_session_that_was_moved_by_hand_stays_there_after_a_restart() -> None:
    pair = established(FAST)
    assert pair.a.sessions is not None
    pair.a.sessions.move(pair.a.only.number, 2, pair.now)
    pair.collect(pair.a)
    pair.restart(pair.a)
    pair.drive(20)
    assert pair.a.only.path == 2


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize("loses", [False, True])
@pytest.mark.parametrize("step", range(5))
def test_a_controller_killed_at_any_step_of_the_handshake(which: str, loses: bool, step: int) -> None:
    pair = Pair()
    pair.talk()
    for _ in range(step):
        pair.step()
    side = getattr(pair, which)
    if loses:
        # What is under way meets nobody.
        pair.under_way.clear()
    pair.restart(side)
    pair.drive(60)
    assert pair.agrees()


FAST = "send_timeout = 0.3"
EXPERIMENTAL = 16384


def test_all_paths_are_proven_and_each_has_a_backup_that_shares_nothing() -> None:
    pair = established(FAST)
    assert pair.a.sessions is not None
    session = pair.a.only
    assert {pair.a.sessions.health(session, path) for path in session.paths} == {PathHealth.WORKS}
    for path, to in ((0, 1), (1, 0), (2, 3), (3, 2)):
        assert pair.a.sessions.backup_of(session, path) == to
        assert not set(session.paths[path]) & set(session.paths[to])


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize("step", range(10))
def test_a_controller_killed_at_any_step_of_a_failover(which: str, step: int) -> None:
    pair = established(FAST)
    pair.dead.add("2001:db8:101::")
    for side in (pair.a, pair.b):
        assert side.sessions is not None
        backup = side.sessions.backup_of(side.only, 0)
        assert backup is not None
        pair.tell(side, SessionEventKind.LEFT_PATH, 0, backup)
    for _ in range(step):
        pair.step()
    pair.restart(getattr(pair, which))
    pair.drive(60)
    assert pair.agrees()
    for side in (pair.a, pair.b):
        assert not pair.is_dead(side.only.pair.local)
        assert not pair.is_dead(side.only.pair.peer)
        assert side.entries("identities")[0]["path"] == side.only.path


def test_what_does_not_answer_is_no_backup() -> None:
    pair = Pair(FAST)
    pair.dead.add("2001:db8:202::")
    pair.talk()
    pair.drive()
    session = pair.a.only
    assert pair.a.sessions is not None
    dead = {path for path, locators in session.paths.items() if pair.is_dead(locators.peer)}
    assert len(dead) == 2
    assert {pair.a.sessions.health(session, path) for path in dead} == {PathHealth.SILENT}
    assert not {entry["path"] for entry in pair.a.entries("backups")} & dead


def test_a_path_that_fails_is_left_and_taken_again() -> None:
    pair = established(FAST)
    # The first provider loses its way to B, and so does A's switch.
    pair.dead.add("2001:db8:102::")
    pair.tell(pair.a, SessionEventKind.LEFT_PATH, 0, 1, 0.3)
    pair.tell(pair.b, SessionEventKind.FOLLOWED, 0, 1)
    pair.drive(3)
    assert (pair.a.only.path, pair.b.only.path) == (1, 1)
    assert not pair.a.only.exploring
    assert 0 not in {entry["path"] for entry in pair.a.entries("backups")}
    pair.dead.clear()
    for _ in range(30):
        for side in (pair.a, pair.b):
            pair.tell(side, SessionEventKind.WATCH, age=0.0)
        pair.drive(1)
    assert pair.a.only.path == 0
    assert "has worked for" in pair.a.only.reason


def test_without_a_backup_the_controllers_find_a_path() -> None:
    pair = established(FAST)
    pair.dead.add("2001:db8:102::")
    pair.tell(pair.a, SessionEventKind.UNANSWERED, 0, 0, 0.3)
    pair.drive(3)
    assert "session.unanswered" in pair.a.kinds()
    session = pair.a.only
    assert not session.exploring
    assert not pair.is_dead(session.pair.peer)
    assert session.generation == 2


def test_who_explores_wants_to_hear_of_each_packet() -> None:
    pair = established(FAST)
    pair.dead |= {"2001:db8:102::", "2001:db8:202::"}
    pair.tell(pair.a, SessionEventKind.UNANSWERED, 0, 0, 0.3)
    [out] = [entry for entry in pair.a.entries("identities") if "mode" in entry]
    assert out["mode"] & SessionMode.REPORT
    pair.dead.clear()
    pair.drive(10)
    [out] = [entry for entry in pair.a.entries("identities") if "mode" in entry]
    assert not out["mode"] & SessionMode.REPORT


def test_a_session_is_moved_by_hand_only_where_it_works() -> None:
    pair = established(FAST)
    assert pair.a.sessions is not None
    session = pair.a.only
    assert pair.a.sessions.may_move(session.number, "2") == (2, "")
    assert pair.a.sessions.may_move(session.number, ",".join(map(str, session.paths[1]))) == (1, "")
    for path, why in (
        ("7", "has no path 7"),
        ("²", "has no path ²"),
        ("north", "neither the number of a path nor LOCAL,PEER"),
        (f"{session.name.local},2001:db8:bad::1", "nothing proves that"),
    ):
        number, refusal = pair.a.sessions.may_move(session.number, path)
        assert number is None
        assert why in refusal
    pair.a.ways.closed.add("q")
    assert pair.a.sessions.may_move(session.number, "1") == (None, "path 1 is not proven to work: its provider is down")
    pair.a.ways.closed.clear()
    pair.a.sessions.move(session.number, 2, pair.now)
    pair.collect(pair.a)
    assert (session.path, session.reason, session.generation) == (2, "by command", 2)


def test_the_switch_is_asked_in_time_whether_a_packet_was_answered() -> None:
    pair = established(FAST)
    pair.a.ways.within_switch.clear()
    told = pair.now
    pair.tell(pair.a, SessionEventKind.WATCH, age=0.1)
    while not pair.a.ways.within_switch:
        pair.step()
    # First when an answer should be there, to ask the peer itself if none is.
    assert 0.05 <= pair.now - told < 0.06
    [(kind, packet)] = pair.a.ways.within_switch
    assert kind is PacketOutKind.CHECK
    assert (packet.source, packet.destination) == pair.a.only.name[:2]


def test_a_silent_host_is_alive() -> None:
    pair = established(FAST)
    pair.a.ways.within_switch.clear()
    pair.tell(pair.a, SessionEventKind.SILENT)
    pair.drive(0.1)
    [(kind, packet)] = pair.a.ways.within_switch
    assert kind is PacketOutKind.KEEPALIVE
    assert decode(packet.payload) == Keepalive(pair.b.only.tag)


def test_what_got_no_answer_goes_again_by_the_new_path_and_by_the_next_one() -> None:
    pair = established(FAST)
    copy = keep_copy(pair, pair.a, b"the last packet")
    pair.tell(pair.a, SessionEventKind.LEFT_PATH, 0, 1, 0.3)
    assert pair.a.ways.submitted == [copy]
    pair.tell(pair.a, SessionEventKind.LEFT_PATH, 1, 2, 0.3)
    assert pair.a.ways.submitted == [copy, copy]


def test_who_follows_the_peer_repeats_what_got_no_answer_either() -> None:
    pair = established(FAST)
    copy = keep_copy(pair, pair.b, b"an answer that was lost")
    pair.now += 0.2
    pair.tell(pair.b, SessionEventKind.FOLLOWED, 0, 1, 0.25)
    assert pair.b.ways.submitted == [copy]


def test_all_that_was_sent_while_no_path_was_known_goes_again() -> None:
    pair = established(FAST)
    pair.tell(pair.a, SessionEventKind.UNANSWERED, 0, 0, 0.3)
    copy = keep_copy(pair, pair.a, b"sent long before the path was found")
    pair.now += 5
    assert pair.a.sessions is not None
    pair.a.sessions.move(pair.a.only.number, 1, pair.now)
    assert pair.a.ways.submitted == [copy]


def test_probes_go_before_what_may_fill_the_queue() -> None:
    pair = established(FAST)
    pair.a.ways.sent.clear()
    keep_copy(pair, pair.a, b"many")
    probes_before: list[int] = []
    pair.a.ways.submit = lambda original: probes_before.append(len(pair.a.ways.sent))  # type: ignore[method-assign]
    pair.tell(pair.a, SessionEventKind.LEFT_PATH, 0, 1, 0.3)
    assert probes_before == [1]


def test_a_forged_error_makes_a_probe_and_nothing_else() -> None:
    pair = established(FAST)
    assert pair.a.sessions is not None
    session = pair.a.only
    pair.tell(pair.a, SessionEventKind.FOLLOWED, 0, 1)
    quoted = Packet(*session.pair, SHIM6, PayloadHeader(6, session.peer_tag).encode() + bytes(40))
    error = icmpv6.unreachable(0, quoted.encode()).packet(IPv6Address("2001:db8:bad::1"), session.pair.local)
    pair.a.ways.sent.clear()
    pair.a.sessions.error(error, pair.now)
    assert [(probe.source, probe.destination) for probe in pair.a.ways.sent] == [session.pair]
    # An error about a tag that is not ours is about nothing.
    stranger = Packet(*session.pair, SHIM6, PayloadHeader(6, session.peer_tag ^ 1).encode())
    with pytest.raises(DecodeError):
        pair.a.sessions.error(
            icmpv6.unreachable(0, stranger.encode()).packet(IPv6Address("2001:db8:bad::1"), session.pair.local),
            pair.now,
        )
    pair.drive(1)
    assert session.path == 1


def test_who_cannot_have_shim6_is_not_asked() -> None:
    pair = Pair()
    pair.active(pair.a, IPv6Address("2001:db8:7::0211:22ff:fe33:4455"))
    assert not pair.under_way


def test_a_server_lets_its_clients_begin() -> None:
    pair = Pair("server = true")
    pair.talk()
    assert not pair.under_way


def test_there_are_so_many_contexts_and_no_more() -> None:
    pair = established("most = 1")
    pair.under_way.clear()
    pair.active(pair.a, IPv6Address("2001:db8:202:10::7"))
    assert not pair.under_way


def test_who_has_no_shim6_is_left_alone_for_an_hour() -> None:
    pair = Pair()
    stranger = IPv6Address("2001:db8:202:10::7")
    pair.active(pair.a, stranger)
    pair.dead.add("2001:db8:202::")
    pair.drive(600)
    assert "session.failed" in pair.a.kinds()
    # Neither is it asked, nor is the next controller to ask it.
    pair.active(pair.a, stranger)
    assert not pair.under_way
    assert context_names(pair.a.memory) == []
    pair.now += 3600
    pair.active(pair.a, stranger)
    assert pair.under_way


def test_a_session_that_nobody_uses_is_given_up() -> None:
    pair = established()
    assert pair.a.sessions is not None
    [entry] = [each for each in pair.a.held.values() if each.table_id == "identities"]
    assert entry.idle_timeout_ns == 600_000_000_000
    pair.a.sessions.idle(entry, pair.now)
    pair.collect(pair.a)
    assert not list(pair.a.sessions)
    assert not pair.a.entries("paths")
    pair.talk()
    pair.drive()
    assert pair.agrees()


NUMBER = bytes([SHIM6, 1, 0x1E, 12, 0x28, 0, 0, 7]) + bytes(8)  # with an order


@pytest.mark.parametrize("before", [b"", NUMBER])
def test_a_host_learns_what_fits_by_a_path_with_a_header(before: bytes) -> None:
    pair = established(FAST)
    assert pair.a.sessions is not None
    session = pair.a.only
    sent = Packet(session.name.local, session.name.peer, 6, b"a segment of TCP".ljust(1400, b"."))
    locators = session.paths[1]
    first = 60 if before else SHIM6
    tagged = Packet(*locators, first, before + PayloadHeader(6, session.peer_tag).encode() + sent.payload)
    router = IPv6Address("2001:db8:77::1")
    # A router quotes as much as fits.
    error = icmpv6.Message(icmpv6.PACKET_TOO_BIG, 0, (1400).to_bytes(4) + tagged.encode()[:1000])
    pair.a.sessions.error(error.packet(router, locators.local), pair.now)
    [told] = pair.a.ways.delivered
    assert (told.source, told.destination) == (router, session.name.local)
    message = icmpv6.Message.decode(told)
    assert (message.type, int.from_bytes(message.body[:4])) == (icmpv6.PACKET_TOO_BIG, 1392 - len(before))
    assert message.body[4:] == sent.encode()[: 992 - len(before)]


def test_a_peer_without_controller_does_not_cost_the_backups() -> None:
    pair = established(FAST)
    assert pair.a.sessions is not None
    pair.kill(pair.b)
    for _ in range(10):
        pair.tell(pair.a, SessionEventKind.WATCH, age=0.0)
        pair.drive(1)
    session = pair.a.only
    # Nothing is answered, so that nothing tells against one of them.
    assert {pair.a.sessions.health(session, path) for path in session.paths if path} == {PathHealth.WORKS}
    assert pair.a.sessions.backup_of(session, 0) == 1
    # So it is for a controller that comes now.
    pair.restart(pair.a)
    assert pair.a.sessions.backup_of(pair.a.only, 0) == 1


def test_a_flood_of_bad_packets_is_no_flood_of_events() -> None:
    pair = established(FAST)
    assert pair.a.sessions is not None
    for number in range(1000):
        pair.a.sessions.packet(Packet(IPv6Address("2001:db8:bad::1"), pair.a.host, SHIM6, b"nonsense"), pair.now)
        pair.now += 0.001 * (number < 999)
    pair.now += 1
    pair.a.sessions.packet(Packet(IPv6Address("2001:db8:bad::1"), pair.a.host, SHIM6, b"nonsense"), pair.now)
    pair.collect(pair.a)
    assert 2 <= pair.a.kinds().count("shim6.dropped") <= 3
    assert "more before" in pair.a.events[-1].text


def test_a_flood_of_i1_costs_no_memory() -> None:
    pair = Pair()
    assert pair.a.sessions is not None
    written = dict(pair.a.memory)
    for number in range(1000):
        peer = IPv6Address(int(IPv6Address("2001:db8:bad::")) + number)
        pair.a.sessions.packet(Packet(peer, pair.a.host, SHIM6, encode(I1(number, number))), pair.now)
    # R1s, as far as they are rationed: they are longer than I1s.
    assert 0 < sum(len(packet.encode()) for packet in pair.a.ways.sent) < 1000 * (40 + len(encode(I1(1, 1))))
    assert not list(pair.a.sessions)
    assert pair.a.memory == written


@pytest.mark.parametrize(("exact", "agreed"), [(True, 0.3), (False, 1.0)])
def test_a_send_timeout_below_a_second_is_for_peers_that_can_be_told_so(
    exact: bool, agreed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exact:
        # As another program of RFC 5534 it neither tells nor understands the experimental option.
        monkeypatch.setattr(
            options, "_READERS", {kind: read for kind, read in options._READERS.items() if kind < EXPERIMENTAL}
        )
        allowed = {kind: {one for one in all_ if one < EXPERIMENTAL} for kind, all_ in messages._OPTIONS.items()}
        monkeypatch.setattr(messages, "_OPTIONS", allowed)
    pair = established(FAST)
    for side in (pair.a, pair.b):
        assert side.only.rules.send_timeout == agreed
        assert side.entries("identities")[0]["send_timeout"] == agreed * 1e6


@pytest.mark.parametrize("providers", [5, 10])
def test_hosts_with_as_many_prefixes_as_in_the_paper_get_a_session(providers: int) -> None:
    pair = Pair(providers=providers)
    pair.talk()
    pair.drive(60)
    assert pair.agrees()
    for side in (pair.a, pair.b):
        session = side.only
        assert len(session.paths) == MOST_PATHS
        assert len({path.local for path in session.paths.values()}) == providers
        assert len({path.peer for path in session.paths.values()}) == providers
        assert {side.sessions.health(session, path) for path in session.paths if side.sessions} == {PathHealth.WORKS}


@pytest.mark.parametrize("done", [1, 2, 3])
def test_who_answered_before_its_controller_was_restarted_is_known_again(done: int) -> None:
    """The I2 that comes next, or is repeated after 2 to 6 s, makes the session: its validator is still good."""
    pair = Pair()
    pair.talk()
    for _ in range(done):
        pair.step()
    pair.kill(pair.b)
    pair.drive(0.5)
    pair.restart(pair.b)
    pair.drive(6.0)
    assert pair.agrees()
