"""What each side tells the other about keepalives, over a real set-up of a context."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from shim6.network import A1, B1, A, Network, host, trusting

from wayname.reap.keepalives import keepalive_interval, tell_send_timeout
from wayname.shim6.context import Known
from wayname.shim6.locators import learn
from wayname.shim6.options import KeepaliveTimeout, Option


@pytest.mark.parametrize(("send_timeout", "told"), [(15.0, None), (3.7, 3), (0.02, 1), (1e9, 0xFFFF)])
def test_another_send_timeout_than_the_usual_one_is_told(send_timeout: float, told: int | None) -> None:
    plain = host(A1)
    telling = tell_send_timeout(plain, send_timeout)
    assert telling.options == plain.options + ((KeepaliveTimeout(told),) if told else ())


def test_it_is_learnt_and_kept_until_something_else_is_told() -> None:
    known = learn(A1, (KeepaliveTimeout(6),), Known(frozenset({A1})))
    assert known.keepalive_timeout == 6
    assert learn(A1, (), known).keepalive_timeout == 6
    assert learn(A1, (KeepaliveTimeout(9),), known).keepalive_timeout == 9


@pytest.mark.parametrize(("asked", "interval"), [(None, 5.0), (3, 1.0), (60, 7.0), (0, 1 / 3)])
def test_keepalives_are_as_often_as_the_one_who_wants_more_of_them_says(asked: int | None, interval: float) -> None:
    known = replace(Known(frozenset({A1})), keepalive_timeout=asked)
    assert keepalive_interval(known, 7.0) == pytest.approx(interval)
    assert keepalive_interval(known, 0.1) == 0.1


def test_both_sides_know_after_the_set_up() -> None:
    def trusting_too(ulid: IPv6Address, options: tuple[Option, ...], known: Known) -> Known:
        told = learn(ulid, tuple(one for one in options if isinstance(one, KeepaliveTimeout)), known)
        return replace(trusting(ulid, options, known), keepalive_timeout=told.keepalive_timeout)

    hosts = tell_send_timeout(host(A1), 3.0), tell_send_timeout(host(B1), 4.0)
    network = Network(1, trusting_too, hosts)
    network.establish(network.a, A)
    network.drive()
    told = [next(iter(side.endpoint.contexts)).known.keepalive_timeout for side in (network.a, network.b)]
    assert told == [4, 3]
