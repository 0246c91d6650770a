"""What is to be told of each host: its identity, where it can be reached, and what proves that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv6Address, IPv6Network

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from wayname.edge.identities.identity import Identity
from wayname.edge.identities.link_prefixes import prefix_of
from wayname.edge.outputs import Outputs
from wayname.identity.locators import ProvableLocators

GENERATIONS = 1 << 32


class Announcements:
    """Keeps what was told of each host; `note` and then `serve` hear of one that is new, or has other locators."""

    def __init__(
        self,
        key: RSAPrivateKey,
        outputs: Outputs,
        serve: Callable[[ProvableLocators, float], None],
        note: Callable[[Identity], None],
    ) -> None:
        self._key = key
        self._outputs = outputs
        self._serve = serve
        self._note = note
        self._ulids: dict[int, tuple[IPv6Address, ...]] = {}
        self.told: dict[IPv6Address, ProvableLocators] = {}

    def announce(self, identity: Identity, prefixes: Sequence[IPv6Network], now: float) -> None:
        """Tell where a host can be reached now, if that is somewhere else than before."""
        if not identity.active and identity.number not in self._ulids:
            return
        locators = tuple(identity.address(prefix) for prefix in prefixes)
        if identity.addresses and set(locators) != set(identity.locators):
            identity.locators = locators
            identity.generation = (identity.generation + 1) % GENERATIONS
            self._note(identity)
            text = f"{identity.addresses[0]} can be reached by {', '.join(map(str, locators)) or 'nothing'}"
            self._outputs.event(now, "locators.changed", identity.addresses[0], text)
        if self._ulids.get(identity.number) != identity.addresses:
            self.withdraw(identity)
            self._ulids[identity.number] = identity.addresses
        for ulid in identity.addresses:
            proof = identity.proof(prefix_of(ulid))
            host = ProvableLocators(ulid, proof, identity.locators, identity.generation, self._key)
            if self.told.get(ulid) != host:
                self.told[ulid] = host
                self._serve(host, now)

    def withdraw(self, identity: Identity) -> None:
        """Nobody has the identity any more, or not by the addresses that it had."""
        for ulid in self._ulids.pop(identity.number, ()):
            del self.told[ulid]
