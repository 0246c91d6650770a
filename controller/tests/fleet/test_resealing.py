"""A fleet goes over to another sealing key, and needs the old one no more."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path

from fleet.test_fleet_commands import Admin
from fleet.test_fleet_controllers import PATIENCE, edge, switch, tells, until
from test_adapter import SwitchProcess
from test_command import wayname

from wayname.fleet.sealing import new_key
from wayname_lab.etcd import EtcdCluster

__all__ = ["switch"]


async def test_an_edge_goes_on_without_the_old_key(
    switch: SwitchProcess, three_etcds: EtcdCluster, tmp_path: Path
) -> None:
    admin = Admin(tmp_path, three_etcds)
    await admin.does("apply", admin.folder, "--yes")
    async with edge(tmp_path, switch, three_etcds, "first", tables="") as (fleet, _record, one, two):
        await admin.until_applied(1)
        assert await admin.does("reseal") == {"values": 0, "waiting": []}
        key = tmp_path / "fleet.key"
        old, new = key.read_text(), new_key() + "\n"
        key.write_text(new + old)
        # The leader has the old line alone, and reads its configuration still.
        assert await admin.does("reseal", status=1) == {"values": 0, "waiting": ["berlin"]}
        assert "have not begun with the new line, or none: berlin" in await admin.says("reseal", status=1)
        group = admin.folder / "groups" / "two-networks.toml"
        before = group.read_text()
        group.write_text(before + "[timing]\nprobe = 7\n")
        assert "sealed by a key that controllers of these edges have not" in await admin.fails(
            "apply", admin.folder, "--yes", "--json"
        )
        group.write_text(before)
        fleet.controllers["first"].end()
        # What it told before its end is nothing that who leads next has to have.
        assert await admin.does("reseal", status=1) == {"values": 0, "waiting": ["berlin"]}
        await until(partial(tells, fleet.start("first", ""), "switch.up"), "the controller with the new line")
        # It says so with the configuration that it goes by.
        words = "fleet", "reseal", "--config", admin.file, "--json"
        async with asyncio.timeout(PATIENCE):
            while (done := await asyncio.to_thread(wayname, *words)).returncode:
                assert json.loads(done.stdout) == {"values": 0, "waiting": ["berlin"]}
        # groups/two-networks.toml, edges/berlin.toml, and what the edge gets.
        assert json.loads(done.stdout) == {"values": 3, "waiting": []}
        assert "sealed 0 values anew; all is under the first line" in await admin.says("reseal")
        key.write_text(new)
        fleet.controllers["first"].end()
        await until(partial(tells, fleet.start("first", ""), "switch.up"), "the controller without the old line")
        assert await admin.does("diff", admin.folder) == []
        assert (await admin.until_applied(1))["refused"] == ""
        await one.ping(str(two.address))
