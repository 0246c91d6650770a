"""Pairs of addresses without a session: which are worth one (RFC 5533, section 13)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from carriers import ipv6
from finsy.proto import p4r
from session_site import LOCAL, PROXIED, REMOTE, from_host, in_by
from session_site import Session as Kept
from session_switch import SessionSwitch
from site_switch import value_of

SECOND = 1_000_000
Make = Callable[..., SessionSwitch]


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda session, *more: SessionSwitch(session, *more, backend=request.param)


@pytest.mark.parametrize(
    ("octets", "seconds", "enough"),
    [
        pytest.param(2048, 0, (7, 6, 7 * 320), id="2048 octets: the seventh of 320"),
        pytest.param(0, 60, (61, 60, 61 * 320), id="60 seconds"),
        pytest.param(3200, 5, (6, 5, 6 * 320), id="whichever comes first"),
    ],
)
def test_a_pair_that_exchanges_enough_is_told_once(
    make: Make, octets: int, seconds: int, enough: tuple[int, int, int]
) -> None:
    switch = make(Kept())
    for table, key in (("proxied_sources", "source"), ("proxied_destinations", "destination")):
        switch.add(
            table,
            "proxy",
            {key: PROXIED},
            {"bytes": octets, "time": seconds * SECOND, "protocols": 1},
            p4r.Update.MODIFY,
        )
    peer = "2001:db8:f00::99"
    packet = ipv6(17, bytes(280), LOCAL, peer)
    told = {}
    for number in range(1, 100):
        assert len(switch.at(number * SECOND, 1, bytes(from_host(packet)))) == 1
        assert len(switch.at(number * SECOND, 4, bytes(in_by(4, ipv6(17, bytes(900), peer, LOCAL))))) == 1
        if pairs := switch.pairs():
            told[number] = pairs
    (number, age, sum_) = enough
    assert told == {number: [[value_of(LOCAL), value_of(peer), sum_, age * SECOND]]}
    assert len(switch.at(160 * SECOND, 1, bytes(from_host(packet)))) == 1
    switch.pairs()
    assert len(switch.at(165 * SECOND, 1, bytes(from_host(packet)))) == 1
    assert len(switch.pairs()) == (octets == 3200), "after a quiet minute it begins anew"


def test_pairs_with_a_session_and_those_of_others_are_not_watched(make: Make) -> None:
    switch = make(Kept())
    for table, key in (("proxied_sources", "source"), ("proxied_destinations", "destination")):
        switch.add(table, "proxy", {key: PROXIED}, {"bytes": 1, "time": 1, "protocols": 1}, p4r.Update.MODIFY)
    switch.sends(1)
    switch.at(2, 1, bytes(from_host(ipv6(17, bytes(280), "2001:db8:99::1", REMOTE))))
    switch.at(3, 1, bytes(from_host(ipv6(17, bytes(280), LOCAL, "2001:db8:1::12"))))
    assert switch.pairs() == []
    switch.at(4, 1, bytes(from_host(ipv6(17, bytes(280), LOCAL, "2001:db8:f00::99"))))
    assert len(switch.pairs()) == 1
