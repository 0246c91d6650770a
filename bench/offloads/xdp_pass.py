"""Keep an XDP program on interfaces that lets all frames pass: `python -m bench.offloads.xdp_pass IFNAME...`.

It says a line when the programs are there; they go when its input ends.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys

# linux/bpf.h and, for x86-64 and others, asm/unistd.h
BPF_CALL = {"x86_64": 321, "aarch64": 280}
PROG_LOAD, LINK_CREATE = 5, 28
PROG_TYPE_XDP, ATTACH_TYPE_XDP = 6, 37
# r0 = XDP_PASS; exit
PROGRAM = struct.pack("<BBhi BBhi", 0xB7, 0, 0, 2, 0x95, 0, 0, 0)
LICENSE = b"Apache-2.0\0"


def attach(interface: str) -> int:
    """Put the program on an interface; it stays while the descriptor is open."""
    program, license_text = ctypes.create_string_buffer(PROGRAM), ctypes.create_string_buffer(LICENSE)
    addresses = ctypes.addressof(program), ctypes.addressof(license_text)
    load = struct.pack("=IIQQ 24x 32x", PROG_TYPE_XDP, len(PROGRAM) // 8, *addresses)
    loaded = _bpf(PROG_LOAD, load)
    return _bpf(LINK_CREATE, struct.pack("=IIII", loaded, socket.if_nametoindex(interface), ATTACH_TYPE_XDP, 0))


def _bpf(command: int, attributes: bytes) -> int:
    call = ctypes.CDLL(None, use_errno=True).syscall
    result = int(call(BPF_CALL[os.uname().machine], command, ctypes.create_string_buffer(attributes), len(attributes)))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf command {command}: {os.strerror(ctypes.get_errno())}")
    return result


def main() -> None:
    """Attach, say so, and wait."""
    links = [attach(interface) for interface in sys.argv[1:]]
    print(len(links), "attached", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
