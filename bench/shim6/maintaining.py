"""Figure 11: contexts at once of servers in a week, when contexts are collected after 10 s without a packet.

As in the paper, each peer sets up a context with its first packet (the worst case). Beside it: only with 2 KB or 60 s,
which is what an edge waits for before it begins. A sample of each server's visits happens to an edge on the virtual
clock (`visited.py`), whose sessions are what is counted; each visit of the week goes as one of the sample.

How many peers come and how they behave is assumed (`week.py`), so how many contexts there are is estimated, and is no
goal. What the edge does with each visit is measured.
"""

from __future__ import annotations

import random
from concurrent.futures import ProcessPoolExecutor
from itertools import accumulate, pairwise
from statistics import mean

from bench.figures import Line, Panel
from bench.shim6.report import Result, table
from bench.shim6.visited import Lifetimes, Visited
from bench.shim6.week import DAY, HOUR, SERVERS, WEEK, Server, arrivals, visit

COLLECTION = 10.0
SAMPLE = 200
# Octets that the edge sees before it sets up a context; or 60 s.
TRIGGERS = {"from the first packet on": 1, "by 2 KB or 60 s": 2_000}
PAPER_MOST = 800


def sampled(server: Server, octets: int, seed: int) -> list[Lifetimes]:
    """Return from when to when the server's edge has a session for each visit of the sample."""
    rng = random.Random(f"{seed} {server.name}")
    return Visited(octets, COLLECTION, seed).lifetimes([visit(server, rng) for _ in range(SAMPLE)])


class Count:
    """How many contexts there are in each second of the week."""

    def __init__(self) -> None:
        self._changes = [0] * (WEEK + 1)

    def add(self, begins: float, ends: float) -> None:
        """Let a context live for a time; what is after the week is left out."""
        self._changes[min(int(begins), WEEK)] += 1
        self._changes[min(int(ends) + 1, WEEK)] -= 1

    def by_second(self) -> list[int]:
        """Return them, second by second."""
        return list(accumulate(self._changes[:WEEK]))


def run(seed: int, _full: bool) -> Result:
    """Let the sample happen, and the week pass for each server, with both kinds of contexts."""
    rows = []
    data = []
    lines: dict[str, list[Line]] = {when: [] for when in TRIGGERS}
    with ProcessPoolExecutor() as pool:
        runs = {
            (server.name, when): pool.submit(sampled, server, octets, seed)
            for server in SERVERS
            for when, octets in TRIGGERS.items()
        }
    for server in SERVERS:
        rng = random.Random(f"{seed} {server.name} week")
        seen = {when: Count() for when in TRIGGERS}
        of_sample = [(seen[when], runs[server.name, when].result()) for when in TRIGGERS]
        peers = 0
        for arrival in arrivals(server, rng):
            peers += 1
            one = rng.randrange(SAMPLE)
            for count, lifetimes in of_sample:
                for up, down in lifetimes[one]:
                    count.add(arrival + up, arrival + down)
        for when, count in seen.items():
            counts = count.by_second()
            hours = [max(counts[at:until]) for at, until in pairwise(range(0, WEEK + 1, HOUR))]
            rows.append((server.name, when, peers, f"{mean(counts):.0f}", max(counts)))
            data.append({"server": server.name, "contexts": when, "peers": peers, "most of each hour": hours})
            points = [(at * HOUR / DAY, most) for at, most in enumerate(hours)]
            lines[when].append(Line(server.name, points, marks=False, steps=True))
    stated = Line("stated in the paper: less than", ((0, PAPER_MOST), (7, PAPER_MOST)), of_paper=True)
    panels = [
        Panel(
            f"Contexts at once, estimated, {when} (paper: figure 11)",
            "days, from Friday on",
            "most in each hour",
            [*of_servers, stated],
        )
        for when, of_servers in lines.items()
    ]
    head = ("server", "contexts", "peers, assumed", "mean at once, estimated", "most at once, estimated")
    all_data = {
        "estimated for an assumed week": data,
        "paper": f"stated: less than {PAPER_MOST} at once, for servers of a campus",
    }
    return Result("shim6-figure-11", all_data, panels, table(head, rows))
