"""Policies: count, rate of a prefix, resources."""

from __future__ import annotations

import random

import pytest
from ilnp.network import A1, B1, B2, M1, Network, gones

from wayname.ilnp.cache import Names
from wayname.ilnp.config import IDLE_TIME
from wayname.ilnp.policies import AdmissionRequest, Count, PrefixRate, Resources
from wayname.ilnp.settings import Settings
from wayname.ilnp.vectors import L64, NID, Vector


def wish(locator: L64 = A1, nid: int = 1, sessions: int = 0) -> AdmissionRequest:
    return AdmissionRequest(Names(NID(2), NID(nid)), Vector(locator, NID(nid)), sessions)


def test_count() -> None:
    policy = Count(2)
    assert policy.refusal(wish(sessions=1), 0.0) is None
    assert policy.refusal(wish(sessions=2), 0.0) == "there are 2 sessions, and 2 is the most"


def test_resources() -> None:
    used = [0.5]
    policy = Resources(lambda: used[0], most=0.8)
    assert policy.refusal(wish(), 0.0) is None
    used[0] = 0.85
    assert policy.refusal(wish(), 0.0) == "85% of the resources are used, and 80% is the most"


def test_rate_with_a_burst() -> None:
    policy = PrefixRate(random.Random(1), rate=2, burst=3)
    admitted = 0
    for at in (0.0, 0.0, 0.0, 0.0, 0.4, 0.5, 0.6, 100.0, 100.0, 100.0, 100.0):
        if policy.refusal(wish(nid=admitted), at) is None:
            policy.granted(wish(nid=admitted), at)
            admitted += 1
    assert admitted == 3 + 1 + 3


def test_a_wish_that_is_not_granted_takes_nothing() -> None:
    policy = PrefixRate(random.Random(1), rate=0, burst=1)
    for _ in range(5):
        assert policy.refusal(wish(), 0.0) is None


def test_locators_of_one_prefix_share_a_rate_and_those_of_another_do_not() -> None:
    policy = PrefixRate(random.Random(1), rate=0, burst=1, bits=48)
    policy.granted(wish(B1), 0.0)
    assert policy.refusal(wish(B2), 0.0) is not None
    assert policy.refusal(wish(M1), 0.0) is None
    narrow = PrefixRate(random.Random(1), rate=0, burst=1, bits=64)
    narrow.granted(wish(B1), 0.0)
    assert narrow.refusal(wish(B2), 0.0) is None


@pytest.mark.parametrize("bits", [0, 65])
def test_prefixes_that_a_locator_does_not_have(bits: int) -> None:
    with pytest.raises(ValueError, match="1 to 64"):
        PrefixRate(random.Random(1), 1, 1, bits)


def test_a_session_that_is_idle_makes_room() -> None:
    network = Network(policies=[Count(1)])
    network.establish()
    network.run(IDLE_TIME + 1)
    assert gones(network.b)
    network.connect(network.a)
    network.run(1)
    assert network.agree()


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="nonces of 8 octets"):
        Settings(nonce_octets=8)
    with pytest.raises(ValueError, match="a cache for 0 sessions"):
        Settings(capacity=0)
