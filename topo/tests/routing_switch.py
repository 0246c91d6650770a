"""A switch that routes between three veth pairs, its controller, and packets of flows for it (routing_switch.p4)."""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from ipaddress import IPv6Address
from pathlib import Path
from typing import NamedTuple

import finsy as fy
from finsy.p4schema import P4Schema
from finsy.proto import p4r
from veth_end import End

from harness.commands import command, wait_until
from harness.grpc_target import Controller
from harness.namespaces import Nodes
from harness.switches import built_switch, hot_restart
from harness.unix_http import asked
from harness.wires import PATIENCE

PROGRAM = Path(__file__).with_name("routing_switch.p4")
INPUT, OUTPUT, OTHER = PORTS = 1, 2, 3
SMALL_MTU = 1280

ROUTER, SENDER = bytes.fromhex("020000000101"), bytes.fromhex("020000000100")
STATION = {port: bytes([2, 0, 0, 0, port, 0]) for port in PORTS}
SOURCE = IPv6Address("fd00::1").packed
# Where flows go, and what comes behind them to tell that they are gone: it is tagged, and its way never in the kernel.
ROUTE, MORE_SPECIFIC = "2001:db8:1::/48", "2001:db8:1::/64"
MARKERS = {OUTPUT: "2001:db8:2::/48", OTHER: "2001:db8:3::/48"}
TAG = bytes.fromhex("8100602a")

# A way is learned, and goes into the kernel once it was taken often.
IN_A_ROW, FLOWS = 16, 8


def packet(flow: int, payload: bytes = b"", hops: int = 64, prefix: str = ROUTE, tag: bytes = b"") -> bytes:
    """A packet of a flow, whose destination it is."""
    destination = IPv6Address(int(IPv6Address(prefix.partition("/")[0])) + flow + 1).packed
    ip = struct.pack("!IHBB", 6 << 28, len(payload), 59, hops) + SOURCE + destination
    return ROUTER + SENDER + tag + b"\x86\xdd" + ip + payload


def forwarded(sent: bytes, port: int) -> bytes:
    """What leaves of it."""
    hops = 21 + 4 * (sent[12:14] == TAG[:2])
    return STATION[port] + sent[6:hops] + bytes([sent[hops] - 1]) + sent[hops + 1 :]


class Looked(NamedTuple):
    """Packets by who forwarded them: the kernel, or the process, whether it knew their ways or not."""

    in_kernel: int
    elsewhere: int


