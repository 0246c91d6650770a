"""A switch that keeps the ways of flows, on two threads and over a hot restart: the same leaves as without them."""

from __future__ import annotations

import os
import random
import re
import signal
import struct
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from harness.commands import wait_until
from harness.switches import built_switch, hot_restart
from harness.unix_http import asked
from harness.wires import PATIENCE, Wires

FLOWS, ROUNDS = 40, 60
PROGRAM = Path(__file__).with_name("flows.p4")
# Of ten destination ports the program forwards to eight.
PORTS, FORWARDED = 10, 8


def packets(numbers: random.Random) -> Iterator[tuple[bytes, bool]]:
    """One of each flow, with a payload of some length, and whether it leaves: some are shorter than they say."""
    for flow in range(FLOWS):
        payload = numbers.randbytes(numbers.randrange(200))
        is_short = numbers.random() < 0.1
        before = struct.pack("!IHBB", 6 << 28, 8 + len(payload) + is_short, 17, 64)
        addresses = bytes(15) + b"\1" + bytes(15) + b"\2"
        port = flow % PORTS
        udp = struct.pack("!HHHH", 4000 + flow, 1000 + port, 8 + len(payload), 0)
        yield bytes(12) + b"\x86\xdd" + before + addresses + udp + payload, port < FORWARDED and not is_short


def hits(folder: Path) -> int:
    """Packets that took a known way, as the metrics tell it."""
    text = asked(folder / "metrics", "GET", "/metrics")
    found = re.search(r'^wayname_switch_flow_cache_packets_total{outcome="hit"} (\d+)$', text, re.MULTILINE)
    assert found is not None, text
    return int(found[1])


class Switch:
    """The process and the other ends of its ports."""

    def __init__(self, folder: Path, stack: ExitStack, *options: str) -> None:
        program = folder / "flows.p4"
        program.write_text(PROGRAM.read_text())
        wires = Wires(folder, stack)
        words = [built_switch(), str(program), "--state", f"{folder}/state", *options]
        words += ["--grpc-server-addr", f"unix:{folder}/p4runtime", "--metrics-addr", f"unix:{folder}/metrics"]
        words += wires.options
        log = folder / "log"
        with log.open("wb") as output:
            self._started = subprocess.Popen(words, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        self._process: subprocess.Popen[bytes] | int = self._started
        stack.callback(self._end)
        self._ends = wires.ends()
        self._ends[1].settimeout(PATIENCE)
        wait_until(lambda: "P4Runtime on" in log.read_text(), "the switch serves")

    def restart(self) -> None:
        """Have another process go on."""
        self._process = hot_restart(self._process)

    def pass_on(self, numbers: random.Random) -> dict[bytes, list[bytes]]:
        """Send packets of all flows; by source port what left, in order."""
        left: dict[bytes, list[bytes]] = {}
        for _ in range(ROUNDS):
            sent = list(packets(numbers))
            for packet, _ in sent:
                self._ends[0].send(packet)
            for _ in range(sum(leaves for _, leaves in sent)):
                packet = self._ends[1].recv(2048)
                left.setdefault(packet[54:56], []).append(packet)
        return left

    def _end(self) -> None:
        process = self._process
        with suppress(ProcessLookupError):
            os.kill(process if isinstance(process, int) else process.pid, signal.SIGTERM)
        self._started.wait()


@contextmanager
def switch(folder: Path, *options: str) -> Iterator[Switch]:
    folder.mkdir()
    with ExitStack() as stack:
        yield Switch(folder, stack, *options)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_packets_leave_as_without_known_ways_before_and_behind_a_hot_restart(tmp_path: Path, threads: str) -> None:
    with switch(tmp_path / "without", "--threads", threads) as without:
        expected = [without.pass_on(random.Random(seed)) for seed in (1, 2)]
    assert len(expected[0]) == FLOWS * FORWARDED // PORTS
    with switch(tmp_path / "with", "--threads", threads, "--flow-cache", "1024") as cached:
        assert cached.pass_on(random.Random(1)) == expected[0]
        wait_until(lambda: hits(tmp_path / "with") > 0, "packets take known ways")
        cached.restart()
        before = hits(tmp_path / "with")
        assert cached.pass_on(random.Random(2)) == expected[1]
        # The next process begins without any.
        wait_until(lambda: hits(tmp_path / "with") > before, "packets take known ways again")
