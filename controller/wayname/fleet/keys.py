"""Where in etcd what of a fleet stands, all below one prefix; docs/fleet.md has the same list for roles."""

from __future__ import annotations

from dataclasses import dataclass

from wayname.config.fleet import Fleet


@dataclass(frozen=True, slots=True)
class EdgeKeys:
    """The keys of one edge."""

    prefix: str
    edge: str

    @classmethod
    def of(cls, fleet: Fleet) -> EdgeKeys:
        """Return the keys of the edge that a configuration is of."""
        return cls(fleet.prefix, fleet.edge)

    def _under(self, rest: str) -> bytes:
        return f"{self.prefix}/edges/{self.edge}/{rest}".encode()

    @property
    def leader(self) -> bytes:
        """Who controls the switch, under that controller's lease."""
        return self._under("leader")

    @property
    def last_leader(self) -> bytes:
        """Who controlled it last, whether it lives or not."""
        return self._under("last-leader")

    @property
    def epoch(self) -> bytes:
        """The upper half of election ids: it grows when etcd has lost revisions that the switch remembers."""
        return self._under("epoch")

    @property
    def state(self) -> bytes:
        """What begins the keys of what a successor has to know."""
        return self._under("state/")
