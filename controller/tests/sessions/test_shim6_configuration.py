"""What a configuration says of providers and Shim6, and the one line about each mistake."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest

from wayname.composition.configuration import parse_config
from wayname.config.model import LinkAddress
from wayname.config.session_rules import ProxyMode
from wayname.config.tables import ConfigError
from wayname.shim6.config import SECTION
from wayname_lab.identities import provable_address

SITE = """
[[port]]
number = 1
vlan = 10
[[interface]]
vlan = 10
addresses = ["2001:db8:1:10::1/64"]
"""
PROVIDER = SITE + '[[provider]]\nname = "p"\n'
PREFIXES = [IPv6Network("2001:db8:1:10::/64"), IPv6Network("2001:db8:2:10::/64")]
SHIM6 = SITE + '[[shim6]]\nprefixes = ["2001:db8:1:10::/64", "2001:db8:2:10::/64"]\n'
ADDRESS, PARAMETERS = provable_address("h", PREFIXES)
HOST = SHIM6 + f'[[shim6.host]]\naddress = "{ADDRESS}"\n'
PROOF = f'parameters = "{PARAMETERS.encode().hex()}"\n'


def test_what_can_be_said() -> None:
    config = parse_config(
        SITE
        + """
        [[provider]]
        name = "p"
        prefix = "2001:db8:1::/48"
        via = ["2001:db8:1:10::2"]
        [[shim6]]
        prefixes = ["2001:db8:9:10::/64"]
        mode = "verify"
        """
        + SHIM6.removeprefix(SITE)
        + """
        send_timeout = 0.06
        bytes = 0
        seconds = 5
        hold = false
        """
        + HOST.removeprefix(SHIM6)
        + PROOF
    )
    [provider] = config.providers
    assert (provider.name, provider.prefix) == ("p", IPv6Network("2001:db8:1::/48"))
    assert provider.via == ((LinkAddress(10, IPv6Address("2001:db8:1:10::2")), 1),)
    verify, proxy = SECTION.of(config) or ()
    assert (verify.mode, verify.prefixes) == (ProxyMode.VERIFY, (IPv6Network("2001:db8:9:10::/64"),))
    assert (proxy.mode, proxy.send_timeout, proxy.bytes, proxy.seconds) == (ProxyMode.PROXY, 0.06, 0, 5.0)
    assert proxy.keepalive == pytest.approx(0.02)  # three in a send timeout
    assert not proxy.hold
    assert [host.address for host in proxy.hosts] == [ADDRESS]


def test_what_nobody_says() -> None:
    [shim6] = SECTION.of(parse_config(SHIM6)) or ()
    assert (shim6.mode, shim6.send_timeout, shim6.keepalive) == (ProxyMode.PROXY, 15.0, 5.0)
    assert (shim6.bytes, shim6.seconds, shim6.hold, shim6.hosts) == (2048, 60.0, True, ())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PROVIDER, "provider[0].prefix: is missing; write prefix = ... (a text)"),
        (PROVIDER + 'prefix = "2001:db8:1::/48"\nvia = []', "provider[0].via: is empty; write the addresses of"),
        (
            PROVIDER + 'prefix = "2001:db8:1::/48"\nvia = ["2001:db8:7::1"]',
            "provider[0].via[0]: 2001:db8:7::1 is on",
        ),
        (SITE + "[[shim6]]\nprefixes = []", "shim6[0].prefixes: has 0; write 1 to 10"),
        (SITE + '[[shim6]]\nprefixes = ["2001:db8::/48"]', "shim6[0].prefixes[0]: 2001:db8::/48 is no /64 of hosts"),
        (
            SHIM6 + '[[shim6]]\nprefixes = ["2001:db8:2:10::/64"]',
            "shim6[1].prefixes[0]: 2001:db8:2:10::/64 is there",
        ),
        (SHIM6 + 'mode = "porxy"', "shim6[0].mode: is 'porxy'; write one of 'proxy', 'transparent' or 'verify'"),
        (SHIM6 + 'mode = "verify"\nhold = true', "shim6[0].hold: is not known; known here: mode, prefixes"),
        (SHIM6 + "send_timeout = 0", "shim6[0].send_timeout: is 0.0; write a number from 0.01 to 4000"),
        (SHIM6 + "keepalive = 15", "shim6[0].keepalive: is 15; write less than send_timeout, which is 15"),
        (SHIM6 + '[[shim6.host]]\naddress = "2001:db8:3::1"', "shim6[0].host[0].address: 2001:db8:3::1 is in none of"),
        (HOST + 'parameters = "xy"', "shim6[0].host[0].parameters: 'xy' is wrong"),
        (HOST + 'parameters = "00"', f"shim6[0].host[0].parameters: do not prove {ADDRESS} (CGA Parameters have more"),
        (HOST + PROOF.replace("00", "01"), f"shim6[0].host[0].parameters: do not prove {ADDRESS} ("),
        (HOST + PROOF + HOST.removeprefix(SHIM6) + PROOF, f"shim6[0].host[1].address: {ADDRESS} is there twice"),
    ],
)
def test_mistakes(text: str, line: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(text, "edge.toml")
    assert str(error.value).startswith(f"edge.toml: {line}")
    assert all(line.startswith("edge.toml: ") for line in str(error.value).splitlines())


def test_a_send_timeout_may_follow_the_round_trips() -> None:
    (shim6,) = SECTION.of(parse_config(SHIM6 + 'send_timeout = "auto"')) or ()
    assert (shim6.min_send_timeout, shim6.send_timeout, shim6.told_send_timeout) == (0.1, 15.0, 0.1)
    (shim6,) = (
        SECTION.of(parse_config(SHIM6 + 'send_timeout = "auto"\nmin_send_timeout = 0.2\nmax_send_timeout = 2')) or ()
    )
    assert (shim6.min_send_timeout, shim6.send_timeout) == (0.2, 2.0)
    with pytest.raises(ConfigError, match="min_send_timeout"):
        parse_config(SHIM6 + "min_send_timeout = 0.2")
