"""Two edges over a network that loses, doubles and delays, for many seeds; what must hold holds for each."""

from __future__ import annotations

import pytest
from ilnp.network import A1, A2, A_NID, B1, B2, B3, B_NID, Network, host, listed, ups

from wayname.ilnp.locators import LocalLocator
from wayname.ilnp.settings import Settings
from wayname.ilnp.states import State

SEEDS = 60
some_seeds = pytest.mark.parametrize("first", [0, 1000, 2000])


def bad_network(seed: int, settings: Settings | None = None, multihomed: bool = False) -> Network:
    """Return a network that loses a fifth, doubles a fifth, and delays packets beyond those behind them."""
    hosts = (host(A_NID, A1, A2), host(B_NID, B1, B2)) if multihomed else None
    network = Network(seed, settings, hosts=hosts)
    network.loss, network.duplication, network.lateness = 0.2, 0.2, 0.5
    return network


@pytest.mark.parametrize("octets", [4, 12])
@some_seeds
def test_one_socket_connected(octets: int, first: int) -> None:
    stood = 0
    for seed in range(first, first + SEEDS):
        network = bad_network(seed, Settings(nonce_octets=octets))
        network.connect(network.a)
        network.run(40)
        a, b = network.a.endpoint, network.b.endpoint
        if network.agree():
            stood += 1
            assert network.a.entry().state is State.ESTABLISHED, seed
            assert len(network.a.entry().nonce_to_peer) == len(network.b.entry().nonce_to_peer) == octets
        else:
            # Nobody keeps half of a session that could be used.
            assert len(a.cache) == 0, seed
            assert len(b.cache) <= 1, seed
    assert stood >= 0.9 * SEEDS


@some_seeds
def test_both_sockets_connected(first: int) -> None:
    stood = 0
    for seed in range(first, first + SEEDS):
        network = bad_network(seed)
        network.connect(network.a)
        network.run(seed % 4 * 0.2)
        network.connect(network.b)
        network.run(40)
        if len(network.a.endpoint.cache) == len(network.b.endpoint.cache) == 1:
            stood += 1
            assert network.agree(), seed
            assert network.a.entry().state is network.b.entry().state is State.ESTABLISHED, seed
    assert stood >= 0.9 * SEEDS


@some_seeds
def test_no_duplicate_or_late_message_makes_a_session_a_second_time(first: int) -> None:
    for seed in range(first, first + SEEDS):
        network = bad_network(seed)
        network.loss, network.duplication, network.lateness = 0.0, 0.9, 3.0
        network.connect(network.a)
        network.run(40)
        assert network.agree(), seed
        assert ups(network.a) == ups(network.b) == 1, seed


@some_seeds
def test_moves_end_with_both_knowing_the_truth(first: int) -> None:
    for seed in range(first, first + SEEDS):
        network = bad_network(seed, multihomed=True)
        network.connect(network.a, listed(B1, B2))
        network.run(40)
        if not network.agree():
            continue
        network.move(network.a, host(A_NID, LocalLocator(A1, draining=True), A2))
        network.run(seed % 5 * 0.3)
        network.move(network.a, host(A_NID, A2))
        network.run(seed % 3 * 0.4)
        network.move(network.b, host(B_NID, B2, B3))
        network.run(90)
        a, b = network.a.entry(), network.b.entry()
        assert set(b.peer_locators.known) == {A2}, seed
        assert set(a.peer_locators.known) == {B2, B3}, seed
        assert (a.source, b.destination) == (A2, A2), seed
        assert (b.source, a.destination) == (B2, B2), seed


@some_seeds
def test_a_host_that_goes_to_and_fro_is_found_in_the_end(first: int) -> None:
    for seed in range(first, first + SEEDS):
        network = bad_network(seed, multihomed=True)
        network.connect(network.a, listed(B1, B2))
        network.run(40)
        if not network.agree():
            continue
        for locator in (A1, A2, A1, A2, A1):
            network.move(network.a, host(A_NID, locator))
            network.run(seed % 7 * 0.1)
        network.run(90)
        assert list(network.b.entry().peer_locators.known) == [A1], seed
        assert network.b.entry().destination == A1, seed
