"""Hosts that leave segmentation and checksums to their cards, behind each kind of port. Needs root."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from bench.offloads.network import ADDRESSES, Network, missing, switch
from harness.commands import wait_until

OCTETS = 32 << 20
LONGEST_SEGMENT = 1500
# Of the client's side, which sends unless it is told otherwise, and of the server's.
PORTS = (1, 2)


def lost(folder: Path) -> dict[str, int]:
    """What the switch counts as lost, by reason."""
    return {key.split('"')[1]: value for key, value in counters(folder).items() if "dropped_packets" in key}


def counters(folder: Path) -> dict[str, int]:
    """The switch's counters."""
    with socket.socket(socket.AF_UNIX) as admin:
        admin.connect(str(folder / "admin"))
        admin.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        answer = b"".join(iter(lambda: admin.recv(65536), b"")).decode()
    lines = [line.rsplit(" ", 1) for line in answer.splitlines() if line.startswith("wayname_switch_")]
    return {name: int(value) for name, value in lines}


@pytest.mark.skipif(missing() is not None, reason=f"hosts of Linux in namespaces need {missing()}")
@pytest.mark.parametrize("kind", ["", "tap:", "xdp:"])
def test_hosts_keep_their_offloads(kind: str, tmp_path: Path) -> None:
    with switch(kind, tmp_path) as network:
        arrived = dict.fromkeys(PORTS, 0)
        for address in ADDRESSES["east"]:
            for port, direction in zip(PORTS, ([], ["-R"]), strict=True):
                arrived[port] += stream(network, address, direction)
                datagrams(network, address, direction)
        # The switch publishes its counters now and then.
        wait_until(lambda: all(received(tmp_path, port)[0] > arrived[port] for port in PORTS), "all octets are counted")
        counted = {port: received(tmp_path, port) for port in PORTS}
        refused = lost(tmp_path)
    # Segments are counted, and not what a host calls a frame.
    for octets, packets in counted.values():
        assert octets < packets * (LONGEST_SEGMENT + 14)
    assert refused["unknown_offload"] == refused["too_long"] == 0


def received(folder: Path, port: int) -> tuple[int, int]:
    """Octets and packets that a port received."""
    counted = counters(folder)
    octets, packets = (
        counted[f'wayname_switch_received_{what}_total{{port="{port}"}}'] for what in ("bytes", "packets")
    )
    return octets, packets


def stream(network: Network, address: str, direction: list[str]) -> int:
    """A TCP transfer arrives, so many octets of it, and hardly anything twice."""
    transfer = network.iperf(address, "-n", str(OCTETS), *direction)
    # iperf3 does not count what the receiver reads after the sender has ended.
    assert transfer.octets >= OCTETS / 2
    assert transfer.retransmissions * LONGEST_SEGMENT < transfer.octets / 20
    return transfer.octets


def datagrams(network: Network, address: str, direction: list[str]) -> None:
    """Datagrams arrive with right checksums; a busy machine may lose some of them in the receiver's buffer."""
    transfer = network.iperf(address, "-u", "-b", "50M", "-l", "1400", "-n", "2M", *direction)
    assert transfer.datagrams_sent >= 1000
    assert transfer.datagrams_lost < transfer.datagrams_sent / 2
