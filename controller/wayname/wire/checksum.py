"""The Internet checksum (RFC 1071), and the one of what IPv6 carries (RFC 8200, section 8.1)."""

from __future__ import annotations

from ipaddress import IPv6Address


def internet_checksum(data: bytes) -> int:
    """Return the ones' complement of the sum of 16-bit words; data that holds its own checksum gives 0."""
    if len(data) % 2:
        data += b"\0"
    # 2^16 is 1 modulo 0xFFFF, so the number's remainder is the folded sum.
    total = int.from_bytes(data)
    folded = total % 0xFFFF
    return 0xFFFF - (folded if folded or not total else 0xFFFF)


def upper_layer_checksum(source: IPv6Address, destination: IPv6Address, next_header: int, payload: bytes) -> int:
    """Return the checksum over the pseudo-header and the payload.

    source (16), destination (16), payload length (4), zero (3), next header (1), payload
    """
    pseudo = source.packed + destination.packed + len(payload).to_bytes(4) + next_header.to_bytes(4)
    return internet_checksum(pseudo + payload)
