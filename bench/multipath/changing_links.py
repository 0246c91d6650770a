"""What happens to the links of a live lab while a connection lasts, drawn, and what they can carry meanwhile."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from wayname_lab.model import Link, Quality
from wayname_lab.running import RunningLab
from wayname_lab.virtual.clock import MILLISECOND

# As parts of the run.
BEGIN = (0.2, 0.5)
# How long a flapping link is gone, and there, in seconds.
FLAP = (0.2, 0.5)
LONGER = 40 * MILLISECOND
# So long before the connection a link is longer that becomes shorter.
BEFORE = 1.0
NOTHING = "nothing happens"


@dataclass(frozen=True, slots=True)
class Change:
    """What a link does from a moment on, both ways or to what one of its ends sends."""

    at: float  # seconds from the connection's beginning on
    link: str
    quality: Quality
    sender: str | None = None


Changes = Sequence[Change]


def drawn_changes(of: Link, seconds: float, rng: random.Random) -> dict[str, Changes]:
    """Draw when each thing happens to a link, and how."""
    link, quality = of.name, of.quality
    begin, flap = rng.uniform(*BEGIN) * seconds, rng.uniform(*FLAP)
    one_end = rng.choice((of.a, of.b))
    dead = replace(quality, loss=1.0)
    moments = [begin + flap * number for number in range(int((seconds - begin) / flap) + 1)]
    flaps = [Change(at, link, quality if number % 2 else dead) for number, at in enumerate(moments)]
    longer = replace(quality, delay=quality.delay + LONGER)
    return {
        NOTHING: (),
        "a path dies": (Change(begin, link, dead),),
        "a path dies in one direction": (Change(begin, link, dead, one_end),),
        "a path flaps": flaps,
        "a path's rate is halved": (Change(begin, link, replace(quality, rate=(quality.rate or 0) // 2)),),
        "a path gets 40 ms longer": (Change(begin, link, longer),),
        "a path gets 40 ms shorter": (Change(-BEFORE, link, longer), Change(begin, link, quality)),
        "a path loses 1 %": (Change(begin, link, replace(quality, loss=0.01)),),
        "a path loses 5 %": (Change(begin, link, replace(quality, loss=0.05)),),
    }


def carried(quality: Quality, changes: Changes, seconds: float) -> float:
    """Return the bits that a link carries to which these happen. One that is dead in either direction carries none."""
    moments = [(0.0, quality), *((max(0.0, change.at), change.quality) for change in changes), (seconds, quality)]
    return sum((end - at) * (now.rate or 0) * (1 - now.loss) for (at, now), (end, _) in pairwise(moments))


class ChangingLinks:
    """Links of a lab that are as a draw has them, and can be made so again."""

    def __init__(self, lab: RunningLab) -> None:
        self._lab = lab
        self._links = {link.name: link for link in lab.plan.lab.links}

    async def become(self, links: Mapping[str, Link]) -> None:
        """Be these from now on."""
        for name, link in links.items():
            if self._links[name] != link:
                await self._lab.become(link, link.quality)
        self._links = dict(links)

    async def apply(self, changes: Changes, begin: float) -> None:
        """Make changes when their moments come, from a time of the machine's clock on."""
        for change in changes:
            await asyncio.sleep(begin + change.at - time.monotonic())
            await self._lab.become(self._links[change.link], change.quality, change.sender)

    async def restore(self, changes: Changes) -> None:
        """Let everything be as before."""
        for name in {change.link for change in changes}:
            await self._lab.become(self._links[name], self._links[name].quality)
