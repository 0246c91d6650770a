"""What becomes of an IPv6 packet by its headers alone: RFC 8200 and RFC 7112, with the reasons of docs/pipeline.md.

Written from these texts, as a second pair of eyes on the parser; so it shares nothing with it.

    IPv6 | hop-by-hop options, only here | any extension headers, ten in all | upper layer
                                             `-> a later fragment: the rest says nothing
"""

from dataclasses import dataclass, field

MOST = 10
# Length in eights of octets beyond the first eight (RFC 6564).
PLAIN = {43: "routing", 60: "destination", 135: "mobility", 139: "HIP", 140: "Shim6"}
UNASSIGNED = range(148, 255)
PORTS_FIRST = {6, 17, 33, 132, 136}
ICMPV6 = 58
DISCOVERY = range(133, 138)
# Options that tell of traces end the walk through hop-by-hop options.
TRACING = {0x31: 0, 0x11: 4}
OPTIONS_READ = 8


@dataclass(slots=True)
class Chain:
    """The reason of a drop, if there is one, and the headers that were walked: their numbers and lengths."""

    reason: str | None = None
    headers: list[tuple[int, int]] = field(default_factory=list)
    # Something that nobody knows was taken for an extension header.
    guessed: bool = False


class MalformedError(Exception):
    """The packet ends here, by this reason."""


def judge(frame: bytes) -> Chain:
    """What is wrong with a frame that carries IPv6, tagged or not."""
    chain = Chain()
    try:
        _packet(frame, chain)
    except MalformedError as fault:
        chain.reason = str(fault)
    return chain


def _packet(frame: bytes, chain: Chain) -> None:
    start = 18 if frame[12:14] == b"\x81\x00" else 14
    packet = frame[start:]
    if len(frame) < start or not packet:
        raise MalformedError("DROP_TRUNCATED")
    if packet[0] >> 4 != 6:
        raise MalformedError("DROP_VERSION")
    if len(packet) < 40:
        raise MalformedError("DROP_TRUNCATED")
    length = int.from_bytes(packet[4:6])
    if length > len(packet) - 40:
        raise MalformedError("DROP_PAYLOAD_LENGTH")
    try:
        _walk(packet[6], packet[40 : 40 + length], chain, packet[7])
    except MalformedError:
        # What was skipped as unknown may have been an upper layer: then nothing is wrong with it.
        if not chain.guessed:
            raise


def _walk(kind: int, rest: bytes, chain: Chain, hop_limit: int) -> None:
    first = True
    first_fragment = False
    past_end = "DROP_EXTENSION_PAST_END"
    while True:
        if kind == 0 and not first:
            raise MalformedError("DROP_HOP_BY_HOP_NOT_FIRST")
        if kind in UNASSIGNED:
            chain.guessed = True
        elif kind not in PLAIN and kind not in (0, 44, 51):
            break
        first = False
        if len(rest) < (12 if kind == 51 else 8):
            raise MalformedError(past_end)
        size = 8 if kind == 44 else (rest[1] + 2) * 4 if kind == 51 else (rest[1] + 1) * 8
        if kind == 51 and rest[1] == 0:
            raise MalformedError("DROP_AUTHENTICATION_LENGTH")
        if kind == 44 and int.from_bytes(rest[2:4]) & 0xFFF8:
            chain.headers.append((kind, size))
            return
        if kind == 44 and rest[3] & 1:
            first_fragment = True
            past_end = "DROP_FIRST_FRAGMENT_SHORT"
        if size > len(rest):
            raise MalformedError(past_end)
        if len(chain.headers) == MOST:
            raise MalformedError("DROP_TOO_MANY_EXTENSIONS")
        if kind == 0:
            _options(rest[2:size])
        chain.headers.append((kind, size))
        kind, rest = rest[0], rest[size:]
    if (kind in PORTS_FIRST or kind == ICMPV6) and len(rest) < 8 and first_fragment:
        raise MalformedError("DROP_FIRST_FRAGMENT_SHORT")
    if kind == ICMPV6 and len(rest) >= 8 and not first_fragment:
        _discovery(rest, chain, hop_limit)


def _discovery(message: bytes, chain: Chain, hop_limit: int) -> None:
    if message[0] in DISCOVERY and (hop_limit != 255 or message[1] != 0):
        chain.reason = "DROP_DISCOVERY_INVALID"


def _options(rest: bytes) -> None:
    read = 0
    while rest:
        if rest[0] == 0:
            size = 1
        elif len(rest) == 1 or rest[1] + 2 > len(rest):
            raise MalformedError("DROP_OPTION_PAST_END")
        else:
            size = rest[1] + 2
            if size >= 12 and TRACING.get(rest[0]) == rest[3]:
                return
        if read == OPTIONS_READ:
            return
        read += 1
        rest = rest[size:]
