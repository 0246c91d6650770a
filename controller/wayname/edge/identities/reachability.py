"""What it takes that hosts are reached in a prefix of a provider, which is on no link of theirs.

- Shim6 messages to it, and packets of sessions, are taken for its hosts'; all others go nowhere, lest they go round.
- Where the prefix is on the link to the provider, its router asks who has an address: the edge says that it has.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Address

import finsy as fy

from wayname.config.model import Config
from wayname.edge.identities.identity import Identity
from wayname.edge.identities.link_prefixes import AdvertisedPrefix
from wayname.edge.outputs import Outputs
from wayname.pipeline import entries, sessions

# Nobody sends from such a prefix but sessions: there are no pairs to look for.
NEVER = 0


class Reachability:
    """Keeps entries for prefixes of providers, and for addresses in them that the edge answers for."""

    def __init__(self, config: Config, outputs: Outputs) -> None:
        self._routed = {route.prefix for route in config.routes}
        self._host_prefixes = frozenset(config.host_prefixes)
        self._desired = outputs.desired
        self._wanted: dict[str, list[fy.P4TableEntry]] = {}
        self._places: dict[int, list[tuple[int, IPv6Address]]] = {}
        self._answered: set[tuple[int, IPv6Address]] = set()

    def take(self, link: str, prefixes: Iterable[AdvertisedPrefix]) -> None:
        """Want what the prefixes of a link need, and nothing else for it."""
        wanted: list[fy.P4TableEntry] = []
        for learned in prefixes:
            if learned.network not in self._routed:
                wanted.append(entries.route_refused(learned.network, told=True))
            if learned.network not in self._host_prefixes:
                wanted += sessions.endpoint_policy(learned.network, NEVER, NEVER)
        for old in self._wanted.pop(link, []):
            self._desired.remove(old)
        for new in wanted:
            self._desired.put(new)
        self._wanted[link] = wanted

    def answer_for(self, identity: Identity, prefixes: Iterable[AdvertisedPrefix]) -> None:
        """Answer for a host's addresses in these prefixes, and for no others of it."""
        self.withdraw(identity)
        for learned in prefixes:
            if learned.on_link:
                place = learned.uplink, identity.address(learned.network)
                self._desired.put(entries.own_address(*place))
                self._places.setdefault(identity.number, []).append(place)
                self._answered.add(place)

    def withdraw(self, identity: Identity) -> None:
        """Answer for a host no more."""
        for place in self._places.pop(identity.number, []):
            self._desired.remove(entries.own_address(*place))
            self._answered.discard(place)

    def answers(self, vlan: int, address: IPv6Address) -> bool:
        """Whether an address on an uplink is one of a host."""
        return (vlan, address) in self._answered
