"""Counts sessions by their paths, so many at a time: with a hundred thousand of them nobody has to wait for the sum."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network
from itertools import islice

from wayname.config.model import Config
from wayname.session.protocol import PathsOfSession, SessionManager

# In a frame: some milliseconds.
SESSIONS_A_TURN = 500
# What a page draws; of more, those with the most sessions.
MOST_PEER_SITES = 250
MOST_PATHS_OF_SITE = 16
# As a site has it (RFC 6177).
SITE_BITS = 48


@dataclass(slots=True)
class CountedPath:
    """A way to a site: by a provider of ours to a prefix of its own."""

    sessions: int = 0
    # Of them and of those that could go that way.
    known: int = 0
    silent: int = 0
    round_trip: float | None = None


@dataclass(slots=True)
class PeerSite:
    """A site that hosts here talk with, and the ways to it by our provider and its prefix."""

    sessions: int = 0
    paths: dict[tuple[str, int], CountedPath] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """What was counted: in all, by our providers, and by site."""

    sessions: int = 0
    by_provider: Counter[str] = field(default_factory=Counter)
    sites: dict[int, PeerSite] = field(default_factory=dict)
    # The sites with the most sessions, in an order that stays.
    largest: list[tuple[int, PeerSite]] = field(default_factory=list)

    def choose(self) -> None:
        """Look which sites have the most sessions."""
        chosen = heapq.nlargest(MOST_PEER_SITES, self.sites.items(), key=lambda item: item[1].sessions)
        self.largest = sorted(chosen, key=lambda item: item[0])


class SessionTally:
    """Goes around all sessions, a part in each turn."""

    def __init__(self, managers: Callable[[], Iterable[SessionManager]], config: Callable[[], Config]) -> None:
        self._managers = managers
        self._config = config
        self._round: Iterator[PathsOfSession] = iter(())
        self._counting = Tally()
        self._providers: dict[int, str] = {}
        self.last = Tally()
        """What the last round that ended has counted, or the first one so far."""
        self.is_complete = False
        self._chosen_of = 0

    def step(self) -> None:
        """Look at some more sessions."""
        if not self._counting.sessions:
            self._round = (each for manager in self._managers() for each in manager.paths_of_sessions())
            self._providers.clear()
        looked = 0
        for session in islice(self._round, SESSIONS_A_TURN):
            looked += 1
            self._count(session)
        if looked < SESSIONS_A_TURN:
            self._counting.choose()
            self.last, self.is_complete = self._counting, True
            self._counting = Tally()
        elif not self.is_complete and self._counting.sessions >= 2 * self._chosen_of:
            self._counting.choose()
            self.last, self._chosen_of = self._counting, self._counting.sessions

    def _count(self, session: PathsOfSession) -> None:
        counting = self._counting
        counting.sessions += 1
        # Hosts of a site have identities in any of its prefixes.
        prefixes = [int(session.peer) >> 128 - SITE_BITS]
        prefixes += [int(path.pair.peer) >> 128 - SITE_BITS for path in session.paths]
        site = counting.sites.setdefault(min(prefixes), PeerSite())
        site.sessions += 1
        for path, prefix in zip(session.paths, prefixes[1:], strict=True):
            provider = self._provider(path.pair.local)
            counting.by_provider[provider] += path.in_use
            key = provider, prefix
            counted = site.paths.get(key)
            if counted is None:
                if len(site.paths) >= MOST_PATHS_OF_SITE:
                    continue
                counted = site.paths[key] = CountedPath()
            counted.sessions += path.in_use
            counted.known += 1
            counted.silent += path.is_silent
            if path.round_trip is not None:
                counted.round_trip = path.round_trip

    def _provider(self, local: IPv6Address) -> str:
        """Return the name of the provider that an address of ours is of; nothing if it is no provider's."""
        network = int(local) >> 64
        name = self._providers.get(network)
        if name is None:
            found = (each.name for each in self._config().providers if local in each.prefix)
            name = self._providers[network] = next(found, "")
        return name


def site_prefix(number: int) -> str:
    """Write the prefix of a site."""
    return str(IPv6Network((number << 128 - SITE_BITS, SITE_BITS)))
