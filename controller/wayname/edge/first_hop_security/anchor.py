"""Where a host is: what an address is bound to (RFC 6620, section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

from wayname.wire.mac import Mac


@dataclass(frozen=True, slots=True, order=True)
class Anchor:
    """A port, and the station behind it."""

    port: int
    mac: Mac

    def __str__(self) -> str:
        return f"{self.mac} behind port {self.port}"
