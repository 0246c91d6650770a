"""How much may come to the controller. `docs/configuration.md` is the reference of its keys."""

from __future__ import annotations

from dataclasses import dataclass

# However many ports there are, what floods come by at once are few.
LEAST_SHARE = 1 / 8


@dataclass(frozen=True, slots=True)
class Limits:
    """Packets a second to the controller."""

    # Of nobody that is known, by all ports together; by one port; from one source, of each kind.
    punts: int = 1000
    port: int | None = None
    source: int = 50
    # About sessions that stand, by one port; about one of them.
    sessions: int = 1000
    session: int = 20

    def share(self, ports: int) -> int:
        """Return what may come by one of so many ports: never all of it, so that something is left for the others."""
        if self.port is not None:
            return self.port
        return max(1, round(self.punts * max(1 / max(ports, 2), LEAST_SHARE)))
