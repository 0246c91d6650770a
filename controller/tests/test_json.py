"""`--json` on every command: what is printed is JSON, and an error stays one line on standard error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from test_adapter import SwitchProcess
from test_command import PATIENCE, fails, up, wayname

from wayname.cli.root import wayname as root


def leaves(command: click.Command, context: click.Context, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command that does something."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from leaves(inner, context, (*words, name))
        if not command.invoke_without_command:
            return
    yield words


ALL = list(leaves(root, click.Context(root), ()))
# With the words that each needs; the others ask a controller, and fail alike where none answers.
ASKING_NOBODY: dict[tuple[str, ...], list[str]] = {
    ("cga", "generate"): ["2001:db8:1:2::/64", "--sec", "0", "--key", "{folder}/key.pem", "--out", "{folder}"],
    ("hba", "generate"): ["2001:db8:1:2::/64", "2001:db8:3:4::/64", "--sec", "0", "--out", "{folder}"],
    ("check",): ["{folder}/edge.toml"],
    ("linux-ports",): ["{folder}/edge.toml"],
    ("lab", "list"): [],
    ("lab", "plan"): ["two-sites"],
    ("token", "new"): ["alice"],
    ("fleet", "key"): [],
    ("completion",): ["bash"],
    ("version",): [],
    ("sysdump",): ["-o", "{folder}/dump.tar.gz"],
}
CONFIG = """
[switch]
address = "127.0.0.1:1"
[[port]]
number = 1
name = "h1"
vlan = 10
[[port]]
number = 200
name = "linux"
vlan = 10
[[interface]]
vlan = 10
name = "site"
addresses = ["2001:db8:1::1/64"]
[[linux.interface]]
port = 200
name = "site"
"""
# Arguments that a command cannot do without: anything that it takes.
ARGUMENTS = {
    "session move": ["1", "1"],
    "session prefer": ["1", "voice", "1"],
    "session unprefer": ["1", "voice"],
    "session fork": ["1", "1000", "443"],
    "session unfork": ["1"],
    "fleet status": ["-c", "lost.toml"],
    "fleet edges": ["-c", "lost.toml"],
    "fleet history": ["-c", "lost.toml"],
    "fleet diff": ["lost", "-c", "lost.toml"],
    "fleet apply": ["lost", "-c", "lost.toml"],
    "fleet rollback": ["-c", "lost.toml"],
    "fleet drain": ["berlin", "-c", "lost.toml"],
    "fleet reseal": ["-c", "lost.toml"],
}


def answered(done: Any) -> Any:
    """The JSON of a command that was done."""
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def test_every_command_takes_it() -> None:
    lacking = []
    for words in ALL:
        command: click.Command = root
        for word in words:
            assert isinstance(command, click.Group)
            inner = command.get_command(click.Context(command), word)
            assert inner is not None
            command = inner
        if not any("--json" in parameter.opts for parameter in command.params):
            lacking.append(" ".join(words))
    assert not lacking


@pytest.mark.parametrize("words", ASKING_NOBODY, ids=" ".join)
def test_what_asks_nobody_prints_json(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "edge.toml").write_text(CONFIG)
    given = [each.format(folder=tmp_path) for each in ASKING_NOBODY[words]]
    nobody = f"unix:{tmp_path}/nobody"
    done = wayname("--api", nobody, *words, *given, "--json")
    assert done.returncode == 0, done
    assert json.loads(done.stdout)


def test_addresses_and_their_proofs(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    wayname("cga", "generate", "2001:db8:1:2::/64", "--sec", "0", "--key", key, "--out", tmp_path)
    (made,) = json.loads(
        wayname("cga", "generate", "2001:db8:1:2::/64", "--sec", "0", "--key", key, "--out", tmp_path, "--json").stdout
    )
    assert answered(wayname("cga", "verify", made["address"], made["file"], "--json"))["proved"] is True
    assert answered(wayname("--json", "cga", "show", made["file"]))["collisions"] == "0"
    assert fails(wayname("cga", "verify", "2001:db8:1:2::1", made["file"], "--json"))


@pytest.mark.parametrize("words", [words for words in ALL if words not in ASKING_NOBODY], ids=" ".join)
def test_errors_stay_one_line(words: tuple[str, ...], tmp_path: Path) -> None:
    """Of what nobody answers, or of what is said wrongly: never half an answer."""
    given = ARGUMENTS.get(" ".join(words), [])
    if words in (("up",), ("init",), ("lab", "run")):
        given = ["--lost"]
    if words == ("doctor",):
        given = [str(tmp_path / "lost.toml"), "--lost"]
    done = wayname("--api", f"unix:{tmp_path}/nobody", *words, *given, "--json")
    assert done.returncode in (1, 2)
    fails(done, done.returncode)


@pytest.fixture
def switch(tmp_path: Path) -> Iterator[SwitchProcess]:
    process = SwitchProcess(tmp_path)
    yield process
    process.kill()


# With what each needs to end by itself.
READING = [
    *(("status",), ("hosts",), ("bindings",), ("identities",), ("routes",), ("sessions",), ("providers",), ("nptv6",)),
    *(("nptv6", "rules"), ("nptv6", "flows"), ("pinhole", "list"), ("tables",), ("tables", "ports"), ("drops",)),
    *(("punts",), ("encap", "list"), ("ioam", "paths"), ("ioam", "exports"), ("ioam", "traces"), ("schedule", "list")),
    *(("ioam", "namespaces"), ("hip", "associations"), ("hip", "hosts"), ("ilnp", "sessions"), ("ilnp", "policies")),
    *(("ilnp", "names"), ("ilnp", "providers"), ("version",), ("reload",), ("events",)),
]


def test_a_running_edge_answers_in_json(switch: SwitchProcess, tmp_path: Path) -> None:
    config, api = tmp_path / "edge.toml", f"unix:{tmp_path}/api"
    config.write_text(
        f'[switch]\naddress = "127.0.0.1:{switch.port}"\n[api]\nsocket = "{api}"\n'
        '[[port]]\nnumber = 1\nname = "h1"\nvlan = 10\n'
    )
    switch.start()
    with up(config, "--json") as running:
        # That the log is JSON was asked for on the command line: the configuration says nothing of it.
        running.logs("switch.up")
        assert wayname("--api", api, "status", "--wait", "--timeout", str(PATIENCE)).returncode == 0
        for words in READING:
            done = wayname("--api", api, *words, "--json")
            if done.returncode:
                # This edge has no HIP and no ILNP.
                assert words[0] in ("hip", "ilnp") and fails(done).startswith("No ")
            elif words == ("events",):
                assert all(json.loads(line) for line in done.stdout.splitlines())
            else:
                json.loads(done.stdout)
        file = tmp_path / "one.pcap"
        captured = wayname("--api", api, "capture", "1", "-w", file, "--seconds", "0.1", "--json")
        assert answered(captured) == {"file": str(file), "packets": 0}
