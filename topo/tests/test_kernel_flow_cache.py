"""A switch whose ways are in the kernel: what leaves, what is counted, and when writes are in effect, is as without."""

from __future__ import annotations

import ctypes
import http.client
import os
import platform
import random
import re
import secrets
import socket
import struct
import subprocess
import threading
import time
from contextlib import ExitStack, closing, suppress
from itertools import count
from pathlib import Path

import finsy as fy
import pytest
from finsy.proto import p4r
from routing_switch import (
    FLOWS,
    INPUT,
    MARKERS,
    MORE_SPECIFIC,
    OTHER,
    OUTPUT,
    PORTS,
    ROUTE,
    ROUTER,
    SMALL_MTU,
    STATION,
    TAG,
    Network,
    Switch,
    forwarded,
    network,
    packet,
)
from veth_end import inside

from harness.commands import wait_until
from harness.namespaces import Nodes, missing
from harness.switches import built_switch
from harness.wires import PATIENCE


def lacking() -> str | None:
    """Return what this machine lacks for programs at an interface's ingress (tcx), or None."""
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    if release is None or (int(release[1]), int(release[2])) < (6, 6):
        return "Linux 6.6"
    return missing()


pytestmark = pytest.mark.skipif(lacking() is not None, reason=f"needs {lacking()}")

OPTIONS = ("--flow-cache", "1024", "--kernel-flow-cache", "1024")
INTERVAL = 1 / 2000


def tcx_programs(device: str) -> int:
    """How many programs the kernel runs at an interface's ingress: bpf(BPF_PROG_QUERY) for BPF_TCX_INGRESS."""
    number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
    asked = struct.Struct("=IIIIQI36x")
    attributes = ctypes.create_string_buffer(asked.pack(socket.if_nametoindex(device), 46, 0, 0, 0, 0), asked.size)
    if ctypes.CDLL(None, use_errno=True).syscall(number, 16, attributes, asked.size):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(asked.unpack(attributes.raw)[5])


def programs(made: Network) -> int:
    """How many programs are at the ingress of the switch's ports."""
    namespace = made.nodes.namespace("switch")
    return inside(namespace, lambda: sum(tcx_programs(f"port{port}") for port in PORTS))


def flows(number: int = FLOWS) -> list[bytes]:
    return [packet(flow, flow.to_bytes(4)) for flow in range(number)]


def draw(numbers: random.Random, flow: int) -> tuple[bytes, bool]:
    """A packet of a flow with any payload, and whether it leaves. Some are odd."""
    hops, payload = 64 - flow % 3, numbers.randbytes(numbers.randrange(200))
    match numbers.randrange(20):
        case 0:
            return packet(flow, payload, hops)[: numbers.randrange(14, 54)], False
        case 1:
            # Four octets more than the MTU leave, as if they were a tag.
            longest = SMALL_MTU + 4 - 40
            size = numbers.randrange(longest - 6, longest + 3)
            return packet(flow, numbers.randbytes(size), hops), size <= longest
        case 2:
            return packet(flow, payload, hops, tag=TAG), True
        case 3:
            return packet(flow, payload, numbers.randrange(2)), False
        case 4:
            return packet(flow, payload, hops, prefix="2001:db8:ffff::"), False
        case 5:
            # It says that there is more.
            return packet(flow, payload + bytes(1), hops)[:-1], True
        case _:
            return packet(flow, payload, hops), True


def pass_on(made: Network, numbers: random.Random, rounds: int = 60, number: int = 40) -> dict[bytes, list[bytes]]:
    """Send packets of many flows; by destination what left, in order. What does not leave is counted then."""
    left: dict[bytes, list[bytes]] = {}
    dropped = made.switch.dropped()
    for _ in range(rounds):
        drawn = [draw(numbers, flow) for flow in range(number)]
        for octets, _ in drawn:
            made.send(octets)
        dropped += sum(not leaves for _, leaves in drawn)
        for _ in range(sum(leaves for _, leaves in drawn)):
            came = made.ends[OUTPUT].receive()
            at = 38 + 4 * (came[12:14] == TAG[:2])
            left.setdefault(came[at : at + 16], []).append(came)
    made.mark()
    assert all(end.is_silent() for end in made.ends.values())
    wait_until(lambda: made.switch.dropped() >= dropped, f"{dropped} dropped packets are counted")
    return left


