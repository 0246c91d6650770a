"""Whose an address is on its link, as far as identities are concerned."""

from __future__ import annotations

from typing import Protocol

from wayname.config.links import LinkAddress
from wayname.edge.first_hop_security.anchor import Anchor


class Owners(Protocol):
    """What keeps hosts to their addresses (`first_hop_security.bindings`)."""

    def owner(self, at: LinkAddress) -> Anchor | None:
        """Return who has an address."""

    def lease(self, at: LinkAddress, anchor: Anchor, now: float) -> None:
        """A host was given an address."""

    def keep(self, at: LinkAddress) -> None:
        """A host still has an address that an earlier controller gave it."""

    def end_lease(self, at: LinkAddress) -> None:
        """What a host was given has ended."""

    def reserve(self, at: LinkAddress) -> None:
        """Let no host have an address."""

    def release(self, at: LinkAddress) -> None:
        """Let hosts have an address again."""
