"""Hot restarts of a switch process under packets: none is lost, none comes twice, and a register counts on."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

from harness.commands import wait_until
from harness.namespaces import Nodes, missing
from harness.switches import built_switch, hot_restart
from harness.wires import Wires
from wayname.adapter.netlink_socket import NAMESPACES, enter

PROGRAM = Path(__file__).with_name("counting.p4")
ETHERTYPE, PROBE = 0x88B5, 0x88B6
FRAME = struct.Struct("!6s6sHQQ30x")
INTERVAL = 1 / 2000
BUFFER, SO_RCVBUFFORCE = 64 << 20, 33
RESTARTS = 3


class Switch:
    """The process, and the host's ends of its two ports."""

    def __init__(self, command: list[str], log: Path, ends: list[socket.socket]) -> None:
        self.log, self.ends = log, ends
        with log.open("wb") as output:
            self.started = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        self.process: subprocess.Popen[bytes] | int = self.started

    def restart(self) -> None:
        """Start the next one."""
        self.process = hot_restart(self.process)

    def says(self, text: str) -> bool:
        """Whether it logged something."""
        return text in self.log.read_text()

    def end(self) -> None:
        """End whichever there is."""
        pid = self.process if isinstance(self.process, int) else self.process.pid
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        self.started.wait()


def frame(kind: int, number: int) -> bytes:
    return FRAME.pack(b"\2\0\0\0\0\2", b"\2\0\0\0\0\1", kind, number, 0)


@contextmanager
def on_wires(folder: Path, *options: str) -> Iterator[Switch]:
    with ExitStack() as stack:
        wires = Wires(folder, stack)
        switch = Switch([*command(folder), *options, *wires.options], folder / "log", [])
        stack.callback(switch.end)
        switch.ends += wires.ends()
        wait_until(lambda: switch.says("P4Runtime on"), "the switch serves")
        yield switch


@contextmanager
def in_the_kernel(folder: Path, *options: str) -> Iterator[Switch]:
    """A veth pair (AF_PACKET) and a TAP device, in a network namespace."""
    with Nodes("hot-restart") as nodes, ExitStack() as stack:
        nodes.add("switch", is_switch=True)
        nodes.join("switch", "port", "switch", "host")
        ports = ["-i", "1@port", "-i", "2@tap:tap0"]
        switch = Switch([*nodes.inside("switch", *command(folder), *options), *ports], folder / "log", [])
        stack.callback(switch.end)
        nodes.wait_for("switch", "ip", "link", "set", "tap0", "up")
        wait_until(lambda: switch.says("P4Runtime on"), "the switch serves")
        switch.ends += [stack.enter_context(raw_socket(nodes.namespace("switch"), name)) for name in ("host", "tap0")]
        yield switch


def raw_socket(namespace: str, device: str) -> socket.socket:
    made: list[socket.socket] = []

    def make() -> None:
        enter(NAMESPACES / namespace)
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        end.bind((device, 3))
        made.append(end)

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]


def command(folder: Path) -> list[str]:
    program = folder / PROGRAM.name
    program.write_text(PROGRAM.read_text())
    return [
        built_switch(),
        str(program),
        "--grpc-server-addr",
        f"unix:{folder}/p4runtime",
        "--state",
        f"{folder}/state",
    ]


class Stream:
    """Numbered frames from the first end to the second."""

    def __init__(self, ends: list[socket.socket]) -> None:
        self._sender, self._receiver = ends
        self.sent = 0
        self.came: list[tuple[int, int]] = []
        self._stops = threading.Event()
        self._receiver.settimeout(0.1)
        self._until_one_passes()
        self._threads = [threading.Thread(target=work) for work in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    def _until_one_passes(self) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with suppress(OSError):
                self._sender.send(frame(PROBE, 0))
                if self._next() is not None:
                    return
        pytest.fail("the switch forwards nothing")

    def _next(self) -> tuple[int, int, int] | None:
        """The kind and numbers of what comes next, if something comes soon."""
        try:
            octets, address = self._receiver.recvfrom(2048)
        except TimeoutError:
            return None
        if not octets:
            pytest.fail("the switch ended")
        if isinstance(address, tuple) and address[2] == socket.PACKET_OUTGOING:
            return None
        _, _, kind, sent, counted = FRAME.unpack_from(octets)
        return kind, sent, counted

    def _send(self) -> None:
        at = time.monotonic()
        for number in count():
            if self._stops.is_set():
                return
            self._sender.send(frame(ETHERTYPE, number))
            self.sent = number + 1
            at += INTERVAL
            time.sleep(max(0.0, at - time.monotonic()))

    def _receive(self) -> None:
        while not self._stops.is_set() or len(self.came) < self.sent:
            came = self._next()
            if came is not None and came[0] == ETHERTYPE:
                self.came.append(came[1:])
            elif came is None and self._stops.is_set():
                return

    def end(self) -> None:
        """Return once nothing more comes."""
        self._stops.set()
        for thread in self._threads:
            thread.join()


Way = Callable[..., AbstractContextManager[Switch]]
WAYS = [
    pytest.param(on_wires, (), id="wires"),
    pytest.param(
        in_the_kernel,
        (),
        id="AF_PACKET and TAP",
        marks=pytest.mark.skipif(missing(tap=True) is not None, reason=f"needs {missing(tap=True)}"),
    ),
    pytest.param(
        in_the_kernel,
        ("--threads", "2"),
        id="two threads",
        marks=pytest.mark.skipif(missing(tap=True) is not None, reason=f"needs {missing(tap=True)}"),
    ),
    pytest.param(
        in_the_kernel,
        ("--threads", "2", "--busy-poll", "1000"),
        id="two threads that poll busily",
        marks=pytest.mark.skipif(missing(tap=True) is not None, reason=f"needs {missing(tap=True)}"),
    ),
]


@pytest.mark.parametrize(("way", "options"), WAYS)
def test_no_packet_is_lost_and_none_comes_twice(way: Way, options: tuple[str, ...], tmp_path: Path) -> None:
    with way(tmp_path, *options) as switch:
        stream = Stream(switch.ends)
        try:
            for _ in range(RESTARTS):
                switch.restart()
        finally:
            stream.end()
        assert stream.sent > RESTARTS
        assert [sent for sent, _ in stream.came] == list(range(stream.sent)), switch.log.read_text()
        # One register for all processes: what it counted went from each to the next.
        assert [counted for _, counted in stream.came] == list(range(stream.sent))


def test_a_switch_goes_on_when_the_next_one_fails(tmp_path: Path) -> None:
    with on_wires(tmp_path) as switch:
        stream = Stream(switch.ends)
        program = tmp_path / PROGRAM.name
        program.rename(tmp_path / "away")
        os.kill(switch.started.pid, signal.SIGHUP)
        wait_until(lambda: switch.says("hot restart failed, and this switch goes on"), "the next switch fails")
        assert switch.started.poll() is None
        (tmp_path / "away").rename(program)
        switch.restart()
        stream.end()
        assert [sent for sent, _ in stream.came] == list(range(stream.sent))


def test_a_port_that_stays_refuses_it(tmp_path: Path) -> None:
    with on_wires(tmp_path, "-i", f"3@pcap:,{tmp_path}/out.pcap") as switch:
        os.kill(switch.started.pid, signal.SIGHUP)
        refusal = "no hot restart: port 3 is pcap:"
        wait_until(lambda: switch.says(refusal), refusal)
        assert switch.started.poll() is None