class Switch:
    """The process in its namespace, and its controller."""

    def __init__(self, folder: Path, nodes: Nodes, stack: ExitStack, *options: str) -> None:
        self.folder = folder
        self._nodes, self._stack = nodes, stack
        program, p4info = folder / PROGRAM.name, folder / "p4info.txtpb"
        program.write_text(PROGRAM.read_text())
        command([built_switch(), "compile", str(program), "--p4info", str(p4info)])
        self.schema = P4Schema(p4info)
        self.address = f"unix:{folder}/p4runtime"
        words = [built_switch(), str(program), "--grpc-server-addr", self.address, "--state", f"{folder}/state"]
        words += ["--metrics-addr", f"unix:{folder}/metrics", "--admin", f"{folder}/admin", *options]
        words += [word for port in PORTS for word in ("-i", f"{port}@port{port}")]
        self._words = nodes.inside("switch", *words)
        self._log = folder / "log"
        self.process: subprocess.Popen[bytes] | int
        stack.callback(self._end)
        self.start()

    def start(self) -> None:
        """Start the process, and be its primary controller."""
        with self._log.open("wb") as output:
            self._started = subprocess.Popen(self._words, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        self.process = self._started
        wait_until(self._serves, "the switch serves")
        controller = Controller(self.address, 1, time.time_ns(), patience=PATIENCE)
        self.controller = self._stack.enter_context(closing(controller))
        assert self.controller.next("arbitration") is not None

    def restart(self) -> None:
        """Have another process go on."""
        self.process = hot_restart(self.process)

    def kill(self) -> None:
        """End the process so that it can clear nothing away."""
        self._started.kill()
        self._started.wait()

    def write(
        self,
        update: p4r.Update,
        atomicity: p4r.WriteRequest.Atomicity.ValueType = p4r.WriteRequest.CONTINUE_ON_ERROR,
    ) -> None:
        assert [status.name for status in self.controller.write([update], atomicity)] == ["OK"]

    def entry(self, prefix: str, port: int | None, idle: int = 0) -> fy.P4TableEntry:
        """A route to a port, or to none."""
        match = fy.Match(**{"hdr.ipv6.destination": prefix})
        action = fy.Action("drop")
        if port is not None:
            action = fy.Action("forward", port=port, station=int.from_bytes(STATION[port]))
        return fy.P4TableEntry("routes", match=match, action=action, idle_timeout_ns=idle)

    def insert(self, prefix: str, port: int, idle: int = 0) -> None:
        self.write((+self.entry(prefix, port, idle)).encode_update(self.schema))

    def counted(self, prefix: str, port: int) -> list[tuple[int, int]]:
        """Packets and octets that a route and a port counted, as P4Runtime tells them."""
        entry = fy.P4TableEntry("routes", match=fy.Match(**{"hdr.ipv6.destination": prefix}))
        asked = [fy.P4DirectCounterEntry(table_entry=entry), fy.P4CounterEntry("of_ports", index=port)]
        route, cell = self.controller.read(each.encode(self.schema) for each in asked)
        both = (route.direct_counter_entry.data, cell.counter_entry.data)
        return [(data.packet_count, data.byte_count) for data in both]

    def asks(self, method: str, path: str, service: str) -> str:
        """Ask the switch at one of its sockets."""
        return asked(self.folder / service, method, path)

    def samples(self, name: str) -> dict[str, int]:
        """A family of its metrics, by their label."""
        text = self.asks("GET", "/metrics", "metrics")
        found = re.findall(rf'^wayname_switch_{name}{{\w+="(\w+)"}} (\d+)$', text, re.MULTILINE)
        return {label: int(value) for label, value in found}

    def dropped(self) -> int:
        return sum(self.samples("dropped_packets_total").values())

    def looked(self) -> Looked:
        outcomes = self.samples("flow_cache_packets_total")
        in_kernel = outcomes.pop("kernel")
        return Looked(in_kernel, sum(outcomes.values()))

    def wait_for_hits(self, before: int = 0) -> None:
        """Wait until the kernel has forwarded more packets than so many."""
        wait_until(lambda: self.looked().in_kernel > before, "the kernel forwards packets")

    def _serves(self) -> bool:
        text = self._log.read_text()
        assert self._started.poll() is None, text
        return "P4Runtime on" in text

    def _end(self) -> None:
        process = self.process
        with suppress(ProcessLookupError):
            os.kill(process if isinstance(process, int) else process.pid, signal.SIGTERM)
        self._started.wait()


class Network:
    """A switch between three veth pairs, whose other ends are this process's."""

    def __init__(self, folder: Path, stack: ExitStack, *options: str) -> None:
        nodes = stack.enter_context(Nodes("kernel-ways"))
        nodes.add("switch", "ends", is_switch=True)
        for port in PORTS:
            nodes.join("switch", f"port{port}", "ends", f"end{port}")
        nodes.ip("switch", f"link set port{OUTPUT} mtu {SMALL_MTU}")
        self.nodes = nodes
        self.switch = Switch(folder, nodes, stack, *options)
        self.ends = {port: stack.enter_context(closing(End(nodes.namespace("ends"), f"end{port}"))) for port in PORTS}
        self.sent: list[bytes] = []

    def send(self, octets: bytes) -> None:
        self.sent.append(octets)
        self.ends[INPUT].send(octets)

    def passes(self, octets: bytes, port: int = OUTPUT) -> None:
        """Send a packet and wait until it has left by a port."""
        self.send(octets)
        assert self.ends[port].receive() == forwarded(octets, port)

    def mark(self, port: int = OUTPUT) -> None:
        """Send what goes through the process and wait for it: what came before it has left, or never will."""
        self.passes(packet(0, prefix=MARKERS[port], tag=TAG), port)

    def enter_kernel(self, packets: Sequence[bytes], port: int = OUTPUT) -> None:
        """Send packets, all of which leave, until the kernel forwards a whole round of them."""

        def forwards_all() -> bool:
            before = self.switch.looked()
            for each in packets:
                for _ in range(IN_A_ROW):
                    self.passes(each, port)
            expected = len(packets) * IN_A_ROW
            wait_until(lambda: sum(self.switch.looked()) >= sum(before) + expected, "packets are counted")
            return self.switch.looked() == Looked(before.in_kernel + expected, before.elsewhere)

        wait_until(forwards_all, "the kernel forwards all packets", pause=0)

    def counts(self, port: int, direction: str, packets: Sequence[bytes]) -> None:
        """Wait until the metrics of a port have these packets, and no more."""

        def of_port() -> list[int]:
            return [self.switch.samples(f"{direction}_{what}_total").get(str(port), 0) for what in ("packets", "bytes")]

        expected = [len(packets), sum(map(len, packets))]
        wait_until(lambda: of_port() >= expected, f"port {port} counts {expected}")
        assert of_port() == expected


@contextmanager
def network(folder: Path, *options: str) -> Iterator[Network]:
    folder.mkdir(exist_ok=True)
    with ExitStack() as stack:
        made = Network(folder, stack, *options)
        for prefix, port in ((ROUTE, OUTPUT), *((prefix, port) for port, prefix in MARKERS.items())):
            made.switch.insert(prefix, port)
        yield made
