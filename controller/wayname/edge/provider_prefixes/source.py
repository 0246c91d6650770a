"""One provider that says what its prefixes are and who its routers are; what was said, and until when it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network
from math import inf

from wayname.config.provider import Learned, LearnedPrefix, Phase, PrefixSource
from wayname.prefix_delegation.client import DelegatedPrefix, PrefixClient

# What hosts are told at most, in seconds: so long they go on with what ends without a word (RFC 9096, section 3.4).
ND_PREFERRED_LIMIT, ND_VALID_LIMIT = 2700, 5400
# For so long at least those who used a prefix are told that it has ended.
LEAST_ENDED = 300.0
MOST_ENDED = 3
MOST_ROUTERS = 4

_RANK = {Phase.PREFERRED: 0, Phase.DEPRECATED: 1, Phase.ENDED: 2}


@dataclass(slots=True)
class Source:
    """What a provider said; times are those of the edge's clock."""

    about: PrefixSource
    client: PrefixClient | None = None
    # Prefixes that have ended, and for how long hosts may still have addresses in them.
    ended: dict[IPv6Network, float] = field(default_factory=dict)
    routers: dict[IPv6Address, float] = field(default_factory=dict)
    solicited: int = 0
    learned: Learned = field(default_factory=Learned)
    _held: dict[IPv6Network, DelegatedPrefix] = field(default_factory=dict)

    @property
    def prefixes(self) -> dict[IPv6Network, DelegatedPrefix]:
        """The prefixes that are the site's now."""
        return self.client.prefixes if self.client else {}

    def look(self, now: float) -> Learned:
        """Return what holds now; what is not the site's any more has ended."""
        here = self.prefixes
        for network, held in self._held.items():
            if network not in here:
                told = min(held.valid - now, float(ND_VALID_LIMIT))
                self.ended[network] = now + max(told, LEAST_ENDED)
        self._held = dict(here)
        self.ended = {network: until for network, until in self.ended.items() if network not in here and until > now}
        while len(self.ended) > MOST_ENDED:
            del self.ended[next(iter(self.ended))]
        for router in [router for router, until in self.routers.items() if until <= now]:
            # Who is alone is judged by whether it answers.
            if len(self.routers) > 1:
                del self.routers[router]
        return Learned(tuple(self._ranked(now)), tuple(sorted(self.routers)))

    def recall(self, ended: dict[IPv6Network, float], routers: dict[IPv6Address, float]) -> None:
        """Take what an earlier controller knew."""
        self.ended, self.routers = ended, routers
        self._held = dict(self.prefixes)

    def heard_router(self, router: IPv6Address, lifetime: int, now: float) -> None:
        """A router says for how long it is one."""
        if not lifetime:
            if len(self.routers) > 1:
                self.routers.pop(router, None)
        elif router in self.routers or len(self.routers) < MOST_ROUTERS:
            self.routers[router] = now + lifetime

    def lifetimes(self, network: IPv6Network, now: float) -> tuple[int, int] | None:
        """Return for how long hosts may use a prefix, preferred and valid; None if it is not of this provider."""
        for held in self.prefixes.values():
            if network.subnet_of(held.network):
                valid = min(max(held.valid - now, 0), ND_VALID_LIMIT)
                return int(min(max(held.preferred - now, 0), ND_PREFERRED_LIMIT, valid)), int(valid)
        return (0, 0) if any(network.subnet_of(ended) for ended in self.ended) else None

    def changes(self, now: float) -> Iterator[float]:
        """Yield when something ends by itself."""
        for held in self.prefixes.values():
            if now < held.preferred < inf:
                yield held.preferred
        yield from self.ended.values()
        if len(self.routers) > 1:
            yield from self.routers.values()

    def _ranked(self, now: float) -> Iterator[LearnedPrefix]:
        first = self.learned.prefixes[0].network if self.learned.prefixes else None
        phases = {
            held.network: Phase.PREFERRED if held.preferred > now else Phase.DEPRECATED
            for held in self.prefixes.values()
        } | dict.fromkeys(self.ended, Phase.ENDED)
        # Of equal ones the one in use; of those that have ended the last.
        ends = {held.network: held.valid for held in self.prefixes.values()} | self.ended
        for network in sorted(phases, key=lambda each: (_RANK[phases[each]], each != first, -ends[each], each)):
            yield LearnedPrefix(network, phases[network])
