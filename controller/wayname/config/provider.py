"""Providers: who gave the site a prefix, and by whom its packets leave."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Network as Network
from typing import Annotated

from wayname.config.checks import HopWeight, Name, NextHop, prefix, weighted_hops
from wayname.config.links import LinkAddress
from wayname.config.tables import Site, Table, mistake
from wayname.config.track import Track, TrackRules

MOST_TRACKED = 64

Prefix = Annotated[Network, prefix("2001:db8::/32")]


@dataclass(frozen=True, slots=True)
class Provider:
    """Who gave the site a prefix: what bears an address of it leaves by this provider (RFC 3704)."""

    name: str
    prefix: Network
    via: tuple[tuple[LinkAddress, int], ...]
    track: Track | None = None


class ProviderTable(Table):
    """A provider as it is written."""

    name: Name
    prefix: Prefix
    via: tuple[NextHop, ...]
    weights: tuple[HopWeight, ...] | None = None
    track: TrackRules | None = None

    def resolved(self, _site: Site) -> Provider:
        """Return it, if it may be there."""
        if self.prefix.is_multicast or self.prefix.is_link_local:
            wrong = f"{self.prefix} is given by no provider"
            raise mistake(wrong, "write the prefix that hosts have there", "prefix")
        if not self.via:
            raise mistake("is empty", "write the addresses of the provider's routers", "via")
        if self.prefix.prefixlen > MOST_TRACKED and self.track is not None:
            wrong = f"{self.prefix} has no room for an address that nobody can guess"
            raise mistake(wrong, f"a /{MOST_TRACKED} is the longest that can be tracked", "track")
        for index, target in enumerate(self.track.targets if self.track else ()):
            if target.address in self.prefix:
                wrong = f"{target.address} is in the provider's own prefix, which is here"
                raise mistake(wrong, "name somebody beyond the provider", "track", "targets", index)
        return Provider(self.name, self.prefix, weighted_hops(self.via, self.weights), self.track)
