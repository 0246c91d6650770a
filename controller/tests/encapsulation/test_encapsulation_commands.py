"""`wayname encap` and `wayname ioam` as people run them, against the real switch program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from encapsulating_site import CARRIED, SITE
from test_adapter import SwitchProcess
from test_command import Up, up

from wayname.cli.root import wayname as commands
from wayname.failure import Failure
from wayname.private_files import write_private

HEAD = """
[switch]
address = "127.0.0.1:{port}"
[api]
socket = "{api}"
[controller]
log_format = "json"
changes = "edge.changes"
"""


@pytest.fixture
def switch(tmp_path: Path) -> Iterator[SwitchProcess]:
    process = SwitchProcess(tmp_path)
    process.start()
    yield process
    process.kill()


@pytest.fixture
def config(switch: SwitchProcess, tmp_path: Path) -> Path:
    path = tmp_path / "edge.toml"
    write_private(path, HEAD.format(port=switch.port, api=f"unix:{tmp_path}/api") + SITE + CARRIED)
    return path


@pytest.fixture
def running(config: Path) -> Iterator[Up]:
    with up(config) as running:
        running.logs("switch.up")
        yield running


def run(*arguments: object) -> str:
    """Run a command in this process, which is quicker; return what it says."""
    result = CliRunner().invoke(commands, [str(each) for each in arguments], standalone_mode=False)
    if isinstance(result.exception, Failure | click.UsageError):
        return f"refused: {result.exception}"
    if result.exception is not None:
        raise result.exception
    return result.output


def test_from_the_first_change_to_the_last(running: Up, config: Path, tmp_path: Path) -> None:
    api = ("--api", f"unix:{tmp_path}/api")
    listed = run("encap", "list", *api)
    assert "gold" in listed and "2001:db8:5::/48" in listed and "secret" not in listed
    added = run("encap", "add", "policy", "name=new", "segments=fd00::a,fd00::b", *api)
    assert added == "done\n"
    assert run("encap", "add", "encapsulation", "prefix=2001:db8:42::/48", "policy=new", *api) == "done\n"
    assert "fd00::a fd00::b" in run("encap", "show", "policy", "new", *api)
    [new] = [each for each in json.loads(run("encap", "list", "policy", "--json", *api)) if each["name"] == "new"]
    assert (new["origin"], new["values"]["segments"]) == ("live", ["fd00::a", "fd00::b"])
    assert "push_segments_2" in run("tables", "sr_policies", *api)

    wrong = run("encap", "remove", "policy", "new", *api)
    assert wrong.startswith("refused: Refused: live: encapsulation 2001:db8:42::/48.policy: there is no [[policy]]")
    assert "live: trace t.octets: is 5" in run("encap", "add", "trace", "name=t", "namespace=1", "octets=5", *api)
    assert "give a KIND" in run("encap", "add", *api)
    assert "is not KEY=VALUE" in run("encap", "add", "policy", "new", *api)

    tables = tmp_path / "more.toml"
    tables.write_text('[[namespace]]\nid = 2\n[[trace]]\nname = "two"\nnamespace = 2\n')
    assert run("encap", "add", "--file", tables, *api) == "done\n"
    assert "two" in run("ioam", "traces", *api)
    assert len(json.loads(run("ioam", "namespaces", "--json", *api))) == 2
    assert run("ioam", "paths", *api) == "no trace ended here yet\n"
    assert run("ioam", "exports", *api) == "no packet asked for direct export yet\n"
    assert run("ioam", "records", *api) == ""

    assert running.end() == 0
    with up(config) as again:
        again.logs("switch.up")
        assert "new" in run("encap", "list", "policy", *api)
        for kind, name in (
            ("encapsulation", "2001:db8:42::/48"),
            ("policy", "new"),
            ("trace", "two"),
            ("namespace", "2"),
        ):
            assert run("encap", "remove", kind, name, *api) == "done\n"
        assert json.loads((tmp_path / "edge.changes").read_text())["policy"] == {}


def test_files_that_are_none(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    for text, line in (
        ("[[polcy]]\n", "polcy: is no table of what packets carry"),
        ("policy = 3\n", "policy: is no table"),
        ("[[policy]]\n", "policy: one of them has no name"),
        ("x", "is not TOML"),
    ):
        wrong.write_text(text)
        assert run("encap", "add", "--file", wrong).startswith(f"refused: {wrong}: {line}")
    assert "cannot be read" in run("encap", "add", "--file", tmp_path / "missing")
