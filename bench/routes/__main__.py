"""Withdraws routes of Linux and lets next hops fail, and prints for how long packets still leave the old way.

A host sends 2000 packets a second to prefixes that Linux routes by provider A; everything else leaves by B. A packet
carries the time at which it was sent, so the newest that A gets says when the last one left the old way. Times begin
when the kernel is told, before it has done anything.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import click

from bench.routes.site import PATIENCE, Site, prefix, running, wait
from bench.shim6.report import table
from bench.spread import HEADS_OF_MANY, Spread

SETTLED = 0.4
NEIGHBOUR_THERE = "neigh replace 2001:db8:100::1 lladdr 02:00:00:00:00:64 dev wan0 nud reachable"
# The kernel tells of links that lost their carrier once a second at most. A link that fails by itself does not wait for
# that: neither do the draws.
LINK_EVENTS = 1.1
LONGEST_PAUSE = 0.1


def by_a(number: int) -> str:
    """Return what makes a route by provider A."""
    return f"route replace {prefix(number)} via 2001:db8:100::1 dev wan0 proto bgp"


def watch(site: Site, numbers: Sequence[int]) -> None:
    """Send to some prefixes, until packets leave by A."""
    site.host.numbers = numbers
    before = time.monotonic_ns()
    wait(lambda: site.a.last_sent > before)
    time.sleep(SETTLED)


def left_after(site: Site, at: int) -> float:
    """Return for how long packets still left by A after a moment, in milliseconds."""
    wait(lambda: time.monotonic_ns() - max(at, site.a.last_sent) > SETTLED * 1e9)
    return max(0.0, (site.a.last_sent - at) / 1e6)


def withdrawn(site: Site, number: int, pause: float) -> float:
    """Withdraw one route."""
    watch(site, [number])
    time.sleep(pause)
    milliseconds = left_after(site, site.ip(f"route del {prefix(number)}"))
    site.ip(by_a(number))
    return milliseconds


def failed(site: Site, how: str, numbers: Sequence[int], pause: float) -> float:
    """Let the next hop of all routes fail."""
    site.ip(NEIGHBOUR_THERE)
    watch(site, numbers)
    time.sleep(pause)
    if how == "carrier":
        milliseconds = left_after(site, site.ip("link set wan0 down", at_far_end=True))
        site.ip("link set wan0 up", at_far_end=True)
    else:
        milliseconds = left_after(site, site.ip("neigh replace 2001:db8:100::1 dev wan0 nud failed"))
        site.ip(NEIGHBOUR_THERE)
    return milliseconds


def all_withdrawn(site: Site, numbers: Sequence[int]) -> tuple[float, float, float]:
    """Withdraw all routes; return the seconds until none is left, and of processor time of controller and switch."""
    others = site.edge.routes() - len(numbers), site.edge.entries() - len(numbers)
    watch(site, numbers)
    before = site.cpu()
    at = site.ip("route flush proto bgp")
    wait(lambda: site.edge.routes() == others[0], 0.05)
    seconds = left_after(site, at) / 1000
    after = site.cpu()
    wait(lambda: site.edge.entries() == others[1])
    return seconds, after[0] - before[0], after[1] - before[1]


def announced(site: Site, numbers: Sequence[int]) -> float:
    """Announce all routes; return the seconds until all are on the switch."""
    before = site.edge.routes()
    at = site.ip(*map(by_a, numbers))
    wait(lambda: site.edge.routes() >= before + len(numbers))
    return (time.monotonic_ns() - at) / 1e9


def killed(site: Site, numbers: Sequence[int]) -> tuple[int, float]:
    """Kill the controller; return how many packets that A should have had did not come, and when it is back."""
    watch(site, numbers)
    sent, came = site.host.count, site.a.count
    at = time.monotonic()
    site.edge.kill()
    wait(lambda: site.edge.routes() > len(numbers), 0.1)
    wait(site.edge.is_ready, 0.1)
    seconds = time.monotonic() - at
    site.host.numbers = ()
    time.sleep(SETTLED)
    return site.host.count - sent - (site.a.count - came), seconds


@click.command()
@click.option("--routes", default=100_000, show_default=True, help="How many Linux has.")
@click.option("--draws", default=30, show_default=True, help="Withdrawals, and failures of each kind.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same moments and prefixes for the same seed.")
def main(routes: int, draws: int, seed: int) -> None:
    """Measure a live edge with many routes of Linux (root)."""
    rng = random.Random(seed)
    numbers = range(routes)
    with running(seed) as site:
        wait(lambda: site.edge.routes() >= 0, 0.1)
        came = announced(site, numbers)
        click.echo(f"{routes} routes announced: on the switch after {came:.1f} s")
        rows: list[tuple[object, ...]] = []
        one = [withdrawn(site, rng.choice(numbers), rng.uniform(0, LONGEST_PAUSE)) for _ in range(draws)]
        rows.append(("one route withdrawn", *Spread.of(one).cells_of_many(1)))
        for how in ("carrier", "neighbour"):
            longest = LINK_EVENTS if how == "carrier" else LONGEST_PAUSE
            seen = [failed(site, how, numbers, rng.uniform(0, longest)) for _ in range(draws)]
            rows.append((f"next hop of all routes fails ({how})", *Spread.of(seen).cells_of_many(1)))
        click.echo("\n".join(table(("milliseconds until left", *HEADS_OF_MANY), rows)))
        lost, back = killed(site, numbers)
        click.echo(f"controller killed: {lost} packets lost of 2000 a second; reconciled after {back:.1f} s")
        seconds, controller, switch = all_withdrawn(site, numbers)
        click.echo(f"all routes withdrawn: {seconds:.2f} s")
        click.echo(f"of which processor time: controller {controller:.2f} s, switch {switch:.2f} s")
        click.echo(f"{draws} draws each, seed {seed}; nothing waited for longer than {PATIENCE:.0f} s")


if __name__ == "__main__":
    main()
