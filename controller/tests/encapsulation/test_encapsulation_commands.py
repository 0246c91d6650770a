"""`wayname encap` and `wayname ioam` as people run them, against the real switch program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from carrying_site import CARRIED, SITE
from test_adapter import SwitchProcess
from test_command import Up, fails, up, wayname

HEAD = """
[switch]
address = "127.0.0.1:{port}"
[controller]
api = "{api}"
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
    path.write_text(HEAD.format(port=switch.port, api=f"unix:{tmp_path}/api") + SITE + CARRIED)
    return path


@pytest.fixture
def running(config: Path) -> Iterator[Up]:
    with up(config) as running:
        running.logs("switch.up")
        yield running


def test_from_the_first_change_to_the_last(running: Up, config: Path, tmp_path: Path) -> None:
    api = ("--api", f"unix:{tmp_path}/api")
    listed = wayname("encap", "list", *api).stdout
    assert "gold" in listed and "2001:db8:5::/48" in listed and "secret" not in listed
    added = wayname("encap", "add", "policy", "name=new", "segments=fd00::a,fd00::b", *api)
    assert (added.stdout, added.stderr) == ("done\n", "")
    assert wayname("encap", "add", "encapsulation", "prefix=2001:db8:42::/48", "policy=new", *api).stdout == "done\n"
    assert "fd00::a fd00::b" in wayname("encap", "show", "policy", "new", *api).stdout
    [new] = [
        each for each in json.loads(wayname("encap", "list", "policy", "--json", *api).stdout) if each["name"] == "new"
    ]
    assert (new["origin"], new["values"]["segments"]) == ("live", ["fd00::a", "fd00::b"])
    assert "put_2" in wayname("tables", "policies", *api).stdout

    wrong = fails(wayname("encap", "remove", "policy", "new", *api))
    assert wrong.startswith("Refused: live: encapsulation 2001:db8:42::/48.policy: there is no [[policy]] 'new'")
    assert "live: trace t.octets: is 5" in fails(
        wayname("encap", "add", "trace", "name=t", "namespace=1", "octets=5", *api)
    )
    assert "give a KIND" in fails(wayname("encap", "add", *api), 2)
    assert "is not KEY=VALUE" in fails(wayname("encap", "add", "policy", "new", *api), 2)

    tables = tmp_path / "more.toml"
    tables.write_text('[[namespace]]\nid = 2\n[[trace]]\nname = "two"\nnamespace = 2\n')
    assert wayname("encap", "add", "--file", tables, *api).stdout == "done\n"
    assert "two" in wayname("ioam", "traces", *api).stdout
    assert len(json.loads(wayname("ioam", "namespaces", "--json", *api).stdout)) == 2
    assert wayname("ioam", "paths", *api).stdout == "no trace ended here yet\n"
    assert wayname("ioam", "exports", *api).stdout == "no packet asked for direct export yet\n"
    assert wayname("ioam", "records", *api).stdout == ""

    assert running.end() == 0
    with up(config) as again:
        again.logs("switch.up")
        assert "new" in wayname("encap", "list", "policy", *api).stdout
        for kind, name in (
            ("encapsulation", "2001:db8:42::/48"),
            ("policy", "new"),
            ("trace", "two"),
            ("namespace", "2"),
        ):
            assert wayname("encap", "remove", kind, name, *api).stdout == "done\n"
        assert json.loads((tmp_path / "edge.changes").read_text())["policy"] == {}


def test_files_that_are_none(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    for text, line in (
        ("[[polcy]]\n", "polcy: is no table of what packets carry"),
        ("policy = 3\n", "policy: is no table"),
        ("[[policy]]\n", "policy: {} has no name"),
        ("x", "is not TOML"),
    ):
        wrong.write_text(text)
        assert fails(wayname("encap", "add", "--file", wrong)).startswith(f"{wrong}: {line}")
    assert "cannot be read" in fails(wayname("encap", "add", "--file", tmp_path / "missing"))
