"""The configuration read again: what passes goes on, the difference is written, what cannot change is refused."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest
from test_adapter import SwitchProcess, controller_of, event, hosts, running, tables
from test_adapter import configuration as configuration_of
from test_command import config, fails, switch, up, wayname

from wayname.adapter import Controller, ReloadError
from wayname.composition.configuration import parse_config
from wayname.edge.boundary import CloseCapture, OpenCapture
from wayname.identity.key_files import KeyFileError

__all__ = ["config", "switch"]

ROUTE = '[[route]]\nprefix = "2001:db8:77::/48"\nvia = "prohibited"\n'


async def test_the_difference_is_written_and_what_passes_goes_on(switch: SwitchProcess, tmp_path: Path) -> None:
    async with asyncio.timeout(40), hosts(tmp_path) as (one, two):
        switch.start()
        async with running(controller_of(switch)) as controller:
            await event(controller, "switch.up")
            await one.ping(str(two.address))
            await two.ping(str(one.address))
            await event(controller, "station.found")
            await (await controller.command(OpenCapture(1, 1, True, False))).wait()
            before, written = await tables(controller), controller.writes
            told = controller.events.last

            assert await controller.reload(parse_config(configuration_of(switch.port) + ROUTE)) == ["route"]
            for _ in range(20):
                await one.ping_answered(str(two.address))
            after = await tables(controller)
            new = {key for key in after if key not in before}
            # What was there is there, and the route is new; so is the capture, which the new edge goes on with.
            assert before.keys() <= after.keys()
            assert {str(key).partition("'")[2].partition("'")[0] for key in new} >= {"routes"}
            assert any("ingress_mirror" in str(key) for key in after)
            assert controller.writes - written < 20
            assert controller.sessions == 1
            assert not [each for each in controller.events.since(told) if each.event.kind.startswith("switch.")]

            assert await controller.reload(parse_config(configuration_of(switch.port) + ROUTE)) == []
            assert await controller.reload(parse_config(configuration_of(switch.port))) == ["route"]
            await (await controller.command(CloseCapture(1))).wait()
            assert not any("2001:db8:77" in str(key) or "mirror" in str(key) for key in await tables(controller))
            await one.ping_answered(str(two.address))


@pytest.mark.parametrize(
    ("protocol", "hosts_in", "more"),
    [
        ("shim6", '[[shim6]]\nprefixes = ["2001:db8:1::/64"]\n', "seconds = 5\n"),
        ("ilnp", '[[ilnp.site]]\nprefixes = ["2001:db8:1::/64"]\n', "seconds = 5\n"),
        ("hip", '[hip]\nproxy = ["2001:db8:1::/64"]\n', "difficulty = 9\n"),
    ],
)
async def test_a_session_protocol_begins_and_ends(
    switch: SwitchProcess, tmp_path: Path, protocol: str, hosts_in: str, more: str
) -> None:
    silent = f'[controller]\nstate = "{tmp_path}/state"\n' + configuration_of(switch.port)
    async with asyncio.timeout(40):
        switch.start()
        async with running(Controller(parse_config(silent))) as controller:
            await event(controller, "switch.up")
            before = await tables(controller)
            for text in (silent + hosts_in, silent + hosts_in + more):
                assert await controller.reload(parse_config(text)) == [protocol]
                assert before.keys() < (await tables(controller)).keys()
            assert await controller.reload(parse_config(silent)) == [protocol]
            assert await tables(controller) == before


async def test_what_is_known_of_next_hops_goes_on(switch: SwitchProcess, tmp_path: Path) -> None:
    by_two = '[[route]]\nprefix = "2001:db8:78::/48"\nvia = ["2001:db8:2::22"]\n'
    async with asyncio.timeout(40), hosts(tmp_path):
        switch.start()
        controller = Controller(parse_config(configuration_of(switch.port) + by_two))
        async with running(controller):
            await event(controller, "nexthop.up")
            assert await controller.reload(parse_config(configuration_of(switch.port) + by_two + ROUTE)) == ["route"]
            (hop,) = controller.edge.routes.next_hops
            assert controller.edge.liveness.health(hop) == "up"


async def test_what_needs_a_restart_is_named_and_nothing_changes(switch: SwitchProcess) -> None:
    controller = controller_of(switch)
    edge = controller.edge
    text = configuration_of(switch.port, 2).replace("[switch]", "[controller]\nevents = 5\n[switch]")
    with pytest.raises(ReloadError, match=r"^switch.device_id, controller.events, controller.state cannot change"):
        await controller.reload(parse_config(text + ROUTE))
    assert controller.edge is edge


def test_by_signal_and_by_command(switch: SwitchProcess, config: Path, tmp_path: Path) -> None:
    switch.start()
    at = ("--api", f"unix:{tmp_path}/api")
    text = config.read_text()
    with up(config) as running:
        running.logs("switch.up")
        config.write_text(text + ROUTE)
        running.process.send_signal(signal.SIGHUP)
        assert running.logs("config.reloaded") == "changed: route"
        assert "2001:db8:77::/48" in wayname(*at, "routes").stdout

        config.write_text(text.replace("vlan = 10", "vlan = 5000", 1))
        line = fails(wayname(*at, "reload"))
        assert line.startswith(f"The old configuration goes on: {config}:")
        assert "is 5000; write a VLAN from 1 to 4094" in line
        assert running.logs("config.refused").endswith("the old configuration goes on")
        assert "2001:db8:77::/48" in wayname(*at, "routes").stdout

        config.write_text(text)
        assert json.loads(wayname(*at, "--json", "reload").stdout) == {"changed": ["route"]}
        assert wayname(*at, "reload").stdout == "nothing changed\n"
        assert "2001:db8:77::/48" not in wayname(*at, "routes").stdout
        assert running.end() == 0


async def test_a_key_that_cannot_be_used_leaves_the_old_edge(switch: SwitchProcess, tmp_path: Path) -> None:
    switch.start()
    text = configuration_of(switch.port)
    keyed = f'[identities]\nkey = "{tmp_path}"\n[[identities.link]]\ninterface = "vlan10"\n'
    first = Controller(parse_config(text, folder=tmp_path))
    async with asyncio.timeout(40), running(first) as controller:
        await event(controller, "switch.up")
        edge = controller.edge
        with pytest.raises(KeyFileError):
            await controller.reload(parse_config(text + keyed, folder=tmp_path))
        assert controller.edge is edge
        assert await controller.reload(parse_config(text + ROUTE, folder=tmp_path)) == ["route"]
        assert controller.connected
