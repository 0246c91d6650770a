"""Who has a place among the API's connections, and who has to leave."""

from __future__ import annotations

import socket

import pytest

from wayname.api.connection_limits import ConnectionLimits
from wayname.api.peers import peer_of


class Holder:
    """Notes that it had to leave."""

    def __init__(self) -> None:
        self.left = False

    def give_way(self) -> None:
        """Leave."""
        self.left = True


def taken(places: ConnectionLimits, *peers: str) -> list[Holder]:
    """Connections of these peers, that wait."""
    holders = []
    for peer in peers:
        assert places.make_room(peer) == (True, False)
        holders.append(Holder())
        places.take(holders[-1], peer)
    return holders


def test_who_has_waited_longest_leaves() -> None:
    places = ConnectionLimits(4)
    holders = taken(places, "a", "b", "c", "d")
    places.serve(holders[0])
    assert places.make_room("e") == (True, True)
    assert [holder.left for holder in holders] == [False, True, False, False]
    places.take(Holder(), "e")
    places.wait(holders[2])
    places.wait(holders[0])
    assert places.make_room("f") == (True, True)
    assert [holder.left for holder in holders] == [False, True, False, True]


def test_who_has_its_share_takes_from_itself() -> None:
    places = ConnectionLimits(8)
    holders = taken(places, "other", "a", "a")
    assert places.make_room("a") == (True, True)
    assert [holder.left for holder in holders] == [False, True, False]


def test_where_all_are_served_nobody_gets_in_until_one_ends() -> None:
    places = ConnectionLimits(4)
    holders = taken(places, "a", "b", "c", "d")
    for holder in holders:
        places.serve(holder)
    assert places.make_room("e") == (False, False)
    places.leave(holders[0])
    places.leave(holders[0])
    assert places.make_room("e") == (True, False)
    assert len(places) == 3


def test_one_that_had_to_leave_takes_no_place_again() -> None:
    places = ConnectionLimits(4)
    (first, *_) = taken(places, "a", "b", "c", "d")
    assert places.make_room("e") == (True, True)
    places.wait(first)
    places.leave(first)
    assert (first.left, len(places)) == (True, 3)


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_peers_on_tcp(family: socket.AddressFamily, host: str) -> None:
    with socket.socket(family) as listener, socket.socket(family) as visitor:
        listener.bind((host, 0))
        listener.listen()
        visitor.connect(listener.getsockname())
        accepted, _ = listener.accept()
        with accepted:
            assert str(peer_of(accepted).key) == {"127.0.0.1": "127.0.0.1", "::1": "::/64"}[host]
