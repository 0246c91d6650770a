"""What several of these tables refer to, and whether it is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv6Address, IPv6Network
from typing import TYPE_CHECKING

from wayname.config.encapsulation.model import Mode
from wayname.config.tables import Mistake, Site, mistake

if TYPE_CHECKING:
    from wayname.config.model import Interface


def unknown_name(key: str, name: str, known: Mapping[str, object]) -> Iterator[Mistake]:
    """Yield the mistake of a name that nothing has."""
    if name not in known:
        there = ", ".join(list(known)[:20]) or "none"
        yield Mistake((key,), f"there is no [[{key}]] {name!r}", f"write one of those that are there: {there}")


def own_address(prefix: IPv6Network, site: Site) -> Interface | None:
    """Return the interface that has the first address of a prefix."""
    return next((each for each in site.config.interfaces if each.owns(prefix.network_address)), None)


def own_source(site: Site) -> IPv6Address:
    """Return an address of this node that packets of a tunnel can come from."""
    for interface in site.config.interfaces:
        for address in interface.global_addresses:
            return address.ip
    raise mistake("is missing", "no interface has an address that a tunnel could come from: write one", "source")


def check_proof(key: str, mode: Mode, policy: str, site: Site) -> None:
    """Refuse what the proof does not cover: it is of the whole list, as it stands in a tunnel."""
    if policy and site.config.encapsulation.policy[policy].secret and mode not in (Mode.TUNNEL, Mode.FRAME):
        mend = f'leave key out of policy {policy!r}, or write mode = "tunnel" or "frame"'
        raise mistake(f"policy {policy!r} has a key, and no proof goes with this mode", mend, key)