@pytest.mark.parametrize("threads", ["1", "2"])
def test_packets_leave_as_without_ways_in_the_kernel(tmp_path: Path, threads: str) -> None:
    with network(tmp_path / "without", "--threads", threads, *OPTIONS[:2]) as without:
        expected = [pass_on(without, random.Random(seed)) for seed in (1, 2)]
        dropped = without.switch.samples("dropped_packets_total")
    assert dropped["too_long"] > 0
    with network(tmp_path / "with", "--threads", threads, *OPTIONS) as made:
        assert pass_on(made, random.Random(1)) == expected[0]
        made.enter_kernel([packet(flow, bytes(8), 64 - flow % 3) for flow in range(40)])
        before = made.switch.looked().in_kernel
        assert pass_on(made, random.Random(2)) == expected[1]
        made.switch.wait_for_hits(before)
        made.counts(INPUT, "received", made.sent)
        # What was sent to come into the kernel is not dropped.
        assert made.switch.samples("dropped_packets_total") == dropped


def test_counters_are_exact_at_once_and_those_of_ports_become_exact(tmp_path: Path) -> None:
    with network(tmp_path, *OPTIONS) as made:
        made.enter_kernel(flows())
        for payload in (b"", bytes(100)):
            before = made.switch.counted(ROUTE, OUTPUT)
            for number in range(1000):
                made.send(packet(number % FLOWS, payload))
            came = [made.ends[OUTPUT].receive() for _ in range(1000)]
            octets = sum(map(len, came))
            assert made.switch.counted(ROUTE, OUTPUT) == [(packets + 1000, all + octets) for packets, all in before]
        # From a count that the controller sets they count on.
        entry = fy.P4TableEntry("routes", match=fy.Match(**{"hdr.ipv6.destination": ROUTE}))
        counts = [
            fy.P4DirectCounterEntry(table_entry=entry, data=fy.P4CounterData(packet_count=7, byte_count=70)),
            fy.P4CounterEntry("of_ports", index=OUTPUT, data=fy.P4CounterData(packet_count=7, byte_count=70)),
        ]
        for each in counts:
            made.switch.write((~each).encode_update(made.switch.schema))
        assert made.switch.counted(ROUTE, OUTPUT) == [(7, 70)] * 2
        # As long as an answer takes: each packet is counted, whoever forwards it.
        for number in range(100):
            made.passes(packet(number % FLOWS))
        made.enter_kernel(flows())
        made.counts(INPUT, "received", made.sent)
        made.counts(OUTPUT, "sent", made.sent)


def test_a_write_is_in_effect_for_the_first_packet_after_its_answer(tmp_path: Path) -> None:
    with network(tmp_path, *OPTIONS) as made:
        switch = made.switch
        # Each with the port by which flows leave afterwards.
        writes = [
            (+switch.entry(MORE_SPECIFIC, OTHER), OTHER),
            (-switch.entry(MORE_SPECIFIC, OTHER), OUTPUT),
            (~switch.entry(ROUTE, OTHER), OTHER),
            (~switch.entry(ROUTE, None), None),
            (~switch.entry(ROUTE, OUTPUT), OUTPUT),
            (-switch.entry(ROUTE, OUTPUT), None),
            (+switch.entry(ROUTE, OUTPUT), OUTPUT),
        ]
        port: int | None = OUTPUT
        for turn in range(6):
            atomicity = (p4r.WriteRequest.CONTINUE_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC)[turn % 2]
            for write, becomes in writes:
                if port is not None:
                    made.enter_kernel(flows(), port)
                switch.write(write.encode_update(switch.schema), atomicity)
                port = becomes
                for each in flows():
                    if port is None:
                        made.send(each)
                    else:
                        made.passes(each, port)
                for marked in MARKERS:
                    made.mark(marked)
                assert all(end.is_silent() for end in made.ends.values())


def test_an_entry_that_only_the_kernel_hits_is_not_idle_until_packets_stop(tmp_path: Path) -> None:
    # Much longer than the kernel's hits take to be noticed.
    idle = 4.0
    with network(tmp_path, *OPTIONS) as made:
        switch = made.switch
        switch.write((~switch.entry(ROUTE, OUTPUT, int(idle * 1e9))).encode_update(switch.schema))
        made.enter_kernel(flows())
        before = switch.looked()
        last = since = time.monotonic()
        while (now := time.monotonic()) < since + 2.5 * idle:
            if now > last + idle / 4:
                # We were held up: the entry may have been idle indeed.
                since = now
                while switch.controller.waiting("idle_timeout_notification"):
                    switch.controller.next("idle_timeout_notification")
            made.passes(flows()[0])
            last = now
            time.sleep(0.01)
        assert switch.controller.waiting("idle_timeout_notification") == 0
        assert switch.looked().elsewhere == before.elsewhere
        message = switch.controller.next("idle_timeout_notification")
        assert message is not None
        (entry,) = message.idle_timeout_notification.table_entry
        assert entry.match == switch.entry(ROUTE, OUTPUT).encode_entry(switch.schema).match


