"""Configurations: what they become, and the one line about each mistake."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayname.composition.configuration import load_config, parse_config
from wayname.config.api_address import default_address
from wayname.config.model import LinkAddress, Refusal, Target
from wayname.config.tables import ConfigError

PORT = "[[port]]\nnumber = 1\nvlan = 10\n"
SITE = PORT + '[[interface]]\nvlan = 10\nname = "site"\naddresses = ["2001:db8:1::1/64"]\n'
HIP = SITE + '[hip]\nproxy = ["2001:db8:1::/64", "2001:db8:2::/64"]\n'
TRANSLATION = """
port = [{number = 1, vlan = 10}, {number = 2, vlan = 20}]
interface = [{vlan = 10, addresses = ["fd00:1::1/64"]}, {vlan = 20, addresses = ["2001:db8:1::2/64"]}]
provider = [{name = "p", prefix = "2001:db8:101::/48", via = ["2001:db8:1::1"]}]
[[nptv6]]
inside = "fd00:1::/48"
[[nptv6.policy]]
"""
TAP = SITE.replace("[[interface]]", "[[port]]\nnumber = 101\nvlan = 10\n[[interface]]", 1)
LINUX = TAP + '[[linux.interface]]\nport = 101\nname = "wan0"\n'
ROUTE = SITE + '[[route]]\nprefix = "::/0"\n'


def test_all_that_can_be_said() -> None:
    config = parse_config(
        """
        [switch]
        address = "[::1]:9559"
        device_id = 3
        target = "bmv2"
        program = "edge.json"
        p4info = "/p4info.txtpb"
        ca = "ca.pem"
        certificate = "me.pem"
        key = "key.pem"
        [api]
        socket = "unix:/run/wayname.sock"
        [controller]
        log_level = "debug"
        log_format = "json"
        events = 5
        [timing]
        probe = 1
        mac_aging_time = 30.5
        [[port]]
        number = 1
        name = "h1"
        vlan = 10
        tagged = [20]
        mtu = 9000
        [[interface]]
        vlan = 10
        name = "site"
        addresses = ["2001:db8:1::1/64", "fe80::1/64"]
        advertise = true
        mac = "02:00:00:01:00:0a"
        [[interface]]
        vlan = 20
        [[route]]
        prefix = "::/0"
        via = ["2001:db8:1::2", "fe80::2%vlan20"]
        weights = [1, 2]
        [[route]]
        prefix = "2001:db8:bad::/48"
        via = "discard"
        """,
        "edge.toml",
        Path("/etc"),
    )
    assert config.switch.target is Target.BMV2
    assert config.switch.program == Path("/etc/edge.json")
    assert config.switch.p4info == Path("/p4info.txtpb")
    assert config.switch.tls and config.switch.tls.key == Path("/etc/key.pem")
    assert config.vlans == (10, 20)
    site, other = config.interfaces
    assert (site.link_local, str(other.mac)) == (IPv6Address("fe80::1"), "02:00:00:03:00:14")
    assert site.error_address == IPv6Address("2001:db8:1::1")
    default, refused = config.routes
    assert default.via == (
        (LinkAddress(10, IPv6Address("2001:db8:1::2")), 1),
        (LinkAddress(20, IPv6Address("fe80::2")), 2),
    )
    assert (refused.prefix, refused.refusal) == (IPv6Network("2001:db8:bad::/48"), Refusal.DISCARD)


def test_what_is_not_said_has_its_default() -> None:
    config = parse_config(PORT)
    assert (config.switch.address, config.switch.device_id) == ("127.0.0.1:9559", 1)
    assert (config.api.socket, config.api.listen) == (str(default_address()), None)
    assert (config.ports[0].name, config.ports[0].mtu, config.timing.probe) == ("port1", 1500, 0.25)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("port = 3", "port: is 3; write a list"),
        ("port = [3]", "port[0]: is 3; write a table"),
        ("[switch]\nadress = 1", "switch.adress: is not known; did you mean address?"),
        ("[swich]", "swich: is not known; did you mean switch?"),
        ("[timing]\nx = 1", "timing.x: is not known; known here: mac_aging_time, probe"),
        (
            '[switch]\naddress = "localhost"',
            "switch.address: is 'localhost'; write HOST:PORT, an IPv6 address in brackets",
        ),
        (
            '[switch]\naddress = "::1:9559"',
            "switch.address: is '::1:9559'; write HOST:PORT, an IPv6 address in brackets",
        ),
        ("[switch]\ndevice_id = true", "switch.device_id: is True; write a whole number"),
        ("[switch]\ndevice_id = 0", "switch.device_id: is 0; write a number from 1 to 4294967295"),
        ('[switch]\ntarget = "tofino"', "switch.target: is 'tofino'; write one of 'embedded' or 'bmv2'"),
        ('[switch]\ntarget = "bmv2"', 'switch.program: is missing; target "bmv2" needs the JSON that p4c makes of'),
        ('[switch]\nkey = "k"', "switch.ca: is missing; name the authority"),
        ('[switch]\nca = "c"\nkey = "k"', "switch.certificate: is missing; certificate and key go together"),
        (
            '[api]\nsocket = "127.0.0.1:9580"',
            "api.socket: is '127.0.0.1:9580'; write \"unix:/PATH\"; a TCP address is `l",
        ),
        ('[controller]\napi = "unix:/a"', "controller.api: is called socket in [api] now; write socket in [api]"),
        ("[controller]\napi_remote = true", "controller.api_remote: is called listen in [api] now"),
        ("[limits]\npunts = 1", "limits.punts: is 1; write a number from 8 to 1000000"),
        (
            "[limits]\nport = 1001",
            "limits.port: 1001 is more than all ports may send (1000); write less, or more for punts",
        ),
        ("[timing]\nprobe = 0", "timing.probe: is 0.0; write a number from 0.02 to 3600"),
        ("[[port]]\nvlan = 1", "port[0].number: is missing; write number = ... (a whole number)"),
        ("[[port]]\nnumber = 510\nvlan = 1", "port[0].number: is 510; write a number from 0 to 509"),
        (PORT + PORT, "port[1].number: port 1 is there twice; give every port once"),
        ("[[port]]\nnumber = 1", "port[0].vlan: is missing; a port needs vlan, tagged or both"),
        ("[[port]]\nnumber = 1\nvlan = 4095", "port[0].vlan: is 4095; write a VLAN from 1 to 4094"),
        (PORT + "tagged = [10]", "port[0].tagged[0]: VLAN 10 is there twice; a port is in a VLAN once"),
        (PORT + 'tagged = ["x"]', "port[0].tagged[0]: is 'x'; write a whole number"),
        (PORT + "mtu = 1279", "port[0].mtu: is 1279; write a number from 1280 to 65535"),
        (
            PORT + "[[interface]]\nvlan = 11",
            "interface[0].vlan: no port is in VLAN 11; add it to a [[port]]'s vlan or tagged",
        ),
        (
            SITE + "[[interface]]\nvlan = 10",
            "interface[1].vlan: VLAN 10 has two interfaces; put all addresses into one",
        ),
        (
            PORT + '[[interface]]\nvlan = 10\nmac = "01:00:00:00:00:01"',
            "interface[0].mac: '01:00:00:00:00:01' is wrong",
        ),
        (
            SITE.replace("/64", ""),
            "interface[0].addresses[0]: '2001:db8:1::1' has no prefix length; write 2001:db8:1::1/64",
        ),
        (
            SITE.replace("2001:db8:1::1/64", "192.0.2.1/24"),
            "interface[0].addresses[0]: 192.0.2.1/24 is IPv4, which the edge does not route; give it to Linux's device",
        ),
        (SITE.replace("2001:db8:1::1/64", "::ffff:192.0.2.1/96"), "IPv4 in IPv6 is never on a link"),
        (SITE.replace("2001:db8:1::1/64", "ff02::1/64"), "no interface can have it"),
        (SITE.replace('"2001:db8:1::1/64"', "5"), "interface[0].addresses[0]: is 5; write a text"),
        (SITE.replace("/64", "/60") + "advertise = true", "interface[0].advertise: there is no /64 to advertise"),
        (
            SITE + '[[port]]\nnumber = 2\nvlan = 20\n[[interface]]\nvlan = 20\naddresses = ["2001:db8:1::2/64"]',
            "interface[1].addresses[0]: 2001:db8:1::/64 overlaps 2001:db8:1::/64 on site; a prefix is on one interface",
        ),
        (ROUTE, "route[0].via: is missing; write via = ... (a list)"),
        (ROUTE + 'via = "drop"', "route[0].via: is 'drop'; write a list of addresses"),
        (ROUTE + "via = []", "route[0].via: is []; write a list of addresses"),
        (
            ROUTE + 'via = ["2001:db8:9::1"]',
            "route[0].via[0]: 2001:db8:9::1 is on no interface's prefix; name a neighbour",
        ),
        (
            ROUTE + 'via = ["2001:db8:1::1"]',
            "route[0].via[0]: 2001:db8:1::1 is site's own address; name the neighbour's",
        ),
        (
            ROUTE + 'via = ["fe80::1"]',
            "route[0].via[0]: fe80::1 may be on any link; write fe80::1%INTERFACE; the interfaces are",
        ),
        (ROUTE + 'via = ["fe80::1%lan"]', "route[0].via[0]: there is no interface 'lan'; the interfaces are: site"),
        (ROUTE + 'via = ["x"]', "route[0].via[0]: 'x' is wrong"),
        (
            ROUTE + 'via = ["2001:db8:1::2", "2001:db8:1::2"]',
            "route[0].via[1]: 2001:db8:1::2 is there twice; use weights",
        ),
        (
            ROUTE + 'via = ["2001:db8:1::2"]\nweights = [0]',
            "route[0].weights[0]: is 0; write a number from 1 to 255",
        ),
        (ROUTE + 'via = ["2001:db8:1::2"]\nweights = [1, 2]', "route[0].weights: has 2 numbers for 1 next hops"),
        (ROUTE.replace("::/0", "2001:db8::1/32") + 'via = "discard"', "route[0].prefix: '2001:db8::1/32' is wrong"),
        (
            ROUTE.replace("::/0", "2001:db8:1::/64") + 'via = "discard"',
            "route[0].prefix: 2001:db8:1::/64 is on site already",
        ),
        (ROUTE.replace("::/0", "fe80::/10") + 'via = "discard"', "route[0].prefix: fe80::/10 is never routed"),
        ("x = " + "1" * 5000, "has a whole number of more than 64 bits; write a smaller one"),
        ("x = 0x" + "f" * 5000, "has a whole number of more than 64 bits; write a smaller one"),
        ("x = " + "[" * 100_000, "has tables or lists in each other more than 16 deep; correct it"),
        ("a" + ".a" * 3000 + " = 1", "has tables or lists in each other more than 16 deep; correct it"),
        ('"a\\n\\u001b" = 1', "a\\n\\x1b: is not known; known here: "),
        (f'port = "{"x" * 9999}"', "xxx ... xxx"),
        (SITE.replace("2001:db8:1::1/64", "a\\nb"), r"'a\nb' has no prefix length; write a\nb/64"),
        ('[switch]\naddress = "::1]:80"', "switch.address: is '::1]:80'; write HOST:PORT"),
        (f'[switch]\naddress = "a:{"9" * 5000}"', "write HOST:PORT, an IPv6 address in brackets"),
        ('[switch]\naddress = "a b:80"', "switch.address: is 'a b:80'; write HOST:PORT"),
        ('[switch]\nprogram = "a\\u0000"', r"switch.program: is 'a\x00'; write the path of a file"),
        ('[controller]\nstate = ""', "controller.state: is ''; write the path of a file"),
        ('[controller]\nstate = "a"\nchanges = "a"', "controller.changes: a is the state's file; name another file"),
        ('[api]\nsocket = "unix:/a\\u0000"', r"api.socket: is 'unix:/a\x00'; write the path of a file"),
        (
            SITE + '[[provider]]\nname = "p"\nprefix = "ff00::/8"\nvia = ["2001:db8:1::2"]',
            "provider[0].prefix: ff00::/8 is given by no provider",
        ),
        (SITE + "[[namespace]]\nid = 1\nports = [true]", "namespace[0].ports[0]: is True; write a whole number"),
        (
            SITE + '[[namespace]]\nid = 1\n[[trace]]\nname = "t"\nnamespace = 1\nfields = [[]]',
            "trace[0].fields[0]: is a list; write one of",
        ),
        (
            SITE + '[[policy]]\nname = "p"\nsegments = ["2001:db8:9::1%site"]',
            "policy[0].segments[0]: '2001:db8:9::1%site' is wrong (no interface is named for it)",
        ),
        (HIP + '[[hip.peer]]\naddress = "ff02::1"\nhit = "2001:21::1"', "hip.peer[0].address: 'ff02::1' is wrong"),
        (
            HIP + '[[hip.host]]\naddress = "2001:db8:1::5"\npoint = "04"',
            "hip.host[0].point: is '04'; write one of",
        ),
        (
            HIP + '[[hip.host]]\naddress = "2001:db8:1::5"\n[[hip.host]]\naddress = "2001:db8:2::5"',
            "hip.host[1].address: 2001:db8:2::5 or its interface identifier is there twice; give every host once",
        ),
        (
            HIP + '[ilnp]\n[[ilnp.site]]\nprefixes = ["2001:db8:1::/64"]',
            "ilnp.site[0].prefixes[0]: 2001:db8:1::/64 is there twice; give every prefix once",
        ),
        (HIP + '[hip.names]\nserver = "::"', "hip.names.server: '::' is wrong (no server has it)"),
        (
            HIP + '[hip.names]\nserver = "::1"\nkey_name = "k.example"\nkey = ""',
            "hip.names.key: is wrong (it is empty)",
        ),
        (
            TRANSLATION + 'remote = "2001:db8::1%site"',
            "nptv6[0].policy[0].remote: '2001:db8::1%site' is wrong",
        ),
        (
            TRANSLATION + 'protocol = "tcp"\nlocal_ports = "443-"',
            "nptv6[0].policy[0].local_ports: '443-' is wrong (ports are numbers)",
        ),
        (SITE + "[linux]", "linux.interface: is missing; write interface = ... (a list)"),
        (TAP + '[[linux.interface]]\nport = 102\nname = "a"', "linux.interface[0].port: there is no port 102; write a"),
        (
            TAP.replace("101", "101\ntagged = [20]") + '[[linux.interface]]\nport = 101\nname = "a"',
            "linux.interface[0].port: port101 is not in one VLAN, without tags; give it vlan and no tagged",
        ),
        (
            PORT + '[[linux.interface]]\nport = 1\nname = "a"',
            "linux.interface[0].port: the router is not on VLAN 10 of port1; write an [[interface]] on it",
        ),
        (
            TAP.replace("101", "101\ntrusted = false") + '[[linux.interface]]\nport = 101\nname = "a"',
            "linux.interface[0].port: port101 is not trusted; leave trusted out",
        ),
        (
            LINUX + '[[linux.interface]]\nport = 1\nname = "wan1"',
            "linux.interface[1].port: VLAN 10 has a TAP device already; Linux has one interface on a VLAN",
        ),
        (LINUX.replace("wan0", "a b"), "linux.interface[0].name: is 'a b'; write a name as ip link shows them"),
        (LINUX.replace("wan0", "a" * 16), "is too long; Linux takes 15 letters at most"),
        (LINUX.replace("wan0", 'wan0"\n[linux]\nnamespace = "a/b'), "linux.namespace: is 'a/b'; write a name as"),
    ],
)
def test_every_mistake_is_one_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(text, "edge.toml")
    assert str(error.value).startswith("edge.toml: ")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_router_interfaces_of_linux() -> None:
    config = parse_config(LINUX + '[linux]\nnamespace = "edge"\nipv4 = true\n')
    assert config.linux is not None
    assert (config.linux.namespace, config.linux.ipv4) == ("edge", True)
    assert [(each.port, each.name) for each in config.linux.interfaces] == [(101, "wan0")]
    assert parse_config(SITE).linux is None


def test_several_mistakes_are_told_at_once() -> None:
    text = '[timing]\nprobe = 0\n[[port]]\nnumber = 1\n[[port]]\nvlan = 0\nmtu = "x"\n'
    with pytest.raises(ConfigError) as error:
        parse_config(text, "edge.toml")
    assert str(error.value).splitlines() == [
        "edge.toml: timing.probe: is 0.0; write a number from 0.02 to 3600",
        "edge.toml: port[0].vlan: is missing; a port needs vlan, tagged or both",
        "edge.toml: port[1].number: is missing; write number = ... (a whole number)",
        "edge.toml: port[1].vlan: is 0; write a VLAN from 1 to 4094",
        "edge.toml: port[1].mtu: is 'x'; write a whole number",
    ]


def test_what_refers_to_a_part_with_mistakes_is_not_complained_of() -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(ROUTE.replace('"site"', "5") + 'via = ["2001:db8:1::2"]', "edge.toml")
    assert str(error.value).splitlines() == ["edge.toml: interface[0].name: is 5; write a text"]


def test_a_key_with_another_name_is_told_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayname.config.load.RENAMED_KEYS", {"port.stations": "port.fdb", "limit": "limits"})
    with pytest.raises(ConfigError) as error:
        parse_config(PORT + "stations = 3\n[limit]\npunts = 9", "edge.toml")
    assert str(error.value).splitlines() == [
        "edge.toml: port[0].stations: is called port.fdb now; write port.fdb",
        "edge.toml: limit: is called limits now; write limits",
    ]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file or directory"):
        load_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="Is a directory"):
        load_config(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# \xe4")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        load_config(tmp_path / "latin.toml")
    (tmp_path / "broken.toml").write_text("[switch\n")
    with pytest.raises(ConfigError, match=r"broken.toml: is not TOML \(.*line 1.*\); correct the line"):
        load_config(tmp_path / "broken.toml")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just("2001:db8:1::1/64"),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
KEYS = ["number", "vlan", "tagged", "mtu", "name", "mac", "addresses", "advertise", "prefix", "via", "weights"]


@settings(max_examples=12)
@given(st.sampled_from(["port", "interface", "route"]), st.dictionaries(st.sampled_from(KEYS), values))
def test_any_values_are_taken_or_refused(kind: str, keys: dict[str, object]) -> None:
    text = SITE + f"[[{kind}]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in keys.items())
    try:
        parse_config(text)
    except ConfigError as error:
        assert all(line.isprintable() for line in str(error).splitlines())


def toml(value: object) -> str:
    """Write a value as TOML."""
    match value:
        case None:
            return '""'
        case bool():
            return str(value).lower()
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case str():
            return (
                '"' + "".join(f"\\U{ord(letter):08x}" for letter in value if not 0xD800 <= ord(letter) < 0xE000) + '"'
            )
        case float():
            return str(value) if value == value and abs(value) < 1e300 else "nan"
    return str(value)


@pytest.mark.parametrize(("ports", "share"), [(1, 500), (2, 500), (4, 250), (48, 125)])
def test_no_port_may_send_the_controller_all_that_it_bears(ports: int, share: int) -> None:
    assert parse_config("").limits.share(ports) == share
    assert parse_config("[limits]\npunts = 400\nport = 300").limits.share(ports) == 300
