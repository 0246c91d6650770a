"""How long an edge is without whoever died, at drawn moments: `python -m bench.fleet.takeovers`.

`controller` kills the leader of an edge that has two controllers, `etcd` the leader of etcd with it, `shim6`, `ilnp`
and `hip` the switch and the controller of one of two edges that a site has. Everything is a process; links are wires.
Hosts ping each other and talk over one TCP connection, which has to live through all draws.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import click

from bench.shim6.report import table
from bench.spread import HEADS, Spread, headed
from wayname_lab.etcd import missing_for_etcd
from wayname_lab.fleet_lab import FROM, PATIENCE, PING, SECOND, TO, FleetLab, missing_answers, until, with_session
from wayname_lab.two_edges import TwoEdges, two_edges

DRAWS, QUICK_DRAWS = 30, 2
# A leader and etcd are in step with nothing here: a kill comes anywhere in a lease.
WITHIN = 1.5  # seconds
# Processes of an edge that has two controllers.
NAMES = ("a-controller", SECOND)
LABS = {"shim6": "two-sites", "ilnp": "ilnp", "hip": "hip-edges"}
# docs/fleet-measurements.md, in seconds.
WANTED = {"controller": 2.0, "etcd": 5.0, "shim6": 2.0, "ilnp": 2.0, "hip": 2.0}
HEAD = ("who dies", *headed("seconds without", HEADS), "pings lost: median", "worst", "load")


@dataclass(slots=True)
class Draws:
    """What draws of a scene came to."""

    scene: str
    # Until another controller is elected, or until the next answer.
    without: list[float] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)

    def add(self, without: float, lost: int) -> None:
        """Note a draw."""
        self.without.append(without)
        self.lost.append(lost)
        self.loads.append(os.getloadavg()[0])

    @property
    def row(self) -> tuple[str, ...]:
        """It, in a line."""
        lost, load = Spread.of(self.lost), Spread.of(self.loads)
        cells = Spread.of(self.without).cells(2)
        return (self.scene, *cells, f"{lost.median:.0f}", f"{lost.worst:.0f}", f"{load.median:.1f}")

    @property
    def verdict(self) -> str:
        """Whether nine draws in ten are as they should be."""
        ninetieth, wanted = Spread.of(self.without).ninetieth, WANTED[self.scene]
        word = "met" if ninetieth <= wanted else "MISSED"
        return f"{word}: {self.scene}: {ninetieth:.2f} s in nine draws of ten; {wanted:g} s wanted"


async def leader_dies(draws: Draws, count: int, rng: random.Random) -> None:
    """Kill the leader of an edge again and again, and etcd's with it if the scene says so."""
    async with with_session("two-sites") as lab:
        for _ in range(count):
            leading = await leader(lab)
            await asyncio.sleep(rng.uniform(0, WITHIN))
            member = await asyncio.to_thread(lab.cluster.leader) if draws.scene == "etcd" else None
            led, seen = elections(lab), len(lab.replies)
            at = time.monotonic()
            if member is not None:
                lab.cluster.kill(member)
            lab.supervisor.kill(leading)
            await until(lambda: elections(lab) > led, "a new leader")  # noqa: B023
            elected = time.monotonic() - at
            await until(lambda: len(lab.replies) > seen + 100, "answers")  # noqa: B023
            draws.add(elected, len(missing_answers(lab, at)))
            if member is not None:
                await asyncio.to_thread(lab.cluster.start, member)


def elections(lab: FleetLab) -> int:
    """Count how often a controller began to lead; who was killed is started again, and may be the next one."""
    return sum(lab.kinds(process).count("fleet.leads") for process in NAMES)


async def leader(lab: FleetLab) -> str:
    """Return the process that leads, once it has the switch and another one waits."""
    async with asyncio.timeout(PATIENCE):
        while True:
            said = {process: await lab.ask(process.removesuffix("-controller"), "/v1/fleet") for process in NAMES}
            leading = [process for process, answer in said.items() if answer and answer["leads"] and not answer["why"]]
            if leading and all(said.values()):
                return leading[0]
            await asyncio.sleep(0.05)


async def edge_dies(draws: Draws, count: int, rng: random.Random) -> None:
    """Kill the active one of a site's two edges again and again."""
    async with two_edges(LABS[draws.scene]) as lab:
        await lab.roles()
        to = str(lab.plan.hosts[TO].address.ip)
        await lab.hosts[TO].start({"command": "tcp_serve", "port": 5001, "service": "echo"})
        await lab.hosts[FROM].start({**PING, "to": to})
        await lab.session_at("b")
        await lab.hosts[FROM].start({"command": "tcp_request", "to": to, "interval": 0.02, "report": 0.2})
        await until(lambda: lab.requests, "the first answers over TCP")
        for _ in range(count):
            active, backup = await ready(lab, draws.scene)
            await asyncio.sleep(rng.uniform(0, WITHIN))
            since = await lab.fail_over(active, backup)
            draws.add(lab.gap(since), len(lab.missing(since)))
        if any(each["event"] == "requests_done" for each in lab.requests):
            raise ValueError(f"{draws.scene}: the TCP connection was reset")


async def ready(lab: TwoEdges, scene: str) -> tuple[str, str]:
    """Return the active edge and the backup once sessions are where they should be before one dies."""
    active, backup = await lab.roles()
    await lab.session_at(active)
    # Who has just been started again is a backup before it has its switch.
    await lab.until_next_hops_answer(backup)
    if scene != "hip":
        # Of HIP's nobody but who agreed on them has keys; the edges agree anew.
        await lab.session_at(backup)
    await lab.more_answers()
    return active, backup


SCENES: dict[str, Callable[[Draws, int, random.Random], Coroutine[Any, Any, None]]] = {
    "controller": leader_dies,
    "etcd": leader_dies,
    **dict.fromkeys(LABS, edge_dies),
}


@click.command()
@click.argument("scenes", nargs=-1, type=click.Choice(list(SCENES)))
@click.option("--quick", is_flag=True, help="Two draws.")
@click.option("--draws", type=int, help="How often somebody dies in each scene.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draws when.")
def main(scenes: tuple[str, ...], quick: bool, draws: int | None, seed: int) -> None:
    """Measure, and print; status 1 if a goal is missed."""
    if reason := missing_for_etcd():
        sys.exit(reason)
    count = draws or (QUICK_DRAWS if quick else DRAWS)
    found = [Draws(scene) for scene in scenes or SCENES]
    for each in found:
        asyncio.run(SCENES[each.scene](each, count, random.Random(f"{seed} {each.scene}")))
        click.echo(each.verdict, err=True)
    click.echo(f"{count} draws, seed {seed}, leases of a second, {os.cpu_count()} cores")
    click.echo("\n".join(table(HEAD, [each.row for each in found])))
    verdicts = [each.verdict for each in found]
    click.echo("\n".join(verdicts))
    sys.exit(any(each.startswith("MISSED") for each in verdicts))


if __name__ == "__main__":
    main()