def test_a_link_that_is_cut_loses_packets_at_once_and_a_trace_shows_them(tmp_path: Path) -> None:
    with network(tmp_path, *OPTIONS) as made:
        for port in (OUTPUT, INPUT):
            made.enter_kernel(flows())
            made.switch.asks("PUT", f"/ports/{port}/cut", "admin")
            for each in flows():
                made.ends[INPUT].send(each)
            if port == OUTPUT:
                made.mark(OTHER)
            else:
                # Once the second one has left, the switch has been at the cut port since.
                marker = packet(0, prefix=MARKERS[OUTPUT], tag=TAG)
                for _ in range(2):
                    made.ends[OTHER].send(marker)
                    assert made.ends[OUTPUT].receive() == forwarded(marker, OUTPUT)
            made.switch.asks("DELETE", f"/ports/{port}/cut", "admin")
            made.mark()
            assert all(end.is_silent() for end in made.ends.values())
            for each in flows():
                made.passes(each)
        made.enter_kernel(flows())
        words = [built_switch(), "trace", "--target", made.switch.address, "--count", "1", "dst", ROUTE]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as trace:

            def has_seen_one() -> bool:
                made.passes(flows()[0])
                return trace.poll() is not None

            try:
                wait_until(has_seen_one, "a trace shows a packet")
            finally:
                trace.kill()
            assert trace.stdout is not None
            text = trace.stdout.read()
        assert f"received {len(flows()[0])} bytes at port {INPUT}" in text
        assert "table routes" in text
        # Nobody watches any more.
        made.enter_kernel(flows())


def test_a_hot_restart_loses_no_packet(tmp_path: Path) -> None:
    with network(tmp_path, *OPTIONS) as made:
        sent = 0
        stops = threading.Event()

        def send() -> None:
            nonlocal sent
            for number in count():
                if stops.is_set():
                    return
                made.ends[INPUT].send(packet(number % FLOWS, number.to_bytes(8)))
                sent = number + 1
                time.sleep(INTERVAL)

        def in_kernel() -> int:
            # Between two processes nobody answers.
            with suppress(OSError, http.client.HTTPException):
                return made.switch.looked().in_kernel
            return 0

        sender = threading.Thread(target=send)
        sender.start()
        try:
            for _ in range(3):
                wait_until(lambda: in_kernel() > FLOWS, "the kernel forwards packets")
                made.switch.restart()
            wait_until(lambda: in_kernel() > FLOWS, "the kernel forwards packets again")
        finally:
            stops.set()
            sender.join()
        came = [int.from_bytes(made.ends[OUTPUT].receive()[54:62]) for _ in range(sent)]
        # What the kernel forwards may overtake what waits in the process.
        assert sorted(came) == list(range(sent))
        assert made.ends[OUTPUT].is_silent()


