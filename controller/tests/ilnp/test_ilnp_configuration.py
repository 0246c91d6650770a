"""What a configuration may say of ILNP, and what is wrong with it in one line."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest

from wayname.composition.configuration import parse_config
from wayname.config.names import NamedNode
from wayname.config.tables import ConfigError
from wayname.ilnp.config import SECTION, IlnpMode, NonceUse, TcpAdmission

SITE = '[[ilnp.site]]\nprefixes = ["2001:db8:101:10::/64", "2001:db8:201:10::/64"]\n'
NAMES = '[ilnp.names]\nserver = "::1"\nzone = "a.example"\n'


def test_without_a_table_there_is_none() -> None:
    assert SECTION.of(parse_config("")) is None


def test_what_is_not_said_has_a_default() -> None:
    ilnp = SECTION.of(parse_config("[ilnp]\ncapacity = 1000\n" + SITE))
    assert ilnp is not None
    assert (ilnp.nonce_octets, ilnp.nonce_use, ilnp.naive, ilnp.names) == (12, NonceUse.ALWAYS, False, None)
    assert (ilnp.policies.count, ilnp.policies.rate, ilnp.sites[0].mode) == (900, 100.0, IlnpMode.PROXY)


BORDER = """
[[port]]
number = 1
vlan = 1
[[port]]
number = 2
vlan = 2
[[interface]]
vlan = 1
addresses = ["fd12:3456:789a:10::1/64"]
[[interface]]
vlan = 2
addresses = ["2001:db8:0:1::2/64"]
[[provider]]
name = "p"
prefix = "2001:db8:101::/{bits}"
via = ["2001:db8:0:1::1"]
[[nptv6]]
inside = "fd12:3456:789a::/48"
[ilnp]
[[ilnp.site]]
prefixes = {prefixes}
mode = "border"
"""


def test_a_border_changes_the_locators_of_hosts() -> None:
    ilnp = SECTION.of(parse_config(BORDER.format(bits=48, prefixes='["fd12:3456:789a:10::/64"]')))
    assert ilnp is not None and [site.mode for site in ilnp.sites] == [IlnpMode.BORDER]


@pytest.mark.parametrize(
    ("bits", "prefixes", "wrong"),
    [
        (48, '["fd12:3456:789b:10::/64"]', "fd12:3456:789b:10::/64 is translated at no border"),
        (48, '["fd12:3456:789a:10::/64", "fd12:3456:789a:11::/64"]', "hosts inside a border have one locator"),
        (56, '["fd12:3456:789a:10::/64"]', "identifiers stay as they are if"),
    ],
)
def test_a_border_that_cannot_be(bits: int, prefixes: str, wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        parse_config(BORDER.format(bits=bits, prefixes=prefixes))


def test_what_admits_tcp_can_be_said() -> None:
    text = '[ilnp]\nilnp_prefixes = ["2001:db8:102::/48"]\n' + SITE + 'tcp = "request"\n'
    ilnp = SECTION.of(parse_config(text))
    assert ilnp is not None and ilnp.sites[0].tcp is TcpAdmission.REQUEST
    assert [str(prefix) for prefix in ilnp.ilnp_prefixes] == ["2001:db8:102::/48"]


def test_all_can_be_said() -> None:
    text = '[ilnp]\nnonce = "short"\nnonce_use = "at-first"\nnaive = true\n[ilnp.admission]\nrate = 0\ncount = 5\n'
    text += (
        SITE + 'mode = "transparent"\n' + NAMES + 'network = "net.a.example"\nkey_name = "k.example"\nkey = "aGk="\n'
    )
    text += '[[ilnp.names.host]]\naddress = "2001:db8:101:10::5"\nname = "h.a.example"\n'
    text += '[[ilnp.names.peer]]\naddress = "2001:db8:f::5"\nname = "p.example"\n'
    ilnp = SECTION.of(parse_config(text))
    assert ilnp is not None and ilnp.names is not None
    assert (ilnp.nonce_octets, ilnp.nonce_use, ilnp.policies.rate) == (4, NonceUse.AT_FIRST, None)
    assert (ilnp.names.key, ilnp.names.network, ilnp.names.port) == (b"hi", "net.a.example", 53)
    assert ilnp.names.hosts == (NamedNode(address=IPv6Address("2001:db8:101:10::5"), name="h.a.example"),)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[ilnp]\n", "ilnp.site: is missing"),
        ("[ilnp]\nnounce = 1\n" + SITE, "nounce: is not known; did you mean nonce?"),
        ('[ilnp]\nnonce = "medium"\n' + SITE, "write one of 'short', 'long'"),
        ('[ilnp]\n[[ilnp.site]]\nprefixes = ["2001:db8::/48"]\n', "2001:db8::/48 is no /64 of hosts"),
        ("[ilnp]\n[[ilnp.site]]\nprefixes = []\n", "prefixes: has 0"),
        ("[ilnp]\n" + SITE + SITE, "is there twice"),
        (
            '[ilnp]\nilnp_prefixes = ["2001:db8:101:10::/64"]\n' + SITE,
            "ilnp_prefixes[0]: 2001:db8:101:10::/64 is there twice",
        ),
        ('[ilnp]\nilnp_prefixes = ["x"]\n' + SITE, "write a prefix of peers"),
        ("[ilnp]\n" + SITE + 'tcp = "syn"\n', "write one of 'handshake' or 'request'"),
        ('[[shim6]]\nprefixes = ["2001:db8:101:10::/64"]\n[ilnp]\n' + SITE, "is there twice"),
        ("[ilnp]\ncapacity = 10\n[ilnp.admission]\ncount = 11\n" + SITE, "write a number from 1 to 10"),
        ("[ilnp]\n" + SITE + NAMES + 'key_name = "k"\n', "ilnp.names.key: is missing"),
        ("[ilnp]\n" + SITE + NAMES + 'key_name = "k"\nkey = "!"\n', "in base64"),
        ("[ilnp]\n" + SITE + NAMES + 'network = "net.b.example"\n', "net.b.example is not in a.example"),
        (
            "[ilnp]\n" + SITE + NAMES + '[[ilnp.names.host]]\naddress = "::5"\nname = "h.a.example"\n',
            "::5 is in no site",
        ),
        ("[ilnp]\n" + SITE + NAMES + '[[ilnp.names.peer]]\naddress = "::5"\nname = "a..b"\n', "is no name"),
    ],
)
def test_what_is_wrong_is_one_line(text: str, wrong: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(text)
    assert wrong in str(error.value)
    assert all(line.startswith("configuration: ") for line in str(error.value).splitlines())
