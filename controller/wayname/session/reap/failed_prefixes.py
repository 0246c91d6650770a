"""Between which prefixes sessions have just found their paths dead: what is dead for one is dead for those beside it.

A session that has had no answer for half of its send timeout would ask for itself and wait for the other half. Where
another one between the same prefixes was left for its silence meanwhile, that has been asked already.
"""

from __future__ import annotations

from collections import OrderedDict

from wayname.session.keys import Pair

# The subnet prefix of an address (RFC 4291, section 2.5.1).
_HOST_BITS = 64
# A site has a few subnets and providers, and peers as many; the oldest failure goes first.
MOST_FAILURES = 4096


class FailedPrefixes:
    """When paths between two prefixes were last found dead."""

    def __init__(self) -> None:
        self._failed: OrderedDict[tuple[int, int], float] = OrderedDict()

    def fail(self, pair: Pair, now: float) -> None:
        """A path was left, since nothing answered."""
        prefixes = _prefixes(pair)
        self._failed[prefixes] = now
        self._failed.move_to_end(prefixes)
        if len(self._failed) > MOST_FAILURES:
            self._failed.popitem(last=False)

    def since(self, pair: Pair, moment: float) -> bool:
        """Whether a path between the same prefixes was left since then."""
        return self._failed.get(_prefixes(pair), float("-inf")) >= moment


def _prefixes(pair: Pair) -> tuple[int, int]:
    return int(pair.local) >> _HOST_BITS, int(pair.peer) >> _HOST_BITS
