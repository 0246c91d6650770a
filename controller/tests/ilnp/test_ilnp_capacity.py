"""How many sessions there may be, and who gives way when there is no place left."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ilnp.network import (
    A1,
    A2,
    A_NID,
    B_NID,
    HERE,
    M_NID,
    OPENED,
    THERE,
    A,
    B,
    Network,
    host,
    ups,
)
from two_sides import START

from wayname.ilnp.cache import Cache, Names
from wayname.ilnp.endpoint import SeenFlow
from wayname.ilnp.outputs import Kind
from wayname.ilnp.settings import Settings
from wayname.ilnp.states import State
from wayname.ilnp.vectors import NID, Vector


def test_a_full_cache_refuses_strangers_and_flows_of_its_own() -> None:
    network = Network(settings=Settings(capacity=1))
    network.establish()
    stranger = Vector(A1, M_NID)
    network.b.endpoint.connect(THERE, stranger, network.now)
    network.collect()
    assert "all 1 places of the cache are taken" in network.b.events(Kind.REFUSED)[0]
    network.run(5)
    network.b.take()
    flow = SeenFlow(THERE, stranger, b"to the peer!", b"from a peer!", OPENED, opened_here=True)
    network.b.endpoint.tcp(flow, network.now)
    network.collect()
    assert "all 1 places of the cache are taken" in network.b.events(Kind.REFUSED)[0]
    assert network.agree()


def strangers(number: int) -> list[Vector]:
    """Return peers that answer nobody."""
    return [Vector(A2, NID(1 + each)) for each in range(number)]


def test_what_is_only_asked_for_gives_its_place_to_who_has_proved_itself() -> None:
    network = Network(settings=Settings(capacity=1))
    network.connect(network.a)
    for _ in range(2):
        network.step(START + 1)
    # The only place is taken between the answer and the proof.
    network.b.endpoint.connect(THERE, strangers(1)[0], network.now)
    assert network.b.endpoint.places == 1
    network.run(5)
    assert network.agree()
    assert network.b.endpoint.places == 1
    assert "given up before anybody answered" in network.b.events(Kind.HALF_OPEN)[0]


def test_half_open_sessions_are_bounded_and_the_least_proven_goes_first() -> None:
    settings = Settings(capacity=40)
    network = Network(settings=settings)
    first, *others = strangers(300)
    network.b.endpoint.connect(THERE, first, network.now)
    network.run(20)
    assert network.b.endpoint.state_of(Names(B_NID, first.nid)) is State.UNANSWERED
    network.b.endpoint.connect(THERE, HERE, network.now)
    for each in others[: settings.half_open - 2]:
        network.b.endpoint.connect(THERE, each, network.now)
    assert network.b.endpoint.places == settings.half_open == 10
    network.b.endpoint.connect(THERE, others[-1], network.now)
    # Who did not answer gives way to who was just asked.
    assert network.b.endpoint.state_of(Names(B_NID, first.nid)) is State.CLOSED
    assert network.b.endpoint.state_of(B) is State.REQUESTED
    for each in others:
        network.b.endpoint.connect(THERE, each, network.now)
    assert network.b.endpoint.places == settings.half_open
    network.collect()
    network.run(10)
    network.connect(network.a)
    network.run(1)
    assert network.agree(), "who proves itself gets in"


def test_the_capacity_is_never_exceeded() -> None:
    network = Network(settings=Settings(capacity=3))
    flow = SeenFlow(THERE, HERE, b"to the peer!", b"from a peer!", OPENED, opened_here=True)
    for each in strangers(5):
        network.b.endpoint.tcp(replace(flow, peer=each), network.now)
        network.b.endpoint.connect(THERE, HERE, network.now)
        assert network.b.endpoint.places <= 3
    network.collect()
    assert len(network.b.endpoint.cache) == 3
    assert "all 3 places" in network.b.events(Kind.REFUSED)[0]


def test_a_cache_is_not_overfilled_whoever_asks() -> None:
    network = Network()
    network.establish()
    cache = Cache(1)
    cache.put(network.a.entry())
    with pytest.raises(ValueError, match="holds 1 sessions already"):
        cache.put(network.b.entry())
    cache.put(network.a.entry())


def test_a_session_that_goes_leaves_the_others_of_its_host() -> None:
    network = Network()
    network.establish()
    cache, entry = network.a.endpoint.cache, network.a.entry()
    other = replace(entry, names=Names(A_NID, M_NID))
    cache.put(other)
    cache.remove(A)
    assert (cache.of_host(A_NID), cache.named(A), len(cache)) == ([other], None, 1)
    cache.remove(other.names)
    assert (cache.of_host(A_NID), len(cache)) == ([], 0)


def test_too_many_sessions_made_and_ended_in_a_minute_are_refused() -> None:
    network = Network(settings=Settings(capacity=3))
    for number in range(5):
        network.restart(network.a, host(A_NID, A1), seed=number)
        network.connect(network.a)
        network.run(0.5)
        network.b.endpoint.discard(B, network.now)
    network.collect()
    assert ups(network.b) == 3
    assert "too many sessions were made in the last minute" in network.b.events(Kind.REFUSED)[0]
    network.run(100)
    network.restart(network.a, host(A_NID, A1), seed=9)
    network.connect(network.a)
    network.run(0.5)
    assert network.agree()
