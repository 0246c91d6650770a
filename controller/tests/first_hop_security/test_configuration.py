"""Keys of first-hop security, and what is wrong with them."""

from __future__ import annotations

import re

import pytest
from first_hop_security.lan import lan
from rig import Rig

from wayname.composition.configuration import parse_config
from wayname.config.tables import ConfigError
from wayname.p4_constants import Guard

NEIGHBOUR = '\n[[neighbour]]\naddress = "{address}"\nmac = "{mac}"\n{port}'


def stanza(address: str = "2001:db8:100::1", mac: str = "02:00:00:00:00:64", port: str = "port = 4") -> str:
    return NEIGHBOUR.format(address=address, mac=mac, port=port)


def neighbour(address: str = "2001:db8:100::1", mac: str = "02:00:00:00:00:64", port: str = "port = 4") -> str:
    return lan(more=stanza(address, mac, port))


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        (neighbour(port=""), "neighbour[0].port: is missing"),
        (neighbour(port="port = 1"), "neighbour[0].port: port 1 is not in VLAN 100"),
        (neighbour(mac="03:00:00:00:00:64"), "names no single station"),
        (neighbour(address="2001:db8:7::1"), "is on no interface's prefix"),
        (neighbour(address="2001:db8:100::2"), "is isp's own address"),
        (
            neighbour() + stanza(mac="02:00:00:00:00:65"),
            "is there twice",
        ),
        (neighbour() + stanza("2001:db8:100::3", port="port = 5"), "is behind another port already"),
        (lan(ports="max_macs = 0"), "max_macs: is 0"),
        (lan(ports="max_addresses = 40000"), "max_addresses: is 40000"),
        (lan(ports='trusted = "yes"'), "trusted: is 'yes'"),
        (lan(site='source_prefixes = ["ff00::/8"]'), "is of groups"),
        (lan(site='source_prefixes = ["fd00::"]'), "it has no prefix length"),
    ],
)
def test_mistakes_are_told(config: str, wrong: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(wrong)):
        parse_config(config)


@pytest.mark.parametrize(
    ("key", "guard"),
    [
        ("source_guard", Guard.SOURCES),
        ("nd_inspection", Guard.NEIGHBOURS),
        ("ra_guard", Guard.ROUTERS),
        ("dhcpv6_guard", Guard.DHCPV6),
    ],
)
def test_each_guard_has_a_key(key: str, guard: Guard) -> None:
    rig = Rig(lan(site=f"{key} = false"))
    assert rig.edge.host_ports.guards(1, 10) == Guard(15) & ~guard


def test_a_port_among_routers_may_lead_to_hosts() -> None:
    config = lan().replace("number = 5\nvlan = 100", "number = 5\nvlan = 100\ntrusted = false")
    rig = Rig(config)
    assert rig.edge.host_ports.guards(5, 100) == Guard(15)
    assert not rig.edge.host_ports.guards(4, 100)


def test_where_the_router_is_not_nobody_knows_who_is() -> None:
    rig = Rig(lan().replace("vlan = 10\n\n[[port]]\nnumber = 4", "vlan = 30\n\n[[port]]\nnumber = 4"))
    assert rig.edge.host_ports.guards(3, 30) == Guard(0)
