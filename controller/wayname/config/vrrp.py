"""What a configuration says of VRRP (RFC 9568): two edges of which one at a time is the site's router."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from wayname.config.tables import Mistake, Site, Table, between

# In seconds; an advertisement says it in hundredths.
LEAST_INTERVAL, MOST_INTERVAL = 0.05, 40.0
MOST_VIRTUAL_ROUTER = 255


class Vrrp(Table):
    """How this edge stands beside the other one."""

    # Who has more of it is the router where both could be; 255 is for who owns the addresses, which nobody does here.
    priority: Annotated[int, between(1, 254)] = 100
    # Seconds between advertisements.
    interval: Annotated[float, between(LEAST_INTERVAL, MOST_INTERVAL)] = 0.25


def check_vrrp(_vrrp: Vrrp, site: Site) -> Iterator[Mistake]:
    """Yield what the other edge needs."""
    if site.config.fleet is None:
        yield Mistake(
            (), "there is no [fleet]", "write [fleet]: what the other edge has to know of sessions is in etcd"
        )
    elif site.config.fleet.edges:
        yield Mistake((), "is for a process of one edge", "name that as edge in [fleet], and have no edges there")
