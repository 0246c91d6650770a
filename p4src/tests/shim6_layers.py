"""Shim6 headers that the data plane handles, as scapy layers (RFC 5533, section 5.2; RFC 5534, section 5.1)."""

from carriers import ones_sum
from scapy.fields import BitField, ByteField, IntField, XShortField
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, bind_layers

SHIM6 = 140
NO_NEXT_HEADER = 59


class Shim6Payload(Packet):
    """Before what goes by locators: the tag says whose it is."""

    name = "Shim6 payload extension header"
    fields_desc = [  # noqa: RUF012  scapy makes it its own
        ByteField("nh", 17),
        ByteField("len", 0),
        BitField("payload", 1, 1),
        BitField("tag", 0, 47),
    ]


class Shim6Keepalive(Packet):
    """Nothing but a sign of life."""

    name = "Shim6 keepalive"
    fields_desc = [  # noqa: RUF012
        ByteField("nh", NO_NEXT_HEADER),
        ByteField("len", 1),
        BitField("payload", 0, 1),
        BitField("type", 66, 7),
        BitField("reserved", 0, 7),
        BitField("s", 0, 1),
        XShortField("chksum", None),
        BitField("r", 0, 1),
        BitField("tag", 0, 47),
        IntField("reserved2", 0),
    ]

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        """Fill in the checksum, which covers the message alone."""
        if self.chksum is None:
            pkt = pkt[:4] + (~ones_sum(pkt) & 0xFFFF).to_bytes(2) + pkt[6:]
        return pkt + pay


bind_layers(IPv6, Shim6Payload, nh=SHIM6)


def control(type_: int, octets: int = 16) -> bytes:
    """A control message of a type, of which only that is looked at."""
    body = bytes([NO_NEXT_HEADER, octets // 8 - 1, type_, 0, 0, 0]) + bytes(octets - 6)
    return body[:4] + (~ones_sum(body) & 0xFFFF).to_bytes(2) + body[6:]
