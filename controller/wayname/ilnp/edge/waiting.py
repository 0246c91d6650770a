"""What waits until more is known of a host here or of a peer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from ipaddress import IPv6Address

from wayname.edge.boundary import PairActive
from wayname.edge.links import ReceivedPacket
from wayname.ilnp.vectors import NID

# How many pairs may wait for what the DNS tells of their peers.
MOST_PAIRS = 4096
# How many messages may wait until it is clear that there is a host that they are for.
MOST_MESSAGES = 512


class WaitingPairs:
    """Pairs that wait for what the DNS tells of their peers."""

    def __init__(self) -> None:
        self._pairs: dict[NID, list[PairActive]] = {}
        self._count = 0

    @property
    def is_full(self) -> bool:
        """Whether no other pair may wait."""
        return self._count >= MOST_PAIRS

    def __iter__(self) -> Iterator[PairActive]:
        for waiting in self._pairs.values():
            yield from waiting

    def add(self, peer: NID, pair: PairActive) -> None:
        """Have a pair wait for what is told of its peer."""
        self._pairs.setdefault(peer, []).append(pair)
        self._count += 1

    def take(self, peer: NID) -> list[PairActive]:
        """Return the pairs that waited for a peer; they wait no longer."""
        waited = self._pairs.pop(peer, [])
        self._count -= len(waited)
        return waited


class WaitingMessages:
    """For each address the newest message, until it is clear that a host here has it; the oldest give way."""

    def __init__(self) -> None:
        self._messages: OrderedDict[IPv6Address, ReceivedPacket] = OrderedDict()

    def add(self, address: IPv6Address, message: ReceivedPacket) -> None:
        """Have a message wait."""
        self._messages[address] = message
        if len(self._messages) > MOST_MESSAGES:
            self._messages.popitem(last=False)

    def take(self, address: IPv6Address) -> ReceivedPacket | None:
        """Return the message for an address that waited, if one did."""
        return self._messages.pop(address, None)
