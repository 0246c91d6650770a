"""Providers that sessions leave before they are gone."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address

from wayname.config.model import Provider
from wayname.config.provider import Phase
from wayname.edge.boundary import Json
from wayname.edge.outputs import Outputs
from wayname.session.egress_selection import EgressSelection

DRAINED = "ilnp-leaving"


class DrainedProviders:
    """Those that a command drains, which outlives the controller, and those whose prefix is not preferred any more."""

    def __init__(self, egress: EgressSelection, remembered: Mapping[str, Json], outputs: Outputs) -> None:
        self._egress = egress
        self._outputs = outputs
        self._by_command = {key.partition(" ")[2] for key in remembered if key.startswith(f"{DRAINED} ")}

    def drain(self, provider: str, draining: bool, now: float) -> None:
        """Let sessions leave a provider before it is gone, or use it again."""
        self._by_command ^= {provider} if (provider in self._by_command) is not draining else set()
        self._outputs.remember(f"{DRAINED} {provider}", True if draining else None)
        words = "is left: sessions go by others before it is gone" if draining else "is used again"
        self._outputs.event(now, "provider.draining" if draining else "provider.back", provider, f"{provider} {words}")

    def state_of(self, provider: Provider) -> str:
        """Return in a word what sessions make of a provider."""
        if not self._egress.is_open(provider.prefix.network_address):
            return "down"
        return "draining" if provider.name in self._by_command else "up"

    def is_drained(self, address: IPv6Address) -> bool:
        """Tell whether the provider of an address is to be left."""
        provider = self._egress.provider(address)
        if provider is None:
            return False
        return provider.name in self._by_command or provider.phase is not Phase.PREFERRED

    def is_usable(self, address: IPv6Address) -> bool:
        """Tell whether packets from an address can leave, and are to."""
        return self._egress.is_open(address) and not self.is_drained(address)
