"""Open captures: each has a queue of packets, filled by the controller and emptied by whoever asked for them."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable

from wayname.api.models import Capture
from wayname.api.pcap import FILE_HEADER, packet_record
from wayname.edge.boundary import Captured, CloseCapture, OpenCapture
from wayname.snapshot.running import Running

MOST_WAITING = 4096
"""Packets of a capture; more than that are lost to a reader that is too slow, and never memory."""
MOST_OCTETS = 4 * 2**20
"""Their octets."""


class Captures:
    """Hands captured packets to those who asked."""

    def __init__(self, time_of_day: Callable[[], float]) -> None:
        self.queues: dict[int, asyncio.Queue[bytes | None]] = {}
        self.numbers = itertools.count(1)
        self.octets: Counter[int] = Counter()
        self.time_of_day = time_of_day

    def take(self, captured: Captured) -> None:
        """Take a packet for its capture."""
        queue = self.queues.get(captured.number)
        if queue is None or queue.qsize() >= MOST_WAITING or self.octets[captured.number] >= MOST_OCTETS:
            return
        record = packet_record(captured.payload, int(self.time_of_day() * 1_000_000))
        self.octets[captured.number] += len(record)
        queue.put_nowait(record)

    def end(self) -> None:
        """End all captures."""
        for queue in self.queues.values():
            queue.put_nowait(None)

    async def stream(self, running: Running, port: int, wish: Capture) -> AsyncIterator[bytes]:
        """A pcap file of what passes from now on, until so many packets or seconds, or until the reader goes away."""
        number = next(self.numbers)
        queue = self.queues[number] = asyncio.Queue()
        arriving, leaving = wish.direction in {"in", "both"}, wish.direction in {"out", "both"}
        opened = await running.command(OpenCapture(number, port, arriving, leaving))
        end = None if wish.seconds is None else asyncio.get_running_loop().time() + wish.seconds
        try:
            # Whoever sees the header knows that packets are copied from now on.
            await opened.wait()
            yield FILE_HEADER
            for _ in itertools.count() if wish.count is None else range(wish.count):
                async with asyncio.timeout_at(end):
                    record = await queue.get()
                if record is None:
                    return
                self.octets[number] -= len(record)
                yield record
        except TimeoutError:
            return
        finally:
            del self.queues[number]
            del self.octets[number]
            await running.command(CloseCapture(number))
