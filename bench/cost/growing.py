"""An edge whose sessions grow in number, within this process."""

from __future__ import annotations

import gc
import random
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path

from bench.cost.strangers import PROTOCOLS
from bench.cost.within import EdgeWithin, Spent, resident
from wayname.adapter.garbage_collection import short_collections

GROUP = 500


@dataclass(frozen=True, slots=True)
class Cost:
    """What set-ups within this process cost that came one after the other, each."""

    sessions: int  # at their end
    spent: Spent
    resident: int  # of this process, the strangers among it
    edge: tuple[float, ...]  # what the edge spent for each of them


def run_within(protocol: str, sessions: int, seed: int) -> list[Cost]:
    """Let sessions be set up with an edge in this process; return what each cost, by groups."""
    groups = []
    strangers = PROTOCOLS[protocol](seed, sessions)
    # Strangers come at random moments, so many a second in the mean.
    moments = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="wayname-") as folder:
        edge = EdgeWithin(Path(folder), strangers, seed)
        with ExitStack() as cleanup:
            cleanup.callback(edge.close)
            cleanup.enter_context(short_collections())
            # What is there already is no garbage, and looking through it is the benchmark's own doing.
            gc.collect()
            for group in range(sessions // GROUP):
                edge.spent = Spent()
                singly = []
                for number in range(GROUP):
                    before = edge.spent.edge
                    edge.exchange(strangers.ask(group * GROUP + number + 1))
                    singly.append(edge.spent.edge - before)
                    edge.pass_time(moments.expovariate(strangers.rate))
                if len(strangers.done()) != GROUP:
                    raise RuntimeError(f"{strangers.name}: a set-up failed within this process")
                each = (getattr(edge.spent, field.name) / GROUP for field in fields(Spent))
                groups.append(Cost((group + 1) * GROUP, Spent(*each), resident(), tuple(singly)))
    return groups
