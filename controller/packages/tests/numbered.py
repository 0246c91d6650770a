"""numbered.py RECEIVER SENDER ADDRESS: sends numbered datagrams from one network namespace to an address of another.

It sends 200 a second until its input ends, and says how many did not come and how late the latest was.
What comes late is waited for.
"""

import ctypes
import socket
import struct
import sys
import threading
import time
from pathlib import Path

CLONE_NEWNET = 0x40000000
PORT, INTERVAL, PATIENCE = 9, 0.005, 60.0


def within(namespace: str) -> socket.socket:
    """Return a datagram socket of a namespace; threads have namespaces of their own."""
    with Path("/run/netns", namespace).open() as file:
        # Python has it from 3.12 on.
        if ctypes.CDLL(None).setns(file.fileno(), CLONE_NEWNET):
            raise OSError(f"no namespace {namespace}")
    return socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)


def receive(namespace: str, late: dict[int, float]) -> None:
    """Note how late each came first."""
    end = within(namespace)
    end.bind(("::", PORT))
    while True:
        number, sent = struct.unpack("!Qd", end.recv(64))
        late.setdefault(number, time.monotonic() - sent)


def wait_for_end(ends: threading.Event) -> None:
    """Note when the input ends."""
    sys.stdin.read()
    ends.set()


def main(receiver: str, sender: str, address: str) -> None:
    """Send until told to end."""
    late: dict[int, float] = {}
    threading.Thread(target=receive, args=(receiver, late), daemon=True).start()
    ends = threading.Event()
    threading.Thread(target=wait_for_end, args=(ends,), daemon=True).start()
    end, count = within(sender), 0
    while not ends.wait(INTERVAL):
        end.sendto(struct.pack("!Qd", count, time.monotonic()), (address, PORT))
        count += 1
    patience = time.monotonic() + PATIENCE
    while len(late) < count and time.monotonic() < patience:
        time.sleep(INTERVAL)
    print(f"{count - len(late)} of {count} packets lost, the latest came after {max(late.values()) * 1000:.0f} ms")


main(*sys.argv[1:])
