"""What happens to the site of the soak: each fault begins, may last, and is mended; which and when a seed draws."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.soak.site import EDGES, SoakSite

CARRIER = (("a", "to-p"), ("a", "to-q"), ("b", "to-p"), ("b", "to-q"))
# Where a provider loses what goes by a link, though both ends have a carrier.
ONE_WAY = tuple((provider, end) for provider in ("p", "q") for end in ("a", "b", "world"))
DAEMONS = ("bird-a-linux", "bird-p", "bird-q", "bird-world")
DOWN = 2.0  # until what was killed is started again
LASTS = (5.0, 15.0)
DAY = 86400


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that begins, and ends some seconds later."""

    kind: str
    what: str
    seconds: float
    begin: Callable[[SoakSite], None]
    end: Callable[[SoakSite], None]
    # Connections of translated hosts end with the provider whose address they have; and a switch that begins anew knows
    # of none that was moved to the other one before (docs/limitations.md).
    spares_translated: bool = True


def draw(rng: random.Random) -> Fault:
    """Draw one; every kind is as likely as any other."""
    return rng.choice(
        (
            link_down,
            one_way,
            both_ways,
            killed_daemon,
            killed_controller,
            killed_switch,
            disk_full,
            killed_on_full_disk,
            clock_set,
        )
    )(rng)


def link_down(rng: random.Random) -> Fault:
    """An edge's link without a carrier."""
    edge, device = rng.choice(CARRIER)

    def set_link(state: str) -> Callable[[SoakSite], None]:
        return lambda site: _run(site, edge, "ip", "link", "set", device, state)

    return Fault("link down", f"{edge} {device}", rng.uniform(*LASTS), set_link("down"), set_link("up"), edge == "b")


def one_way(rng: random.Random) -> Fault:
    """A link that loses all of one direction."""
    provider, end = rng.choice(ONE_WAY)
    hook, device = rng.choice((("prerouting", "iifname"), ("postrouting", "oifname")))
    return _cut("one way cut", provider, end, rng, ((hook, device),))


def both_ways(rng: random.Random) -> Fault:
    """A link that loses all, and keeps its carrier."""
    provider, end = rng.choice(ONE_WAY)
    return _cut("link dead", provider, end, rng, (("prerouting", "iifname"), ("postrouting", "oifname")))


def killed_daemon(rng: random.Random) -> Fault:
    """A routing daemon that is killed, and started again."""
    return _killed("daemon killed", rng.choice(DAEMONS))


def killed_controller(rng: random.Random) -> Fault:
    """A controller that is killed, and started again."""
    return _killed("controller killed", "a-controller")


def killed_switch(rng: random.Random) -> Fault:
    """A switch that is killed, and started again with empty tables."""
    return _killed("switch killed", "a-switch", spares_translated=False)


def disk_full(rng: random.Random, *edges: str) -> Fault:
    """No room for the state of an edge."""
    edge = rng.choice(edges or EDGES)

    def fill(site: SoakSite) -> None:
        # It fails when there is no more room, which is what it is for.
        file = site.folder / f"state-{edge}" / "full"
        subprocess.run(["dd", "if=/dev/zero", f"of={file}", "bs=4096"], capture_output=True)

    def free(site: SoakSite) -> None:
        (site.folder / f"state-{edge}" / "full").unlink(missing_ok=True)

    return Fault("disk full", edge, rng.uniform(*LASTS), fill, free)


def killed_on_full_disk(rng: random.Random) -> Fault:
    """A controller that is killed while there is no room for its state, and started again meanwhile."""
    full = disk_full(rng, "a")

    def begin(site: SoakSite) -> None:
        full.begin(site)
        time.sleep(1)
        site.kill("a-controller")
        site.start("a-controller")

    return Fault("controller killed on a full disk", "a-controller", full.seconds, begin, full.end)


def clock_set(rng: random.Random) -> Fault:
    """Another time of day for both processes of an edge; it stays."""
    edge = rng.choice(EDGES)
    offset = rng.choice((-1, 1)) * rng.choice((3, 600, 3600, DAY, 400 * DAY))

    def set_clock(site: SoakSite) -> None:
        (site.folder / f"clock-{edge}").write_text(f"{offset:+d}\n")

    return Fault("time of day set", f"{edge} {offset:+d} s", 2.0, set_clock, lambda site: None)


def _killed(kind: str, name: str, *, spares_translated: bool = True) -> Fault:
    return Fault(kind, name, DOWN, lambda site: site.kill(name), lambda site: site.start(name), spares_translated)


def _cut(kind: str, provider: str, end: str, rng: random.Random, hooks: tuple[tuple[str, str], ...]) -> Fault:
    chains = "\n".join(
        f"chain {hook} {{ type filter hook {hook} priority -400; {device} to-{end} drop; }}" for hook, device in hooks
    )
    ways = " and ".join("from" if device == "iifname" else "to" for _, device in hooks)

    def cut(site: SoakSite) -> None:
        site.nodes.run(provider, "nft", "-f", "-", text=f"table ip6 cut {{\n{chains}\n}}\n")

    def mend(site: SoakSite) -> None:
        site.nodes.run(provider, "nft", "delete", "table", "ip6", "cut")

    return Fault(kind, f"{provider} {ways} {end}", rng.uniform(*LASTS), cut, mend, end == "b")


def _run(site: SoakSite, node: str, *words: str) -> None:
    site.nodes.run(node, *words)


@contextmanager
def happening(site: SoakSite, fault: Fault) -> Iterator[float]:
    """Let a fault begin, and mend it afterwards; yield when it began."""
    began = time.monotonic()
    fault.begin(site)
    try:
        yield began
    finally:
        fault.end(site)
