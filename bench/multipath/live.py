"""The same network in real time, with Linux's TCP in namespaces at its ends: cubic, SACK, timestamps, delayed ACKs.

Edges and paths are those of the virtual clock, which follows the machine's. What the kernel sends enters when it is
read, what the paths delay leaves when it is due, as exactly as a busy machine wakes up.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from bench.figures import Panel
from bench.multipath import tables
from bench.multipath.draws import near
from bench.multipath.experiment import Setup, arrange
from bench.multipath.ideal import DELAY
from bench.multipath.network import RECEIVER, SENDER, Network
from bench.multipath.path import Route
from bench.multipath.policies import POLICIES, Schedule
from bench.multipath.report import Goal, Result, bars_of, counted, drawn, percent, rates_of, shares_of
from bench.multipath.tap import Tap, missing
from bench.shim6.report import table
from bench.spread import headed
from wayname_lab.virtual.clock import SECOND

RATES = (2, 4, 5)
QUEUE = 200
SECONDS, QUICK_SECONDS = 2.0, 1.5
# Linux's own default; some machines have another.
CONGESTION = "cubic"
# What the programs need to start and end beside that.
AROUND = 8.0
# No sleep is longer, so that what the programs say is noticed.
LONGEST_SLEEP = 0.02
# Percent of the sum of what each path carries alone.
GOAL = 90.0
ALONE = [f"path of {rate} Mbit/s alone" for rate in RATES]
# By the best path alone a connection goes as one whose session has no other.
COMPARED = [policy for policy in POLICIES if policy != "best path"]


class LiveNetwork(Network):
    """Its hosts are taps, one on each side."""

    def __init__(self, routes: Sequence[Route]) -> None:
        super().__init__(routes, hosts=False)
        self.taps = [self._tap(side) for side in (SENDER, RECEIVER)]

    def close(self) -> None:
        """Remove the namespaces."""
        for tap in self.taps:
            tap.close()

    def run_while(self, programs: Iterable[subprocess.Popen[str]], seconds: float) -> None:
        """Let everything happen as time passes, until all programs have ended or the time is over."""
        begin = time.monotonic_ns() - self.clock.now
        end = self.clock.now + round(seconds * SECOND)
        while self.clock.now < end and any(program.poll() is None for program in programs):
            due = self.clock.next_due()
            wait = LONGEST_SLEEP if due is None else min(LONGEST_SLEEP, max(0.0, (due - self.clock.now) / SECOND))
            select.select([tap.descriptor for tap in self.taps], [], [], wait)
            self.clock.run_until(time.monotonic_ns() - begin)
            for side, tap in enumerate(self.taps):
                while (frame := tap.read()) is not None:
                    self.host_links[side][0].send(self.host_name(side, 0), frame, self.clock.now)

    def _tap(self, side: int) -> Tap:
        vlan = tables.HOSTS_VLAN
        name = f"wmp{os.getpid() % 1_000_000}-{side}"
        address, router = tables.host_address(side, 0), tables.router_mac(side, vlan)
        tap = Tap(name, tables.host_mac(side, 0), address, tables.ROUTER, router)
        self.host_links[side][0].connect(self.host_name(side, 0), tap.write)
        return tap


def measure(setup: Setup) -> dict[str, float]:
    """Let Linux send over the setup's paths."""
    with ExitStack() as cleanup:
        network = LiveNetwork(setup.routes)
        cleanup.callback(network.close)
        arrange(network, setup)
        program = (sys.executable, "-m", "bench.multipath.linux_tcp")
        receiver = network.taps[RECEIVER].start(*program, "receive", str(setup.seconds))
        cleanup.callback(partial(_end, receiver))
        if receiver.stdout is None or receiver.stdout.readline().strip() != "listening":
            raise OSError("the receiver in its namespace did not start")
        to = str(tables.host_address(RECEIVER, 0))
        sender = network.taps[SENDER].start(*program, "send", to, CONGESTION)
        cleanup.callback(partial(_end, sender))
        network.run_while([receiver], setup.seconds + AROUND)
        said = receiver.stdout.readline()
        (watch,) = network.watches
        result: dict[str, float] = json.loads(said) if said else {"goodput": 0.0}
        return result | {"retransmitted": watch.retransmissions, "reordered": watch.reordered}


def run_all(quick: bool, seed: int) -> Result:
    """Measure by each policy over drawn paths, beside the sum of what each path alone would carry."""
    lacking = missing()
    if lacking:
        return Result("multipath-live", {}, [f"skipped: a live run with Linux's TCP needs {lacking}"])
    seconds = QUICK_SECONDS if quick else SECONDS
    draws = list(near([Route(rate * 1e6, DELAY, QUEUE) for rate in RATES], quick, seed))
    seen: dict[str, list[dict[str, float]]] = {name: [] for name in (*ALONE, *COMPARED)}
    loads = []
    for draw in draws:
        setup = Setup(draw.routes, seconds=seconds, seed=draw.seed)
        ways = {name: replace(setup, paths=(path,)) for path, name in enumerate(ALONE)}
        ways |= {policy: replace(setup, schedule=Schedule(policy)) for policy in COMPARED}
        # In another order each time, so that what a machine does meanwhile falls upon all of them.
        for name in draw.rng.sample(sorted(ways), len(ways)):
            seen[name].append(measure(ways[name]))
        loads.append(os.getloadavg()[0])
    goodputs = {name: [each["goodput"] for each in of_draws] for name, of_draws in seen.items()}
    sums = [sum(of_draw) for of_draw in zip(*(goodputs[name] for name in ALONE), strict=True)]
    rows = [
        (
            name,
            *rates_of(goodputs[name]).cells(2),
            f"{shares_of(percent(goodputs[name], sums)).median:.1f}",
            counted([each["retransmitted"] for each in of_draws]),
            counted([each["reordered"] for each in of_draws]),
        )
        for name, of_draws in seen.items()
    ]
    head = ("Linux TCP", *headed("goodput"), "% of the sum: median", "retransmitted: median (worst)", "reordered")
    load = f"load of the machine {min(loads):.1f} to {max(loads):.1f}"
    text = [*table(head, rows), f"{drawn(len(draws), seed)}; {seconds:g} s each; {load}"]
    what = "Linux TCP, three paths: of the sum of each alone"
    goal = Goal.of_nine_draws_in_ten(what, percent(goodputs["fastest first"], sums), GOAL)
    bars = bars_of("Linux TCP", [rates_of(each) for each in goodputs.values()])
    title = "Linux TCP over paths near 2, 4 and 5 Mbit/s; 10th to 90th percentile"
    panel = Panel(title, "", "goodput in Mbit/s", (bars,), list(seen))
    return Result("multipath-live", seen, text, (goal,), (panel,))


def _end(program: subprocess.Popen[str]) -> None:
    program.terminate()
    program.communicate()
