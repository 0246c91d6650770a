"""An identity: what proves it, who has it, and the addresses that it is known by; to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, IPv6Network
from typing import Any, NamedTuple

from wayname.edge.boundary import Json
from wayname.identity.parameters import Parameters

IDENTITY = "identity"


class RecordError(Exception):
    """What an earlier controller wrote down makes no sense; one line."""


class Client(NamedTuple):
    """A DHCPv6 client's identity association."""

    duid: bytes
    iaid: int

    def __str__(self) -> str:
        return f"DUID {self.duid.hex()}, IAID {self.iaid}"


# Who has an identity: a client, or a host that has an address of its own.
Holder = Client | IPv6Address


@dataclass(slots=True)
class Identity:
    """An identity of a host on a link; one without a holder is prepared for whoever comes."""

    number: int
    link: str
    parameters: Parameters
    sec: int
    holder: Holder | None = None
    active: bool = False  # the lease runs, or the host is mapped
    addresses: tuple[IPv6Address, ...] = ()  # the host's, as it knows them or is known by
    locators: tuple[IPv6Address, ...] = ()
    generation: int = 0  # of the locators
    port: int | None = None  # behind which its host was when it got it

    def proof(self, prefix: IPv6Network) -> Parameters:
        """Return what proves the address in a prefix."""
        return replace(self.parameters, prefix=prefix)

    def address(self, prefix: IPv6Network) -> IPv6Address:
        """Return the address in a prefix; nobody searches for it anew."""
        return self.proof(prefix).address(self.sec)

    @property
    def key(self) -> str:
        """What it is written down under."""
        return f"{IDENTITY} {self.number}"

    def write_down(self) -> Json:
        """Return it as JSON."""
        holder: Json = None
        if isinstance(self.holder, Client):
            holder = [self.holder.duid.hex(), self.holder.iaid]
        elif self.holder is not None:
            holder = str(self.holder)
        return {
            "link": self.link,
            "parameters": self.parameters.encode().hex(),
            "sec": self.sec,
            "holder": holder,
            "active": self.active,
            "addresses": [str(address) for address in self.addresses],
            "locators": [str(locator) for locator in self.locators],
            "generation": self.generation,
            "port": self.port,
        }


def read(key: str, written: Any) -> Identity:
    """Read what `write_down` wrote."""
    try:
        return _read(int(key.split()[1]), written)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{key} is written down in a form that cannot be read ({error})") from None


def _read(number: int, written: Mapping[str, Any]) -> Identity:
    holder = written["holder"]
    if isinstance(holder, str):
        holder = IPv6Address(holder)
    elif holder is not None:
        holder = Client(bytes.fromhex(holder[0]), holder[1])
    return Identity(
        number=number,
        link=written["link"],
        parameters=Parameters.decode(bytes.fromhex(written["parameters"])),
        sec=written["sec"],
        holder=holder,
        active=written["active"],
        addresses=tuple(map(IPv6Address, written["addresses"])),
        locators=tuple(map(IPv6Address, written["locators"])),
        generation=written["generation"],
        port=written.get("port"),
    )
