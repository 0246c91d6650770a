"""What the configuration says of what packets carry, and the one line about each mistake."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest

from wayname.composition.configuration import parse_config
from wayname.config.encapsulation.compression import compress
from wayname.config.encapsulation.limits import added_octets
from wayname.config.encapsulation.model import Behaviour, Flavours, Mode, RplSourceRoute, node_length
from wayname.config.links import LinkAddress, Refusal
from wayname.config.tables import ConfigError

SITE = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 100
[[port]]
number = 3
vlan = 200
mtu = 1280
[[interface]]
vlan = 10
name = "site"
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 100
name = "up"
addresses = ["2001:db8:100::2/64"]
[[interface]]
vlan = 200
name = "thin"
addresses = ["2001:db8:200::2/64"]
[[route]]
prefix = "::/0"
via = ["2001:db8:100::1"]
[[route]]
prefix = "2001:db8:f::/48"
via = ["2001:db8:200::1"]
"""
NAMESPACE = "[[namespace]]\nid = 1\n"
TRACE = NAMESPACE + '[[trace]]\nname = "all"\nnamespace = 1\n'
POLICY = '[[policy]]\nname = "gold"\nsegments = ["fd00::1", "fd00::2"]\n'
BOUND = '[[encapsulation]]\nprefix = "2001:db8:9::/48"\n'
BMV2 = '[switch]\ntarget = "bmv2"\nprogram = "edge.json"\n'


def many(count: int) -> str:
    return f'[[policy]]\nname = "long"\nsegments = {[f"fd00::{number:x}" for number in range(1, count + 1)]}\n'


