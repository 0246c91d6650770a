"""Two ends joined by a link that does what a script says, in real time."""

from __future__ import annotations

import heapq
import random
import select
import time
from collections.abc import Sequence

from bench.multipath.segments import Segment
from bench.tcp.ends import ROUTER, End
from bench.tcp.scripts import Script

TCP = 6
AT_SEQUENCE, AT_ACK, AT_FLAGS = 58, 62, 67
SYN, ACK = 0x02, 0x10
WRAP = 1 << 32
LONGEST_SLEEP = 0.05


class Lane:
    """One connection over one link."""

    def __init__(self, ends: Sequence[End], script: Script, seed: int) -> None:
        self.ends = ends
        self.done_after: float | None = None  # seconds from the first octets to the acknowledgement of all
        self.mended_after: float | None = None  # from the first loss to the acknowledgement of all that was lost
        self.repeated = 0
        self._script = script
        self._rng = [random.Random(seed), random.Random(seed + 1)]
        self._under_way: list[tuple[int, int, int, bytes]] = []
        self._number = 0
        self._first: int | None = None  # sequence number of the first octet
        self._sent = 0  # octets, and segments
        self._segments = 0
        self._began = self._lost_at = 0
        self._lost_end = 0
        self._dark_until = 0

    def next_due(self) -> int | None:
        """Return when something happens by itself."""
        wakes = [wake for end in self.ends if (wake := end.next_wake()) is not None]
        return min([*wakes, *(entry[0] for entry in self._under_way[:1])], default=None)

    def step(self) -> None:
        """Do what is due."""
        now = time.monotonic_ns()
        while self._under_way and self._under_way[0][0] <= now:
            _, _, to, frame = heapq.heappop(self._under_way)
            if to == 0:
                self._acknowledged(frame, now)
            self.ends[to].write(self.ends[to].mac.packed + ROUTER.packed + frame[12:])
        for side, end in enumerate(self.ends):
            for frame in end.read():
                if frame[12:14] == b"\x86\xdd" and frame[20] == TCP:
                    self._carry(side, frame, now)

    def _carry(self, side: int, frame: bytes, now: int) -> None:
        script, rng = self._script, self._rng[side]
        lost = rng.random() < script.loss
        late = rng.random() < script.late
        handshake = bool(frame[AT_FLAGS] & SYN)
        segment = Segment.of(frame) if side == 0 else None
        if segment is not None:
            lost |= self._send(segment, now)
        if self._dark_until and now < self._dark_until:
            lost = True
        if handshake:
            # Who opens slowly has another window: not what is compared.
            lost = False
        if lost:
            if segment is not None:
                self._lost_at = self._lost_at or now
                end = (segment.sequence + segment.size - (self._first or 0)) % WRAP
                self._lost_end = max(self._lost_end, end)
            return
        at = now + script.delay + (script.delay // 2 if late and segment is not None else 0)
        self._number += 1
        heapq.heappush(self._under_way, (at, self._number, 1 - side, frame))

    def _send(self, segment: Segment, now: int) -> bool:
        """Count a segment; return whether the script loses it."""
        if self._first is None:
            self._first, self._began = segment.sequence, now
        end = (segment.sequence + segment.size - self._first) % WRAP
        if end <= self._sent or end > WRAP // 2:
            self.repeated += 1
            return False
        self._sent = end
        number = self._segments
        self._segments += 1
        if self._script.dark is not None and self._script.dark[0] == number:
            self._dark_until = now + self._script.dark[1]
        return number in self._script.lost

    def _acknowledged(self, frame: bytes, now: int) -> None:
        if self._first is None or not frame[AT_FLAGS] & ACK:
            return
        up_to = (int.from_bytes(frame[AT_ACK : AT_ACK + 4]) - self._first) % WRAP
        if up_to > WRAP // 2:
            return
        if self._lost_at and self.mended_after is None and up_to >= self._lost_end and now > self._dark_until:
            self.mended_after = (now - self._lost_at) / 1e9
        if up_to >= self._script.octets and self.done_after is None:
            self.done_after = (now - self._began) / 1e9


def run(lanes: Sequence[Lane], seconds: float) -> None:
    """Let all lanes run side by side until they are done or the time is over."""
    end = time.monotonic() + seconds
    descriptors = [number for lane in lanes for each in lane.ends if (number := each.descriptor()) is not None]
    while time.monotonic() < end and any(lane.done_after is None for lane in lanes):
        for lane in lanes:
            lane.step()
        due = min((at for lane in lanes if (at := lane.next_due()) is not None), default=None)
        wait = LONGEST_SLEEP if due is None else (due - time.monotonic_ns()) / 1e9
        select.select(descriptors, [], [], max(0.0, min(LONGEST_SLEEP, wait)))
