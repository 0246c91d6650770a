"""A connection by several paths, whose peer begins again, and then reports nothing of them any more: live processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from test_running import PATIENCE, Watched, lacking

from wayname_lab.load import LABS, parse_lab
from wayname_lab.plan import plan_lab
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.show import MEDIA
from wayname_lab.traffic import Traffic

MARKS, FEEDBACK = 'source = "marks"', 'source = "feedback"'
ENOUGH = 1_000_000  # octets
REPORTED = 200  # packets
Group = dict[str, Any]


async def until_told(lab: Watched, holds: Callable[[Group], bool]) -> Group:
    """Wait until something is so of the sending edge's session and its paths."""
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = await lab.running.controllers["a"].page_client.get("/v1/schedules/sites")
            found: list[Group] = [group for group in answer.json()["groups"] if holds(group)]
            if found:
                return found[0]
            await asyncio.sleep(0.1)


def reported(group: Group) -> int:
    """How many packets the peer reported of."""
    return sum(path["packets"] for path in group["paths"])


def all_open(group: Group) -> bool:
    return [path["state"] for path in group["paths"]] == ["open"] * 3


@pytest.mark.skipif(lacking("namespaces") != "", reason=lacking("namespaces"))
async def test_a_connection_goes_on_where_its_peer_begins_again_and_where_that_reports_no_more() -> None:
    text = (LABS / "many-paths.toml").read_text().replace(MARKS, FEEDBACK)
    plan = plan_lab(parse_lab(text, "reported", "reported"))
    traffic = Traffic(plan)
    with LabFolder() as folder:
        async with RunningLab(plan, MEDIA["namespaces"](plan, folder), folder, traffic.take) as running:
            for part in traffic.parts:
                traffic.started(part, await running.hosts[part.host].start(part.command))
            lab = Watched(running, traffic)
            [tcp] = traffic.flows
            group = await until_told(lab, lambda group: all_open(group) and reported(group) > REPORTED)
            assert (group["numbered"], group["in_order"]) == ([1], [1])

            # Its switch has no tables and another clock.
            running.kill_switch("b")
            await lab.until(lambda: running.supervisor.processes["b-switch"].starts == 2)
            before = reported(await until_told(lab, lambda group: True)), tcp.total
            await until_told(lab, lambda group: reported(group) > before[0] + REPORTED)
            await lab.until(lambda: tcp.total > before[1] + ENOUGH)

            config = folder / "b.toml"
            config.write_text(config.read_text().replace(FEEDBACK, MARKS))
            running.kill_controller("b")
            await until_told(lab, lambda group: group["numbered"] == [])
            received = tcp.total
            await lab.until(lambda: tcp.total > received + ENOUGH)
            await until_told(lab, all_open)
            assert tcp.ended == ""
