"""The controller as a process with few descriptors, while very many connect to its API and say nothing."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from access.edge import SecuredEdge, free_port
from test_adapter import SwitchProcess
from test_command import CONFIG, Up, fails
from two_networks import TWO_NETWORKS

# Overall: a test that takes as long has failed.
PATIENCE = 60.0
SILENT = 1200
# The fewest that both start with.
DESCRIPTORS = 64
MOST_LOG = 20_000

pytestmark = pytest.mark.usefixtures("enough_descriptors")


def limited(descriptors: int, *command: str | Path) -> list[str]:
    """A command for a process that may have so many descriptors."""
    script = "import os, resource, sys; n = int(sys.argv[1]); resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))"
    script += "; os.execv(sys.argv[2], sys.argv[2:])"
    return [sys.executable, "-c", script, str(descriptors), *map(str, command)]


class Limited(Up):
    """A controller with few descriptors."""

    def __init__(self, config: Path) -> None:
        self.log = config.with_suffix(".log")
        wayname = Path(sys.executable).with_name("wayname")
        with self.log.open("wb") as log:
            command = limited(DESCRIPTORS, wayname, "up", "--config", config)
            self.process = subprocess.Popen(command, stderr=log, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def running(config: Path) -> Iterator[Limited]:
    controller = Limited(config)
    try:
        yield controller
    finally:
        controller.process.kill()
        controller.process.wait()


@contextlib.contextmanager
def silent(address: str) -> Iterator[None]:
    """Very many connections on which nothing is said; the other end may have closed some."""
    with contextlib.ExitStack() as stack:
        for _ in range(SILENT):
            family = socket.AF_UNIX if address.startswith("unix:") else socket.AF_INET
            one = stack.enter_context(socket.socket(family))
            if family == socket.AF_UNIX:
                one.connect(address.removeprefix("unix:"))
            else:
                host, _, port = address.rpartition(":")
                one.connect((host, int(port)))
        yield


def descriptors_of(process: subprocess.Popen[bytes]) -> int:
    """How many descriptors a process has open."""
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


@pytest.mark.parametrize("kind", ["unix"])
def test_the_api_answers_among_silent_connections_and_ends_when_it_is_asked(kind: str, tmp_path: Path) -> None:
    edge = SecuredEdge(tmp_path)
    api = f"unix:{tmp_path}/api" if kind == "unix" else f"127.0.0.1:{edge.port}"
    config = tmp_path / "edge.toml"
    head = f"switch.address = '127.0.0.1:{free_port()}'\ncontroller.log_format = 'json'\n"
    config.write_text(head + edge.configuration())
    with running(config) as controller:
        controller.logs("controller.begin")
        with silent(api):
            uds, base = (str(tmp_path / "api"), "http://localhost") if kind == "unix" else (None, f"https://{api}")
            # The last of the silent ones may still stand in line, and a full line is no error that waits.
            transport = httpx.HTTPTransport(verify=edge.context(), uds=uds, retries=7)
            headers = {"Authorization": "Bearer looker"}
            with httpx.Client(transport=transport, base_url=base, timeout=PATIENCE, headers=headers) as client:
                assert client.get("/v1/status").json()["switch"]["state"] == "connecting"
            assert descriptors_of(controller.process) < DESCRIPTORS
            assert controller.end(signal.SIGTERM) == 0
        assert controller.log.stat().st_size < MOST_LOG


def test_a_switch_that_comes_again_is_found_among_silent_connections(tmp_path: Path) -> None:
    switch = SwitchProcess(tmp_path)
    config = tmp_path / "edge.toml"
    config.write_text(CONFIG.format(port=switch.port, folder=tmp_path) + TWO_NETWORKS)
    with running(config) as controller:
        try:
            # gRPC begins anew with each connection to the switch, and needs descriptors for that.
            controller.logs("switch.down")
            with silent(f"unix:{tmp_path}/api"):
                switch.start()
                controller.logs("switch.up")
                assert controller.end() == 0
        finally:
            switch.kill()


def test_too_few_descriptors_are_one_line(tmp_path: Path) -> None:
    config = tmp_path / "edge.toml"
    config.write_text(f'api.socket = "unix:{tmp_path}/api"\n')
    wayname = Path(sys.executable).with_name("wayname")
    command = limited(DESCRIPTORS - 1, wayname, "up", "--config", config)
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "may have 63 files and sockets open, and the controller needs 64" in fails(done)
