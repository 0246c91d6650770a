"""Sessions of two edges: from the first news to a session, and what becomes of it."""

from __future__ import annotations

import pytest
from sessions.pair import Pair

from wayname.edge.boundary import News


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
    pair.tell(pair.a, News.LEFT_PATH, 0, 1, 0.512)
    session = pair.a.only
    assert (session.path, session.generation) == (1, 1)
    assert pair.a.events[-1].kind == "session.moved"
    assert "no answer for 0.512 s" in pair.a.events[-1].text
    pair.tell(pair.b, News.FOLLOWED, 0, 1)
    assert pair.b.only.path == 1
    # The entry says it too, so that a switch that starts again begins there.
    [out] = [entry for entry in pair.b.entries("identities") if "path" in entry]
    assert (out["path"], out["generation"]) == (1, 1)


@pytest.mark.parametrize("kind", [News.LEFT_PATH, News.FOLLOWED])
def test_news_of_what_is_not_there_change_nothing(kind: News) -> None:
    pair = established()
    pair.tell(pair.a, kind, 0, 9)
    assert pair.a.only.path == 0


def test_a_dead_uplink_is_left_at_once() -> None:
    pair = established()
    assert pair.a.sessions is not None
    pair.a.ways.closed.add("p")
    pair.a.sessions.next_hop_changed(pair.now)
    pair.collect(pair.a)
    session = pair.a.only
    assert (session.path, session.generation, session.reason) == (1, 2, "p is down")
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
