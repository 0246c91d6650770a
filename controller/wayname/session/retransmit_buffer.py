"""The last packets of sessions that may not have arrived, to be sent again by another path.

What arrives behind a hole makes TCP repeat the hole at once (RFC 5681, section 3.2; RFC 8985), and a repeat of the
hole itself fills it. TCP and SCTP throw away what they have already. Whoever takes datagrams may not, and a late one
may be worse than none: they go again only while they are as young as an interactive delay may be (ITU-T G.114).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass

from wayname.edge.boundary import PacketIn
from wayname.edge.links import ReceivedPacket
from wayname.session.keys import SessionKey

MOST_OF_SESSION = 512
MOST_OCTETS_OF_SESSION = 1 << 19
MOST_IN_ALL = 8192
MOST_OCTETS_IN_ALL = 1 << 24
# Seconds.
MOST_DATAGRAM_AGE = 0.15
# Half of the time that a TCP segment may live (RFC 9293, section 3.4.1): old ones must not be taken for new ones.
MOST_AGE = 60.0
# What was under way when the path failed was sent before the first packet without an answer: a round trip earlier.
MOST_UNDER_WAY = 0.25

_TCP, _SCTP = 6, 132


@dataclass(slots=True)
class _Copy:
    original: PacketIn
    is_reliable: bool  # its transport throws away what it has already
    at: float


@dataclass(slots=True)
class _OfSession:
    copies: deque[_Copy]
    octets: int = 0


class RetransmitBuffer:
    """Copies of packets by session; those of the session that was quiet for longest go first."""

    def __init__(self) -> None:
        self._of: OrderedDict[SessionKey, _OfSession] = OrderedDict()
        self._count = 0
        self._octets = 0

    def keep(self, name: SessionKey, arrival: ReceivedPacket, now: float) -> None:
        """Keep a copy."""
        self._keep(name, _Copy(arrival.original, arrival.packet.next_header in (_TCP, _SCTP), now))

    def again(self, name: SessionKey, unanswered: float, now: float) -> Iterator[PacketIn]:
        """Yield what a session sent while nobody answered, for so many seconds, oldest first.

        What is reliable is kept for the case that the next path fails as well; all else of the session is forgotten.
        """
        since = now - min(unanswered + min(unanswered / 2, MOST_UNDER_WAY), MOST_AGE)
        since_datagrams = now - min(unanswered, MOST_DATAGRAM_AGE)
        for copy in self._forget(name):
            if copy.at >= (since if copy.is_reliable else since_datagrams):
                if copy.is_reliable:
                    self._keep(name, _Copy(copy.original, True, now))
                yield copy.original

    def forget(self, name: SessionKey) -> None:
        """Forget the copies of a session."""
        self._forget(name)

    def _keep(self, name: SessionKey, copy: _Copy) -> None:
        of_session = self._of.setdefault(name, _OfSession(deque()))
        self._of.move_to_end(name)
        of_session.copies.append(copy)
        self._count_in(of_session, copy)
        while len(of_session.copies) > MOST_OF_SESSION or of_session.octets > MOST_OCTETS_OF_SESSION:
            self._count_out(of_session, of_session.copies.popleft())
        while self._count > MOST_IN_ALL or self._octets > MOST_OCTETS_IN_ALL:
            self._forget(next(iter(self._of)))

    def _forget(self, name: SessionKey) -> deque[_Copy]:
        of_session = self._of.pop(name, None)
        if of_session is None:
            return deque()
        self._count -= len(of_session.copies)
        self._octets -= of_session.octets
        return of_session.copies

    def _count_in(self, of_session: _OfSession, copy: _Copy) -> None:
        octets = len(copy.original.payload)
        of_session.octets += octets
        self._octets += octets
        self._count += 1

    def _count_out(self, of_session: _OfSession, copy: _Copy) -> None:
        octets = len(copy.original.payload)
        of_session.octets -= octets
        self._octets -= octets
        self._count -= 1
