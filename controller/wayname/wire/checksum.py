"""The Internet checksum (RFC 1071), the one of what IPv6 carries (RFC 8200, section 8.1), and what changes them."""

from __future__ import annotations

from ipaddress import IPv6Address

ONES = 0xFFFF
ADDRESS_ONES = (1 << 128) - 1


def internet_checksum(data: bytes) -> int:
    """Return the ones' complement of the sum of 16-bit words; data that holds its own checksum gives 0."""
    if len(data) % 2:
        data += b"\0"
    return ONES - fold(int.from_bytes(data))


def upper_layer_checksum(source: IPv6Address, destination: IPv6Address, next_header: int, payload: bytes) -> int:
    """Return the checksum over the pseudo-header and the payload.

    source (16), destination (16), payload length (4), zero (3), next header (1), payload
    """
    pseudo = source.packed + destination.packed + len(payload).to_bytes(4) + next_header.to_bytes(4)
    return internet_checksum(pseudo + payload)


def address_delta(old: IPv6Address, new: IPv6Address) -> int:
    """Return what an address that takes the place of another adds to the sum (RFC 1624, equation 3)."""
    return fold((~int(old) & ADDRESS_ONES) % ONES + int(new) % ONES)


def fold(total: int) -> int:
    """Add the carry; what is not zero stays so, since ones' complement has two zeros and a sum never gives +0."""
    # 2^16 is 1 modulo 0xFFFF, so a number's remainder is the folded sum of its words.
    folded = total % ONES
    return folded if folded or not total else ONES
