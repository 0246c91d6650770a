"""Malformed ESP of a host that speaks HIP: nearly its SPI, too short, in fragments, among other headers."""

from __future__ import annotations

import random

from carriers import HOP_BY_HOP, ROUTING, ipv6
from esp_site import ESP, OUR_SPI, PEERS_SPI, EspSession, spi
from malformed_headers import behind
from session_site import REMOTE, between, endpoint_policy
from site_switch import SiteSwitch

from small_site import HOST, Entry

ENCRYPTING = "2001:db8:d::1"
LOCATORS = ((ENCRYPTING, REMOTE), (REMOTE, ENCRYPTING))


def add_esp_session(switch: SiteSwitch) -> None:
    """A session on one path, whose host is neither spoken for nor of the site's other prefixes."""
    number = EspSession().number
    bears: dict[str, int | str] = {"source": ENCRYPTING, "destination": REMOTE, "vrf": 0, "spi": PEERS_SPI}
    came: dict[str, int | str] = {"session": number, "source": REMOTE, "destination": ENCRYPTING}
    for entry in (
        *endpoint_policy("transparent", "2001:db8:d::/48"),
        Entry("routes", {"destination": "2001:db8:d::/48"}, "route_connected", {"vlan": 1}),
        Entry("neighbours", {"vlan": 1, "address": ENCRYPTING}, "set_neighbour", {"port": 1, "mac": HOST[1]}),
        EspSession().identities(),
        spi(REMOTE, PEERS_SPI),
        spi(ENCRYPTING, OUR_SPI),
        Entry("paths", {"session": number, "path": 0}, "send_beet", bears),
        Entry("locator_pairs", came, "on_path", {"path": 0}),
    ):
        switch.add(entry.table, entry.action, entry.keys, entry.parameters)


def esp_packets(numbers: random.Random) -> bytes:
    """ESP in either direction, whole or cut, behind headers or not."""
    number = numbers.choice((OUR_SPI, PEERS_SPI, PEERS_SPI ^ 1 << numbers.randrange(32), numbers.getrandbits(32)))
    payload = number.to_bytes(4) + numbers.randbytes(4 + numbers.randrange(40))
    payload = payload[: numbers.choice((len(payload), len(payload), numbers.randrange(12)))]
    upper = ESP
    kind = numbers.choice((ESP, ESP, ESP, HOP_BY_HOP, ROUTING, 60, 44, 51, 140))
    payload, upper = behind(numbers, kind, payload, upper, REMOTE)
    if kind in (51, 140):
        payload, upper = (
            bytes([upper, 2 if kind == 51 else 0]) + numbers.randbytes(6 + 8 * (kind == 51)) + payload,
            kind,
        )
    here, there = numbers.choice(LOCATORS)
    if not numbers.randrange(4):
        here = numbers.choice(("2001:db8:bad::1", ENCRYPTING, REMOTE))
    return between(ipv6(upper, payload, REMOTE, ENCRYPTING), here, there)
