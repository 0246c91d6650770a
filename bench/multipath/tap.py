"""A network interface of Linux in a namespace of its own, whose wire is a file here. Needs root."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
from ipaddress import IPv6Address
from pathlib import Path

from wayname.wire.mac import Mac

DEVICE = Path("/dev/net/tun")
# linux/if_tun.h
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
LONGEST_FRAME = 2048


def missing() -> str | None:
    """Return what a live run lacks, or None."""
    if os.geteuid() != 0:
        return "root"
    return None if DEVICE.exists() else str(DEVICE)


class Tap:
    """An interface with an address and a default route, alone in its namespace."""

    def __init__(self, name: str, mac: Mac, address: IPv6Address, router: IPv6Address, router_mac: Mac) -> None:
        self.namespace = name
        self.descriptor = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        _run("ip", "netns", "add", name)
        _run("ip", "link", "set", name, "netns", name)
        self._ip("link", "set", name, "address", str(mac), "up")
        self._ip("-6", "address", "add", f"{address}/64", "dev", name, "nodad")
        self._ip("-6", "neighbour", "add", str(router), "lladdr", str(router_mac), "dev", name)
        self._ip("-6", "route", "add", "default", "via", str(router), "dev", name)

    def close(self) -> None:
        """Remove the interface and its namespace."""
        os.close(self.descriptor)
        _run("ip", "netns", "delete", self.namespace)

    def read(self) -> bytes | None:
        """Return the next frame that the kernel sent, if there is one."""
        try:
            return os.read(self.descriptor, LONGEST_FRAME)
        except BlockingIOError:
            return None

    def write(self, frame: bytes) -> None:
        """Let a frame arrive."""
        os.write(self.descriptor, frame)

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start a program inside."""
        inside = ("ip", "netns", "exec", self.namespace)
        return subprocess.Popen([*inside, *command], stdout=subprocess.PIPE, text=True)

    def _ip(self, *arguments: str) -> None:
        _run("ip", "-n", self.namespace, *arguments)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
