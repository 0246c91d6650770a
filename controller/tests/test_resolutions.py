"""How many neighbours are asked for at once: no port and no source takes the room of others."""

from __future__ import annotations

from ipaddress import IPv6Address

from wayname.config.model import LinkAddress
from wayname.edge.resolutions import MOST, MOST_BY_PORT, MOST_BY_SOURCE, Asker, Resolutions
from wayname.wire.mac import Mac


def at(number: int) -> LinkAddress:
    return LinkAddress(10, IPv6Address(number))


def asker(port: int, number: int = 0) -> Asker:
    return Asker(port, Mac(number), number)


def test_a_source_gives_up_its_own() -> None:
    resolutions = Resolutions()
    assert resolutions.add(at(1), asker(1, 7)) is None
    given_up = [resolutions.add(at(100 + number), asker(1)) for number in range(MOST_BY_SOURCE + 2)]
    assert given_up == [None] * MOST_BY_SOURCE + [at(100), at(101)]
    assert resolutions.given_up == {1: 2}


def test_a_port_gives_up_its_own_whatever_its_sources() -> None:
    resolutions = Resolutions()
    resolutions.add(at(1), asker(2))
    given_up = [resolutions.add(at(100 + number), asker(1, number)) for number in range(MOST_BY_PORT + 1)]
    assert given_up == [None] * MOST_BY_PORT + [at(100)]


def test_in_all_the_port_with_most_gives_up() -> None:
    resolutions = Resolutions()
    resolutions.add(at(1), None)
    numbers = iter(range(100, 10_000))
    for port in range(5):
        for source in range(MOST_BY_PORT - 1 if port else MOST_BY_PORT):
            resolutions.add(at(next(numbers)), asker(port, source))
    assert len(resolutions) == MOST
    assert set(resolutions.given_up) <= {0, 1, 2, 3, 4}
    assert at(1) in resolutions.clear()


def test_one_that_answered_makes_room() -> None:
    resolutions = Resolutions()
    for number in range(MOST_BY_SOURCE):
        resolutions.add(at(number), asker(1))
    resolutions.remove(at(3))
    resolutions.remove(at(3))
    assert resolutions.add(at(100), asker(1)) is None
    assert resolutions.add(at(101), asker(1)) == at(0)
