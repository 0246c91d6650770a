"""`wayname status --wait` and `wayname version`, against a controller and its switch as processes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from test_adapter import SwitchProcess, hosts
from test_command import command, config, fails, switch, up, wayname

from wayname.adapter.port_links import read_links
from wayname.cli.status import no_provider_works, provider_line, state_line

__all__ = ["config", "switch"]

PROVIDER = """
[[provider]]
name = "north"
prefix = "2001:db8:a::/48"
via = ["2001:db8:2::22"]
"""


def test_timeout_without_wait_is_used_wrongly() -> None:
    assert fails(wayname("status", "--timeout", "1"), 2).startswith("--timeout is for --wait")


@pytest.fixture
def with_provider(config: Path) -> Path:
    config.write_text(config.read_text() + PROVIDER)
    return config


async def test_it_returns_when_switch_tables_and_providers_are_there(
    switch: SwitchProcess, with_provider: Path, tmp_path: Path
) -> None:
    at = ("--api", f"unix:{tmp_path}/api")
    line = fails(wayname(*at, "status", "--wait", "--timeout", "0"))
    assert line.startswith("not up after 0 s: no controller answers")
    with up(with_provider) as running:
        running.logs("controller.begin")
        line = fails(wayname(*at, "status", "--wait", "--timeout", "0.1"))
        assert line.startswith(f"not up after 0.1 s: the switch at 127.0.0.1:{switch.port}")
        waiting_for_it = command(*at, "status", "--wait", "--json")
        # Hosts listen at the wires; the switch would do so itself if it were first.
        async with asyncio.timeout(60), waiting_for_it as waiting, hosts(tmp_path):
            switch.start()
            out, _ = await waiting.communicate()
            shown = await asyncio.to_thread(wayname, *at, "status")
        assert waiting.returncode == 0
        status = json.loads(out)
        assert (status["switch"]["state"], status["waits_for"]) == ("ready", [])
        assert [each["name"] for each in status["providers"]] == ["north"]
        assert "providers   north " in shown.stdout
        done = wayname(*at, "version", "--json")
        assert done.returncode == 0
        parts = json.loads(done.stdout)
        assert parts["running"] == {"wayname": parts["wayname"], "pipeline": parts["pipeline"]}


def test_a_provider_that_is_down_says_why() -> None:
    assert provider_line({"name": "north", "used": True, "why": ""}) == "north up"
    why = "2001:db8:2::22 does not answer"
    assert provider_line({"name": "north", "used": False, "why": why}) == f"north down: {why}"


def test_an_edge_whose_providers_are_all_down_says_so() -> None:
    down, up = {"used": False}, {"used": True}
    assert no_provider_works([down, down])
    assert state_line([down, down]) == "nothing: the edge is up, but no provider works"
    for providers in ([], [up, down], [up]):
        assert not no_provider_works(providers)
        assert state_line(providers) == "nothing: the edge is up"


async def test_it_ends_with_a_status_of_its_own_where_no_provider_works(
    switch: SwitchProcess, with_provider: Path, tmp_path: Path
) -> None:
    switch.start()
    with up(with_provider) as running:
        running.logs("nexthop.down")
        done = await asyncio.to_thread(wayname, "--api", f"unix:{tmp_path}/api", "status", "--wait")
    assert done.returncode == 3
    assert "nothing: the edge is up, but no provider works" in done.stdout


def test_links_are_read_as_the_switch_says_them() -> None:
    said = (
        '# TYPE wayname_switch_port_up gauge\nwayname_switch_port_up{port="1"} 1\nwayname_switch_port_up{port="12"} 0\n'
    )
    assert read_links(said) == {1: True, 12: False}


def test_versions_without_a_controller(tmp_path: Path) -> None:
    done = wayname("version", "--api", f"unix:{tmp_path}/nobody", PATH=str(tmp_path))
    assert done.returncode == 0
    assert "no controller answers" in done.stdout
    assert "no wayname-switch in PATH" in done.stdout
