"""The last packets of sessions that may not have arrived, to be sent again by another path.

Three of them that arrive out of order make TCP repeat what is missing before them (RFC 5681, section 3.2); one that was
repeated already in vain is simply missed no more.
"""

from __future__ import annotations

from collections import OrderedDict, deque

from wayname.edge.boundary import PacketIn
from wayname.shim6.context import ContextName

MOST_OF_SESSION = 128
MOST_IN_ALL = 8192


class Held:
    """Copies of packets by session; those of the session that was quiet for longest go first."""

    def __init__(self) -> None:
        self._of: OrderedDict[ContextName, deque[tuple[PacketIn, float]]] = OrderedDict()
        self._count = 0

    def keep(self, name: ContextName, original: PacketIn, now: float) -> None:
        """Keep a copy."""
        of_session = self._of.setdefault(name, deque())
        self._of.move_to_end(name)
        of_session.append((original, now))
        self._count += 1
        if len(of_session) > MOST_OF_SESSION:
            of_session.popleft()
            self._count -= 1
        while self._count > MOST_IN_ALL:
            _, oldest = self._of.popitem(last=False)
            self._count -= len(oldest)

    def take(self, name: ContextName, since: float) -> list[PacketIn]:
        """Return the copies of a session since a time, and forget all of it."""
        of_session = self._of.pop(name, deque())
        self._count -= len(of_session)
        return [original for original, at in of_session if at >= since]
