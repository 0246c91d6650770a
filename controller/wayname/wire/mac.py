"""Ethernet addresses, and what IPv6 makes of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.wire.errors import DecodeError

_WRITTEN = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(-[0-9A-Fa-f]{2}){5}")
LINK_LOCAL = int(IPv6Address("fe80::"))
SOLICITED_NODE = int(IPv6Address("ff02::1:ff00:0"))


@dataclass(frozen=True, slots=True, order=True)
class Mac:
    """An Ethernet address."""

    value: int

    @classmethod
    def parse(cls, text: str) -> Mac:
        """Read an address as people write it, with colons or hyphens."""
        if not _WRITTEN.fullmatch(text):
            raise ValueError(f"{text!r} is no MAC address; write it as 02:00:00:00:00:01")
        return cls(int(text.replace(":", "").replace("-", ""), 16))

    @classmethod
    def unpack(cls, octets: bytes) -> Mac:
        """Read an address from its six octets."""
        if len(octets) != 6:
            raise DecodeError(f"a MAC address has 6 octets, not {len(octets)}")
        return cls(int.from_bytes(octets))

    @property
    def packed(self) -> bytes:
        """The address as its six octets."""
        return self.value.to_bytes(6)

    @property
    def is_group(self) -> bool:
        """Whether it names many stations."""
        return bool(self.value >> 40 & 1)

    def __str__(self) -> str:
        return self.packed.hex(":")

    def link_local(self) -> IPv6Address:
        """Return the link-local address made of it (RFC 4291, appendix A)."""
        upper, lower = self.value >> 24 ^ 0x020000, self.value & 0xFFFFFF
        return IPv6Address(LINK_LOCAL | upper << 40 | 0xFFFE << 24 | lower)


def group_mac(group: IPv6Address) -> Mac:
    """Return the Ethernet group of an IPv6 group (RFC 2464, section 7)."""
    return Mac(0x3333 << 32 | int(group) & 0xFFFFFFFF)


def solicited_node(address: IPv6Address) -> IPv6Address:
    """Return the group in which solicitations for an address are sent (RFC 4291, section 2.7.1)."""
    return IPv6Address(SOLICITED_NODE | int(address) & 0xFFFFFF)
