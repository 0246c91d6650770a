"""The switch with several forwarding threads: flows in order, registers exact, counters exact."""

from __future__ import annotations

import contextlib
import http.client
import re
import signal
import socket
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SWITCH = Path(__file__).resolve().parents[3] / "target" / "release" / "wayname-switch"
PATIENCE = 60.0
FLOWS = 200
ROUNDS = 50

# Each packet draws the next number of a register that all flows share, and carries it.
PROGRAM = """
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> destination; bit<48> source; bit<16> type; }
header ipv6_t { bit<64> before; bit<128> source; bit<128> destination; }
header udp_t { bit<16> source; bit<16> destination; bit<32> after; }
header numbers_t { bit<32> flow; bit<32> round; bit<32> ticket; }
struct headers_t { ethernet_t ethernet; ipv6_t ipv6; udp_t udp; numbers_t numbers; }
struct metadata_t {}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv6);
        packet.extract(hdr.udp);
        packet.extract(hdr.numbers);
        transition accept;
    }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<32>>(1) tickets;
    apply {
        tickets.read(hdr.numbers.ticket, 0);
        hdr.numbers.ticket = hdr.numbers.ticket + 1;
        tickets.write(0, hdr.numbers.ticket);
        std.egress_spec = 2;
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.udp);
        packet.emit(hdr.numbers);
    }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program as a file."""
    file = tmp_path / "tickets.p4"
    file.write_text(PROGRAM)
    return file


def packet(flow: int, round_: int) -> bytes:
    """A datagram of one flow."""
    addresses = bytes(15) + b"\1" + bytes(15) + b"\2"
    before = struct.pack("!IHBB", 6 << 28, 20, 17, 64)
    udp = struct.pack("!HHHH", 4000 + flow, 9, 20, 0)
    return bytes(12) + b"\x86\xdd" + before + addresses + udp + struct.pack("!III", flow, round_, 0)


@contextlib.contextmanager
def switch(folder: Path, *words: str) -> Iterator[None]:
    """A switch with ports 1 and 2, once its gRPC answers."""
    ports = [word for port in (1, 2) for word in ("-i", f"{port}@wire:{folder}/{port}")]
    addresses = ["--grpc-server-addr", f"unix:{folder}/p4runtime", "--metrics-addr", f"unix:{folder}/metrics"]
    command = [str(SWITCH), *ports, *addresses, *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            next(line for line in process.stderr if "P4Runtime on" in line)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


@contextlib.contextmanager
def wire(path: Path) -> Iterator[socket.socket]:
    """The other end of a port."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as end:
        end.settimeout(PATIENCE)
        end.connect(str(path))
        yield end


def counters(folder: Path) -> dict[str, int]:
    """What the switch counted so far."""
    connection = http.client.HTTPConnection("switch")
    connection.sock = socket.socket(socket.AF_UNIX)
    with contextlib.closing(connection):
        connection.sock.connect(f"{folder}/metrics")
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    return {name: int(value) for name, value in re.findall(r"^wayname_switch_(\S+) (\d+)$", text, re.MULTILINE)}


def totals(counted: dict[str, int]) -> tuple[int, int, int]:
    """Packets received by port 1, run by all threads, and sent by port 2; a thread that published nothing has none."""
    ran = sum(count for name, count in counted.items() if name.startswith("thread_packets_total"))
    return counted.get('received_packets_total{port="1"}', 0), ran, counted.get('sent_packets_total{port="2"}', 0)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_flow_keeps_its_order_and_no_count_is_lost(tmp_path: Path, program: Path, threads: int) -> None:
    count = FLOWS * ROUNDS
    with switch(tmp_path, "--threads", str(threads), str(program)):
        with wire(tmp_path / "1") as sender, wire(tmp_path / "2") as receiver:
            received = []
            for round_ in range(ROUNDS):
                for flow in range(FLOWS):
                    sender.send(packet(flow, round_))
                # Some are always on their way, and never more than a wire holds.
                while len(received) < FLOWS * (round_ - 1):
                    received.append(struct.unpack("!III", receiver.recv(200)[-12:]))
            while len(received) < count:
                received.append(struct.unpack("!III", receiver.recv(200)[-12:]))
        rounds: dict[int, list[int]] = {}
        for flow, round_, _ in received:
            rounds.setdefault(flow, []).append(round_)
        assert rounds == {flow: list(range(ROUNDS)) for flow in range(FLOWS)}
        assert Counter(ticket for _, _, ticket in received) == Counter(range(1, count + 1))
        # Each thread publishes what it counted, now and then.
        deadline = time.monotonic() + PATIENCE
        while totals(counted := counters(tmp_path)) != (count, count, count):
            assert time.monotonic() < deadline, f"the switch counts all packets: {counted}"
            time.sleep(0.01)
        ran = [counted[f'thread_packets_total{{thread="{thread}"}}'] for thread in range(threads)]
        assert min(ran) > 0, "each thread has flows"
        assert f'thread_packets_total{{thread="{threads}"}}' not in counted


def test_what_one_queue_must_keep_is_refused(tmp_path: Path) -> None:
    command = [str(SWITCH), "--threads", "2", "-i", f"1@wire:{tmp_path}/1?rate=1mbit"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert refused.returncode == 1
    assert "port 1 has a rate, which one queue of one thread keeps: leave out rate= or --threads" in refused.stderr


def test_check_says_which_packets_take_turns(program: Path) -> None:
    checked = subprocess.run([str(SWITCH), "check", str(program)], capture_output=True, text=True, timeout=PATIENCE)
    assert "with --threads, packets that use these registers take turns: I.tickets" in checked.stdout
