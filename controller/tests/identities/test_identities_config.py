"""What a configuration says of identities, and the one line about each mistake."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import pytest
from identities.site import FIXED, SITE, A, B, site

from wayname.composition.configuration import parse_config
from wayname.config.identities import Form, HostLink, Identities
from wayname.config.provider import Learned, LearnedPrefix, Phase
from wayname.config.tables import ConfigError

LEAST = SITE + '[identities]\n[[identities.link]]\ninterface = "site"\n'


def test_the_least_that_can_be_said() -> None:
    assert parse_config(LEAST, folder=Path("/etc/edge")).identities == Identities(
        key=Path("/etc/edge/keys/edge.pem"),
        bits=2048,
        form=Form.HBA,
        sec=1,
        prepared=16,
        # Two ports lead to the link.
        link=(HostLink(10, "site", (A, B, FIXED), max_hosts_per_port=2048),),
    )
    assert parse_config(SITE).identities is None


def test_what_can_be_said() -> None:
    config = parse_config(
        SITE
        + """
        [identities]
        key = "/keys/mine.pem"
        bits = 1024
        form = "cga"
        sec = 2
        prepared = 3
        [[identities.link]]
        interface = "site"
        prefixes = ["2001:db8:2:10::/64", "2001:db8:77:1::/64"]
        dhcp = false
        addresses = "all"
        preferred = 60
        valid = 120
        mapped = ["2001:db8:f:10::5/128"]
        uplinks = ["isp"]
        most = 9
        """
    )
    away, fixed = IPv6Network("2001:db8:77:1::/64"), IPv6Network("2001:db8:f:10::5/128")
    link = HostLink(10, "site", (B, away), False, True, 60, 120, (fixed,), (100,), 9, 4)
    assert config.identities == Identities(
        key=Path("/keys/mine.pem"), bits=1024, form=Form.CGA, sec=2, prepared=3, link=(link,)
    )
    assert config.identities.link(10) == link
    assert config.identities.link(100) is None


def test_what_is_mapped_hands_out_no_addresses() -> None:
    config = parse_config(LEAST + 'mapped = ["2001:db8:f:10::/64"]')
    assert config.identities is not None
    assert config.identities.links[0].prefixes == (A, B)


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (SITE + "[identities]", "identities.link: is missing; write [[identities.link]]"),
        (LEAST + '[[identities.link]]\ninterface = "site"\n', "identities.link[1].interface: site is there twice"),
        (LEAST.replace("[identities]", "[identities]\nsec = 4"), "identities.sec: is 4; write a number from 0 to 3"),
        (
            LEAST.replace("[identities]", "[identities]\nbits = 512"),
            "identities.bits: is 512; write a number from 1024",
        ),
        (LEAST.replace("[identities]", '[identities]\nform = "eui"'), "is 'eui'; write one of 'hba' or 'cga'"),
        (LEAST.replace("[identities]", "[identities]\nseck = 1"), "identities.seck: is not known; did you mean sec?"),
        (LEAST + 'prefixes = ["2001:db8:1:10::/63"]', "2001:db8:1:10::/63 is no /64 of hosts"),
        (LEAST + 'prefixes = ["2001:db8:1:10::5"]', "it has no prefix length"),
        (LEAST + 'prefixes = ["2001:db8:1:10::/64", "2001:db8:1:10::/64"]', "is there twice; give every prefix once"),
        (LEAST + 'prefixes = ["2001:db8:77::/64"]', "2001:db8:77::/64 is not on site; give site an address in it"),
        (LEAST + 'prefixes = ["2001:db8:1:10::/80"]', "is longer than /64"),
        (LEAST + "prefixes = []", "prefixes: are missing; give site an address with /64"),
        (LEAST + 'mapped = ["2001:db8:77::/64"]', "mapped[0]: 2001:db8:77::/64 is not on site"),
        (site('mapped = ["2001:db8:1:10::5/128"]'), "2001:db8:1:10::/64 is mapped too"),
        (LEAST + 'uplinks = ["site"]', "uplinks[0]: site is a link of hosts"),
        (LEAST + 'uplinks = ["nowhere"]', "there is no interface 'nowhere'; the interfaces are: site, isp"),
        (LEAST + "preferred = 900\nvalid = 600", "valid: is 600; write 900 at least"),
        (LEAST + "preferred = 1", "preferred: is 1; write a number from 60"),
        (LEAST + "speed = 1", "identities.link[0].speed: is not known"),
    ],
)
def test_a_mistake_is_one_line(text: str, mistake: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_config(text, "edge.toml")
    assert mistake in str(raised.value)
    assert "\n" not in str(raised.value)


DELEGATED = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
name = "site"
addresses = ["2001:db8:1:10::1/64", "<q>::10:0:0:0:1/64"]
[[interface]]
vlan = 20
name = "wan"
[[provider]]
name = "q"
prefix = "dhcpv6-pd"
interface = "wan"
[identities]
[[identities.link]]
interface = "site"
prefixes = [{prefixes}]
"""
Q, Q2 = (
    LearnedPrefix(IPv6Network(f"2001:db8:{number}::/48"), phase)
    for number, phase in ((2, Phase.ENDED), (3, Phase.PREFERRED))
)


@pytest.mark.parametrize(
    ("written", "given", "left"),
    [
        (("2001:db8:1:10::/64", "<q>::10:0:0:0:0/64"), (Q2, Q), ("2001:db8:1:10::/64", "2001:db8:3:10::/64")),
        (("<q>::10:0:0:0:0/64",), (Q2, Q), ("2001:db8:3:10::/64",)),
        # The link waits for another one.
        (("<q>::10:0:0:0:0/64",), (Q,), ()),
    ],
)
def test_a_prefix_that_has_ended_is_none_to_be_reached_in(
    written: tuple[str, ...], given: tuple[LearnedPrefix, ...], left: tuple[str, ...]
) -> None:
    config = parse_config(DELEGATED.format(prefixes=", ".join(f'"{each}"' for each in written)))
    assert config.again is not None
    learned = config.again({"q": Learned(given, (IPv6Address("fe80::1"),))})
    assert learned.identities is not None
    [link] = learned.identities.links
    assert link.prefixes == tuple(map(IPv6Network, left))
