"""The hosts that the edge speaks for, and by which locators they can be reached now."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network

from wayname.ilnp.config import Ilnp, IlnpMode, IlnpSite
from wayname.ilnp.locators import Host, LocalLocator
from wayname.ilnp.vectors import L64, NID, Vector

FIRST_PREFERENCE = 10


def locator_of(prefix: IPv6Network) -> L64:
    """Return the locator that a prefix is."""
    return Vector.of(prefix.network_address).locator


class Sites:
    """Knows the sites of the configuration, and which of their providers work, or are about to be given up."""

    def __init__(
        self, config: Ilnp, is_open: Callable[[IPv6Address], bool], is_draining: Callable[[IPv6Address], bool]
    ) -> None:
        self._proxy_sites = [site for site in config.sites if site.mode is IlnpMode.PROXY]
        self._is_open = is_open
        self._is_draining = is_draining
        self._own = {locator_of(prefix) for site in config.sites for prefix in site.prefixes}
        self._last = {site: self._now(site) or self._all(site) for site in self._proxy_sites}

    def of(self, address: IPv6Address) -> IlnpSite | None:
        """Return the site whose hosts the edge speaks for, if an address is in it."""
        return next((site for site in self._proxy_sites if any(address in prefix for prefix in site.prefixes)), None)

    def is_inside(self, address: IPv6Address) -> bool:
        """Whether an address is in any site here."""
        return Vector.of(address).locator in self._own

    def addresses(self, address: IPv6Address) -> list[IPv6Address]:
        """Return what else the host may call itself that has an address of ours."""
        site, nid = self.of(address), Vector.of(address).nid
        return [Vector(locator_of(prefix), nid).address for prefix in site.prefixes] if site else []

    def host(self, own: IPv6Address) -> Host:
        """Return a host that has this address itself, with its locators as they are now."""
        site = self.of(own)
        if site is None:
            raise ValueError(f"{own} is in no site that the edge speaks for")
        there = Vector.of(own)
        # With no provider left nothing can be told, and the sessions stay as they are.
        self._last[site] = self._now(site) or self._last[site]
        return Host(NID(there.nid), self._last[site], there.locator)

    def _now(self, site: IlnpSite) -> tuple[LocalLocator, ...]:
        return tuple(one for prefix, one in self._each(site) if self._is_open(prefix.network_address))

    def _all(self, site: IlnpSite) -> tuple[LocalLocator, ...]:
        return tuple(one for _, one in self._each(site))

    def _each(self, site: IlnpSite) -> list[tuple[IPv6Network, LocalLocator]]:
        return [
            (
                prefix,
                LocalLocator(
                    locator_of(prefix),
                    FIRST_PREFERENCE * rank,
                    draining=self._is_draining(prefix.network_address),
                ),
            )
            for rank, prefix in enumerate(site.prefixes, 1)
        ]
