"""TCP segments in frames: what is sent twice, what arrives in another order, and how long they may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv6Address

from wayname.wire.checksum import upper_layer_checksum

ETHERNET, IPV6 = 14, 40
TCP = 6
SYN = 0x02
END_OF_OPTIONS, NO_OPERATION, MSS_OPTION, SACK_PERMITTED_OPTION = 0, 1, 2, 4
WRAP = 1 << 32


@dataclass(frozen=True, slots=True)
class Segment:
    """What of a segment with data is looked at."""

    flow: bytes  # ports
    sequence: int
    size: int

    @classmethod
    def of(cls, frame: bytes) -> Segment | None:
        """Read a frame; None if it bears no data of TCP over plain IPv6."""
        if len(frame) < ETHERNET + IPV6 + 20 or frame[12:14] != b"\x86\xdd" or frame[20] != TCP:
            return None
        begin = ETHERNET + IPV6
        length = int.from_bytes(frame[18:20])
        size = length - (frame[begin + 12] >> 4) * 4
        if size <= 0:
            return None
        return cls(frame[begin : begin + 4], int.from_bytes(frame[begin + 4 : begin + 8]), size)


@dataclass(slots=True)
class TcpFlow:
    """One flow's segments so far."""

    expected: int | None = None  # the next sequence number if nothing was out of order
    sent: dict[int, int] = field(default_factory=dict)  # how often


@dataclass(slots=True)
class Watch:
    """Compares what a sender sent with what a receiver gets."""

    segments: int = 0
    retransmissions: int = 0
    arrived: int = 0
    reordered: int = 0  # came behind a later one; those that were sent twice are left out
    furthest: int = 0  # by so many octets at most
    flows: dict[bytes, TcpFlow] = field(default_factory=dict)

    def note_sent(self, frame: bytes) -> None:
        """Note what leaves the sender."""
        segment = Segment.of(frame)
        if segment is not None:
            self.segments += 1
            sent = self.flows.setdefault(segment.flow, TcpFlow()).sent
            times = sent.get(segment.sequence, 0)
            self.retransmissions += times > 0
            sent[segment.sequence] = times + 1

    def note_arrived(self, frame: bytes) -> None:
        """Note what reaches the receiver."""
        segment = Segment.of(frame)
        if segment is None:
            return
        self.arrived += 1
        flow = self.flows.setdefault(segment.flow, TcpFlow())
        behind = 0 if flow.expected is None else (flow.expected - segment.sequence) % WRAP
        if 0 < behind < WRAP // 2:
            if flow.sent.get(segment.sequence, 0) < 2:
                self.reordered += 1
                self.furthest = max(self.furthest, behind)
        else:
            flow.expected = (segment.sequence + segment.size) % WRAP


def clamp(frame: bytes, most: int, sack: bool = True) -> bytes:
    """Let a SYN ask for segments no longer than this, as routers do before links of a lesser MTU.

    Without `sack` it does not permit selective acknowledgements either.
    """
    begin = ETHERNET + IPV6
    if frame[12:14] != b"\x86\xdd" or frame[20] != TCP or not frame[begin + 13] & SYN:
        return frame
    changed = bytearray(frame)
    at = begin + 20
    end = begin + (frame[begin + 12] >> 4) * 4
    while at < end and frame[at] != END_OF_OPTIONS:
        if frame[at] == NO_OPERATION:
            at += 1
            continue
        if frame[at] == MSS_OPTION:
            asked = min(most, int.from_bytes(frame[at + 2 : at + 4]))
            changed[at + 2 : at + 4] = asked.to_bytes(2)
        elif frame[at] == SACK_PERMITTED_OPTION and not sack:
            changed[at : at + 2] = bytes([NO_OPERATION, NO_OPERATION])
        at += frame[at + 1]
    return _with_checksum(changed) if changed != frame else frame


def _with_checksum(frame: bytearray) -> bytes:
    begin = ETHERNET + IPV6
    frame[begin + 16 : begin + 18] = b"\0\0"
    segment = bytes(frame[begin : begin + int.from_bytes(frame[18:20])])
    source, destination = IPv6Address(bytes(frame[22:38])), IPv6Address(bytes(frame[38:54]))
    checksum = upper_layer_checksum(source, destination, TCP, segment)
    frame[begin + 16 : begin + 18] = checksum.to_bytes(2)
    return bytes(frame)
