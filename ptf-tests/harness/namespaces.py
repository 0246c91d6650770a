"""Nodes of a network, each a network namespace of Linux, joined by veth pairs. Needs root and iproute2."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import IO, Self

from harness.commands import NotHereError, NotStartedError, command, wait_until

ENDS_WITHIN = 10.0


def missing(*programs: str, tap: bool = False) -> str | None:
    """Return what this machine lacks for nodes that run these programs, or None."""
    if os.geteuid() != 0:
        return "root"
    absent = [name for name in ("ip", *programs) if shutil.which(name) is None]
    if absent:
        return f"the programs {', '.join(absent)}"
    return None if not tap or Path("/dev/net/tun").exists() else "/dev/net/tun"


class Nodes:
    """The nodes and their processes: `with Nodes("lan") as nodes`. Both are gone when the block ends.

    The namespaces are called `wayname-PID-NAME-NODE`, as a lab's are: the next lab removes what a killed process left.
    """

    def __init__(self, name: str) -> None:
        self._name = f"wayname-{os.getpid()}-{name}"
        self._nodes: list[str] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        if lacking := missing():
            raise NotHereError(f"network namespaces need {lacking}")
        return self

    def __exit__(self, *exception: object) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in reversed(self._processes):
            try:
                process.communicate(timeout=ENDS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
        for node in reversed(self._nodes):
            # One that cannot be removed must not keep the others.
            subprocess.run(["ip", "netns", "delete", self.namespace(node)], capture_output=True, check=False)

    def add(self, *nodes: str, is_switch: bool = False) -> None:
        """Make nodes. A switch's kernel says nothing of its own: the interfaces are the switch's."""
        for node in nodes:
            try:
                command(["ip", "netns", "add", self.namespace(node)])
            except NotStartedError as error:
                raise NotHereError(f"no network namespaces here: {error}") from None
            self._nodes.append(node)
            if is_switch:
                disabled = (f"net.ipv6.conf.{which}.disable_ipv6=1" for which in ("all", "default"))
                self.run(node, "sysctl", "-qw", *disabled)
            self.ip(node, "link set lo up")

    def namespace(self, node: str) -> str:
        """Return the name of a node's namespace."""
        return f"{self._name}-{node}"

    def inside(self, node: str, *words: str) -> list[str]:
        """Return a command that runs at a node."""
        return ["ip", "netns", "exec", self.namespace(node), *words]

    def ip(self, node: str, words: str) -> str:
        """Run `ip` at a node; what it writes."""
        return command(["ip", "-n", self.namespace(node), *words.split()])

    def run(self, node: str, *words: str, text: str = "") -> str:
        """Run a command at a node, which must succeed; what it writes."""
        return command(self.inside(node, *words), text)

    def says(self, node: str, *words: str) -> str:
        """Run a command at a node, which may fail; what it writes."""
        done = subprocess.run(self.inside(node, *words), capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def succeeds(self, node: str, *words: str) -> bool:
        """Run a command at a node; whether it succeeds."""
        return subprocess.run(self.inside(node, *words), capture_output=True, check=False).returncode == 0

    def wait_for(self, node: str, *words: str) -> None:
        """Run a command at a node until it succeeds."""
        wait_until(lambda: self.succeeds(node, *words), " ".join(words))

    def start(self, node: str, *words: str, output: int | IO[bytes] = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Start a process at a node; it ends with the nodes."""
        command = self.inside(node, *words)
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT)
        self._processes.append(process)
        return process

    def join(self, node: str, device: str, peer: str, far: str, mac: str = "") -> None:
        """Join two nodes by a veth pair whose ends are up; `mac` is the address of the far end."""
        address = f" address {mac}" if mac else ""
        self.ip(node, f"link add {device} type veth peer name {far}{address} netns {self.namespace(peer)}")
        self.ip(node, f"link set {device} up")
        self.ip(peer, f"link set {far} up")

    def address(self, node: str, device: str, *addresses: str) -> None:
        """Give a device addresses, each with the length of its prefix; they may be used at once."""
        for each in addresses:
            self.ip(node, f"address add {each} dev {device}{' nodad' if ':' in each else ''}")
