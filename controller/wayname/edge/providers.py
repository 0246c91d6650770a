"""Providers: by which one a packet leaves, decided by the address that it bears (RFC 3704, section 2.3)."""

from __future__ import annotations

import zlib
from ipaddress import IPv6Address, IPv6Network

from wayname.config.links import Refusal
from wayname.config.model import Config, Provider, Route
from wayname.config.provider import Phase

DEFAULT = IPv6Network("::/0")
# Tables of providers are numbered from here on, so that people may give their own route tables small numbers.
FIRST_TABLE = 0x8000


class Providers:
    """Knows the providers and the number of each one's route table."""

    def __init__(self, config: Config) -> None:
        self.tables: dict[Provider, int] = {}
        for provider in sorted(config.providers, key=lambda each: each.prefix):
            number = zlib.crc32(str(provider.prefix).encode()) % FIRST_TABLE
            while FIRST_TABLE + number in self.tables.values():
                number = (number + 1) % FIRST_TABLE
            self.tables[provider] = FIRST_TABLE + number

    def of(self, address: IPv6Address) -> Provider | None:
        """Return the provider of an address."""
        return next((each for each in self.tables if address in each.prefix), None)

    def table_of(self, address: IPv6Address) -> int:
        """Return the route table of packets from an address; 0 is the main one."""
        return next((table for provider, table in self.tables.items() if address in provider.prefix), 0)

    def routes(self, config: Config) -> list[tuple[int, Route]]:
        """Return the routes of providers' tables: what is inside stays as it is, all else leaves by the provider."""
        hops = {hop for provider in self.tables for hop, _ in provider.via}
        inside = [
            route
            for route in config.routes
            if route.prefix != DEFAULT and not (route.via and all(hop in hops for hop, _ in route.via))
        ]
        return [(table, route) for provider, table in self.tables.items() for route in (*inside, _default_of(provider))]


def _default_of(provider: Provider) -> Route:
    """Return by whom what bears its prefix leaves; of one that has ended the sender is told (RFC 7084, L-14)."""
    if provider.phase is Phase.ENDED:
        return Route(DEFAULT, refusal=Refusal.PROHIBITED)
    return Route(DEFAULT, provider.via)
