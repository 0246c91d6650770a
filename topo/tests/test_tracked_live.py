"""The lab `tracked` with live processes: a provider is cut three hops away, found dead, and used again.

How fast that is is asserted on the virtual clock (`test_tracked.py`); here a busy machine may take longer.
"""

from __future__ import annotations

import pytest
from test_running import lacking, watched

from wayname_lab.running import LabFolder


async def test_live_processes_leave_a_provider_that_is_dead_three_hops_away() -> None:
    if reason := lacking("wires"):
        pytest.skip(reason)
    with LabFolder() as folder:
        async with watched("tracked", "wires", folder) as lab:
            link = next(link for link in lab.running.plan.lab.links if link.name == "p2-p3")
            since = lab.running.elapsed()
            await lab.running.set_cut(link, True)
            await lab.until(lambda: lab.told("s", "has not answered for", since) and lab.told("s", "go by q", since))
            part = next(part for part in lab.traffic.parts if part.command["command"] == "tcp_send")
            before = lab.connections(part.flow)
            lab.traffic.started(part, await lab.running.hosts[part.host].start(part.command))
            await lab.until(lambda: lab.connections(part.flow) not in ([], before))
            await lab.until(lambda: part.flow.state(part.flow.last_progress or 0) == "flows")
            since = lab.running.elapsed()
            await lab.running.set_cut(link, False)
            await lab.until(lambda: lab.told("s", "provider p works again", since))
