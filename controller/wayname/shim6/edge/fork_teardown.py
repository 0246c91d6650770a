"""Forks that end by command: their peers are told, and what these still send is taken for a moment.

RFC 5533 has no word for it: who forgets a context does not tell, and a peer that still uses it sets it up again by
R1bis. So an edge says with an Error message, of the codes that are left to experiments, which context it is about, and
its peer answers with the same. If that is lost each time, the fork comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from wayname.session.keys import SessionKey
from wayname.session.session import Fork, Session
from wayname.timers import Timers
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.errors import ErrorCode
from wayname.wire.shim6.messages import Error, Keepalive, encode

TIMES = 4
PAUSE = 1.0  # seconds between two times, and from the last one to the end


class ForkTeardown:
    """Tells the peers of forks that end, some times."""

    def __init__(self, send: Callable[[Packet], None]) -> None:
        self.timers: Timers[SessionKey] = Timers()
        self._send = send
        self._left: dict[SessionKey, tuple[Session, int]] = {}

    def begin(self, session: Session, fork: Fork, now: float) -> None:
        """Let a fork end: nothing more is sent by it."""
        session.fork = replace(fork, ending=True)
        self._tell_again(session, TIMES, now)

    def forget(self, name: SessionKey) -> None:
        """It is over, or goes on."""
        self.timers.cancel(name)
        self._left.pop(name, None)

    def over(self, now: float) -> Iterator[SessionKey]:
        """Tell the peers again where it is time; yield the forks that have ended."""
        for name in self.timers.due(now):
            session, left = self._left.pop(name)
            if left:
                self._tell_again(session, left, now)
            else:
                yield name

    def tell(self, session: Session) -> None:
        """Tell the peer that a fork ends here."""
        pair = session.pair
        # What a peer with this context could have sent: so it knows which one, and nobody else can say so.
        about = Packet(pair.peer, pair.local, SHIM6, encode(Keepalive(session.tag)))
        self._send(Packet(pair.local, pair.peer, SHIM6, encode(Error(ErrorCode.FORK_ENDED, 0, about.encode()))))

    def _tell_again(self, session: Session, left: int, now: float) -> None:
        self.tell(session)
        self._left[session.name] = session, left - 1
        self.timers.set(session.name, now + PAUSE)
