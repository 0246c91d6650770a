"""By which locators a host and its peer reach each other, as RFC 5534 (section 4) has it for Shim6.

Who sends hears something within the send timeout, or the way has failed; so who hears and has nothing to send says that
it is there. RFC 4303 (section 2.6) has a packet for that, which its receiver throws away.
"""

from wayname.session.keys import Pair

SEND_TIMEOUT = 500_000_000  # nanoseconds
KEEPALIVE = SEND_TIMEOUT // 3


class PairSelection:
    """The pairs of locators of one peer, and the one in use."""

    def __init__(self, pairs: tuple[Pair, ...]) -> None:
        self.pairs = pairs
        self._at = 0
        self._moved = -SEND_TIMEOUT
        self._unanswered: int | None = None  # the first packet that nothing came after
        self._unreplied: int | None = None  # the first that came and nothing was sent after

    @property
    def pair(self) -> Pair:
        """What packets go between."""
        return self.pairs[self._at]

    def use(self, pairs: tuple[Pair, ...]) -> None:
        """Have other pairs from now on: the one in use stays so if it is among them, else the first is."""
        self._at = pairs.index(self.pair) if self.pair in pairs else 0
        self.pairs = pairs

    def sent(self, now: int) -> None:
        """Something left that is to be answered."""
        self._unreplied = None
        if self._unanswered is None:
            self._unanswered = now

    def sent_keepalive(self) -> None:
        """Something left that is no more than an answer."""
        self._unreplied = None

    def heard(self, pair: Pair, is_newest: bool, wants_answer: bool, now: int) -> None:
        """Something came. We follow the peer where it goes, unless by a straggler, or just after we moved ourselves."""
        self._unanswered = None
        if wants_answer and self._unreplied is None:
            self._unreplied = now
        if is_newest and pair != self.pair and pair in self.pairs and now - self._moved >= SEND_TIMEOUT:
            self._at, self._moved = self.pairs.index(pair), now

    def next_timer(self) -> int | None:
        """Return when there is something to do unless something comes or leaves."""
        timers = []
        if self._unanswered is not None and len(self.pairs) > 1:
            timers.append(self._unanswered + SEND_TIMEOUT)
        if self._unreplied is not None:
            timers.append(self._unreplied + KEEPALIVE)
        return min(timers, default=None)

    def leave_failed(self, now: int) -> Pair | None:
        """Go to the next pair if nothing came for too long; return the one that was left."""
        if self._unanswered is None or len(self.pairs) == 1 or now < self._unanswered + SEND_TIMEOUT:
            return None
        left = self.pair
        self._at, self._moved = (self._at + 1) % len(self.pairs), now
        # The next one has its own time from when something is sent by it.
        self._unanswered = None
        return left

    def owes_keepalive(self, now: int) -> bool:
        """Return whether the peer waits for a sign of life."""
        return self._unreplied is not None and now >= self._unreplied + KEEPALIVE
