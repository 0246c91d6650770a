"""Two endpoints with loss, duplicates and packets that overtake each other: in the end both agree."""

from __future__ import annotations

import random
from ipaddress import IPv6Address

import pytest
from hip.network import A1, A2, A3, B1, B2, B3, Network

from wayname.hip.association import Esp, Tags
from wayname.hip.settings import Settings
from wayname.hip.states import State
from wayname.hip.transports import EspTransform, Tagged

PLACES = {"a": (A1, A2, A3), "b": (B1, B2, B3)}


def disturb(network: Network, rng: random.Random) -> None:
    """Do something to what is under way."""
    if not network.under_way:
        return
    lot = rng.random()
    if lot < 0.2:
        network.under_way.pop(rng.randrange(len(network.under_way)))
    elif lot < 0.35:
        network.inject(rng.choice(network.under_way)[1])
    elif lot < 0.5:
        rng.shuffle(network.under_way)


def moved(rng: random.Random, letter: str) -> tuple[IPv6Address, ...]:
    """Return where a host is now."""
    return tuple(rng.sample(PLACES[letter], rng.randint(1, 3)))


@pytest.mark.parametrize("seed", range(12))
def test_both_ends_agree_when_the_storm_is_over(seed: int) -> None:
    rng = random.Random(seed)
    number = EspTransform.number if seed % 2 else Tagged.number
    network = Network(Settings(least_difficulty=1, formats=(number,)), seed=seed)
    network.connect(rng.choice((network.a, network.b)))
    if rng.random() < 0.5:
        network.connect(network.b)
    network.drive(20.0, lambda: disturb(network, rng))
    for _ in range(3):
        network.move(network.a, *moved(rng, "a"))
        network.move(network.b, *moved(rng, "b"))
        if number == EspTransform.number and network.association(network.a).state is State.ESTABLISHED:
            network.a.endpoint.rekey(network.names, network.now, fresh=rng.random() < 0.5)
            network.collect()
        network.drive(1.0, lambda: disturb(network, rng))
    network.drive(100.0)
    a, b = network.association(network.a), network.association(network.b)
    assert (a.state, b.state) == (State.ESTABLISHED, State.ESTABLISHED)
    assert a.peer.current in network.b.locators
    assert b.peer.current in network.a.locators
    assert {one.address for one in a.peer.active(network.now)} == set(network.b.locators)
    assert {one.address for one in b.peer.active(network.now)} == set(network.a.locators)
    assert (a.updates, b.updates, a.rekeying, b.rekeying) == ({}, {}, None, None)
    if isinstance(a.transport, Esp):
        assert isinstance(b.transport, Esp)
        assert (a.transport.spi, a.transport.outgoing) == (b.transport.peer_spi, b.transport.incoming)
        assert (a.transport.peer_spi, a.transport.incoming) == (b.transport.spi, b.transport.outgoing)
    else:
        assert isinstance(a.transport, Tags) and isinstance(b.transport, Tags)
        assert (a.transport.tag, a.transport.peer_tag) == (b.transport.peer_tag, b.transport.tag)
