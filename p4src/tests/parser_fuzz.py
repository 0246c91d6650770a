#!/usr/bin/env python3
"""The parser against random packets: forwarded unchanged, or dropped by the right reason; never a crash.

    parser_fuzz.py                            100,000 packets
    parser_fuzz.py --packets 1000 --seed 7    others

Two opinions beside the program's: chain_model.py, which says what RFC 8200 and docs/pipeline.md demand of a packet, and
scapy, which must find the same extension headers in what is forwarded.
"""

import argparse
import sys
import time
from collections import Counter

from chain_model import Chain, judge
from chain_packets import Lot
from finsy.proto import p4r
from scapy.config import conf
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, Raw
from site_switch import SiteSwitch

from small_site import DROP, out_first

# Frames whose drops are read together; all of them must have one reason.
BATCH = 200
# Extension headers that scapy takes apart by itself.
SCAPYS = {0, 43, 44, 60}


class Run:
    """One switch, and what was found."""

    def __init__(self, backend: str = "jit") -> None:
        self.site = SiteSwitch(backend)
        # A long header may hold more options than scapy cares for.
        conf.max_list_count = 2048
        self.counted = self._drops()
        self.waiting: dict[str, list[bytes]] = {}
        self.forwarded = 0
        self.dropped: Counter[str] = Counter()
        self.compared = 0
        self.findings: list[str] = []

    def packet(self, out: int, frame: bytes) -> None:
        """Judge one frame, and see whether the switch agrees."""
        chain = judge(frame)
        if chain.reason is not None:
            self._expect_drop(chain.reason, frame)
            return
        left = self.site.send(1, frame)
        if left != [(out, bytes(out_first(Raw(frame))) if out == 4 else frame)]:
            said = ", ".join(f"by port {port} {packet.hex()}" for port, packet in left) or "nothing"
            self.findings.append(f"should leave by port {out}: {frame.hex()}; what left: {said}")
        self.forwarded += 1
        self._ask_scapy(frame, chain)

    def finish(self) -> None:
        """Look at what still waits."""
        for reason in list(self.waiting):
            self._flush(reason)

    def _expect_drop(self, reason: str, frame: bytes) -> None:
        batch = self.waiting.setdefault(reason, [])
        batch.append(frame)
        if len(batch) == BATCH:
            self._flush(reason)

    def _flush(self, reason: str) -> None:
        batch = self.waiting.pop(reason)
        if not self._all_dropped(reason, batch):
            # One of them is wrong: each alone says which.
            wrong = [frame for frame in batch if not self._all_dropped(reason, [frame])]
            self.findings += [f"should be dropped as {reason}: {frame.hex()}" for frame in wrong]
        self.dropped[reason] += len(batch)

    def _all_dropped(self, reason: str, frames: list[bytes]) -> bool:
        left = [output for frame in frames for output in self.site.send(1, frame)]
        now = self._drops()
        counted = now - self.counted
        self.counted = now
        return not left and counted == Counter({DROP[reason]: len(frames)})

    def _drops(self) -> Counter[int]:
        request = p4r.ReadRequest()
        for name in ("ingress_drops", "egress_drops"):
            request.entities.add().counter_entry.counter_id = self.site.counters[name]
        answer = p4r.ReadResponse.FromString(self.site.switch.read(request.SerializeToString(), self.site.now))
        counted: Counter[int] = Counter()
        for entity in answer.entities:
            counted[entity.counter_entry.index.index] += entity.counter_entry.data.packet_count
        return counted

    def _ask_scapy(self, frame: bytes, chain: Chain) -> None:
        """Scapy must walk the same headers, as far as it knows them."""
        expected = []
        for kind, size in chain.headers:
            # Scapy takes every routing header for a list of whole addresses.
            if kind not in SCAPYS or (kind == 43 and size % 16 != 8):
                break
            expected.append((kind, size))
        found = scapy_chain(frame)[: len(expected)]
        if found != expected:
            self.findings.append(f"scapy sees {found}, not {expected}: {frame.hex()}")
        self.compared += len(expected)


def scapy_chain(frame: bytes) -> list[tuple[int, int]]:
    """Numbers and lengths of the extension headers that scapy finds."""
    packet: Packet = IPv6(frame[14:])
    kind: int = packet.nh
    found = []
    packet = packet.payload
    while kind in SCAPYS and hasattr(packet, "nh"):
        found.append((kind, len(packet) - len(packet.payload)))
        kind, packet = packet.nh, packet.payload
    return found


def main() -> int:
    """Run packets through, and print what was found."""
    arguments = argparse.ArgumentParser(description="Send random packets through the parser")
    arguments.add_argument("--packets", type=int, default=100_000, help="how many (%(default)s)")
    arguments.add_argument("--seed", type=int, default=8200, help="which ones (%(default)s)")
    chosen = arguments.parse_args()
    started = time.monotonic()
    run = Run()
    for out, frame in Lot(chosen.seed).packets(chosen.packets):
        run.packet(out, frame)
    run.finish()
    print(f"{chosen.packets} packets in {time.monotonic() - started:.1f} s: {run.forwarded} forwarded unchanged")
    print(f"  {run.compared} of their extension headers found by scapy too")
    for reason, count in run.dropped.most_common():
        print(f"  {count:6} dropped as {reason}")
    for finding in run.findings[:20]:
        print(finding, file=sys.stderr)
    print(f"{len(run.findings)} findings (seed {chosen.seed})")
    return 1 if run.findings else 0


if __name__ == "__main__":
    sys.exit(main())
