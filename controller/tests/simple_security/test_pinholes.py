"""Simple security: what the configuration says, what the switch holds, and pinholes that outlive the controller."""

from __future__ import annotations

from ipaddress import IPv6Network
from pathlib import Path

import finsy as fy
import pytest
from nptv6_site import INSIDE, SITE
from rig import Rig

from wayname.composition.configuration import parse_config
from wayname.config.simple_security import Filtering, Pinhole
from wayname.config.tables import ConfigError
from wayname.edge.boundary import SetPinhole

NPTV6 = SITE + "[[nptv6]]\n" + INSIDE
SERVER = IPv6Network("fd12:3456:789a:10::80")
PINHOLE = '[[pinhole]]\ninside = "fd12:3456:789a:10::80"\nprotocol = "tcp"\nports = "443"\n'


def entries(rig: Rig, table: str) -> list[fy.P4TableEntry]:
    return [each for each in rig.read() if isinstance(each, fy.P4TableEntry) and each.table_id == table]


def test_it_is_on_where_there_is_nptv6_and_off_elsewhere() -> None:
    assert parse_config(NPTV6, "edge.toml", Path()).filters_inbound
    assert not parse_config(SITE, "edge.toml", Path()).filters_inbound
    off = parse_config(NPTV6 + "[simple_security]\nenabled = false\n", "edge.toml", Path())
    assert not off.filters_inbound
    assert len(entries(Rig(NPTV6), "simple_security")) == 2
    assert not entries(Rig(NPTV6 + "[simple_security]\nenabled = false\n"), "simple_security")


def test_filtering_and_pinholes_are_read() -> None:
    text = NPTV6 + '[simple_security]\nfiltering = "address-dependent"\n' + PINHOLE
    config = parse_config(text, "edge.toml", Path())
    assert config.simple_security.filtering is Filtering.ADDRESS_DEPENDENT
    assert config.pinholes == (Pinhole(SERVER, 6, (443, 443)),)
    (entry,) = entries(Rig(text), "pinholes")
    assert (entry["local"], entry["next_header"], entry["local_port"]) == (
        (int(SERVER.network_address), (1 << 128) - 1),
        (6, 255),
        (443, 443),
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SITE + "[simple_security]\nenabled = true\n", "simple_security.enabled: there is no border to filter at"),
        (NPTV6 + '[[pinhole]]\ninside = "2001:db8:101::1"\n', "no host inside has an address in 2001:db8:101::1/128"),
        (NPTV6 + '[[pinhole]]\ninside = "fd12:3456:789a::/64"\nports = "1"\n', "needs a protocol with ports"),
        (NPTV6 + PINHOLE + PINHOLE, "fd12:3456:789a:10::80/128 tcp 443 is there twice"),
        (NPTV6 + "[simple_security]\nenabled = false\n" + PINHOLE, "nothing is filtered, so it opens nothing"),
        (NPTV6 + '[simple_security]\nfiltering = "all"\n', "simple_security.filtering"),
    ],
)
def test_mistakes_are_told_with_the_mend(text: str, line: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(text, "edge.toml", Path())
    (told,) = error.value.lines
    assert line in told and told.startswith("edge.toml: ")


def test_a_pinhole_that_was_opened_is_there_for_the_next_controller_until_it_is_closed() -> None:
    rig = Rig(NPTV6 + PINHOLE)
    live = Pinhole(IPv6Network("fd12:3456:789a:20::/64"), 17)
    rig.receive(SetPinhole(live, opened=True))
    assert len(entries(rig, "pinholes")) == 2
    rig.restart_controller()
    assert rig.edge.simple_security.pinholes == [Pinhole(SERVER, 6, (443, 443)), live]
    assert rig.edge.simple_security.is_live(live)
    assert len(entries(rig, "pinholes")) == 2
    rig.receive(SetPinhole(live, opened=False))
    assert len(entries(rig, "pinholes")) == 1
    rig.restart_controller()
    assert rig.edge.simple_security.pinholes == [Pinhole(SERVER, 6, (443, 443))]
    opened = [event.text for event in rig.events if event.kind.startswith("pinhole")]
    assert opened == [
        "anybody may begin flows to fd12:3456:789a:20::/64 udp",
        "only the inside begins flows of fd12:3456:789a:20::/64 udp",
    ]
