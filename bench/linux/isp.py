"""An ISP's router: Kea delegates a prefix on a link, and radvd says who the router is."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.namespaces import Nodes

DAEMONS = ("kea-dhcp6", "radvd")
RADVD = """
interface {device} {{
    AdvSendAdvert on;
    MinRtrAdvInterval 3;
    MaxRtrAdvInterval 4;
}};
"""
# Seconds: a prefix is valid so long, and is asked about again after so many. A test waits for both.
VALID, RENEW = 60, 10


@dataclass(slots=True)
class Isp:
    """A router at a node, and the device that leads to its customer."""

    nodes: Nodes
    node: str
    device: str
    folder: Path

    def advertise(self) -> None:
        """Start to advertise the router."""
        file = self.folder / "radvd.conf"
        file.write_text(RADVD.format(device=self.device))
        file.chmod(0o644)
        self.nodes.start(self.node, "radvd", "-n", "-C", str(file), "-p", str(self.folder / "radvd.pid"))

    def delegate(self, prefix: str) -> subprocess.Popen[bytes]:
        """Start a server that has this prefix of 48 bits to give, and knows of no leases."""
        pool = {"prefix": prefix, "prefix-len": 48, "delegated-len": 48}
        said = {
            # Its address on the link may not be settled yet.
            "interfaces-config": {
                "interfaces": [self.device],
                "service-sockets-max-retries": 60,
                "service-sockets-retry-wait-time": 500,
            },
            "lease-database": {"type": "memfile", "persist": False},
            "server-id": {"type": "LL", "htype": 1, "identifier": "029900000001", "persist": False},
            "preferred-lifetime": VALID * 2 // 3,
            "valid-lifetime": VALID,
            "renew-timer": RENEW,
            "rebind-timer": 2 * RENEW,
            "subnet6": [{"id": 1, "subnet": "2001:db8:2::/64", "interface": self.device, "pd-pools": [pool]}],
        }
        file = self.folder / "kea.json"
        file.write_text(json.dumps({"Dhcp6": said}))
        folder = str(self.folder)
        words = ("env", f"KEA_PIDFILE_DIR={folder}", f"KEA_LOCKFILE_DIR={folder}", "kea-dhcp6", "-c", str(file))
        return self.nodes.start(self.node, *words)
