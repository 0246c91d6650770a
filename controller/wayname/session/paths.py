"""Which paths of a session work: what was found out of them, and which providers are there."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from ipaddress import IPv6Address

from wayname.session.keys import Pair
from wayname.session.preferences import PathPreferences
from wayname.session.reap.order import disjoint_first
from wayname.session.reap.reap import Reap
from wayname.session.reap.timing import Timing
from wayname.session.session import PathHealth, Session


class PathSelection(ABC):
    """Chooses among the paths of sessions by what is known of them."""

    def __init__(self, is_open: Callable[[IPv6Address], bool], is_one_way: Callable[[IPv6Address], bool]) -> None:
        self._is_open = is_open
        self._is_one_way = is_one_way

    @abstractmethod
    def health(self, session: Session, path: int) -> PathHealth:
        """Return what is known of a path."""

    def answers(self, session: Session, pair: Pair) -> tuple[bool, float | None]:
        """Return whether a pair is found silent, and how long its last answer took in seconds; None is unknown."""
        return False, None

    def backups(self, session: Session) -> dict[int, int]:
        """Return where the switch goes from each path: to one that is proven to work, and that shares least with it.

        Without any, to one that worked once: nobody may answer probes but the peer's switch, whose controller is away.
        """
        ways = {}
        for path, pair in session.paths.items():
            others = [each for each in disjoint_first(session.ordered, pair) if each != pair]
            numbers = [_number(session, each) for each in others]
            works = [each for each in numbers if self.health(session, each) is PathHealth.WORKS]
            worked = [each for each in numbers if each in session.trusted and not self._is_closed(session, each)]
            to = next(iter(works or worked), None)
            if to is not None:
                ways[path] = to
        return ways

    def usable(self, session: Session) -> dict[int, Pair]:
        """Return the paths that packets may take all at once, best first: those that are proven to work.

        Also while it is looked for a way: what fails then is no more among them. A fork has paths of its own.
        """
        if session.fork is not None:
            return {}
        paths = {_number(session, pair): pair for pair in session.ordered}
        return {path: pair for path, pair in paths.items() if self.is_usable(session, path)}

    def is_usable(self, session: Session, path: int) -> bool:
        """Whether packets may take a path beside others."""
        return self.health(session, path) is PathHealth.WORKS

    def preferred(self, session: Session) -> dict[str, int]:
        """Return the paths of flows that do not go as their session does, by policy; none where nobody probes them."""
        return {}

    def preference_refusal(self, session: Session, policy: str) -> str | None:
        """Return why flows of a policy may not have a path of their own in a session."""
        return "its hosts encrypt, so that nobody else can probe its paths"

    def best(self, session: Session) -> int | None:
        """Return the path to use if the one in use is gone: a proven one, or else one that nothing speaks against."""
        open_ones = [
            _number(session, pair)
            for pair in disjoint_first(session.ordered, session.pair)
            if self._is_open(pair.local) and pair != session.pair
        ]
        return min(open_ones, key=lambda path: self.health(session, path) is not PathHealth.WORKS, default=None)

    def is_closed(self, session: Session) -> bool:
        """Whether nothing can leave by the path in use."""
        return self._is_closed(session, session.path)

    def _takes_packets(self, session: Session, path: int) -> bool:
        """Whether packets arrive by a path's provider: where nothing comes back, only who has reports can know."""
        local = session.paths[path].local
        return self._is_open(local) or (session.numbered and self._is_one_way(local))

    def _is_closed(self, session: Session, path: int) -> bool:
        return not self._is_open(session.paths[path].local)


class ReapPathSelection(PathSelection):
    """Judges paths by what probes say."""

    def __init__(
        self,
        rng: random.Random,
        is_open: Callable[[IPv6Address], bool],
        is_one_way: Callable[[IPv6Address], bool],
        preferences: PathPreferences,
    ) -> None:
        super().__init__(is_open, is_one_way)
        self.reap = Reap(rng)
        self._preferences = preferences

    def watch(self, session: Session, now: float) -> None:
        """Find out which paths work, from now on, or as the session is now."""
        pairs = [pair for pair in session.ordered if self._is_open(pair.local)]
        self.reap.watch(
            session.name,
            session.peer_tag,
            timing(session),
            pairs,
            session.pair,
            now,
            returning=session.returning,
            answers_checks=session.peer_is_edge,
            also_used=self._preferences.pairs(session),
        )

    def is_returning(self, session: Session) -> bool:
        """Whether packets go back to the preferred path when it works."""
        watched = self.reap.watched(session.name)
        return watched.returning if watched else session.returning

    def health(self, session: Session, path: int) -> PathHealth:
        """Return what is known of a path."""
        pair = session.paths[path]
        if not self._is_open(pair.local):
            return PathHealth.CLOSED
        watched = self.reap.watched(session.name)
        way = watched.ways.get(pair) if watched else None
        if way is None:
            return PathHealth.UNTRIED
        if way.verified:
            return PathHealth.WORKS
        return PathHealth.SILENT if way.is_silent else PathHealth.UNTRIED

    def answers(self, session: Session, pair: Pair) -> tuple[bool, float | None]:
        """Return whether a pair is found silent, and how long its last answer took in seconds; None is unknown."""
        watched = self.reap.watched(session.name)
        way = watched.ways.get(pair) if watched else None
        return (way.is_silent, way.round_trip) if way else (False, None)

    def preferred(self, session: Session) -> dict[str, int]:
        """Return the paths of flows that do not go as their session does, by policy."""
        return self._preferences.paths(session, lambda path: self.is_usable(session, path))

    def preference_refusal(self, session: Session, policy: str) -> str | None:
        """Return why flows of a policy may not have a path of their own in a session."""
        return self._preferences.refusal(session, policy)

    def is_usable(self, session: Session, path: int) -> bool:
        """Whether packets may take a path beside others.

        What worked once counts as long as nothing speaks against it, so that a new controller changes nothing.
        """
        pair, watched = session.paths[path], self.reap.watched(session.name)
        way = watched.ways.get(pair) if watched else None
        if not self._takes_packets(session, path) or (way and way.is_failed):
            return False
        return bool(way and way.verified) or path == session.path or path in session.trusted


def timing(session: Session) -> Timing:
    """Return the times of REAP for a session."""
    rules = session.rules
    return Timing.of(session.send_timeout, rules.backup_probe_interval, rules.failback_delay, session.keepalive)


def _number(session: Session, pair: Pair) -> int:
    return next(number for number, each in session.paths.items() if each == pair)
