"""The site of docs/run-your-edge.md in network namespaces: hosts, edge, two providers and the Internet behind them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.namespaces import Nodes, missing

NAMES = ("edge", "host", "provider-a", "provider-b", "internet")
REPOSITORY = Path(__file__).resolve().parents[2]
BARE_ROOT = Path(__file__).with_name("bare_root.sh")
SERVER = "2001:db8:f::1"
RECORD = f"www.example.net. AAAA {SERVER}"
ZONE = f"--zone example.net --key-name k --key-file zone.key --address {SERVER} --port 53 --record '{RECORD}'"
SSHD = f"-o ListenAddress={SERVER} -o PidFile=none -o StrictModes=no"
# The edge's link-local address on its uplinks: device 1, VLAN 101 and 102 (docs/configuration.md, `mac`).
EDGE_A, EDGE_B = "fe80::ff:fe01:65", "fe80::ff:fe01:66"


def lacking() -> str:
    """Return what is missing to make the site; nothing if it can be made."""
    absent = missing("ping", "curl", "dig", "ssh", "sshd", "ssh-keygen", "ethtool")
    return f"needs {absent}" if absent else ""


class Machine:
    """A namespace with a shell of its own, which keeps what it was told, as a person's does."""

    def __init__(self, nodes: Nodes, name: str, folder: Path, path: str, package: Path | None = None) -> None:
        folder.mkdir()
        self._transcript = folder / "transcript"
        environment = {"PATH": path, "HOME": "/root", "LANG": "C.UTF-8"}
        shell = ["bash", "--noprofile", "--norc"]
        if package is not None:
            shell = [str(BARE_ROOT), str(package), str(REPOSITORY)]
        statuses, told = os.pipe()
        self._statuses = os.fdopen(statuses)
        self._told = told
        with self._transcript.open("wb") as output:
            # Its mounts are its own, since `ip netns exec` makes them so.
            self._shell = subprocess.Popen(
                nodes.inside(name, *shell),
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
                pass_fds=(told,),
            )
        os.close(told)
        # What programs put there is this machine's alone.
        self.run("mount -t tmpfs none /run")

    def run(self, line: str) -> tuple[int, str]:
        """Have the shell carry out a line; return its exit status, and what was written meanwhile."""
        assert self._shell.stdin is not None
        before = self._transcript.stat().st_size
        self._shell.stdin.write(f"{line}\necho $? >&{self._told}\n")
        self._shell.stdin.flush()
        status = self._statuses.readline()
        said = self._transcript.read_bytes()[before:].decode(errors="replace")
        return (int(status) if status else -1), said

    def end(self) -> None:
        """End the shell and what it started."""
        subprocess.run(["kill", "--", f"-{self._shell.pid}"], check=False)
        self._shell.wait()
        self._statuses.close()


@contextmanager
def operator_site(folder: Path, path: str, package: Path | None) -> Iterator[dict[str, Machine]]:
    """Make the site; yield its machines by name. The edge has nothing but the Debian package, if there is one."""
    with Nodes("operator") as nodes, ExitStack() as made:
        nodes.add(*NAMES)
        for end, other in (
            ("host:eth0", "edge:eth1"),
            ("provider-a:site", "edge:eth2"),
            ("provider-b:site", "edge:eth3"),
            ("provider-a:core", "internet:to-a"),
            ("provider-b:core", "internet:to-b"),
        ):
            nodes.join(*end.split(":"), *other.split(":"))
        # The page says when the operator sets them up.
        for device in ("eth1", "eth2", "eth3"):
            nodes.ip("edge", f"link set {device} down")
        machines = {}
        for name in NAMES:
            on_edge = package if name == "edge" else None
            machines[name] = Machine(nodes, name, folder / name, path, on_edge)
            made.callback(machines[name].end)
        set_up_providers(machines)
        yield machines


def set_up_providers(machines: dict[str, Machine]) -> None:
    """Give the providers and the Internet their addresses, routes and servers."""
    for letter, edge in (("a", EDGE_A), ("b", EDGE_B)):
        for machine, line in (
            (f"provider-{letter}", "sysctl -qw net.ipv6.conf.all.forwarding=1"),
            (f"provider-{letter}", "ip address add fe80::1/64 dev site nodad"),
            (f"provider-{letter}", f"ip address add 2001:db8:f{letter}::2/64 dev core nodad"),
            (f"provider-{letter}", f"ip route add 2001:db8:f::/64 via 2001:db8:f{letter}::1"),
            (f"provider-{letter}", f"ip route add 2001:db8:{letter}::/48 via {edge} dev site"),
            ("internet", f"ip address add 2001:db8:f{letter}::1/64 dev to-{letter} nodad"),
            ("internet", f"ip route add 2001:db8:{letter}::/48 via 2001:db8:f{letter}::2"),
        ):
            assert machines[machine].run(line) == (0, ""), line
    internet = machines["internet"]
    for line in (
        f"ip link set lo up && ip address add {SERVER}/128 dev lo",
        f"python3 -m http.server --bind {SERVER} 8080 &",
        f"head -c 32 /dev/zero | base64 >zone.key && python3 -m wayname_lab.dns_server {ZONE} &",
        "ssh-keygen -q -t ed25519 -N '' -f server && ssh-keygen -q -t ed25519 -N '' -f ../host/user && mkdir /run/sshd",
        f"$(command -v sshd) -D -f /dev/null -h $PWD/server {SSHD} -o AuthorizedKeysFile=$PWD/../host/user.pub &",
        "iperf3 --server &" if shutil.which("iperf3") else "true",
    ):
        assert internet.run(line)[0] == 0
    # A person has said yes to the server's key once.
    options = ("IdentityFile=$PWD/user", "StrictHostKeyChecking=accept-new", "UserKnownHostsFile=$PWD/known")
    host = (
        f"printf '%s\\n' {' '.join(options)} BatchMode=yes >ssh_config && mount --bind ssh_config /etc/ssh/ssh_config"
    )
    assert machines["host"].run(host) == (0, "")
