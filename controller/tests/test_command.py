"""The command `wayname` as people run it: as a process, against the switch program where one is needed."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import UnixStreamServer
from unittest import mock

import pytest
from repository import REPOSITORY
from scapy.layers.inet6 import IPv6
from scapy.utils import rdpcap
from test_adapter import SwitchProcess, hosts
from two_networks import TWO_NETWORKS

from wayname.adapter.port_losses import ask_port_losses
from wayname.api.views import PORT_LOSSES
from wayname.cli import main

# Processes begin late where many run.
PATIENCE = 60.0
restores_logs = pytest.mark.usefixtures("restored_logs")
WAYNAME = Path(sys.executable).with_name("wayname")
CONFIG = """
[switch]
address = "127.0.0.1:{port}"
admin = "unix:{folder}/admin"
[api]
socket = "unix:{folder}/api"
[controller]
log_format = "json"
"""


def process(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    command = [str(WAYNAME), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def wayname(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in this process: what it imports is there already."""
    words, out, err = [str(argument) for argument in arguments], io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with (
        mock.patch.dict(os.environ, environment),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main(words)
    status = ended.value.code
    assert isinstance(status, int)
    out.seek(0)
    return subprocess.CompletedProcess(words, status, out.read(), err.getvalue())


def fails(done: subprocess.CompletedProcess[str], status: int = 1) -> str:
    """The one line of a command that failed."""
    assert done.returncode == status, done
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("wayname: ")
    return line.removeprefix("wayname: ")


class Up:
    """A controller that runs, and its log."""

    def __init__(self, config: Path, *arguments: str, prefix: Sequence[str] = ()) -> None:
        self.log = config.with_suffix(".log")
        with self.log.open("wb") as log:
            command = [*prefix, str(WAYNAME), "up", "--config", str(config), *arguments]
            self.process = subprocess.Popen(command, stderr=log, stdout=subprocess.DEVNULL)

    def lines(self) -> list[dict[str, object]]:
        """What it logged; the last line may not be whole."""
        return [json.loads(line) for line in self.log.read_text().splitlines(True) if line.endswith("\n")]

    def kinds(self) -> list[object]:
        """The kinds of what it logged."""
        return [line["kind"] for line in self.lines()]

    def logs(self, kind: str) -> str:
        """Wait until it logs a kind of line; return the line's text."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            for line in self.lines():
                if line["kind"] == kind:
                    return str(line["text"])
            time.sleep(0.01)
        raise AssertionError(f"no {kind} in {self.log.read_text()}")

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Ask it to end; return its exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture
def switch(tmp_path: Path) -> Iterator[SwitchProcess]:
    process = SwitchProcess(tmp_path)
    yield process
    process.kill()


@pytest.fixture
def config(switch: SwitchProcess, tmp_path: Path) -> Path:
    path = tmp_path / "edge.toml"
    path.write_text(CONFIG.format(port=switch.port, folder=tmp_path) + TWO_NETWORKS)
    return path


@contextlib.contextmanager
def up(config: Path, *arguments: str) -> Iterator[Up]:
    running = Up(config, *arguments)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()


def test_help_names_every_command() -> None:
    done = process("--help")
    assert done.returncode == 0
    for name in (
        "up",
        "init",
        "check",
        "doctor",
        "reload",
        "status",
        "hosts",
        "routes",
        "tables",
        "drops",
        "encap",
        "ioam",
        "events",
        "capture",
        "lab",
        "token",
        "sysdump",
        "version",
        "completion",
    ):
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        "up",
        "init",
        "check",
        "doctor",
        "reload",
        "status",
        "hosts",
        "bindings",
        "routes",
        "tables",
        "drops",
        "encap",
        "ioam",
        "events",
        "capture",
        "lab",
        "token",
        "sysdump",
        "version",
        "completion",
    ],
)
def test_each_command_has_help(command: str) -> None:
    done = wayname(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"wayname {command}" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    done = wayname("completion", shell)
    assert done.returncode == 0
    assert "_WAYNAME_COMPLETE" in done.stdout


def test_what_completion_offers() -> None:
    done = wayname(_WAYNAME_COMPLETE="bash_complete", COMP_WORDS="wayname ca", COMP_CWORD="1")
    assert done.stdout == "plain,capture\n"


def test_wrong_use_is_one_line() -> None:
    assert fails(wayname("nonsense"), 2) == "No such command 'nonsense'; `wayname --help` says how"
    assert "--config" in fails(wayname("up"), 2)
    assert "is no address" in fails(wayname("--api", "nowhere", "status"), 2)
    assert "is no address" in fails(wayname("status", WAYNAME_API="nowhere"), 2)
    assert "Choose from: bash, zsh, fish" in fails(wayname("completion"), 2)
    assert "direction" in fails(wayname("capture", "1", "--direction", "up"), 2)
    assert fails(wayname("encap", "add", "policy", "name=a", "name=b"), 2).startswith("name stands twice")


@pytest.mark.parametrize("group", [(), ("session",), ("encap",)])
def test_who_names_no_command_gets_the_help(group: tuple[str, ...]) -> None:
    done = wayname(*group)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == wayname(*group, "--help").stdout


class WebServer(BaseHTTPRequestHandler):
    """Something else that answers."""

    def do_GET(self) -> None:
        """Answer with a page that names what was asked for."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"<p>{self.path}</p>".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_what_is_no_controller_is_one_line(tmp_path: Path) -> None:
    path = f"{tmp_path}/api"
    with UnixStreamServer(path, WebServer) as server, ThreadPoolExecutor() as pool:
        address = f"unix:{path}"
        serving = pool.submit(server.serve_forever, 0.01)
        lines = [fails(wayname("--api", address, *command)) for command in (("status",), ("events", "--follow"))]
        server.shutdown()
        serving.result()
    assert lines == [f"what answers at {address} is no wayname controller (its answer is no JSON)"] * 2


def test_no_controller_is_one_line(tmp_path: Path) -> None:
    line = fails(wayname("--api", f"unix:{tmp_path}/nobody", "status"))
    assert line.startswith(f"no controller answers at unix:{tmp_path}/nobody: start it with `wayname up --config FILE`")
    assert f"unix:{tmp_path}/other" in fails(wayname("hosts", WAYNAME_API=f"unix:{tmp_path}/other"))
    assert "/last" in fails(wayname("hosts", "--api", f"unix:{tmp_path}/last", WAYNAME_API=f"unix:{tmp_path}/other"))


@restores_logs
def test_mistakes_of_a_configuration_are_one_line_each(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    assert fails(wayname("up", "--config", missing)).startswith(f"{missing}: cannot be read")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[timing]\nprobe = 0\n[[port]]\nnumber = 1\nvlna = 10\n")
    done = wayname("up", "--config", wrong)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"wayname: {wrong}:2: timing.probe: is 0.0; write a number from 0.02 to 3600",
        f"wayname: {wrong}:5: port[0].vlna: is not known; did you mean vlan?",
    ]
    wrong.write_text('[switch]\np4info = "nothing.txtpb"\n')
    assert "nothing.txtpb: cannot be read" in fails(wayname("up", "--config", wrong))


@restores_logs
@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("switch.p4info", "root:x:0", r"file: is no P4Info \(1:1 : "),
        ("switch.p4info", "", "file: is empty; set switch.p4info to a P4Info file"),
        ("switch.p4info", 'pkg_info { arch: "v1model" }', "file: has no table ports, .*; set switch.p4info to that of"),
        ("switch.program", None, r"file: cannot be read \(Is a directory\); set switch.program"),
        ("controller.changes", None, r"file: cannot be read \(Is a directory\); name a file as controller.changes"),
        ("controller.changes", "[" * 100_000, "file: is no file of changes .*; correct it or remove it"),
    ],
)
def test_files_that_a_configuration_names_are_one_line(tmp_path: Path, key: str, text: str | None, says: str) -> None:
    if text is None:
        (tmp_path / "file").mkdir()
    else:
        (tmp_path / "file").write_text(text)
    config = tmp_path / "edge.toml"
    config.write_text(f'api.socket = "unix:{tmp_path}/api"\n{key} = "file"\n')
    assert re.search(says, fails(wayname("up", "--config", config)))