def test_the_machine_itself_gets_what_the_switch_drops(tmp_path: Path) -> None:
    with network(tmp_path, *OPTIONS) as made, ExitStack() as stack:
        made.nodes.ip("switch", f"address add 192.0.2.1/24 dev port{INPUT}")

        def listen() -> socket.socket:
            listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            listener.bind(("192.0.2.1", 9000))
            return listener

        listener = stack.enter_context(closing(inside(made.nodes.namespace("switch"), listen)))
        listener.settimeout(PATIENCE)
        # UDP in IPv4, which the program drops. It needs no checksum of its own.
        header = struct.pack(
            "!BBHHHBBH4s4s", 0x45, 0, 36, 0, 0, 64, 17, 0, bytes([192, 0, 2, 9]), bytes([192, 0, 2, 1])
        )
        total = sum(struct.unpack("!10H", header))
        header = header[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + header[12:]

        def reaches_the_machine() -> bool:
            octets = secrets.token_bytes(8)
            ethernet = b"\xff" * 6 + STATION[INPUT] + b"\x08\x00"
            made.ends[INPUT].send(ethernet + header + struct.pack("!HHHH", 9, 9000, 16, 0) + octets)
            assert listener.recv(100) == octets
            return made.switch.looked().in_kernel > 0

        wait_until(reaches_the_machine, "the kernel knows that they are dropped", pause=0)
        for _ in range(10):
            assert reaches_the_machine()
        wait_until(lambda: made.switch.samples("dropped_packets_total")["ingress"] > 10, "they are counted as dropped")


def test_a_killed_switch_leaves_nothing_at_its_interfaces(tmp_path: Path) -> None:
    with network(tmp_path, *OPTIONS) as made:
        made.enter_kernel(flows())
        assert programs(made) > 0
        made.switch.kill()
        wait_until(lambda: programs(made) == 0, "the kernel lets go of the programs")
        for each in flows():
            made.ends[INPUT].send(each)
        made.switch.start()
        made.enter_kernel(flows())
        assert made.ends[OUTPUT].is_silent()


def connected(nodes: Nodes, to: str) -> tuple[socket.socket, socket.socket]:
    """Both ends of a TCP connection from one host to the other."""

    def listen() -> socket.socket:
        return socket.create_server((to, 8080), family=socket.AF_INET6)

    with inside(nodes.namespace("server"), listen) as listener:
        listener.settimeout(PATIENCE)
        asking = inside(nodes.namespace("client"), lambda: socket.create_connection((to, 8080), PATIENCE))
        answering = listener.accept()[0]
    answering.settimeout(PATIENCE)
    return asking, answering


def carry(sender: socket.socket, receiver: socket.socket, octets: bytes) -> None:
    """Send octets from one end to the other, where they arrive unchanged."""
    sending = threading.Thread(target=sender.sendall, args=(octets,))
    sending.start()
    came = bytearray()
    while len(came) < len(octets) and (part := receiver.recv(1 << 16)):
        came += part
    sending.join()
    assert bytes(came) == octets


def test_tcp_with_the_hosts_offloads_passes_through_the_kernel(tmp_path: Path) -> None:
    mebibytes = random.Random(1).randbytes(4 << 20)
    hosts = {"client": (1, "fd00:1::"), "server": (2, "fd00:2::")}
    with Nodes("kernel-ways") as nodes, ExitStack() as stack:
        nodes.add("switch", is_switch=True)
        nodes.add(*hosts)
        for host, (port, prefix) in hosts.items():
            nodes.join("switch", f"port{port}", host, "eth0", STATION[port].hex(":"))
            nodes.address(host, "eth0", f"{prefix}2/64")
            nodes.ip(host, f"-6 neighbour add {prefix}1 lladdr {ROUTER.hex(':')} dev eth0 nud permanent")
            nodes.ip(host, f"-6 route add default via {prefix}1 dev eth0")
        nodes.ip("switch", f"link add port{OTHER} type veth peer name nobody")
        switch = Switch(tmp_path, nodes, stack, *OPTIONS)
        for port, prefix in hosts.values():
            switch.insert(f"{prefix}/64", port)
        ends = connected(nodes, f"{hosts['server'][1]}2")
        asking, answering = (stack.enter_context(closing(end)) for end in ends)

        def has_kernel_hits() -> bool:
            carry(asking, answering, mebibytes[: 1 << 18])
            return switch.looked().in_kernel > 0

        wait_until(has_kernel_hits, "the kernel forwards segments", pause=0)
        for sender, receiver in ((asking, answering), (answering, asking)):
            before = switch.looked().in_kernel
            carry(sender, receiver, mebibytes)
            switch.wait_for_hits(before)
        port, prefix = hosts["server"]

        def counts_segments() -> bool:
            counted, told = switch.counted(f"{prefix}/64", port)[1], sent(asking)
            carry(asking, answering, mebibytes[: 1 << 20])
            # Where one is lost on the way to the switch, it is counted once and sent twice.
            expected = [now - before for now, before in zip(sent(asking), told, strict=True)]
            return [
                now - before for now, before in zip(switch.counted(f"{prefix}/64", port)[1], counted, strict=True)
            ] == expected

        wait_until(counts_segments, "the segments of pieces that pass as a whole are counted", pause=0)


def sent(end: socket.socket) -> tuple[int, int]:
    """Segments that an end of a connection sent, and their octets with headers (`struct tcp_info` of linux/tcp.h)."""
    told = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 216)
    (segments,), (octets,) = struct.unpack_from("=I", told, 136), struct.unpack_from("=Q", told, 200)
    # Ethernet, IPv6, TCP with timestamps.
    return segments, octets + segments * (14 + 40 + 32)
