"""The Linux kernel on the other end of a wire: its segments and ours, its trace data and ours. Needs root."""

from __future__ import annotations

import ctypes
import hmac
import os
import pty
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from carriers import ROUTING, Node, octets
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Raw
from segment_cases import INLINE, REDUCED, TUNNEL, from_first_host, leaves_to
from site_switch import SiteSwitch

from small_site import CPU, HOST, IP_OF, PACKET_IN_BYTES, PROVIDER, PUNT, ROUTER

NAME = f"wayname-test-{os.getpid()}"
OUR_END, OUR_TRACE_END, THEIR_END, THEIR_DT6 = "fd00:2::3", "fd00:2::4", "fd00:100::2", "fd00:100::1"
THEIRS = "2001:db8:f01::9"
SOURCE = "2001:db8:a::2"
PORT = 4242
NAMESPACE = 1
THEIR_ID = 0x1E57
PATIENCE = 2.0
HMAC_KEY, HMAC_SECRET = 8, b"secret"
LINUX_HMAC_FLAG = 8


class Kernel:
    """A namespace whose veth ends at a socket of ours."""

    def __init__(self) -> None:
        _require("a network namespace", "ip", "netns", "add", NAME)
        _require("SRv6", "ip", "netns", "exec", NAME, "sysctl", "net.ipv6.conf.all.seg6_enabled")
        for command in (
            f"link add k0 address {PROVIDER[4]} type veth peer name k1",
            "link set lo up",
            "link set k1 up",
            "link set k0 up",
            "-6 address add fe80::a1/64 dev k0 nodad",
            f"-6 address add {THEIRS}/128 dev lo nodad",
            f"-6 neighbour add fe80::100 lladdr {ROUTER[100]} dev k0",
            "-6 route add default via fe80::100 dev k0",
        ):
            self.ip(command)
        segments = ("encap", "seg6", "mode", "encap", "segs", "fd00::1")
        _require("tunnels of SRv6", "ip", "-n", NAME, "-6", "route", "add", "fd00:dead::/64", *segments, "dev", "k0")
        for setting in ("all.forwarding=1", "all.seg6_enabled=1", "k0.seg6_enabled=1", "k1.disable_ipv6=1"):
            self._run("ip", "netns", "exec", NAME, "sysctl", "-q", "-w", f"net.ipv6.conf.{setting}")
        self.wire = self._inside(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
        self.wire.bind(("k1", 0))
        self.wire.settimeout(PATIENCE)
        self.datagrams = self._inside(lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
        self.datagrams.bind((THEIRS, PORT))
        self.datagrams.settimeout(PATIENCE)

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"

    def _inside(self, make: Callable[[], socket.socket]) -> socket.socket:
        """A socket of the namespace, made by a thread that goes there."""
        made: list[socket.socket] = []

        def go() -> None:
            with Path(f"/run/netns/{NAME}").open() as namespace:
                assert ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0) == 0
                made.append(make())

        thread = threading.Thread(target=go)
        thread.start()
        thread.join()
        return made[0]

    def ip(self, command: str) -> None:
        self._run("ip", "-n", NAME, *command.split())

    def hmac_key(self) -> None:
        """Give the kernel a key; iproute2 asks a terminal for it."""
        ours, theirs = pty.openpty()
        command = ("ip", "-n", NAME, "sr", "hmac", "set", str(HMAC_KEY), "sha256")
        with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as asking:
            os.read(ours, 100)
            os.write(ours, HMAC_SECRET + b"\n")
            status = asking.wait(PATIENCE)
        os.close(ours)
        os.close(theirs)
        assert status == 0

    def setting(self, setting: str) -> None:
        self._run("ip", "netns", "exec", NAME, "sysctl", "-q", "-w", setting)

    def receive(self) -> bytes:
        """The next frame for our router; the kernel also looks for neighbours, and tells of groups."""
        while True:
            frame, (_, _, kind, *_) = self.wire.recvfrom(4096)
            if kind != socket.PACKET_OUTGOING and frame[:6] == bytes.fromhex(ROUTER[100].replace(":", "")):
                return frame

    def close(self) -> None:
        self.wire.close()
        self.datagrams.close()


def _require(what: str, *command: str) -> None:
    """Skip where the machine lacks something; whatever fails later is a failure."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        subprocess.run(["ip", "netns", "delete", NAME], capture_output=True, check=False)
        pytest.skip(f"the kernel has no {what}: {done.stderr.strip()}")


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2, to make a network namespace")
    try:
        kernel = Kernel()
        yield kernel
        kernel.close()
    finally:
        subprocess.run(["ip", "netns", "delete", NAME], capture_output=True, check=False)


@pytest.fixture
def edge() -> SiteSwitch:
    switch = SiteSwitch()
    switch.add("routes", "route_nexthop", {"destination": "fd00::/16"}, {"nexthop": 1})
    switch.add("sids", "end_dt6", {"destination": f"{OUR_END}/128"}, {"vrf": 0})
    return switch


def put(switch: SiteSwitch, mode: int, destination: str, *path: str) -> None:
    names = ("first", "second", "third")
    parameters: dict[str, int | str] = {"source": SOURCE, "extensions": 0, "hmac": 0}
    parameters |= dict(zip(names, path, strict=False))
    switch.add("sr_policies", f"push_segments_{len(path)}", {"policy": 1}, parameters)
    bound = {"mode": mode, "policy": 1, "trace": 0}
    switch.add("encapsulations", "encapsulate_segments", {"destination": f"{destination}/128"}, bound)


def datagram(destination: str) -> bytes:
    body = UDP(sport=1000, dport=PORT) / Raw(b"between a switch and a kernel")
    return bytes(from_first_host(bytes(IPv6(src=IP_OF[1], dst=destination) / body)))


def to_kernel(kernel: Kernel, switch: SiteSwitch, packet: bytes) -> None:
    [(port, sent)] = switch.send(1, packet)
    assert port == 4
    kernel.wire.send(sent)


@pytest.mark.parametrize("mode", [TUNNEL, REDUCED])
@pytest.mark.parametrize("path", [(THEIR_DT6,), (THEIR_END, THEIR_DT6)])
def test_the_kernel_takes_our_packets_out_of_their_tunnel(
    kernel: Kernel, edge: SiteSwitch, mode: int, path: tuple[str, ...]
) -> None:
    kernel.ip(f"-6 route add {THEIR_DT6}/128 encap seg6local action End.DT6 table 255 dev k0")
    kernel.ip(f"-6 route add {THEIR_END}/128 encap seg6local action End dev k0")
    put(edge, mode, THEIRS, *path)
    to_kernel(kernel, edge, datagram(THEIRS))
    body, (source, *_) = kernel.datagrams.recvfrom(4096)
    assert (body, source) == (b"between a switch and a kernel", IP_OF[1])


def test_the_kernel_leads_our_inline_packets_on(kernel: Kernel, edge: SiteSwitch) -> None:
    """Its End does not deliver to itself: the last segment is beyond it."""
    kernel.ip(f"-6 route add {THEIR_END}/128 encap seg6local action End dev k0")
    put(edge, INLINE, IP_OF[2], THEIR_END)
    to_kernel(kernel, edge, datagram(IP_OF[2]))
    packet = IPv6(kernel.receive()[14:])
    assert (packet.dst, packet.nh, packet.hlim) == (IP_OF[2], ROUTING, 62)
    assert bytes(packet)[40:48] == bytes([17, 4, 4, 0, 1, 0, 0, 0])
    assert bytes(packet).endswith(b"between a switch and a kernel")


def linux_hmac(source: str, flags: int, path: tuple[str, ...]) -> bytes:
    """What Linux computes over a list: as an earlier draft has it, without the 16 bits behind the TLV's length."""
    segments = b"".join(octets(sid) for sid in reversed(path))
    covered = octets(source) + bytes([len(path) - 1, flags]) + HMAC_KEY.to_bytes(4) + segments
    return hmac.digest(HMAC_SECRET, covered, "sha256")


def test_the_kernels_hmac_is_that_of_a_draft_and_it_wants_a_flag(kernel: Kernel, edge: SiteSwitch) -> None:
    """Both ways: what it puts on, and what it takes where it requires an HMAC."""
    kernel.hmac_key()
    kernel.ip(f"-6 route add {IP_OF[1]}/128 encap seg6 mode encap segs {OUR_END} hmac {HMAC_KEY} dev k0")
    kernel.datagrams.sendto(b"from the kernel", (IP_OF[1], PORT))
    packet = kernel.receive()[14:]
    assert packet[40:48] == bytes([41, 7, 4, 0, 0, LINUX_HMAC_FLAG, 0, 0])
    tlv = bytes([5, 38, 0, 0]) + HMAC_KEY.to_bytes(4)
    assert packet[64:104] == tlv + linux_hmac(THEIRS, LINUX_HMAC_FLAG, (OUR_END,))

    kernel.ip(f"-6 route add {THEIR_END}/128 encap seg6local action End dev k0")
    for where in ("all", "k0"):
        kernel.setting(f"net.ipv6.conf.{where}.seg6_require_hmac=1")
    path = (THEIR_END, "fd00:2::77")
    names = dict(zip(("first", "second"), path, strict=True))
    edge.add("sr_policies", "push_segments_2", {"policy": 1}, {"source": SOURCE, "extensions": 0, "hmac": 1, **names})
    bound = {"mode": TUNNEL, "policy": 1, "trace": 0}
    edge.add("encapsulations", "encapsulate_segments", {"destination": f"{THEIRS}/128"}, bound)
    proof = int.from_bytes(linux_hmac(SOURCE, LINUX_HMAC_FLAG, path))
    edge.add("hmacs", "push_linux_hmac", {"policy": 1}, {"key": HMAC_KEY, "hmac": proof})
    to_kernel(kernel, edge, datagram(THEIRS))
    assert IPv6(kernel.receive()[14:]).dst == path[1]
    # One with an octet of its HMAC changed is dropped, so what comes next is the one behind it.
    [(_, sent)] = edge.send(1, datagram(THEIRS))
    at = sent.index(proof.to_bytes(32))
    kernel.wire.send(sent[:at] + bytes([sent[at] ^ 1]) + sent[at + 1 : -1] + b"!")
    kernel.wire.send(sent)
    assert kernel.receive()[-1:] == sent[-1:]


@pytest.mark.parametrize("mode", ["encap", "encap.red"])
def test_we_take_the_kernels_packets_out_of_their_tunnel(kernel: Kernel, edge: SiteSwitch, mode: str) -> None:
    kernel.ip(f"-6 route add {IP_OF[1]}/128 encap seg6 mode {mode} segs {OUR_END} dev k0")
    kernel.datagrams.sendto(b"from the kernel", (IP_OF[1], PORT))
    [(port, sent)] = edge.send(4, kernel.receive())
    assert port == 1
    inner = IPv6(sent[14:])
    assert (inner.src, inner.dst, bytes(inner[UDP].payload)) == (THEIRS, IP_OF[1], b"from the kernel")
    assert sent == bytes(leaves_to(1, sent[14:]))


def test_we_lead_the_kernels_inline_packets_to_their_destination(kernel: Kernel, edge: SiteSwitch) -> None:
    edge.add("sids", "end", {"destination": "fd00:2::9/128"}, {"flavours": 1})
    kernel.ip(f"-6 route add {IP_OF[1]}/128 encap seg6 mode inline segs fd00:2::9 dev k0")
    kernel.datagrams.sendto(b"from the kernel", (IP_OF[1], PORT))
    [(port, sent)] = edge.send(4, kernel.receive())
    assert port == 1
    packet = IPv6(sent[14:])
    assert (packet.dst, packet.nh, bytes(packet[UDP].payload)) == (IP_OF[1], 17, b"from the kernel")


def test_one_trace_through_us_the_kernel_and_us(kernel: Kernel, edge: SiteSwitch) -> None:
    _require("IOAM", "ip", "-n", NAME, "ioam", "namespace", "show")
    kernel.ip(f"ioam namespace add {NAMESPACE}")
    for setting in ("ioam6_id", "conf.k0.ioam6_id"):
        kernel.setting(f"net.ipv6.{setting}={THEIR_ID}")
    kernel.setting("net.ipv6.conf.k0.ioam6_enabled=1")
    node = Node()
    for port in (4, CPU):
        edge.add(
            "ioam_namespaces",
            "set_namespace",
            {"port": port, "namespace": NAMESPACE},
            {"node": node.id, "node_wide": 0, "data": 0, "data_wide": 0, "schema": 0xFFFFFF, "snapshot": 0, "epoch": 0},
        )
    shape = {"namespace": NAMESPACE, "type": 0xC00000, "node_length": 2, "words": 8, "flags": 0, "packets": 1, "of": 1}
    edge.add("ioam_traces", "push_trace", {"trace": 1}, shape)
    edge.add(
        "encapsulations",
        "encapsulate_trace",
        {"destination": f"{IP_OF[2]}/128"},
        {"mode": 2, "trace": 1, "source": SOURCE, "destination": OUR_TRACE_END},
    )
    edge.add("nexthops", "set_nexthop", {"nexthop": 5}, {"vlan": 1, "address": IP_OF[2]})
    edge.add("sids", "end_dx6", {"destination": f"{OUR_TRACE_END}/128"}, {"nexthop": 5})
    to_kernel(kernel, edge, datagram(IP_OF[2]))
    outputs = edge.send(4, kernel.receive())
    assert sorted(port for port, _ in outputs) == [2, CPU]
    told = next(packet for port, packet in outputs if port == CPU)
    assert told[0] == PUNT["PUNT_TRACE"]
    trace = told[PACKET_IN_BYTES + 14 + 40 + 4 :]
    left, data = trace[7] & 0x7F, trace[12:][:32]
    nodes = [int.from_bytes(data[at : at + 4]) for at in range(0, 32, 8)]
    assert left == 2 and nodes[0] == 0
    assert nodes[1:] == [63 << 24 | node.id, 63 << 24 | THEIR_ID, 64 << 24 | node.id]
    delivered = next(packet for port, packet in outputs if port == 2)
    assert delivered[:6] == bytes.fromhex(HOST[2].replace(":", "")) and IPv6(delivered[14:]).dst == IP_OF[2]
