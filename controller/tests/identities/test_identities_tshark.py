"""tshark reads every message of DHCPv6 that the edge and its hosts exchange, and finds nothing wrong with it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from identities.site import NEW, DhcpHost, site
from rig import Rig
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from wayname.wire.ethernet import Frame
from wayname.wire.ipv6 import UDP

ALL_BUT_RECONFIGURE = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11}


def conversation() -> list[Frame]:
    """All frames of DHCPv6 that went to or from a host that tries everything."""
    rig = Rig(site('addresses = "all"'))
    host = DhcpHost(rig, 0x11)

    first, second = host.join()
    host.ask("confirm", addresses=[first])
    host.ask("confirm", addresses=[NEW[1]])
    host.ask("renew", addresses=[first, NEW[1]])
    host.ask("rebind")
    host.ask("information")
    host.ask("release", addresses=[second])
    host.ask("renew", addresses=[first])
    host.join()
    host.ask("decline", addresses=[first])
    host.ask("request", addresses=[NEW[1]])
    host.ask("solicit", rapid=True)
    return [frame for port, frame in rig.sent if port in (1, 2) and frame.payload[6] == UDP]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not there")
def test_nothing_is_malformed(tmp_path: Path) -> None:
    frames = conversation()
    capture = tmp_path / "dhcpv6.pcap"
    wrpcap(str(capture), [Ether(frame.encode()) for frame in frames])
    command = ["tshark", "-n", "-r", str(capture), "-o", "udp.check_checksum:TRUE", "-T", "fields"]
    for field in ("dhcpv6.msgtype", "_ws.malformed", "_ws.expert.message", "udp.checksum.status"):
        command += ["-e", field]
    read = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    kinds = [line.split("\t") for line in read]
    assert {int(kind) for kind, *_ in kinds} == ALL_BUT_RECONFIGURE
    assert [rest for _, *rest in kinds] == [["", "", "1"]] * len(frames)
