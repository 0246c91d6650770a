"""`wayname trace` between hosts of one VLAN: the router asks who has their addresses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from test_adapter import SwitchProcess, switch
from test_command import CONFIG, PATIENCE, fails, up, wayname
from wire_host import WireHost

__all__ = ["switch"]
ONE, TWO, NOBODY = "2001:db8:1::11", "2001:db8:1::22", "2001:db8:1::99"
SITE = """
[[port]]
number = 1
name = "h1"
vlan = 10
[[port]]
number = 2
name = "h2"
vlan = 10
[[interface]]
vlan = 10
mac = "02:00:00:00:00:0a"
addresses = ["2001:db8:1::1/64"]
"""


@pytest.fixture
async def api(switch: SwitchProcess, tmp_path: Path) -> AsyncIterator[str]:
    """An edge with two hosts in one VLAN, of whom it has heard nothing."""
    config = tmp_path / "edge.toml"
    config.write_text(CONFIG.format(port=switch.port, folder=tmp_path) + SITE)
    places = ((ONE, 1), (TWO, 2))
    found = [WireHost(tmp_path / f"{n}", f"02:00:00:00:00:0{n}", address, "02:00:00:00:00:0a") for address, n in places]
    tasks = [asyncio.create_task(host.run()) for host in found]
    async with asyncio.timeout(PATIENCE):
        switch.start()
        with up(config) as running:
            await asyncio.to_thread(running.logs, "switch.up")
            yield f"unix:{tmp_path}/api"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_hosts_of_one_vlan(api: str) -> None:
    done = await asyncio.to_thread(wayname, "--api", api, "trace", ONE, TWO)
    lines = done.stdout.splitlines()
    assert lines[0] == "came in by h1 (1)", done
    assert lines[-1] == "the packet left by h2 (2)"
    # Nobody has the address: the packet goes to the router, which asks for it.
    done = await asyncio.to_thread(wayname, "--api", api, "trace", ONE, NOBODY)
    lines = done.stdout.splitlines()
    assert lines[1] == f"it was sent to the router, since nobody on its link answers for {NOBODY}"
    (punted,) = (line for line in lines if line.endswith(" went to the controller"))
    assert f"the packet ended here: the controller has it, as {punted.removesuffix(' went to the controller')}" in lines
    # A source that nobody has is no traveller: what to do is in the line.
    done = await asyncio.to_thread(wayname, "--api", api, "trace", NOBODY, TWO)
    assert "have it ping its router" in fails(done)