def test_all_that_can_be_said() -> None:
    config = parse_config(
        SITE
        + """
        [[namespace]]
        id = 7
        node = 0xABC
        node_wide = 0xABCDEF
        data = 1
        data_wide = 2
        schema = 3
        snapshot = 4
        ports = [2]
        export = true
        [[trace]]
        name = "some"
        namespace = 7
        fields = ["node", "delay", "node-wide", "snapshot"]
        octets = 64
        packets = 2
        of = 5
        active = true
        [[trace]]
        name = "back"
        namespace = 7
        fields = ["node"]
        loopback = true
        [[trace]]
        name = "direct"
        namespace = 7
        type = 0xC00000
        direct_export = true
        flow = 9
        [[policy]]
        name = "gold"
        segments = ["fd00::1", "fd00::2"]
        source = "2001:db8:1::5"
        key_id = 8
        key = "secret"
        [[source_route]]
        name = "hops"
        hops = ["2001:db8:9::1", "2001:db8:9::2"]
        [[vrf_route]]
        table = 4
        prefix = "2001:db8:8::/48"
        via = "2001:db8:100::1"
        [[vrf_route]]
        table = 4
        prefix = "2001:db8:1::/64"
        via = "site"
        [[vrf_route]]
        table = 4
        prefix = "::/0"
        via = "prohibited"
        [[segment]]
        sid = "2001:db8:1:a::1"
        behaviour = "end.x"
        flavours = ["psp", "usd"]
        via = "fe80::1%up"
        [[segment]]
        sid = "2001:db8:1:b::/64"
        behaviour = "end.b6.encaps"
        policy = "gold"
        [[encapsulation]]
        prefix = "2001:db8:9::/48"
        policy = "gold"
        mode = "frame"
        trace = "some"
        [[encapsulation]]
        prefix = "2001:db8:9:1::/64"
        source_route = "hops"
        [[encapsulation]]
        prefix = "2001:db8:9:2::/64"
        locator = "2001:db8:7:7::/64"
        neutral = false
        [[encapsulation]]
        prefix = "2001:db8:9:3::/64"
        no_encapsulation = true
        [[encapsulation]]
        prefix = "2001:db8:9:4::/64"
        trace = "back"
        to = "fd00::9"
        """
    ).encapsulation
    [namespace] = config.namespaces
    assert (namespace.node, namespace.node_wide, namespace.schema, namespace.ports) == (0xABC, 0xABCDEF, 3, (2,))
    some, back, direct = config.traces
    assert (some.words, some.node_length, some.packets, some.of, some.active) == (16, 4, 2, 5, True)
    assert (back.words, back.loopback, direct.direct_export, direct.flow) == (5, True, True, 9)
    [policy] = config.policies
    assert (policy.source, policy.key_id, policy.secret) == (IPv6Address("2001:db8:1::5"), 8, "secret")
    by_hop, connected, refused = config.table_routes
    assert by_hop.via == LinkAddress(100, IPv6Address("2001:db8:100::1"))
    assert (connected.vlan, refused.refusal) == (10, Refusal.PROHIBITED)
    adjacency, binding = config.segments
    assert (adjacency.behaviour, adjacency.flavours) == (Behaviour.END_X, Flavours.PSP | Flavours.USD)
    assert binding.policy == "gold"
    framed, routed, translated, bare, traced = config.encapsulations
    assert (framed.mode, framed.policy, framed.trace) == (Mode.FRAME, "gold", "some")
    assert (routed.mode, routed.source_route) == (Mode.INLINE, "hops")
    assert (translated.locator, translated.neutral) == (0x20010DB800070007, False)
    assert (bare.policy, bare.trace) == ("", "")
    assert (traced.mode, traced.source, traced.to) == (
        Mode.AUTOMATIC,
        IPv6Address("2001:db8:1::1"),
        IPv6Address("fd00::9"),
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[[trace]]\nname = "a"\nnamespace = 1\n', "trace[0].namespace: namespace 1 is not there; add a [[namespace]]"),
        (NAMESPACE + "ports = [9]\n", "namespace[0].ports[0]: there is no port 9; the ports are 1, 2, 3"),
        (NAMESPACE + "snapshot = 9\n", "namespace[0].snapshot: has no schema; write schema"),
        (NAMESPACE + NAMESPACE, "namespace[1].id: '1' is there twice; say it once"),
        (TRACE + 'fields = ["nod"]\n', "trace[0].fields[0]: is 'nod'; write one of 'node', 'interfaces'"),
        (TRACE + "type = 0x800800\n", "trace[0].type: is 8390656; write bits of 0xFFF002, or name fields"),
        (TRACE + "type = 0x800001\n", "trace[0].type: is 8388609; write bits of 0xFFF002, or name fields"),
        (TRACE + "octets = 246\n", "trace[0].octets: is 246; write 4, 8, 12 ... 244"),
        (TRACE + "octets = 248\n", "trace[0].octets: is 248; write 4, 8, 12 ... 244"),
        (TRACE + "octets = 8\n", "trace[0].octets: 8 octets hold no node's 24; write 24 at least, or fewer fields"),
        (
            TRACE + "nodes = 11\n",
            "trace[0].nodes: 11 nodes with 24 octets each take 264, and a trace holds 244; write 10",
        ),
        (TRACE + "loopback = true\n", "trace[0].loopback: goes with the node's id alone (RFC 9322); write fields"),
        (TRACE + "flow = 3\n", "trace[0].flow: numbers direct exports only; leave it out"),
        (TRACE + "direct_export = true\nnodes = 3\n", "trace[0].nodes: does not go with direct_export; leave it out"),
        (TRACE + "packets = 3\nof = 2\n", "trace[0].packets: 3 of 2 packets get the trace; write 2 at most"),
        (many(37), "policy[0].segments: has 37; write 1 to 36"),
        (POLICY + "key_id = 3\n", "policy[0].key: is missing; key and key_id go together"),
        (
            '[[policy]]\nname = "a"\nsegments = ["ff02::1"]\n',
            "policy[0].segments[0]: 'ff02::1' is wrong (packets are not sent there); write an address",
        ),
        (
            '[[segment]]\nsid = "fd00::1"\nbehaviour = "end.y"\n',
            "segment[0].behaviour: is 'end.y'; write one of 'end'",
        ),
        (
            '[[segment]]\nsid = "2001:db8:1::1"\nbehaviour = "end"\n',
            "segment[0].sid: 2001:db8:1::1 is site's own address; give the segment an address of its own",
        ),
        (
            '[[segment]]\nsid = "fd00::1"\nbehaviour = "end"\nflavours = ["usx"]\n',
            "segment[0].flavours[0]: is 'usx'; write one of 'psp', 'usp', 'usd'",
        ),
        (
            '[[segment]]\nsid = "fd00::1"\nbehaviour = "end.dx2"\nport = 9\n',
            "segment[0].port: there is no port 9; the ports are 1, 2, 3",
        ),
        (
            '[[segment]]\nsid = "fd00::1"\nbehaviour = "end"\nvia = "fe80::1%up"\n',
            "segment[0].via: is not known; known here: behaviour, flavours, hmac, sid",
        ),
        (
            POLICY + '[[segment]]\nsid = "fd00::1"\nbehaviour = "end.b6.encaps"\npolicy = "gold"\nflavours = ["usd"]\n',
            'segment[0].flavours: USD has no meaning here (RFC 8986); leave "usd" out',
        ),
        (BOUND, "encapsulation[0].policy: is missing; write policy, trace, source_route, locator or no_encapsulation"),
        (BOUND + 'policy = "gold"\n', "encapsulation[0].policy: there is no [[policy]] 'gold'; write one of those"),
        (
            POLICY + BOUND + 'policy = "gold"\nno_encapsulation = true\n',
            "encapsulation[0].no_encapsulation: does not go with policy; write one of them",
        ),
        (
            POLICY + "key_id = 3\nkey = 'x'\n" + BOUND + 'policy = "gold"\nmode = "reduced"\n',
            "encapsulation[0].mode: policy 'gold' has a key, and no proof goes with this mode; leave key out",
        ),
        (TRACE + BOUND + 'trace = "all"\n', "encapsulation[0].to: is missing; say where the trace's tunnel ends"),
        (
            '[[encapsulation]]\nprefix = "2001:db8:1::1/128"\nno_encapsulation = true\n',
            "encapsulation[0].prefix: 2001:db8:1::1 is site's own address; name others' addresses",
        ),
        (BOUND + 'locator = "2001:db8::/48"\n', "encapsulation[0].locator: '2001:db8::/48' is wrong (a locator has 64"),
        (
            '[[source_route]]\nname = "loop"\nhops = ["fd00::1", "fd00::1"]\n',
            "source_route[0].hops: visit a hop twice; name every hop once",
        ),
        (
            '[[vrf_route]]\ntable = 1\nprefix = "192.0.2.0/24"\nvia = "prohibited"\n',
            'vrf_route[0].via: tells nobody of IPv4; write "discard"',
        ),
        (
            '[[vrf_route]]\ntable = 1\nprefix = "192.0.2.0/24"\nvia = "site"\n',
            "vrf_route[0].via: is a link, and nobody is asked for IPv4 neighbours; name a router's IPv6 address",
        ),
    ],
)
def test_mistakes(text: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(SITE + text, "edge.toml")
    assert str(caught.value).startswith(f"edge.toml: {line}")
    assert "\n" not in str(caught.value)


class TestRoom:
    """What is added has to fit beside a packet of 1280 octets wherever it may leave."""

    def test_by_the_route_to_the_first_segment(self) -> None:
        segments = '[[policy]]\nname = "thin"\nsegments = ["2001:db8:f::1"]\n'
        with pytest.raises(ConfigError) as caught:
            parse_config(SITE + segments + BOUND + 'policy = "thin"\n')
        wrong = "adds 64 octets, and port 3 has an MTU of 1280; set its mtu to 1344 at least"
        assert f"encapsulation[0].prefix: {wrong}" in str(caught.value)
        parse_config(SITE + POLICY + BOUND + 'policy = "gold"\n')

    def test_of_a_long_list(self) -> None:
        with pytest.raises(ConfigError, match="adds 224 octets, and port 2 has an MTU of 1500; set its mtu to 1504"):
            parse_config(SITE + many(11) + BOUND + 'policy = "long"\n')
        parse_config(SITE + many(10) + BOUND + 'policy = "long"\n')

    def test_of_bmv2(self) -> None:
        wide = BMV2 + SITE.replace("vlan = 100\n[[port]]", "vlan = 100\nmtu = 9000\n[[port]]")
        parse_config(wide + many(28) + BOUND + 'policy = "long"\n')
        with pytest.raises(ConfigError, match="29 segments and 512 octets in all are more than BMv2 puts on"):
            parse_config(wide + many(29) + BOUND + 'policy = "long"\n')
        parse_config(wide.removeprefix(BMV2) + many(36) + BOUND + 'policy = "long"\n')

    @pytest.mark.parametrize(
        ("carried", "octets"),
        [
            ('policy = "gold"', 40 + 8 + 32),
            ('policy = "gold"\nmode = "reduced"', 40 + 8 + 16),
            ('policy = "gold"\nmode = "frame"', 40 + 8 + 32 + 18),
            # Behind hop-by-hop options a tunnel stands instead: one segment less, a header more.
            ('policy = "gold"\nmode = "inline"', 40 + 8 + 32),
            ('policy = "one"\nmode = "reduced"', 40),
            ('policy = "proven"', 40 + 8 + 16 + 40),
            ('trace = "all"\nto = "fd00::9"', 40 + 136),
            ('trace = "all"\nmode = "inline"', 136),
            ('trace = "direct"\nto = "fd00::9"', 40 + 24),
            ('policy = "gold"\ntrace = "all"', 40 + 8 + 32 + 136),
            ('source_route = "hops"', 8 + 8),
            ("no_encapsulation = true", 0),
            ('locator = "2001:db8:7:7::/64"', 0),
        ],
    )
    def test_sizes(self, carried: str, octets: int) -> None:
        others = (
            TRACE
            + "nodes = 5\n[[trace]]\nname = 'direct'\nnamespace = 1\ndirect_export = true\n"
            + POLICY
            + "[[policy]]\nname = 'one'\nsegments = ['fd00::1']\n"
            + "[[policy]]\nname = 'proven'\nsegments = ['fd00::1']\nkey_id = 1\nkey = 'x'\n"
            + "[[source_route]]\nname = 'hops'\nhops = ['2001:db8:9::1', '2001:db8:9::2']\n"
        )
        bound = BOUND.replace("/48", "/64").replace("9::", "9:0::")
        config = parse_config(SITE + others + bound + carried + "\n").encapsulation
        # The second hop takes one octet, the destination all but the eight of its prefix.
        assert added_octets(config.encapsulations[0], config) == octets + (8 if "hops" in carried else 0)


@pytest.mark.parametrize(
    ("hops", "prefix", "left_out", "last_left_out", "middle"),
    [
        (["2001:db8::1"], "2001:db8::/64", 15, 8, ""),
        (["2001:db8::1", "2001:db8::2"], "2001:db8::/64", 15, 8, "02"),
        (["2001:db8::1:1", "2001:db8::2:2"], "2001:db8::9/128", 13, 13, "020002"),
        (["2001:db8::1", "fd00::2"], "2001:db8::/64", 0, 0, IPv6Address("fd00::2").packed.hex()),
        (["2001:db8::1", "2001:db8::2"], "::/0", 15, 0, "02"),
    ],
)
def test_source_routes_leave_out_what_is_in_common(
    hops: list[str], prefix: str, left_out: int, last_left_out: int, middle: str
) -> None:
    route = RplSourceRoute(name="r", hops=tuple(map(IPv6Address, hops)))
    found = compress(route, IPv6Network(prefix))
    assert (found.left_out, found.last_left_out, found.middle.hex()) == (left_out, last_left_out, middle)


def test_node_lengths() -> None:
    assert node_length(0x800000) == 1
    assert node_length(0xFFF000) == 15  # three fields take two words
    assert node_length(0xFFFFFC) == 25
    assert node_length(0x000003) == 0
