"""What holds for the whole machine: clock, limits, capabilities."""

from __future__ import annotations

import ctypes
import resource
from collections.abc import Iterator
from pathlib import Path

from wayname.doctor.finding import Finding, failure, ok, warning

# From linux/capability.h.
NET_ADMIN, NET_RAW, IPC_LOCK, BPF = 12, 13, 14, 39
# adjtimex(2): the clock is not synchronised. Its structure is smaller than this.
TIME_ERROR = 5
TIMEX_OCTETS = 512
# Frames of AF_XDP, 64 MiB, are more than the 8 MiB that Linux lets users lock.
LOCKED_OCTETS = 64 * 2**20
NEEDED_FILES = 64


def machine_findings() -> Iterator[Finding]:
    """Look at the machine, as this process sees it."""
    yield clock()
    held = capabilities()
    yield from capability_findings(held)
    yield locked_memory(IPC_LOCK in held, resource.getrlimit(resource.RLIMIT_MEMLOCK)[1])
    yield open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def clock() -> Finding:
    """Whether something keeps the clock right: times of events, certificates and one-way delays need it."""
    state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(TIMEX_OCTETS))
    if state == TIME_ERROR:
        text = "nothing synchronises it; times of events, certificates and one-way delays may be wrong"
        return warning("clock", text, "apt install systemd-timesyncd && timedatectl set-ntp true")
    return ok("clock", "is synchronised") if state >= 0 else warning("clock", "cannot be asked", "timedatectl")


def capabilities() -> set[int]:
    """Return the numbers of the capabilities that this process has."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("CapEff:"):
            mask = int(line.split()[1], 16)
            return {number for number in range(64) if mask >> number & 1}
    return set()


def capability_findings(held: set[int]) -> Iterator[Finding]:
    """Tell what a switch that is started as this one could not open."""
    needs = (
        ("CAP_NET_RAW", NET_RAW, "AF_PACKET ports (`eth1`)"),
        ("CAP_NET_ADMIN", NET_ADMIN, "TAP and AF_XDP ports"),
        ("CAP_BPF", BPF, "AF_XDP ports (`xdp:eth1`)"),
    )
    missing = [(name, needed) for name, number, needed in needs if number not in held]
    for name, needed in missing:
        mend = f"sudo setcap {name.lower()}+ep $(command -v wayname-switch)"
        yield warning("capabilities", f"{name} is missing here; a switch started so opens no {needed}", mend)
    if not missing:
        yield ok("capabilities", "all kinds of ports can be opened")


def locked_memory(exempt: bool, hard: int) -> Finding:
    """Whether the frames of AF_XDP ports fit; CAP_IPC_LOCK is exempt of the limit."""
    if exempt or hard == resource.RLIM_INFINITY or hard >= LOCKED_OCTETS:
        return ok("RLIMIT_MEMLOCK", "is enough for AF_XDP ports")
    text = f"{hard // 1024} KiB may be locked, and an AF_XDP port takes up to {LOCKED_OCTETS // 1024}"
    return warning("RLIMIT_MEMLOCK", text, "ulimit -l unlimited   # LimitMEMLOCK=infinity of systemd")


def open_files(hard: int) -> Finding:
    """Whether controller and switch may open what they need."""
    if hard == resource.RLIM_INFINITY or hard >= NEEDED_FILES:
        return ok("RLIMIT_NOFILE", "is enough")
    text = f"{hard} files and sockets may be open; controller and switch need {NEEDED_FILES} each"
    return failure("RLIMIT_NOFILE", text, "ulimit -Hn 1024   # LimitNOFILE= of systemd")
