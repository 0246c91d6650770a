"""Links on the virtual clock. Rate and queue are the sending switch's own; delay, loss and cuts are the link's."""

import hashlib
import random
from collections.abc import Callable

from wayname_lab.model import Quality
from wayname_lab.virtual.clock import Clock

Take = Callable[[bytes], None]


class Trace:
    """A running digest of all frames that arrive: two runs with one digest were the same run."""

    def __init__(self) -> None:
        self.frames = 0
        self._hash = hashlib.sha256()

    def note(self, now: int, link: str, frame: bytes) -> None:
        """Note a frame that arrives."""
        self.frames += 1
        self._hash.update(f"{now} {link} {len(frame)} ".encode())
        self._hash.update(frame)

    def digest(self) -> str:
        """Return the digest of everything so far."""
        return self._hash.hexdigest()


class VirtualLink:
    """A link between two nodes; either end's receiver is set by its node."""

    def __init__(self, clock: Clock, name: str, quality: Quality, rng: random.Random, trace: Trace) -> None:
        self.name = name
        self._cut_from: frozenset[str] = frozenset()  # the nodes whose frames are lost
        self.receivers: dict[str, Take] = {}
        self.lost = 0
        self._clock = clock
        self._quality = quality
        self._rng = rng
        self._trace = trace

    def connect(self, node: str, take: Take) -> None:
        """Say who takes what arrives at a node's end."""
        self.receivers[node] = take

    def cut(self, sender: str | None = None) -> None:
        """Lose everything from now on, or all that one end sends."""
        self._cut_from = frozenset(self.receivers if sender is None else (sender,))

    def mend(self) -> None:
        """Lose nothing for a cut any more."""
        self._cut_from = frozenset()

    def become(self, quality: Quality) -> None:
        """Be like this from now on; what is under way keeps the delay that it had."""
        self._quality = quality

    def send(self, sender: str, frame: bytes, at: int) -> None:
        """Take a frame whose last bit leaves the sender at this time."""
        lost = self._quality.loss > 0 and self._rng.random() < self._quality.loss
        if sender in self._cut_from or lost:
            self.lost += 1
            return
        self._clock.at(at + self._quality.delay, lambda: self._arrive(sender, frame))

    def _arrive(self, sender: str, frame: bytes) -> None:
        # What is under way when the link is cut does not arrive either.
        if sender in self._cut_from:
            self.lost += 1
            return
        for node, take in self.receivers.items():
            if node != sender:
                self._trace.note(self._clock.now, f"{sender}>{node}", frame)
                take(frame)
