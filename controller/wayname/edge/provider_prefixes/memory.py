"""What is written down of providers' prefixes, with times of POSIX: they end while no controller runs, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from math import inf
from typing import Any

from wayname.edge.boundary import Json
from wayname.edge.identities.identity import RecordError
from wayname.edge.provider_prefixes.source import Source
from wayname.prefix_delegation.client import DelegatedPrefix

DELEGATED = "delegated"
# The clock of a machine may have been set back meanwhile; longer than so from now nothing is believed.
MOST_AHEAD = 366 * 86_400.0


@dataclass(frozen=True, slots=True)
class Clocks:
    """What time it is: `now` on the edge's clock, and on that of POSIX so much more."""

    now: float
    epoch: float

    def written(self, at: float) -> Json:
        """Return a time as it is written down."""
        return None if at == inf else round(at + self.epoch, 3)

    def read(self, written: Any) -> float:
        """Return what `written` wrote."""
        return inf if written is None else min(float(written) - self.epoch, self.now + MOST_AHEAD)


def key_of(name: str) -> str:
    """Return what a provider's prefixes are written down under."""
    return f"{DELEGATED} {name}"


def write_down(source: Source, clocks: Clocks) -> Json:
    """Return what is known of a provider as JSON."""
    client = source.client
    return {
        "prefixes": [
            [str(each.network), clocks.written(each.preferred), clocks.written(each.valid)]
            for each in source.prefixes.values()
        ],
        "ended": [[str(network), clocks.written(until)] for network, until in source.ended.items()],
        "routers": [[str(router), clocks.written(until)] for router, until in source.routers.items()],
        "dns_servers": [str(server) for server in client.dns_servers] if client else [],
        "search_domains": list(client.search_domains) if client else [],
    }


def recall(source: Source, remembered: Mapping[str, Json], clocks: Clocks) -> None:
    """Give a provider what an earlier controller wrote down and what still holds."""
    key = key_of(source.about.name)
    written: Any = remembered.get(key)
    if written is None:
        return
    try:
        prefixes = [
            DelegatedPrefix(IPv6Network(network), clocks.read(preferred), clocks.read(valid))
            for network, preferred, valid in written["prefixes"]
        ]
        if source.client is not None and (prefixes := [each for each in prefixes if each.valid > clocks.now]):
            servers = tuple(map(IPv6Address, written["dns_servers"]))
            source.client.recall(prefixes, servers, tuple(map(str, written["search_domains"])))
        ended = {IPv6Network(network): clocks.read(until) for network, until in written["ended"]}
        routers = {IPv6Address(router): clocks.read(until) for router, until in written["routers"]}
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{key!r} is written down in a form that cannot be read ({error})") from None
    source.recall(ended, routers if source.about.finds_routers else {})
