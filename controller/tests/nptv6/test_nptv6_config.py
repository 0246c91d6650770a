"""`[[nptv6]]`: what it becomes, and the one line about each mistake."""

from __future__ import annotations

from ipaddress import IPv6Network

import pytest
from nptv6_site import INSIDE, SITE

from wayname.composition.configuration import parse_config
from wayname.config.nptv6 import Nptv6, Nptv6Policy
from wayname.config.tables import ConfigError


def read(text: str) -> tuple[Nptv6, ...]:
    return parse_config(SITE + text).translations


def test_what_is_said_and_what_is_not() -> None:
    inside = IPv6Network("fd12:3456:789a::/48")
    assert read("") == ()
    assert read("[[nptv6]]\n" + INSIDE) == (Nptv6(inside, (("p", 1), ("q", 1)), 5.0),)
    policy = """
    [[nptv6.policy]]
    local = "fd12:3456:789a:10::11"
    remote = "2001:db8:f00::/48"
    protocol = "tcp"
    local_ports = "1000-1999"
    remote_ports = "443"
    providers = ["q"]
    """
    [found] = read("[[nptv6]]\n" + INSIDE + 'providers = ["q", "p"]\nweights = [3, 0]\nhold = 0\n' + policy)
    assert (found.shares, found.hold) == ((("q", 3), ("p", 0)), 0.0)
    host, peers = IPv6Network("fd12:3456:789a:10::11"), IPv6Network("2001:db8:f00::/48")
    assert found.policies == (Nptv6Policy((("q", 1),), host, peers, 6, (1000, 1999), (443, 443)),)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('inside = "fd12:3456:789a::/96"', "is longer than /64"),
        ('inside = "fd12::/48"', "no interface has an address in fd12::/48"),
        ('inside = "2001:db8::/32"', "is more than 2001:db8:101::/48 of p"),
        (INSIDE + 'providers = ["r"]', "there is no provider 'r'; known here: p, q"),
        (INSIDE + 'providers = ["p", "p"]', "'p' is there twice"),
        (INSIDE + "providers = []", "is empty"),
        (INSIDE + "weights = [1]", "has 1 numbers for 2 providers"),
        (INSIDE + "weights = [0, 0]", "are all 0"),
        (INSIDE + "weights = [1, 256]", "weights[1]: is 256"),
        (INSIDE + "hold = -1", "hold: is -1"),
        (INSIDE + "[[nptv6.policy]]\nremote_ports = '443'", "needs a protocol with ports"),
        (INSIDE + "[[nptv6.policy]]\nprotocol = 'tcp'\nremote_ports = '9-3'", "ports go up from 0 to 65535"),
        (INSIDE + "[[nptv6.policy]]\nlocal = 'here'", "write an address, or PREFIX/LENGTH"),
        (INSIDE + "[[nptv6.policy]]\nproviders = ['r']", "nptv6[0].policy[0].providers[0]"),
        (INSIDE + "[[nptv6]]\n" + INSIDE, "overlaps fd12:3456:789a::/48"),
        (INSIDE + "holds = 3", "did you mean hold?"),
    ],
)
def test_mistakes_are_told_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read("[[nptv6]]\n" + text)
    assert complaint in str(caught.value)
    assert all(line.startswith("configuration: ") for line in str(caught.value).splitlines())
