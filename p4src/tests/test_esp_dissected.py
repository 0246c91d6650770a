"""What others see of a numbered ESP packet: IPv6, destination options, ESP. tshark and Scapy look at it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from esp_site import ESP_SESSION, PEERS_SPI
from numbered_esp_switch import NumberedEspSwitch, before_esp, peer_got, sealed
from scapy.layers.inet6 import HBHOptUnknown, IPv6ExtHdrDestOpt
from scapy.layers.ipsec import ESP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap
from schedule_site import CLOSE, PathOf, Schedule

PATHS = [PathOf(10_000, 1 << 24), PathOf(30_000, 1 << 24)]
OPTIONS = ("ipv6.dstopts.nxt", "ipv6.opt.type", "ipv6.opt.length")
FIELDS = ("frame.protocols", "ipv6.nxt", *OPTIONS, "esp.spi", "esp.sequence")
SPI = f"0x{PEERS_SPI:08x}"


@pytest.fixture
def frames() -> list[bytes]:
    """A packet with a number, one with a report behind it, and a report by itself."""
    switch = NumberedEspSwitch(Schedule(PATHS, feedback=CLOSE, session=ESP_SESSION))
    numbered = switch.frames(0, sealed(7))
    switch.comes(1, 0, before_esp(0, 100))
    reported = switch.frames(2, sealed(8))
    alone = []
    for time in range(20):
        alone += peer_got(switch.comes(20_000 + 1000 * time, 0, before_esp(0, 101 + time)))
    return [*numbered, *reported, alone[0]]


def test_scapy_reads_the_headers_in_their_order(frames: list[bytes]) -> None:
    for frame, (length, sequence) in zip(frames, [(4, 7), (20, 8), (20, 0)], strict=True):
        packet = Ether(frame)
        options = packet[IPv6ExtHdrDestOpt].options
        assert [(type(one), one.otype, one.optlen) for one in options] == [(HBHOptUnknown, 0x1E, length)]
        assert (packet[ESP].spi, packet[ESP].seq) == (PEERS_SPI, sequence)
    assert bytes(Ether(frames[2])[ESP].data) == b""


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_the_headers_in_their_order(frames: list[bytes], tmp_path: Path) -> None:
    capture = tmp_path / "esp.pcap"
    wrpcap(str(capture), [Ether(frame) for frame in frames])
    command = ["tshark", "-r", str(capture), "-T", "fields", *(word for field in FIELDS for word in ("-e", field))]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    lines = [line.split("\t") for line in told.splitlines()]
    assert [line[0].split(":")[:5] for line in lines] == [["eth", "ethertype", "ipv6", "ipv6.dstopts", "esp"]] * 3
    assert [line[1:] for line in lines] == [
        ["60", "50", "0x1e", "4", SPI, "7"],
        ["60", "50", "0x1e", "20", SPI, "8"],
        ["60", "50", "0x1e", "20", SPI, "0"],
    ]
