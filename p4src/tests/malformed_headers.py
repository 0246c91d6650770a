"""Headers that malformed packets have in front of what is wrong with them."""

from __future__ import annotations

import random

from carriers import HOP_BY_HOP, ROUTING, options, segment_header

DESTINATION, FRAGMENT = 60, 44


def behind(numbers: random.Random, kind: int, payload: bytes, upper: int, segment: str) -> tuple[bytes, int]:
    """The payload behind a header of a kind, and that kind; a kind that is no header of these puts nothing in front."""
    if kind in (HOP_BY_HOP, DESTINATION):
        header = options(upper)
    elif kind == ROUTING:
        header = segment_header(upper, [segment], numbers.randrange(2))
    elif kind == FRAGMENT:
        header = bytes([upper, 0]) + numbers.choice((0, 1, 8, 9)).to_bytes(2) + numbers.randbytes(4)
    else:
        return payload, upper
    return header + payload, kind
