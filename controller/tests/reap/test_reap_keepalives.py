"""What each side tells the other about keepalives, over a real set-up of a context."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from shim6.network import A1, B1, A, Network, host, trusting

from wayname.shim6.context import KnownPeer
from wayname.shim6.keepalives import agreed_send_timeout, keepalive_interval, tell_send_timeout
from wayname.shim6.locators import learn
from wayname.wire.shim6.options import ExactKeepaliveTimeout, KeepaliveTimeout, Option


@pytest.mark.parametrize(("send_timeout", "told"), [(15.0, None), (3.7, 4), (0.02, 1), (4000, 4000)])
def test_a_send_timeout_is_told_exactly_and_in_whole_seconds_if_it_is_not_the_usual_one(
    send_timeout: float, told: int | None
) -> None:
    plain = host(A1)
    telling = tell_send_timeout(plain, send_timeout)
    whole = (KeepaliveTimeout(told),) if told else ()
    assert telling.options == (*plain.options, *whole, ExactKeepaliveTimeout(round(send_timeout * 1e6)))


@pytest.mark.parametrize("option", [KeepaliveTimeout, ExactKeepaliveTimeout])
def test_it_is_learnt_and_kept_until_something_else_is_told(
    option: type[KeepaliveTimeout | ExactKeepaliveTimeout],
) -> None:
    def told(known: KnownPeer) -> set[Option | None]:
        return {known.keepalive_timeout, known.exact_keepalive_timeout}

    known = learn(A1, (option(6),), KnownPeer(frozenset({A1})))
    assert told(known) == told(learn(A1, (), known)) == {option(6), None}
    assert told(learn(A1, (option(9),), known)) == {option(9), None}


@pytest.mark.parametrize(("configured", "others"), [(15.0, 15.0), (0.2, 1.0), (2.5, 3.0)])
def test_who_is_told_whole_seconds_only_gets_them(configured: float, others: float) -> None:
    known = KnownPeer(frozenset({A1}))
    assert agreed_send_timeout(known, configured) == others
    assert agreed_send_timeout(replace(known, keepalive_timeout=KeepaliveTimeout(1)), configured) == others
    exact = replace(known, exact_keepalive_timeout=ExactKeepaliveTimeout(15_000_000))
    assert agreed_send_timeout(exact, configured) == configured


def test_exact_times_count_more_than_whole_seconds() -> None:
    timeouts = KeepaliveTimeout(1), ExactKeepaliveTimeout(30_000)
    known = KnownPeer(frozenset({A1}), None, None, None, *timeouts)
    assert keepalive_interval(known, 5.0) == pytest.approx(0.01)


@pytest.mark.parametrize(("asked", "interval"), [(None, 5.0), (3, 1.0), (60, 7.0), (0, 1 / 3)])
def test_keepalives_are_as_often_as_the_one_who_wants_more_of_them_says(asked: int | None, interval: float) -> None:
    timeout = KeepaliveTimeout(asked) if asked is not None else None
    known = replace(KnownPeer(frozenset({A1})), keepalive_timeout=timeout)
    assert keepalive_interval(known, 7.0) == pytest.approx(interval)
    assert keepalive_interval(known, 0.1) == 0.1


def test_both_sides_know_after_the_set_up() -> None:
    def trusting_too(ulid: IPv6Address, options: tuple[Option, ...], known: KnownPeer) -> KnownPeer:
        told = learn(ulid, tuple(one for one in options if isinstance(one, ExactKeepaliveTimeout)), known)
        return replace(trusting(ulid, options, known), exact_keepalive_timeout=told.exact_keepalive_timeout)

    hosts = tell_send_timeout(host(A1), 0.3), tell_send_timeout(host(B1), 4.0)
    network = Network(1, trusting_too, hosts)
    network.establish(network.a, A)
    network.drive()
    told = [next(iter(side.endpoint.contexts)).known.exact_keepalive_timeout for side in (network.a, network.b)]
    assert told == [ExactKeepaliveTimeout(4_000_000), ExactKeepaliveTimeout(300_000)]
