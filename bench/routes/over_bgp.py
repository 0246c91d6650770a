"""Two providers announce the same routes by BGP and withdraw them; prints for how long packets still leave the old way.

A host sends 2000 packets a second to the prefixes, and all leave by provider A as long as it announces them. A packet
carries the time at which it was sent, so the newest that A gets says when the last one left the old way, and the first
that B gets after a cut says when packets come through again. Times begin when A's daemon is told, or its link is cut;
those from the edge's kernel begin when that heard of it.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Sequence

import click

from bench.routes.__main__ import SETTLED
from bench.routes.bgp_site import QUIET, A, B, BgpSite, Provider, address, announced, missing, running
from bench.routes.edge import memory
from bench.routes.site import PATIENCE, wait
from bench.shim6.report import table
from bench.spread import HEADS_OF_MANY, Spread

LONGEST_PAUSE = 0.1
CUT_FOR = 3.0


def watch(site: BgpSite, numbers: Sequence[int]) -> None:
    """Send to some prefixes, until packets leave by A."""
    site.host.numbers = numbers
    before = time.monotonic_ns()
    wait(lambda: site.a.sink.last_sent > before)
    time.sleep(SETTLED)


def left_at(site: BgpSite, at: int) -> int:
    """Return when the last packet left by A, or a moment if none did after it."""
    wait(lambda: time.monotonic_ns() - max(at, site.a.sink.last_sent) > SETTLED * 1e9)
    return max(at, site.a.sink.last_sent)


def withdrawn(site: BgpSite, number: int, pause: float) -> tuple[float, float]:
    """A withdraws one route; return the milliseconds from there and from the kernel's change."""
    watch(site, [number])
    time.sleep(pause)
    told = site.a.tell(f"route del {announced(number)}")
    left = left_at(site, told)
    heard = site.ear.at[address(number)]
    site.a.tell(f"route add {announced(number)}")
    return (left - told) / 1e6, max(0, left - heard) / 1e6


def come(site: BgpSite, provider: Provider, neighbour: str, numbers: Sequence[int]) -> float:
    """A provider announces all routes; return the seconds until the kernel of the edge has them."""
    told = provider.start(numbers)
    wait(lambda: site.prefixes_from(neighbour) >= len(numbers), 0.2)
    wait(lambda: site.edge.routes() >= len(numbers), 0.1)
    wait(site.ear.is_quiet, 0.1)
    return (site.ear.last - told) / 1e9


def all_by_a(site: BgpSite, numbers: Sequence[int]) -> None:
    """Wait until the edge has all routes by A, and packets to any of them leave by it."""
    wait(lambda: site.prefixes_from(A) >= len(numbers), 0.5)
    wait(site.ear.is_quiet, 0.1)
    watch(site, numbers)
    wait(lambda: site.a.sink.last_sent - site.b.sink.last_sent > QUIET * 1e9, 0.1)


def cut(site: BgpSite, numbers: Sequence[int], pause: float) -> float:
    """A's link loses its carrier; return the milliseconds until packets leave by B."""
    watch(site, numbers)
    time.sleep(pause)
    site.b.sink.first_sent = 0
    told = site.a.link("down")
    wait(lambda: site.b.sink.first_sent > 0)
    milliseconds = (site.b.sink.first_sent - told) / 1e6
    time.sleep(CUT_FOR)
    site.a.link("up")
    all_by_a(site, numbers)
    return milliseconds


def all_withdrawn(site: BgpSite, numbers: Sequence[int]) -> tuple[float, float]:
    """A withdraws all routes, then B: the seconds until A is left, and until the edge has none."""
    others = site.edge.routes() - len(numbers)
    watch(site, numbers)
    told = site.a.withdraw()
    wait(lambda: site.prefixes_from(A) == 0, 0.1)
    wait(site.ear.is_quiet, 0.1)
    left = (left_at(site, told) - told) / 1e9
    told = site.b.withdraw()
    wait(lambda: site.edge.routes() == others, 0.05)
    gone = (time.monotonic_ns() - told) / 1e9
    for provider in (site.b, site.a):
        provider.announce()
    all_by_a(site, numbers)
    return left, gone


def lost(site: BgpSite, numbers: Sequence[int], restarts: Callable[[], None]) -> int:
    """Return how many packets came to neither provider while something restarted."""
    site.host.numbers = ()
    time.sleep(SETTLED)
    sent, came = site.host.count, site.received()
    watch(site, numbers)
    restarts()
    wait(site.edge.is_ready, 0.1)
    all_by_a(site, numbers)
    site.host.numbers = ()
    time.sleep(SETTLED)
    return site.host.count - sent - (site.received() - came)


@click.command()
@click.option("--routes", default=100_000, show_default=True, help="How many each provider announces.")
@click.option("--draws", default=30, show_default=True, help="Withdrawals of a route.")
@click.option("--cuts", default=30, show_default=True, help="Links cut.")
@click.option("--withdrawals", default=5, show_default=True, help="Withdrawals of all routes: each takes a minute.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same moments and prefixes for the same seed.")
def main(routes: int, draws: int, cuts: int, withdrawals: int, seed: int) -> None:
    """Measure a live edge between two providers that announce many routes (root, FRR)."""
    if lacking := missing():
        raise click.ClickException(lacking)
    rng = random.Random(seed)
    numbers = range(routes)
    with running(seed) as site:
        click.echo(
            f"{routes} routes announced by B: in the kernel of the edge after {come(site, site.b, B, numbers):.1f} s"
        )
        click.echo(f"{routes} routes announced by A: in their place after {come(site, site.a, A, numbers):.1f} s")
        all_by_a(site, numbers)
        click.echo(_memory(site))
        one = [withdrawn(site, rng.choice(numbers), rng.uniform(0, LONGEST_PAUSE)) for _ in range(draws)]
        all_by_a(site, numbers)
        dead = [cut(site, numbers, rng.uniform(0, LONGEST_PAUSE)) for _ in range(cuts)]
        both = [all_withdrawn(site, numbers) for _ in range(withdrawals)]
        seen = {
            "ms, one route: from its withdrawal by A": [each for each, _ in one],
            "ms, one route: from the edge's kernel": [each for _, each in one],
            "ms, all routes: A's link loses its carrier": dead,
            "s, all routes: A withdraws them": [each for each, _ in both],
            "s, all routes: then B withdraws them, until none is there": [each for _, each in both],
        }
        rows = [(what, *Spread.of(values).cells_of_many(1)) for what, values in seen.items()]
        click.echo("\n".join(table(("until left", *HEADS_OF_MANY), rows)))
        for what, restarts in (
            ("controller", site.edge.kill),
            ("bgpd of the edge", site.restart_daemon),
            ("switch", site.restart_switch),
        ):
            packets = lost(site, numbers, restarts)
            click.echo(f"{what} killed and started again: {packets} packets lost of 2000 a second")
        click.echo(_memory(site))
        sizes = f"{draws} routes, {cuts} cuts, {withdrawals} withdrawals of all routes"
        click.echo(f"{sizes}, seed {seed}; nothing waited for longer than {PATIENCE:.0f} s")


def _memory(site: BgpSite) -> str:
    processes: dict[str, subprocess.Popen[bytes] | None] = {
        "controller": site.edge.controller,
        "switch": site.switch,
        "bgpd": site.daemon.bgpd,
        "zebra": site.daemon.zebra,
    }
    figures = (f"{name} {memory(process.pid):.0f} MiB" for name, process in processes.items() if process)
    return f"memory at the edge: {', '.join(figures)}"


if __name__ == "__main__":
    main()
