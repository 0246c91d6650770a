"""Which providers can be used, and why one cannot: the one answer for all that choose among them."""

from __future__ import annotations

from collections.abc import Iterable

from wayname.config.model import Provider
from wayname.config.provider import Phase
from wayname.edge.routes import Routes


class ProviderReachability:
    """Joins what is known of providers' next hops and what their targets say (`tracking`).

    Where no provider reaches its targets, targets prove nothing of any: all whose next hops answer are used.
    """

    def __init__(self, providers: Iterable[Provider], routes: Routes) -> None:
        self._providers = tuple(providers)
        self._routes = routes
        self._unreached: dict[Provider, str] = {}

    def has_next_hop(self, provider: Provider) -> bool:
        """Whether not all next hops of a provider are down."""
        return any(not self._routes.is_down(hop) for hop, _ in provider.via)

    def is_open(self, provider: Provider) -> bool:
        """Whether a provider can be used."""
        if provider.phase is Phase.ENDED or not self.has_next_hop(provider):
            return False
        return not self._unreached or provider not in self._unreached or self.is_last_resort

    def is_one_way(self, provider: Provider) -> bool:
        """Whether a provider's next hops are down, and yet what goes by one of them arrives."""
        one_way = any(self._routes.is_one_way(hop) for hop, _ in provider.via)
        return one_way and provider.phase is not Phase.ENDED and not self.has_next_hop(provider)

    @property
    def is_last_resort(self) -> bool:
        """Whether no provider reaches its targets."""
        used = (each for each in self._providers if each.phase is not Phase.ENDED)
        return not any(self.has_next_hop(each) and each not in self._unreached for each in used)

    def why_closed(self, provider: Provider) -> str:
        """Return what is wrong with a provider, in words; nothing if all is well."""
        if provider.phase is Phase.ENDED:
            return f"its prefix {provider.prefix} has ended"
        if not self.has_next_hop(provider):
            hops = ", ".join(str(hop) for hop, _ in provider.via)
            return f"{hops} {'does' if len(provider.via) == 1 else 'do'} not answer"
        return self._unreached.get(provider, "")

    def set_unreached(self, provider: Provider, why: str) -> None:
        """Take a provider for dead behind its next hop."""
        self._unreached[provider] = why

    def set_reached(self, provider: Provider) -> None:
        """What is behind the next hop of a provider answers again."""
        self._unreached.pop(provider, None)
