"""A session as schedules see it, whatever its protocol is, and which of its paths go by which way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from wayname.config.schedules import Schedule
from wayname.session.keys import Pair
from wayname.session.path_reports import Agreement


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A session by its number and its identities, and those of its paths that packets may take now, best first.

    `agreed` is what its two edges do with its packets. Of paths that failed, `failed` says why.
    """

    number: int
    local: IPv6Address
    peer: IPv6Address
    usable: Mapping[int, Pair]
    agreed: Agreement = field(default_factory=Agreement)
    failed: Mapping[Pair, str] = field(default_factory=dict)


def ways_of(rule: Schedule, session: Scheduled) -> dict[int, int]:
    """Return the session's path for each way of a schedule that it can take, by the way's index.

    Where several fit, one to a locator of the peer that no other way ends at: paths that share an end share its links.
    """
    chosen: dict[int, int] = {}
    ends: set[IPv6Address] = set()
    for index, way in enumerate(rule.paths):
        fitting = [
            path
            for path, pair in session.usable.items()
            if path not in chosen.values() and way.fits(pair.local, pair.peer)
        ]
        if fitting:
            chosen[index] = min(fitting, key=lambda path: session.usable[path].peer in ends)
            ends.add(session.usable[chosen[index]].peer)
    return chosen


def failed_ways(rule: Schedule, session: Scheduled, ways: Mapping[int, int]) -> dict[int, str]:
    """Return why the session does not take the other ways of a schedule, where a path that failed is the reason."""
    failed: dict[int, str] = {}
    for index, way in enumerate(rule.paths):
        if index not in ways:
            whys = (why for pair, why in session.failed.items() if way.fits(pair.local, pair.peer))
            why = next(whys, None)
            if why is not None:
                failed[index] = why
    return failed
