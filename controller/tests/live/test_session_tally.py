"""Sessions by their paths, counted a part at a time."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

from wayname.api.live.session_tally import (
    MOST_PATHS_OF_SITE,
    MOST_PEER_SITES,
    SESSIONS_A_TURN,
    SessionTally,
    site_prefix,
)
from wayname.composition.configuration import parse_config
from wayname.session.keys import Pair
from wayname.session.protocol import PathsOfSession, SessionPath

CONFIG = parse_config(
    """
[[port]]
number = 1
vlan = 10
[[interface]]
vlan = 10
addresses = ["2001:db8:f::2/64"]
[[provider]]
name = "p"
prefix = "2001:db8:1::/48"
via = ["2001:db8:f::1"]
[[provider]]
name = "q"
prefix = "2001:db8:2::/48"
via = ["2001:db8:f::3"]
"""
)


def session(site: int, in_use: int = 0, silent: int | None = None) -> PathsOfSession:
    """A session with a host of a site that has two prefixes, by the number of its path in use."""
    here = [IPv6Address("2001:db8:1::1"), IPv6Address("2001:db8:2::1")]
    there = [IPv6Address((0x20010DB80000 + site << 80) + 1), IPv6Address((0x20010DB90000 + site << 80) + 1)]
    pairs = [Pair(local, peer) for local in here for peer in there]
    paths = [SessionPath(pair, number == in_use, number == silent, 0.02) for number, pair in enumerate(pairs)]
    return PathsOfSession(there[site % 2], paths)


class Sessions:
    """Has some sessions."""

    def __init__(self, sessions: list[PathsOfSession]) -> None:
        self.sessions = sessions

    def paths_of_sessions(self) -> Iterator[PathsOfSession]:
        """Yield those that are there now."""
        return iter(list(self.sessions))


def tally_of(manager: Sessions) -> SessionTally:
    return SessionTally(lambda: [manager], lambda: CONFIG)  # type: ignore[list-item]


def test_few_are_counted_at_once_and_a_move_is_seen_at_the_next_look() -> None:
    manager = Sessions([session(1), session(1, in_use=3), session(2, silent=1)])
    tally = tally_of(manager)
    tally.step()
    assert tally.is_complete
    assert tally.last.sessions == 3
    assert tally.last.by_provider == {"p": 2, "q": 1}
    [(number, site), _] = tally.last.largest
    # Whichever of its prefixes a host's identity is of, it is one site.
    assert site_prefix(number) == "2001:db8:1::/48"
    assert {key[0]: path.known for key, path in site.paths.items()} == {"p": 2, "q": 2}
    manager.sessions[0] = session(1, in_use=2)
    tally.step()
    assert tally.last.by_provider == {"p": 1, "q": 2}


def test_silent_paths_are_counted() -> None:
    tally = tally_of(Sessions([session(2, silent=1)]))
    tally.step()
    [(_, site)] = tally.last.largest
    assert [path.silent for path in site.paths.values()] == [0, 1, 0, 0]


def test_very_many_are_counted_in_turns_and_what_a_page_gets_is_bounded() -> None:
    manager = Sessions([session(number % 400) for number in range(4 * SESSIONS_A_TURN)])
    tally = tally_of(manager)
    tally.step()
    assert not tally.is_complete
    assert tally.last.sessions == SESSIONS_A_TURN
    for _ in range(4):
        tally.step()
    assert tally.is_complete
    assert tally.last.sessions == 4 * SESSIONS_A_TURN
    assert len(tally.last.largest) == MOST_PEER_SITES
    # The next round changes nothing until it is whole.
    manager.sessions.clear()
    tally.step()
    assert tally.last.sessions in {0, 4 * SESSIONS_A_TURN}


def test_a_peer_with_very_many_prefixes_gets_some_paths() -> None:
    local = IPv6Address("2001:db8:1::1")
    pairs = [Pair(local, IPv6Address((0x20010DB90000 + number << 80) + 1)) for number in range(100)]
    paths = [SessionPath(pair, number == 99) for number, pair in enumerate(pairs)]
    tally = tally_of(Sessions([PathsOfSession(pairs[0].peer, paths)]))
    tally.step()
    [(_, site)] = tally.last.largest
    assert len(site.paths) == MOST_PATHS_OF_SITE
    assert tally.last.by_provider == {"p": 1}
