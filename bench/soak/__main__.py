"""Keeps two edges at work for an hour while faults happen, and says what did not come through.

Every second each client opens a connection, asks by UDP and pings, beside a connection that it holds. After each fault
all of that must work again within the bound, connections of sessions and of BGP must be the same ones as before, and
the switches must hold what they held. In the end logs must have no traceback, and memory must be flat.
"""

from __future__ import annotations

import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median

import click

from bench.linux.site import missing
from bench.shim6.report import table
from bench.soak import checks
from bench.soak.faults import Fault, draw, happening
from bench.soak.records import Life, Processes, broken, events
from bench.soak.site import EDGES, FAKETIME, SoakSite, running

QUICK_MINUTES = 4.0
BOUND = 45.0  # seconds after a fault's end
STARTS = 120.0
SETTLES = 15.0
PAUSE = (3.0, 10.0)
OURS = tuple(f"{edge}-{what}" for edge in EDGES for what in ("controller", "switch"))


class Soak:
    """The hour: what happened, and what of it should not have."""

    def __init__(self, site: SoakSite, seed: int) -> None:
        self.site = site
        self.rng = random.Random(seed)
        self.began = time.monotonic()
        self.processes = Processes()
        self.outages: defaultdict[str, list[float]] = defaultdict(list)
        self.failures: list[str] = []
        self.ended: list[str] = []

    def run(self, minutes: float) -> None:
        """Let one fault after the other happen."""
        if not _until(lambda: checks.works(self.site) and checks.is_ready(self.site), STARTS):
            raise click.ClickException(
                f"the site does not work after {STARTS:.0f} s; its logs are in {self.site.folder}"
            )
        time.sleep(SETTLES)
        kept = checks.kept(self.site)
        click.echo(f"all works; {len(kept)} entries and sessions")
        while time.monotonic() < self.began + minutes * 60:
            time.sleep(self.rng.uniform(*PAUSE))
            self._happens(draw(self.rng), kept)

    def sample(self) -> None:
        """Note memory and open files, twice a minute for ever."""
        while True:
            for name in OURS:
                self.processes.sample(name, self.site.processes[name].pid, (time.monotonic() - self.began) / 60)
            time.sleep(30)

    def _happens(self, fault: Fault, kept: set[checks.Kept]) -> None:
        before = checks.held(self.site)
        with happening(self.site, fault) as began:
            time.sleep(fault.seconds)
        mended = time.monotonic()
        # A good second from before it began says nothing.
        time.sleep(checks.QUIET + 1)
        found = []
        if not _until(lambda: checks.works(self.site) and checks.is_ready(self.site), BOUND):
            found.append(f"does not work {BOUND:.0f} s later: {_last(self.site)}")
        elif not _until(lambda: not checks.lacking(self.site, kept), BOUND):
            found.append(f"{BOUND:.0f} s later is missing: {', '.join(map(str, checks.lacking(self.site, kept)[:3]))}")
        bad = [moment for moments in checks.failures(self.site, began).values() for moment in moments]
        outage = max(bad, default=began) - began
        self.outages[fault.kind].append(outage)
        for name, (number, how) in checks.held(self.site).items():
            if number != before[name][0]:
                said = f"the held connection of {name} ended: {how}"
                (self.ended if name == "a2" and not fault.spares_translated else found).append(said)
        minute = (mended - self.began) / 60
        told = (
            f"{minute:5.1f} min  {fault.kind}: {fault.what}, {fault.seconds:.0f} s; last failure after {outage:.1f} s"
        )
        click.echo("  ".join([told, *found]))
        self.failures += [f"{minute:.1f} min, {fault.kind} {fault.what}: {each}" for each in found]

    def report(self) -> list[str]:
        """Print tables; return what misses the goals."""
        rows = [
            (
                kind,
                len(all_),
                f"{median(all_):.1f}",
                f"{max(all_):.1f}",
                sum(f", {kind} " in each for each in self.failures),
            )
            for kind, all_ in sorted(self.outages.items())
        ]
        click.echo("\n".join(table(("fault", "times", "last failure s, median", "worst", "not come through"), rows)))
        lives = [life for life in self.processes.lives.values() if life.samples]
        click.echo(
            "\n".join(
                table(
                    ("process", "from minute", "minutes", "MiB first", "MiB last", "growth", "files"),
                    list(map(_cells, lives)),
                )
            )
        )
        for edge in EDGES:
            kinds = events(self.site.folder / f"{edge}-controller.log")
            told = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common() if kind)
            click.echo(f"events of {edge}: {told}")
        click.echo(f"connections of the translated host that ended with their provider: {len(self.ended)}")
        tries = {name: len(client.said) for name, client in self.site.clients.items()}
        lost = {name: len(moments) for name, moments in checks.failures(self.site, 0).items()}
        click.echo(
            "seconds in which something failed: " + ", ".join(f"{name} {lost[name]} of {tries[name]}" for name in tries)
        )
        logs = [line for name in OURS for line in broken(self.site.folder / f"{name}.log")]
        return [*self.failures, *logs, *(each for life in lives for each in life.faults())]


def _cells(life: Life) -> tuple[object, ...]:
    first, last = (life.settled or life.samples)[0], life.samples[-1]
    growth = "-" if life.growth is None else f"{life.growth:+.1%}"
    sizes = (f"{first.kibibytes / 1024:.1f}", f"{last.kibibytes / 1024:.1f}")
    return life.name, f"{life.began:.0f}", f"{last.minute:.0f}", *sizes, growth, f"{first.files} to {last.files}"


def _last(site: SoakSite) -> str:
    said = {name: client.said[-1] for name, client in site.clients.items()}
    return ", ".join(f"{name} no {kind}" for name, each in said.items() for kind in checks.KINDS if not each[kind])


def _until(is_so: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


@click.command()
@click.option("--minutes", default=60.0, show_default=True, help="How long faults happen.")
@click.option(
    "--seed", type=int, default=1, show_default=True, help="The same faults in the same order for the same seed."
)
@click.option("--quick", is_flag=True, help=f"{QUICK_MINUTES:.0f} minutes.")
def main(minutes: float, seed: int, quick: bool) -> None:
    """Let faults happen to two live edges, and say what does not come through (root)."""
    lacking = missing() or next((f"needs {name}" for name in ("bird", "nft") if shutil.which(name) is None), None)
    if lacking or not FAKETIME.exists():
        raise click.ClickException(lacking or "needs libfaketime (faketime)")
    # Whoever ends it gets namespaces and processes removed too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="wayname-soak-"))
    with running(folder) as site:
        soak = Soak(site, seed)
        threading.Thread(target=soak.sample, daemon=True).start()
        soak.run(QUICK_MINUTES if quick else minutes)
        missed = soak.report()
    if missed:
        click.echo("\n".join(["MISSED:", *missed, f"logs: {folder}"]))
        sys.exit(1)
    shutil.rmtree(folder)
    click.echo(f"everything came through, seed {seed}")


if __name__ == "__main__":
    main()
