"""Events about who changed something by the API, and about who was refused; never with a token or a body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from wayname.api.callers import Peer
from wayname.api.rates import RateLimiter
from wayname.edge.boundary import Severity
from wayname.token_buckets import Rate

# Of refusals, whoever comes; what is not told is counted and told with the next.
OF_ONE = Rate(1, 10)
OF_ALL = Rate(5, 50)


class Report(Protocol):
    """Records an event of the controller itself."""

    def __call__(self, kind: str, severity: Severity, subject: str, text: str) -> None: ...


class Audit:
    """Tells of changes and refusals."""

    def __init__(self, report: Report, clock: Callable[[], float]) -> None:
        self._report = report
        self._clock = clock
        self._told = RateLimiter(OF_ONE, OF_ALL)
        self._untold = 0

    def changed(self, who: str, where: str, what: str, status: int) -> None:
        """Tell of a request that changes something and was let through, whatever came of it."""
        kind, severity = ("api.changed", Severity.INFO) if status < 400 else ("api.failed", Severity.WARNING)
        self._report(kind, severity, who, f"{what}: {status}, from {where}")

    def refused(self, who: str, peer: Peer, what: str, why: str) -> None:
        """Tell of a request, or of a connection, that was not let through."""
        if not self._told.may(peer.key, self._clock()):
            self._untold += 1
            return
        more = f" ({self._untold} more refusals were not told)" if self._untold else ""
        self._untold = 0
        self._report("api.refused", Severity.WARNING, who, f"{what}: {why}, from {peer.where}{more}")
