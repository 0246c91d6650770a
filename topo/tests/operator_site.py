"""The site of docs/run-your-edge.md in network namespaces: hosts, edge, two providers and the Internet behind them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

NAMES = ("edge", "host", "provider-a", "provider-b", "internet")
SERVER = "2001:db8:f::1"
# The edge's link-local address on its uplinks: device 1, VLAN 101 and 102 (docs/configuration.md, `mac`).
EDGE_A, EDGE_B = "fe80::ff:fe01:65", "fe80::ff:fe01:66"


def lacking() -> str:
    """Return what is missing to make the site; nothing if it can be made."""
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    missing = [program for program in ("ip", "ping", "curl", "ethtool") if shutil.which(program) is None]
    return f"needs {', '.join(missing)}" if missing else ""


class Machine:
    """A namespace with a shell of its own, which keeps what it was told, as a person's does."""

    def __init__(self, namespace: str, folder: Path, path: str) -> None:
        folder.mkdir()
        environment = {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8"}
        self.transcript = folder / "transcript"
        with self.transcript.open("wb") as output:
            self._shell = subprocess.Popen(
                ["ip", "netns", "exec", namespace, "bash", "--noprofile", "--norc"],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        self._statuses = folder / "statuses"
        os.mkfifo(self._statuses)
        # What programs put there is this machine's alone: `ip netns exec` made mounts of our own.
        assert self.run("mount -t tmpfs none /run") == 0

    def run(self, line: str) -> int:
        """Have the shell carry out a line; return its exit status."""
        assert self._shell.stdin is not None
        self._shell.stdin.write(f"{line}\necho $? >statuses\n")
        self._shell.stdin.flush()
        return int(self._statuses.read_text())

    def end(self) -> None:
        """End the shell and what it started."""
        subprocess.run(["kill", "--", f"-{self._shell.pid}"], check=False)
        self._shell.wait()


@contextmanager
def operator_site(folder: Path, path: str) -> Iterator[dict[str, Machine]]:
    """Make the site; yield its machines by name."""
    tag = f"way{os.getpid()}"
    with ExitStack() as made:
        for name in NAMES:
            ip("netns", "add", f"{tag}-{name}")
            made.callback(ip, "netns", "delete", f"{tag}-{name}")
        for end, other in (
            ("edge:eth1", "host:eth0"),
            ("edge:eth2", "provider-a:site"),
            ("edge:eth3", "provider-b:site"),
            ("provider-a:core", "internet:to-a"),
            ("provider-b:core", "internet:to-b"),
        ):
            (one, left), (two, right) = end.split(":"), other.split(":")
            ip(
                *("link", "add", left, "netns", f"{tag}-{one}", "type", "veth"),
                *("peer", "name", right, "netns", f"{tag}-{two}"),
            )
            if one != "edge":
                ip("-n", f"{tag}-{one}", "link", "set", left, "up")
            ip("-n", f"{tag}-{two}", "link", "set", right, "up")
        machines = {}
        for name in NAMES:
            machines[name] = Machine(f"{tag}-{name}", folder / name, path)
            made.callback(machines[name].end)
        set_up_providers(machines)
        yield machines


def set_up_providers(machines: dict[str, Machine]) -> None:
    """Give the providers and the Internet their addresses, routes and servers."""
    for letter, edge in (("a", EDGE_A), ("b", EDGE_B)):
        told = (
            "sysctl -qw net.ipv6.conf.all.forwarding=1",
            "ip address add fe80::1/64 dev site nodad",
            f"ip address add 2001:db8:f{letter}::2/64 dev core nodad",
            f"ip route add 2001:db8:f::/64 via 2001:db8:f{letter}::1",
            f"ip route add 2001:db8:{letter}::/48 via {edge} dev site",
        )
        assert [machines[f"provider-{letter}"].run(line) for line in told] == [0] * len(told)
        told_internet = (
            f"ip address add 2001:db8:f{letter}::1/64 dev to-{letter} nodad",
            f"ip route add 2001:db8:{letter}::/48 via 2001:db8:f{letter}::2",
        )
        assert [machines["internet"].run(line) for line in told_internet] == [0] * len(told_internet)
    internet = machines["internet"]
    assert internet.run("ip link set lo up && ip address add 2001:db8:f::1/128 dev lo") == 0
    assert internet.run(f"python3 -m http.server --bind {SERVER} 8080 &") == 0
    if shutil.which("iperf3"):
        assert internet.run("iperf3 --server &") == 0


def ip(*words: str) -> None:
    """Change links and namespaces."""
    subprocess.run(["ip", *words], check=True)
