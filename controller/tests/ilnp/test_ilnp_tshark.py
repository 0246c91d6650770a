"""tshark reads Locator Updates and their nonces, and finds nothing wrong with them."""

from __future__ import annotations

import shutil
import subprocess
from ipaddress import IPv6Address
from pathlib import Path

import pytest
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate, Operation
from wayname.ilnp.nonce import LONG_NONCE, SHORT_NONCE, with_nonce
from wayname.ilnp.vectors import L64
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.icmpv6 import Message
from wayname.wire.mac import Mac

A, B = IPv6Address("2001:db8:101:10::1:11"), IPv6Address("2001:db8:102:10::2:11")
MACS = Mac.parse("02:00:00:00:00:01"), Mac.parse("02:00:00:00:00:02")
LISTED = (Listed(L64(0x2001_0DB8_0101_0010), 10, 300), Listed(L64(0x2001_0DB8_0201_0010), 65535, 30))


def update(operation: Operation, octets: int) -> Frame:
    """Return one message in a frame."""
    packet = Message(LOCATOR_UPDATE, 0, LocatorUpdate(operation, LISTED).encode()).packet(A, B)
    return Frame(*MACS, TYPE_IPV6, with_nonce(packet, bytes(range(1, octets + 1))).encode())


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not there")
def test_a_locator_update_is_not_malformed(tmp_path: Path) -> None:
    capture = tmp_path / "updates.pcap"
    frames = [update(operation, octets) for operation in Operation for octets in (SHORT_NONCE, LONG_NONCE)]
    wrpcap(str(capture), [Ether(frame.encode()) for frame in frames])
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields"]
    fields = ("icmpv6.type", "_ws.malformed", "icmpv6.checksum.status", "icmpv6.ilnp.nb_locs", "ipv6.opt.ilnp_nonce")
    for field in fields:
        command += ["-e", field]
    read = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    nonces = [bytes(range(1, octets + 1)).hex() for octets in (SHORT_NONCE, LONG_NONCE)] * 2
    assert [line.split("\t") for line in read] == [["156", "", "1", "2", nonce] for nonce in nonces]
