"""FRR at a node: zebra, which writes the kernel's routes, and bgpd."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.namespaces import Nodes

PROGRAMS = Path("/usr/lib/frr")
USER = "frr"


def missing() -> str | None:
    """Return what is not there."""
    return None if (PROGRAMS / "bgpd").exists() and shutil.which("vtysh") else "needs FRR (frr)"


class FrrRouter:
    """Both programs, and the sockets by which they are asked."""

    def __init__(self, nodes: Nodes, node: str) -> None:
        self._nodes, self._node = nodes, node
        # They become a user of their own, who reaches nothing in a private folder.
        self._kept = TemporaryDirectory(prefix="wayname-frr-")
        self._folder = Path(self._kept.name)
        shutil.chown(self._folder, USER, USER)
        self.zebra: subprocess.Popen[bytes] | None = None
        self.bgpd: subprocess.Popen[bytes] | None = None

    def start_zebra(self, configuration: str = "") -> None:
        """Start zebra."""
        self._configure("zebra", configuration)
        self.zebra = self._started("zebra")
        self._nodes.wait_for(self._node, "test", "-S", f"{self._folder}/zserv.api")

    def start_bgpd(self, configuration: str) -> None:
        """Start bgpd, beside a zebra that runs."""
        self._configure("bgpd", configuration)
        self.bgpd = self._started("bgpd")

    def kill_bgpd(self) -> None:
        """Kill bgpd; what it told zebra may stay."""
        assert self.bgpd is not None
        self.bgpd.kill()
        self.bgpd.wait()

    def tell(self, *lines: str) -> str:
        """Give bgpd commands; what it says, also if it refuses or is not there."""
        commands = [word for line in lines for word in ("-c", line)]
        words = self._nodes.inside(self._node, "vtysh", "--vty_socket", str(self._folder), "-d", "bgpd", *commands)
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout

    def _configure(self, program: str, text: str) -> None:
        file = self._folder / f"{program}.conf"
        file.write_text(text)
        shutil.chown(file, USER, USER)

    def _started(self, program: str) -> subprocess.Popen[bytes]:
        files = ("-f", f"{self._folder}/{program}.conf", "-i", f"{self._folder}/{program}.pid")
        sockets = ("-z", f"{self._folder}/zserv.api", "--vty_socket", str(self._folder), "-P", "0")
        return self._nodes.start(self._node, str(PROGRAMS / program), *files, *sockets)
