"""Prefixes of sites and providers.

2001:db8:SITE::/48                 of a site, unless its lab speaks Shim6, HIP or ILNP
2001:db8:PROVIDER:SITE...::/48     PROVIDER and two digits of SITE in one group: what a provider gave to a site
2001:db8:PROVIDER:A0+SITE::/48     what it gives later where it delegates; A0+SITE in hexadecimal digits
2001:db8:PROVIDER00::/40           all that a provider gives
of its description                 of a site that has another prefix inside
"""

from ipaddress import IPv6Network

from wayname_lab.model import Lab

SITES_OF_PROVIDER = 100
# Sites have decimal digits, so this is no site's.
LATER = 0xA0


class Numbering:
    """Which prefixes a lab's nodes have; sites and providers are numbered in the file's order."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._sites = {edge.name: number for number, edge in enumerate(lab.edges, 1)}
        self._providers = {provider.name: number for number, provider in enumerate(lab.providers, 1)}

    def site(self, edge: str) -> int:
        """Return a site's number."""
        return self._sites[edge]

    def providers_of(self, edge: str) -> list[str]:
        """Return the providers that give a site its prefixes, the first link first; none if it has its own."""
        if not self._lab.is_multihomed and self.inside(edge) is None:
            return []
        ends = [{link.a, link.b} for link in self._lab.links]
        return [name for pair in ends if edge in pair for name in pair - {edge} if name in self._providers]

    def inside(self, edge: str) -> IPv6Network | None:
        """Return the prefix that a site has inside, if it is another one than outside."""
        return next(router.inside for router in self._lab.edges if router.name == edge)

    def given(self, provider: str, edge: str) -> IPv6Network:
        """Return what a provider gave to a site."""
        return IPv6Network(f"2001:db8:{self._providers[provider]}{self._sites[edge]:02}::/48")

    def given_later(self, provider: str, edge: str) -> IPv6Network:
        """Return what a provider that delegates gives to a site in place of the first prefix."""
        return IPv6Network(f"2001:db8:{self._providers[provider]}{LATER + self._sites[edge]:02x}::/48")

    def aggregate(self, provider: str) -> IPv6Network:
        """Return all that a provider gives."""
        return IPv6Network(f"2001:db8:{self._providers[provider]}00::/40")

    def site_prefixes(self, edge: str) -> list[IPv6Network]:
        """Return the prefixes of a site, but those that providers advertise while the lab runs."""
        if inside := self.inside(edge):
            return [inside]
        advertised = {said.provider for said in self._lab.advertisements if said.site == edge}
        given = [self.given(provider, edge) for provider in self.providers_of(edge) if provider not in advertised]
        return given or [IPv6Network(f"2001:db8:{self._sites[edge]}::/48")]

    def subnets(self, edge: str, vlan: int) -> list[IPv6Network]:
        """Return the prefixes of a site's VLAN, one of each of the site's."""
        return [_subnet(prefix, vlan) for prefix in self.site_prefixes(edge)]

    def advertised(self, provider: str, edge: str, vlan: int) -> IPv6Network:
        """Return what a provider advertises for a site's VLAN."""
        return _subnet(self.given(provider, edge), vlan)


def _subnet(prefix: IPv6Network, vlan: int) -> IPv6Network:
    return IPv6Network((int(prefix.network_address) + (int(str(vlan), 16) << 64), 64))
