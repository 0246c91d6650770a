"""Where packets may be passed to: a neighbour on a link, or nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address


class Refusal(StrEnum):
    """A route that leads nowhere: the sender is told, or is not."""

    PROHIBITED = "prohibited"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True, order=True)
class LinkAddress:
    """An address on a link: a neighbour's."""

    vlan: int
    address: IPv6Address

    def __str__(self) -> str:
        return f"{self.address} on VLAN {self.vlan}"
