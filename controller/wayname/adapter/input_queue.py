"""What waits for the edge: what belongs to sessions, neighbours and probes never waits for newcomers.

Packets of nobody that is known, captures, and digests of what anybody may cause, wait in a queue for each port, all
bounded, and the ports take turns. Everything else comes before them, in its order. The switch has limited what comes
(docs/punts.md); this is for a controller that is behind.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import Generic, TypeVar

from wayname.edge.boundary import DirectExport, FlowAdmitted, Input, LearnedMac, PacketIn, PairActive
from wayname.p4_constants import CPU_PORT, Punt, PuntClass
from wayname.pipeline.punts import DIGEST

Origin = TypeVar("Origin")

MOST_URGENT = 10_000
MOST_OF_PORT = 1024
# So many in a turn, before the timers are looked at and what has come meanwhile.
URGENT_A_TURN = 256
NEWCOMERS_A_TURN = 16

_URGENT = frozenset((PuntClass.PROBE, PuntClass.NEIGHBOUR, PuntClass.SESSION, Punt.VRRP))


class InputQueue(Generic[Origin]):
    """Inputs with where they came from; one takes, any number put."""

    def __init__(self) -> None:
        self._urgent: asyncio.Queue[tuple[Input, Origin]] = asyncio.Queue(MOST_URGENT)
        # The ports in the order of their turns.
        self._newcomers: dict[int, deque[tuple[Input, Origin]]] = {}
        self._there = asyncio.Event()
        # By class and port, packets for which there was no room.
        self.lost: Counter[tuple[int, int]] = Counter()

    async def put(self, input: Input, origin: Origin) -> None:
        """Let an input wait; what is urgent waits for room, of newcomers some are lost."""
        newcomer = _newcomer(input)
        if newcomer is None:
            await self._urgent.put((input, origin))
        else:
            waiting = self._newcomers.setdefault(newcomer[1], deque())
            if len(waiting) >= MOST_OF_PORT:
                self.lost[newcomer] += 1
                return
            waiting.append((input, origin))
        self._there.set()

    def wake(self) -> None:
        """Let who waits look at what else there is to do."""
        self._there.set()

    async def wait(self) -> None:
        """Wait until something is there; who reads from the switch has a turn in any case."""
        if self._there.is_set():
            await asyncio.sleep(0)
        else:
            await self._there.wait()

    def take(self, *, newcomers: bool = True) -> list[tuple[Input, Origin]]:
        """Return the inputs of a turn: what is urgent, then newcomers, a port after the other, unless they wait."""
        taken = [self._urgent.get_nowait() for _ in range(min(self._urgent.qsize(), URGENT_A_TURN))]
        for _ in range(NEWCOMERS_A_TURN if newcomers else 0):
            port = next(iter(self._newcomers), None)
            if port is None:
                break
            waiting = self._newcomers.pop(port)
            taken.append(waiting.popleft())
            if waiting:
                self._newcomers[port] = waiting
        if (not self._newcomers or not newcomers) and self._urgent.empty():
            self._there.clear()
        return taken


def _newcomer(input: Input) -> tuple[int, int] | None:
    """Return class and port of what has to wait behind what is known; None for that."""
    match input:
        case PacketIn() if input.punt_class not in _URGENT:
            return input.punt_class or input.reason, input.port
        case LearnedMac():
            return DIGEST, input.port
        case DirectExport():
            return DIGEST, input.ingress_port
        case PairActive() | FlowAdmitted():
            return DIGEST, CPU_PORT
    return None
