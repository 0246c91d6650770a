"""One cut under the flows of `make run`, on the virtual clock, event by event: `python -m bench.failover.trace`.

Nothing waits for a processor there: what is printed is what protocols, links and queues take.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import click

from wayname_lab.load import find_lab
from wayname_lab.virtual.clock import SECOND
from wayname_lab.virtual.lab import VirtualLab

LAB, CUT = "two-sites", "a-p"
STARTED, CONVERGED = 2.0, 7.0
AFTER = 1.0
# The flows of the lab: who sends, who receives, at how many bit/s (None: as fast as TCP goes).
STREAMS = (("a1", "b1", None), ("b2", "a2", 5_000_000))
PINGS = ("a2", "b1")
PORT = 5001


def cut(seed: int) -> tuple[VirtualLab, float]:
    """Return the lab a second after its link was cut, and when that was."""
    rng = random.Random(seed)
    lab = VirtualLab(replace(find_lab(LAB), flows=()), seed)
    lab.run_until(STARTED)
    for sender, receiver, pace in STREAMS:
        lab.command(receiver, "tcp_serve", port=PORT, interval=0.002)
        to = str(lab.plan.hosts[receiver].address.ip)
        lab.command(sender, "tcp_send", to=to, port=PORT, **({} if pace is None else {"pace": pace}))
    lab.command(PINGS[0], "ping", to=str(lab.plan.hosts[PINGS[1]].address.ip), count=0, interval=0.02)
    lab.run_until(CONVERGED + rng.random())
    at = lab.now
    lab.cut(CUT)
    lab.run_for(AFTER)
    return lab, at


def gap(lab: VirtualLab, host: str, kind: str, since: float) -> float:
    """Return the longest time that a host got nothing, from shortly before a moment on."""
    told = [each for each in lab.events_of(host, kind) if kind != "rate" or each["bytes"]]
    times = [each["at_ns"] / SECOND for each in told]
    return max(float(later - earlier) for earlier, later in pairwise(at for at in times if at > since - 0.2))


@click.command()
@click.option("--seed", type=int, default=1, show_default=True, help="The same moment for the same seed.")
def main(seed: int) -> None:
    """Cut the link and print what happens, in milliseconds after the cut."""
    lab, at = cut(seed)
    for event in lab.event_log.last:
        if event.time >= at:
            click.echo(f"{1e3 * (event.time - at):7.1f}  {event.who:4} {event.text}")
    for sender, receiver, _ in STREAMS:
        click.echo(f"TCP from {sender} to {receiver}: {1e3 * gap(lab, receiver, 'rate', at):.0f} ms without data")
    click.echo(f"ping from {PINGS[0]}: {1e3 * gap(lab, PINGS[0], 'ping_reply', at):.0f} ms without an answer")


if __name__ == "__main__":
    main()
