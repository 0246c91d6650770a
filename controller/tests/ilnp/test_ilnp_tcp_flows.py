"""Sessions that TCP makes: a flow is admitted when SYN, SYN-ACK and ACK have passed."""

from __future__ import annotations

import random

import pytest
from ilnp.network import (
    A1,
    A_NID,
    HERE,
    OPENED,
    THERE,
    Network,
    Never,
    host,
)
from two_sides import DELAY, START

from wayname.ilnp.endpoint import Endpoint, SeenFlow
from wayname.ilnp.outputs import Event, Kind, Output, Up
from wayname.ilnp.states import Segment


def seen(segments: tuple[Segment, ...], nonce: bytes = bytes(11) + b"\1", here: bool = False) -> SeenFlow:
    """Return a TCP flow of A with B, as the data plane of A's edge reports it."""
    return SeenFlow(HERE, THERE, b"to the peer!", nonce, segments, here)


def after(network: Network, flow: SeenFlow) -> list[Output]:
    """Return what comes of it."""
    network.a.endpoint.tcp(flow, network.now)
    return network.a.endpoint.take_outputs()


@pytest.mark.parametrize("here", [False, True])
def test_a_tcp_flow_is_admitted_when_syn_syn_ack_and_ack_have_passed(here: bool) -> None:
    network = Network()
    (up,) = after(network, seen(OPENED, here=here))
    assert isinstance(up, Up)
    assert (up.session.nonce_to_peer, up.session.nonce_from_peer) == (b"to the peer!", bytes(11) + b"\1")
    assert after(network, seen(OPENED, here=here)) == []


@pytest.mark.parametrize(
    ("segments", "words"),
    [
        ((), "NEW makes no session"),
        ((Segment.SYN,), "SYN_SEEN makes no session"),
        ((Segment.SYN, Segment.SYN_ACK), "SYN_ACK_SEEN makes no session"),
        ((Segment.ACK,), "ACK while a flow is NEW"),
        ((Segment.SYN_ACK, Segment.ACK), "SYN_ACK while a flow is NEW"),
        ((Segment.SYN, Segment.ACK), "ACK while a flow is SYN_SEEN"),
    ],
)
def test_less_of_a_tcp_flow_makes_no_session(segments: tuple[Segment, ...], words: str) -> None:
    network = Network()
    (event,) = after(network, seen(segments))
    assert isinstance(event, Event)
    assert words in event.words
    assert len(network.a.endpoint.cache) == 0


def test_segments_that_come_twice_do_no_harm() -> None:
    network = Network()
    twice = tuple(segment for segment in OPENED for _ in range(2))
    assert isinstance(after(network, seen(twice))[0], Up)


def test_a_tcp_flow_of_somebody_else_asks_the_policy_and_one_of_ours_does_not() -> None:
    endpoint = Endpoint(random.Random(1), START, policies=[Never()])
    endpoint.serve(host(A_NID, A1), START)
    endpoint.tcp(seen(OPENED), START)
    (event,) = endpoint.take_outputs()
    assert isinstance(event, Event)
    assert event.kind is Kind.REFUSED
    endpoint.tcp(seen(OPENED, here=True), START)
    assert isinstance(endpoint.take_outputs()[0], Up)


def test_a_tcp_flow_leaves_a_session_that_is_asked_for_to_the_handshake() -> None:
    network = Network()
    network.connect(network.a)
    assert after(network, seen(OPENED)) == []
    network.run(1)
    assert network.agree()


def test_a_tcp_flow_makes_the_session_that_nobody_answered_for() -> None:
    network = Network()
    network.b.works.clear()
    network.connect(network.a)
    network.run(30)
    assert isinstance(after(network, seen(OPENED))[0], Up)


@pytest.mark.parametrize("asking", ["a", "b", "both"])
def test_a_tcp_flow_beside_a_handshake_leaves_both_ends_with_the_same_nonces(asking: str) -> None:
    moments = random.Random(asking)
    ways = set()
    for seed in range(200):
        network = Network(seed)
        flows = {
            "a": SeenFlow(HERE, THERE, b"of the flow:A", b"of the flow:B", OPENED, opened_here=True),
            "b": SeenFlow(THERE, HERE, b"of the flow:B", b"of the flow:A", OPENED, opened_here=False),
        }
        sides = {"a": network.a, "b": network.b}
        wanted = {side: moments.uniform(0, 4 * DELAY) for side in (sides if asking == "both" else asking)}
        told = {side: moments.uniform(0, 8 * DELAY) for side in sides}
        for at, side, is_flow in sorted(
            [(at, s, False) for s, at in wanted.items()] + [(at, s, True) for s, at in told.items()]
        ):
            network.run(START + at - network.now)
            if is_flow:
                sides[side].endpoint.tcp(flows[side], network.now)
                network.collect()
            else:
                network.connect(sides[side])
        network.run(10)
        assert network.agree(), seed
        ways.add(network.a.entry().nonce_to_peer == b"of the flow:A")
    assert ways == {True, False}
