"""Floods a wire of a switch from a process of its own, as fast as it can or at a rate; tells how many frames it sent.

    python flooder.py PATH SECONDS RATE < frames        RATE 0: as fast as the switch takes them

The frames, in turn, each behind its length (two octets), come by standard input. It listens at PATH as a host does, and
begins when the switch is there and a line comes behind the frames' end (a length of 0).
"""

from __future__ import annotations

import itertools
import socket
import sys
import time
from collections.abc import Iterator
from typing import BinaryIO

# What is looked at only now and then: the clock.
BETWEEN_LOOKS = 64


def read_frames(file: BinaryIO) -> Iterator[bytes]:
    """Yield frames until a length of 0."""
    while length := int.from_bytes(file.read(2)):
        yield file.read(length)


def flood(wire: socket.socket, frames: list[bytes], seconds: float, rate: float) -> int:
    """Send the frames over and over; return how many."""
    began = time.monotonic()
    sent = 0
    for frame in itertools.cycle(frames):
        if sent % BETWEEN_LOOKS == 0:
            passed = time.monotonic() - began
            if passed >= seconds:
                return sent
            if rate and sent / rate > passed:
                time.sleep(sent / rate - passed)
        wire.sendall(frame)
        sent += 1
    return sent


def main() -> None:
    path, seconds, rate = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    frames = list(read_frames(sys.stdin.buffer))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        wire, _ = listener.accept()
        with wire:
            print("ready", flush=True)
            sys.stdin.buffer.readline()
            print(flood(wire, frames, seconds, rate), flush=True)
            # The wire stays until nobody needs it any more.
            sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
