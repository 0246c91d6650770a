"""Who forwards: the embedded switch by AF_XDP, its ports alone, the Linux kernel, and BMv2 where it is installed."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from finsy.proto import p4r

from bench import ROOT
from bench.encap.network import Network, Road, kernel_forwards
from bench.encap.points import IN_PORT, OUT_PORT, Point, written
from bench.encap.updates import write_request
from harness.commands import NotHereError, NotStartedError, command
from harness.switches import MAIN, P4INFO, embedded, embedded_config, process
from harness.switches import SWITCH as SWITCH_PROGRAM
from harness.target import DEVICE_ID
from small_site import CPU

SWITCH, KERNEL, BMV2, ENDS, PORTS = "switch", "kernel", "BMv2", "plain", "ports"
PROGRAM = SWITCH_PROGRAM.with_name("bench-encap")
# What is between generator and counter where neither a program nor the kernel's routing is: for one kind of packet.
BARE = (ENDS, PORTS)
DEVICES = {IN_PORT: "xdp:west", OUT_PORT: "xdp:east"}
# In the namespace of each, where nobody else listens.
ADDRESS = "127.0.0.1:9559"
# BMv2 has room for 512 octets before a packet; these sizes stay below, and it is too slow for all of them.
BMV2_SIZES = {"a": (124,), "b": (3, 28), "c": (3, 28), "d": (12,)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Somebody who forwards; `process` is 0 if it is the kernel."""

    name: str
    process: int
    points: Sequence[Point]
    seed: int
    room: Path

    def described(self, points: Sequence[Point]) -> str:
        """As `bench-encap` takes it, with those of the points that it has."""
        listed = self.room / "points"
        listed.write_text(written([point for point in points if point in self.points], self.seed))
        return f"{self.name},in-{self.name},out-{self.name},{self.process},{listed}"


def points_of(name: str, points: Sequence[Point]) -> list[Point]:
    """Those that a candidate has."""
    if name == KERNEL:
        return [point for point in points if point.mode is None or point.mode.kernel]
    if name == BMV2:
        return [point for point in points if point.mode is None or point.size in BMV2_SIZES[point.mode.panel]]
    return [point for point in points if point.mode is None] if name in BARE else list(points)


@contextlib.contextmanager
def running(
    name: str, points: Sequence[Point], seed: int, options: Sequence[str], network: Network, folder: Path
) -> Iterator[Candidate]:
    """A candidate at work on a road of its own, our switch with options; NotHereError says what the machine lacks."""
    own = points_of(name, points)
    room = folder / name
    room.mkdir()
    if name == ENDS:
        network.plain()
        yield Candidate(name, 0, own, seed, room)
        return
    if name == BMV2 and not (shutil.which("simple_switch_grpc") and shutil.which("p4c-bm2-ss")):
        raise NotHereError("simple_switch_grpc and p4c-bm2-ss are not both on PATH")
    road = network.road(name)
    if name == PORTS:
        words = [str(PROGRAM), "carry", *(f"{port}@{device}" for port, device in DEVICES.items())]
        with subprocess.Popen([*road.prefix, *words]) as carrier:
            try:
                yield Candidate(name, carrier.pid, own, seed, room)
            finally:
                carrier.kill()
        return
    if name == KERNEL:
        try:
            kernel_forwards(road, own, seed)
        except NotStartedError as error:
            raise NotHereError(f"the kernel has no segments: {error}") from None
        yield Candidate(name, 0, own, seed, room)
        return
    words, p4info, config = _bmv2(room) if name == BMV2 else _embedded(room, options)
    with process([*road.prefix, *words], room, ADDRESS, road.prefix) as switch:
        _write(road, write_request(own, seed), room, p4info, config)
        yield Candidate(name, switch.pid, own, seed, room)


def _embedded(room: Path, options: Sequence[str]) -> tuple[list[str], Path, Path]:
    words = embedded(ADDRESS, DEVICES)
    return [*words, *options], P4INFO, embedded_config(room)


def _bmv2(room: Path) -> tuple[list[str], Path, Path]:
    config, p4info = room / "program.json", room / "program.p4info.txtpb"
    command(["p4c-bm2-ss", "--p4runtime-files", str(p4info), "-o", str(config), str(MAIN)])
    ports = ["-i", f"{IN_PORT}@west", "-i", f"{OUT_PORT}@east"]
    words = ["simple_switch_grpc", "--no-p4", "--device-id", str(DEVICE_ID), "-L", "off", *ports]
    return [*words, "--", "--grpc-server-addr", ADDRESS, "--cpu-port", str(CPU)], p4info, config


def _write(road: Road, request: p4r.WriteRequest, room: Path, p4info: Path, config: Path) -> None:
    entries = room / "entries"
    entries.write_bytes(request.SerializeToString())
    module = [sys.executable, "-m", "bench.encap.write_entries"]
    done = subprocess.run(
        [*road.prefix, *module, ADDRESS, str(p4info), str(config), str(entries)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise NotStartedError(f"entries for {road.name}: {last}")
