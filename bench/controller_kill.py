"""What a controller costs that is killed while two hosts begin to talk: `python -m bench.controller_kill`.

Each draw starts the lab `two-sites` or `hip-edges` on wires, lets a host ping another one, and kills the controller of
one of the two edges a moment after the first packet. The supervisor starts it again. What counts is when both edges
have the session, and for how long the hosts get no answer.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from threading import Barrier

import click
import httpx

from bench.shim6.report import table
from bench.side_by_side import AT_ONCE, side_by_side
from bench.spread import HEADS, Spread
from wayname_lab.host_handle import Event
from wayname_lab.load import find_lab
from wayname_lab.plan import plan_lab
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.wires import Wires

LABS = {"Shim6": "two-sites", "HIP": "hip-edges"}
EDGES = ("a", "b")
FROM, TO = "a1", "b1"
# A ping of this size is worth a session at once.
PING = {"command": "ping", "count": 0, "interval": 0.02, "size": 1100}
LATEST = 0.1  # the kill, after the first packet
MEASURED = {
    "away": "until the controller answers again",
    "session": "until both edges have the session",
    "silence": "without an answer to the host",
}
PATIENCE, PAUSE = 20.0, 0.05


@dataclass(frozen=True, slots=True)
class Draw:
    """Whose controller is killed, and when."""

    protocol: str
    edge: str
    moment: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What a kill cost, in seconds: until its API answers, until both edges have the session, and without an answer."""

    away: float
    session: float  # `PATIENCE` if they do not have it by then
    silence: float


@dataclass
class _Answers:
    """When pings were answered."""

    at: list[float] = field(default_factory=list)

    def take(self, host: str, event: Event) -> None:
        if host == FROM and event["event"] == "ping_reply":
            self.at.append(time.monotonic())


def killed(draw: Draw, all_started: Barrier) -> Seen:
    """Kill a controller in a lab of its own."""
    return asyncio.run(_kill(draw, all_started))


async def _kill(draw: Draw, all_started: Barrier) -> Seen:
    plan = plan_lab(replace(find_lab(LABS[draw.protocol]), flows=()))
    answers = _Answers()
    with LabFolder() as folder:
        async with RunningLab(plan, Wires(plan, folder), folder, answers.take) as lab:
            await asyncio.to_thread(all_started.wait)
            began = time.monotonic()
            await lab.hosts[FROM].start({**PING, "to": str(plan.hosts[TO].address.ip)})
            await asyncio.sleep(began + draw.moment - time.monotonic())
            at = time.monotonic()
            lab.kill_controller(draw.edge)
            await asyncio.sleep(PAUSE)
            away = await _until(lab, (draw.edge,), "/v1/status", at)
            stands = await _until(lab, EDGES, "/v1/sessions", at)
    silence = max(later - earlier for earlier, later in pairwise([began, *answers.at, time.monotonic()]))
    return Seen(away, stands, silence)


async def _until(lab: RunningLab, edges: Sequence[str], path: str, since: float) -> float:
    """Return after how long all of these edges have something to answer; `PATIENCE` if they have not by then."""
    while (passed := time.monotonic() - since) < PATIENCE:
        if all([await _has(lab, edge, path) for edge in edges]):
            return passed
        await asyncio.sleep(PAUSE)
    return PATIENCE


async def _has(lab: RunningLab, edge: str, path: str) -> bool:
    transport = httpx.AsyncHTTPTransport(uds=str(lab.folder / f"{edge}.api"))
    async with httpx.AsyncClient(transport=transport, base_url="http://controller", timeout=2) as client:
        try:
            return bool((await client.get(path)).json())
        except httpx.TransportError:
            return False


@click.command()
@click.option("--draws", default=30, show_default=True, help="Kills for each protocol.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same moments for the same seed.")
@click.option("--only", type=click.Choice(list(LABS)), help="One protocol; else both.")
def main(draws: int, seed: int, only: str | None) -> None:
    """Kill controllers and print what it cost."""
    protocols = list(LABS) if only is None else [only]
    some = {protocol: drawn(protocol, draws, seed) for protocol in protocols}
    seen = {protocol: side_by_side(killed, some[protocol]) for protocol in protocols}
    click.echo("\n".join(printed(seen)))
    click.echo(f"{draws} kills each, seed {seed}, {AT_ONCE} labs at once")


def drawn(protocol: str, count: int, seed: int) -> list[Draw]:
    """Draw whose controllers are killed, and when."""
    rng = random.Random(f"{seed} {protocol}")
    return [Draw(protocol, rng.choice(EDGES), rng.uniform(0, LATEST)) for _ in range(count)]


def printed(seen: Mapping[str, Sequence[Seen]]) -> list[str]:
    """Return a table of what was seen."""
    rows = [
        (protocol, name, *Spread.of([getattr(each, what) for each in of_protocol]).cells())
        for protocol, of_protocol in seen.items()
        for what, name in MEASURED.items()
    ]
    never = [
        f"{protocol}: no session within {PATIENCE:.0f} s after {sum(each.session == PATIENCE for each in of_protocol)}"
        f" of {len(of_protocol)} kills"
        for protocol, of_protocol in seen.items()
    ]
    return [*table(("protocol", "seconds", *HEADS), rows), *never]


if __name__ == "__main__":
    main()