@restores_logs
def test_a_taken_address_is_one_line(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "api"))
        other.listen()
        address = f"unix:{tmp_path}/api"
        config = tmp_path / "edge.toml"
        config.write_text(f'[api]\nsocket = "{address}"\n')
        line = fails(wayname("up", "--config", config))
    assert line.startswith(f"{config}: api.socket: {address} is taken")
    assert f"`wayname --api {address} status`" in line


@restores_logs
def test_an_address_that_is_not_ours_is_one_line(tmp_path: Path) -> None:
    config = tmp_path / "edge.toml"
    config.write_text('[api]\nsocket = "unix:/nowhere/at/all"\n')
    assert "cannot listen at unix:/nowhere/at/all" in fails(wayname("up", "--config", config))


def test_a_foreign_program_is_one_line(switch: SwitchProcess, config: Path) -> None:
    switch.start(str(REPOSITORY / "bench" / "p4" / "routing.p4"))
    with up(config) as running:
        assert running.process.wait(PATIENCE) == 1
        last = running.log.read_text().splitlines()[-1]
    assert last.startswith("wayname: the switch at ")
    assert "`wayname up --replace-pipeline` replaces it" in last
    with up(config, "--replace-pipeline") as running:
        running.logs("switch.up")


def test_a_switch_that_is_away_is_told_once_and_when_it_comes(switch: SwitchProcess, config: Path) -> None:
    with up(config) as running:
        assert f"no switch answers at 127.0.0.1:{switch.port}" in running.logs("switch.down")
        api = f"unix:{config.parent}/api"
        status = wayname("--api", api, "status", "--json")
        assert (status.returncode, json.loads(status.stdout)["switch"]["state"]) == (1, "connecting")
        assert fails(wayname("--api", api, "drops")).startswith("The switch is not there: ")
        switch.start()
        running.logs("switch.up")
        assert running.kinds().count("switch.down") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_ends_cleanly_though_somebody_listens(switch: SwitchProcess, config: Path, number: signal.Signals) -> None:
    switch.start()
    api = f"unix:{config.parent}/api"
    with up(config) as running:
        running.logs("switch.up")
        command = [str(WAYNAME), "--api", api, "events", "--follow", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
            assert follower.stdout is not None
            assert json.loads(follower.stdout.readline())["sequence"] == 1
            assert running.end(number) == 0
            assert follower.wait(PATIENCE) == 0
        assert running.kinds()[-1] == "controller.end"
        assert "Traceback" not in running.log.read_text()
        assert not (config.parent / "api").exists()


@contextlib.asynccontextmanager
async def command(*arguments: str | Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A command that goes on beside the test."""
    process = await asyncio.create_subprocess_exec(
        WAYNAME, *map(str, arguments), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def captures(api: str, count: int) -> None:
    """Wait until so many captures are open."""
    while json.loads((await asyncio.to_thread(wayname, "--api", api, "--json", "status")).stdout)["captures"] != count:
        continue


async def test_from_up_to_capture(switch: SwitchProcess, config: Path, tmp_path: Path) -> None:
    api, file = f"unix:{config.parent}/api", tmp_path / "one.pcap"
    async with asyncio.timeout(PATIENCE), hosts(tmp_path) as (one, two):
        # Behind the hosts: a switch that comes to a wire first listens there itself.
        switch.start("--admin", str(tmp_path / "admin"))
        with up(config) as running:
            await asyncio.to_thread(running.logs, "switch.up")
            async with (
                command("--api", api, "capture", "1", "-w", file, "--direction", "in", "--count", "3") as to_file,
                command("--api", api, "capture", "2") as in_words,
            ):
                await captures(api, 2)
                await one.ping(str(two.address))
                while to_file.returncode is None:
                    await one.ping_once(str(two.address))
                    await asyncio.sleep(0)
                assert to_file.returncode == 0
                assert in_words.stdout is not None
                while b"echo request" not in (line := await in_words.stdout.readline()):
                    assert line
                # Its reader goes away, and with it the capture.
                in_words.kill()
                await captures(api, 0)
            seen = rdpcap(str(file))
            assert len(seen) == 3
            assert any(packet[IPv6].src == str(one.address) for packet in seen)

            def answer(*arguments: str) -> object:
                done = wayname("--api", api, "--json", *arguments)
                assert (done.returncode, done.stderr) == (0, "")
                return json.loads(done.stdout)

            status, known = await asyncio.to_thread(answer, "status"), await asyncio.to_thread(answer, "hosts")
            assert isinstance(status, dict)
            assert isinstance(known, list)
            assert status["switch"]["state"] == "ready"
            assert all(port["received_packets"] > 0 for port in status["port_counters"])
            assert {str(one.address), str(two.address)} <= {
                each["address"] for host in known for each in host["addresses"]
            }
            for words in ("status", "hosts", "bindings", "routes", "tables", "drops", "events"):
                done = await asyncio.to_thread(wayname, "--api", api, words)
                assert (done.returncode, done.stderr) == (0, "")
                assert done.stdout
                assert "\x1b" not in done.stdout
            # The switch has a word for each port and reason, and the API words for all of these.
            losses = await ask_port_losses(f"unix:{tmp_path}/admin")
            assert {(each.port, each.reason) for each in losses} == {
                (port, reason) for port in (1, 2) for reason in PORT_LOSSES
            }
            bound = await asyncio.to_thread(wayname, "--api", api, "bindings")
            assert str(one.address) in bound.stdout
            assert "source_guard, nd_inspection, ra_guard, dhcpv6_guard" in bound.stdout
            table = await asyncio.to_thread(wayname, "--api", api, "tables", "ingress_mirror")
            assert "ingress_mirror is empty" in table.stdout
            unknown = await asyncio.to_thread(wayname, "--api", api, "tables", "nothing")
            assert fails(unknown).startswith("No such table: 'nothing'; the tables are ")
            assert fails(await asyncio.to_thread(wayname, "--api", api, "capture", "9")).startswith(
                "No such port: '9' "
            )
            unwritable = await asyncio.to_thread(wayname, "--api", api, "capture", "1", "-w", "/nowhere/a.pcap")
            assert "cannot write /nowhere/a.pcap" in fails(unwritable)


@pytest.mark.parametrize("command", [["--help"], ["lab", "plan", "line"]])
def test_an_output_that_takes_no_more_is_one_line(command: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([WAYNAME, *command], check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "wayname: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("address", ["[::1", "::1:80", "a b:80", f"127.0.0.1:{'9' * 5000}", "[x]:80"])
def test_what_is_no_address_is_one_line(address: str) -> None:
    assert "is no address: write HOST:PORT or unix:PATH" in fails(wayname("--api", address, "status"), 2)
