"""A session as the switch has it: its number, and the pairs of locators that its packets may bear."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import NamedTuple

from wayname.ilnp import outputs
from wayname.ilnp.cache import Names
from wayname.ilnp.vectors import L64, Vector
from wayname.session.numbers import GENERATIONS
from wayname.session.path_numbers import MOST_PATHS, renumbered


class Ends(NamedTuple):
    """Our locator and the peer's."""

    ours: L64
    theirs: L64


@dataclass(slots=True)
class IlnpSession:
    """What the endpoint says of a session, and the numbers that the switch knows it and its paths by."""

    number: int
    generation: int
    stands: outputs.Session
    path: int = 0
    paths: dict[int, Ends] = field(default_factory=dict)
    # Why it is on this path.
    reason: str = "it was the first"

    @property
    def names(self) -> Names:
        """Between which identifiers it is."""
        return self.stands.names

    @property
    def source_address(self) -> IPv6Address:
        """What packets leave from."""
        return Vector(self.stands.source, self.names.local).address

    def follow(self, stands: outputs.Session) -> Ends | None:
        """Have what the endpoint says now; return the locators before if packets go by others now."""
        self.stands = stands
        in_use = Ends(stands.source, stands.destination)
        theirs = [stands.destination, *(one.locator for one in stands.known if one.locator != stands.destination)]
        ours = [stands.source, *(locator for locator in stands.taken if locator != stands.source)]
        wanted = [Ends(here, there) for there in theirs for here in ours][:MOST_PATHS]
        before = self.paths.get(self.path)
        self.paths = renumbered(self.paths, wanted)
        self.path = next(number for number, ends in self.paths.items() if ends == in_use)
        if before is None or before == in_use:
            return None
        self.generation = (self.generation + 1) % GENERATIONS
        return before
