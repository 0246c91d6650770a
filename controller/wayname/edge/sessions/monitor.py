"""Looks after sessions at the right time: asks the switch to check one, and sends keepalives where hosts are silent.

The switch says once that a packet waits for an answer (WATCH). It looks again only when a packet of the session passes,
so the controller makes it look when `send_timeout` is over (a check), even if the host stays silent.
"""

from __future__ import annotations

from wayname.edge.sessions.session import Session
from wayname.edge.timers import Timers

# A check that comes a moment too early would have to be repeated.
MARGIN = 0.001


class Monitor:
    """Timers of checks and keepalives, by the session's number."""

    def __init__(self) -> None:
        self.checks: Timers[int] = Timers()
        self.keepalives: Timers[int] = Timers()

    def watch(self, session: Session, age: float, now: float) -> None:
        """A packet waits for an answer since `age`."""
        self.checks.set(session.number, now + max(session.rules.send_timeout - age, 0) + MARGIN)

    def silent(self, session: Session, now: float) -> None:
        """The peer is heard, but the host says nothing; it still may, in time."""
        if self.keepalives.at(session.number) is None:
            self.keepalives.set(session.number, now + session.rules.keepalive / 2)

    def forget(self, session: Session) -> None:
        """Look after a session no more."""
        self.checks.cancel(session.number)
        self.keepalives.cancel(session.number)

    def next_timer(self) -> float | None:
        """Return when something is due."""
        times = (self.checks.next(), self.keepalives.next())
        return min((at for at in times if at is not None), default=None)
