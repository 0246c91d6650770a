"""The segments that open a TCP flow between the peer's port and the host's 80, from either end."""

import struct

SYN, ACK, RESET = 0x02, 0x10, 0x04
PEERS_FIRST, HOSTS_FIRST = 1_000_000, 0xFFFF_FFFF  # the second one wraps


def segment(flags: int, sequence: int, acknowledged: int = 0, port: int = 1000, mine: bool = False) -> bytes:
    """A segment between the peer's port and the host's 80, without its checksum."""
    ports = (80, port) if mine else (port, 80)
    return struct.pack("!HHIIHHHH", *ports, sequence % (1 << 32), acknowledged % (1 << 32), 5 << 12 | flags, 1024, 0, 0)


PEERS_SYN = segment(SYN, PEERS_FIRST)
HOSTS_SYN_ACK = segment(SYN | ACK, HOSTS_FIRST, PEERS_FIRST + 1, mine=True)
PEERS_ACK = segment(ACK, PEERS_FIRST + 1, HOSTS_FIRST + 1)
HOSTS_SYN = segment(SYN, HOSTS_FIRST, mine=True)
PEERS_SYN_ACK = segment(SYN | ACK, PEERS_FIRST, HOSTS_FIRST + 1)
HOSTS_ACK = segment(ACK, HOSTS_FIRST + 1, PEERS_FIRST + 1, mine=True)
