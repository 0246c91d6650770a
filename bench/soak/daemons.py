"""What BIRD is told at each node of the soak: the edge has a prefix of its own by two providers, the world another."""

from __future__ import annotations

HEAD = """
router id 192.0.2.{number};
graceful restart wait 20;
protocol device {{ scan time 2; }}
protocol kernel {{
    ipv6 {{ export where source = RTS_BGP; import none; }};
    persist; graceful restart on; merge paths on; learn off;
}}
"""
ORIGIN = """
protocol static own {{ ipv6; route {prefix} blackhole; }}
"""
PEER = """
protocol bgp to_{name} {{
    local {here} as {own};
    neighbor {there} as {other};
    graceful restart on;
    hold time 9; keepalive time 3;
    connect delay time 1; connect retry time 2; error wait time 1, 3;
    ipv6 {{ import all; export where source ~ [RTS_BGP, RTS_STATIC]; next hop self; }};
}}
"""
NUMBERS = {"a-linux": 65010, "p": 65001, "q": 65002, "world": 65000}
ORIGINS = {"a-linux": "2001:db8:3::/48", "world": "2001:db8:f::/48"}
PEERS = {
    "a-linux": {"p": ("2001:db8:a1::2", "2001:db8:a1::1"), "q": ("2001:db8:a2::2", "2001:db8:a2::1")},
    "p": {"a-linux": ("2001:db8:a1::1", "2001:db8:a1::2"), "world": ("2001:db8:f1::1", "2001:db8:f1::2")},
    "q": {"a-linux": ("2001:db8:a2::1", "2001:db8:a2::2"), "world": ("2001:db8:f2::1", "2001:db8:f2::2")},
    "world": {"p": ("2001:db8:f1::2", "2001:db8:f1::1"), "q": ("2001:db8:f2::2", "2001:db8:f2::1")},
}


def bird(node: str) -> str:
    """Return a node's configuration."""
    text = HEAD.format(number=list(NUMBERS).index(node) + 1)
    if node in ORIGINS:
        text += ORIGIN.format(prefix=ORIGINS[node])
    for name, (here, there) in PEERS[node].items():
        text += PEER.format(name=name.replace("-", "_"), here=here, there=there, own=NUMBERS[node], other=NUMBERS[name])
    return text
