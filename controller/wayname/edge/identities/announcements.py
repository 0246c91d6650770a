"""What peers are told of each host: its identity, where it can be reached, and what proves that.

A set proves its own addresses; what is in a prefix that came later is signed. All is made when something changes, not
when a peer asks.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from wayname.config.identities import HostLink
from wayname.edge.identities.book import Book
from wayname.edge.identities.identity import Identity
from wayname.edge.identities.prefixes import Prefixes, prefix_of
from wayname.edge.outputs import Outputs
from wayname.shim6.context import LocalHost
from wayname.shim6.locators import tell

GENERATIONS = 1 << 32


class Announcements:
    """Keeps what was `told` of each host; `serve` hears of a host that is new, or has other locators."""

    def __init__(
        self,
        key: RSAPrivateKey,
        book: Book,
        prefixes: Prefixes,
        outputs: Outputs,
        told: dict[IPv6Address, LocalHost],
        serve: Callable[[LocalHost, float], None],
    ) -> None:
        self._key = key
        self._book = book
        self._prefixes = prefixes
        self._outputs = outputs
        self._serve = serve
        self._told = told

    def announce(self, link: HostLink, identity: Identity, now: float) -> None:
        """Tell where a host can be reached now, if that is something else than before."""
        if not identity.active and not any(ulid in self._told for ulid in identity.addresses):
            return
        valid = self._prefixes.valid(link)
        locators = tuple(identity.address(prefix) for prefix in valid)
        if identity.addresses and set(locators) != set(identity.locators):
            identity.locators = locators
            identity.generation = (identity.generation + 1) % GENERATIONS
            self._book.note(identity)
            text = f"{identity.addresses[0]} can be reached by {', '.join(map(str, locators)) or 'nothing'}"
            self._outputs.event(now, "locators.changed", identity.addresses[0], text)
        for ulid in identity.addresses:
            proof = identity.proof(prefix_of(ulid))
            host = tell(ulid, proof, identity.locators, identity.generation, self._key)
            if self._told.get(ulid) != host:
                self._told[ulid] = host
                self._serve(host, now)
