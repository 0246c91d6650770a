"""Who put a route into the kernel, in the words of iproute2 (/etc/iproute2/rt_protos)."""

from __future__ import annotations

_WORDS = {
    1: "redirect",
    2: "kernel",
    3: "boot",
    4: "static",
    8: "gated",
    9: "ra",
    10: "mrt",
    11: "zebra",
    12: "bird",
    13: "dnrouted",
    14: "xorp",
    15: "ntk",
    16: "dhcp",
    17: "mrouted",
    18: "keepalived",
    42: "babel",
    84: "ovn",
    99: "openr",
    186: "bgp",
    187: "isis",
    188: "ospf",
    189: "rip",
    192: "eigrp",
    196: "zebra-static",
}


def protocol_words(number: int) -> str:
    """Return the name of a protocol, or its number."""
    return _WORDS.get(number, str(number))
