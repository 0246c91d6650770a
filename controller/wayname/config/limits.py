"""How much may come to the controller. `docs/configuration.md` is the reference of its keys."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from wayname.config.tables import Table, between, mistake

# However many ports there are, what floods come by at once are few.
LEAST_SHARE = 1 / 8
MOST = 1_000_000
Rate = Annotated[int, between(1, MOST)]


class Limits(Table):
    """Packets a second to the controller."""

    # Of nobody that is known, by all ports together; by one port; from one source, of each kind.
    punts: Annotated[int, between(8, MOST)] = 1000
    port: Rate | None = None
    source: Rate = 50
    # About sessions that stand, by one port; about one of them.
    sessions: Rate = 1000
    session: Rate = 20

    def share(self, ports: int) -> int:
        """Return what may come by one of so many ports: never all of it, so that something is left for the others."""
        if self.port is not None:
            return self.port
        return max(1, round(self.punts * max(1 / max(ports, 2), LEAST_SHARE)))

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.port is not None and self.port > self.punts:
            wrong = f"{self.port} is more than all ports may send ({self.punts})"
            raise mistake(wrong, "write less, or more for punts", "port")
        return self
