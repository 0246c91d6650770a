"""Which sequence numbers came already (RFC 4303, section 3.4.3 and appendix A2).

Packets bear the lower half of a number of 64 bits. The upper half is the one that puts the number next to the window.
"""

WORD = 1 << 32
# Far more than the RFC's 64: packets that go over several paths overtake each other.
SIZE = 1024


class Window:
    """The last numbers that came, in one association."""

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._highest = 0
        self._seen = 1  # bit n: the n-th before the highest; 0 is no packet's number

    @property
    def highest(self) -> int:
        """The highest number that came."""
        return self._highest

    def number(self, low: int) -> int:
        """Return the whole number of a packet that bears its lower half."""
        top, bottom = self._highest - self._highest % WORD, self._highest - self._size + 1
        number = top + low
        if number < bottom and bottom >= top:
            return number + WORD  # the window lies in one half: what is below it comes after the turn
        if bottom < top and low >= bottom % WORD:
            return number - WORD  # the window begins before the turn
        return number

    def is_fresh(self, number: int) -> bool:
        """Return whether this one may still come; 0 and what is behind the window may not."""
        behind = self._highest - number
        return (
            number > 0
            and number < WORD * WORD
            and (behind < 0 or (behind < self._size and not self._seen >> behind & 1))
        )

    def take(self, number: int) -> None:
        """Note one whose packet was checked."""
        ahead = number - self._highest
        if ahead > 0:
            self._seen = (self._seen << ahead | 1) & ((1 << self._size) - 1) if ahead < self._size else 1
            self._highest = number
        else:
            self._seen |= 1 << -ahead
