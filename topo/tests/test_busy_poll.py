"""A switch that polls busily forwards and answers writes while its thread looks at the ports, and sleeps afterwards."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import finsy as fy
import pytest
from finsy.p4schema import P4Schema
from finsy.proto import p4r

from harness.commands import command, wait_until
from harness.grpc_target import Controller
from harness.switches import built_switch, free_port
from harness.wires import PATIENCE, Wires

PROGRAM = Path(__file__).with_name("busy_poll.p4")
ROUNDS = 50
# Longer than a test may take.
TEN_MINUTES, A_MILLISECOND = "600000000", "1000"
OUTPUT = 2


class Switch:
    """The process, the other ends of its two ports, and its controller."""

    def __init__(self, folder: Path, stack: ExitStack, *options: str) -> None:
        program, p4info = folder / PROGRAM.name, folder / "p4info.txtpb"
        program.write_text(PROGRAM.read_text())
        command([built_switch(), "compile", str(program), "--p4info", str(p4info)])
        self._schema = P4Schema(p4info)
        address = f"127.0.0.1:{free_port()}"
        wires = Wires(folder, stack)
        words = [built_switch(), str(program), "--grpc-server-addr", address, *options, *wires.options]
        log = folder / "log"
        with log.open("wb") as output:
            self._process = subprocess.Popen(words, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        stack.callback(self._end)
        self._ends = wires.ends()
        self._ends[1].settimeout(PATIENCE)
        wait_until(lambda: "P4Runtime on" in log.read_text(), "the switch serves")
        self._controller = stack.enter_context(closing(Controller(address, 1, 1, patience=PATIENCE)))
        assert self._controller.next("arbitration") is not None

    def insert(self, destination: int, atomicity: p4r.WriteRequest.Atomicity.ValueType) -> None:
        """Have packets for a station leave."""
        action = fy.Action("forward", port=OUTPUT)
        match = fy.Match(**{"headers.ethernet.destination": destination})
        update = (+fy.P4TableEntry("by_destination", match=match, action=action)).encode_update(self._schema)
        assert [status.name for status in self._controller.write([update], atomicity)] == ["OK"]

    def passes(self, destination: int) -> None:
        """Send a packet for a station and wait until it has left."""
        packet = destination.to_bytes(6) + bytes(6) + b"\x88\xb5" + bytes(46)
        self._ends[0].send(packet)
        assert self._ends[1].recv(2048) == packet

    def sleeps(self) -> int:
        """How often the forwarding thread went to sleep."""
        for task in Path(f"/proc/{self._process.pid}/task").iterdir():
            if (task / "comm").read_text() == "forward\n":
                lines = dict(line.split(":\t") for line in (task / "status").read_text().splitlines())
                return int(lines["voluntary_ctxt_switches"])
        pytest.fail("there is no thread that forwards")

    def falls_asleep(self) -> None:
        """Wait until the forwarding thread goes to sleep, and again."""
        before = self.sleeps()
        wait_until(lambda: self.sleeps() > before + 1, "the thread sleeps")

    def _end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(PATIENCE) == 0


@contextmanager
def switch(folder: Path, *options: str) -> Iterator[Switch]:
    with ExitStack() as stack:
        yield Switch(folder, stack, *options)


@pytest.mark.parametrize("atomicity", [p4r.WriteRequest.CONTINUE_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC])
def test_writes_are_answered_while_the_thread_does_not_sleep(
    atomicity: p4r.WriteRequest.Atomicity.ValueType, tmp_path: Path
) -> None:
    with switch(tmp_path, "--busy-poll", TEN_MINUTES) as running:
        running.insert(0, atomicity)
        running.passes(0)
        slept = running.sleeps()
        for station in range(1, ROUNDS):
            running.insert(station, atomicity)
            running.passes(station)
        # A thread that sleeps at once does so behind each packet.
        assert running.sleeps() - slept < ROUNDS / 2


@pytest.mark.parametrize("options", [(), ("--busy-poll", A_MILLISECOND)])
def test_the_thread_sleeps_when_nothing_comes(options: tuple[str, ...], tmp_path: Path) -> None:
    with switch(tmp_path, *options) as running:
        running.insert(0, p4r.WriteRequest.CONTINUE_ON_ERROR)
        for _ in range(3):
            running.passes(0)
            running.falls_asleep()
