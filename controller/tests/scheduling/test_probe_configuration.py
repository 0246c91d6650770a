"""`probe` of a `[[schedule.path]]`: what it becomes, and the one line about each mistake."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from nptv6_site import SITE

from wayname.composition.configuration import parse_config
from wayname.config.schedules import Probe
from wayname.config.tables import ConfigError
from wayname.ioam.path_metrics import PathId

NAMESPACE = "[[namespace]]\nid = 1\nnode = 0xa\nports = [2, 3]\n"
# What hosts have of provider p.
NUMBERED = SITE.replace('"fd12:3456:789a:10::1/64"', '"fd12:3456:789a:10::1/64", "2001:db8:101:10::1/64"')
TRACE, SEGMENT = 'trace = "1:a-cafe-b"\n', 'probe = "2001:db8:102:5e::1"\n'


def schedule(more: str, remote: str = "2001:db8:102::/48", source: str = "ioam") -> str:
    """Return a schedule whose first path has more lines."""
    paths = "".join(
        f'[[schedule.path]]\nprovider = "{name}"\nremote = "{to}"\nbandwidth = 2e6\ndelay = 0.02\n{lines}'
        for name, to, lines in (("p", remote, more), ("q", "2001:db8:202::/48", ""))
    )
    return f'[[schedule]]\nname = "s"\nsource = "{source}"\n{paths}'


def test_probes_come_from_an_address_of_the_provider_and_go_to_the_segment() -> None:
    [found] = parse_config(NUMBERED + NAMESPACE + schedule(TRACE + SEGMENT)).schedules
    here, there = IPv6Address("2001:db8:101:10::1"), IPv6Address("2001:db8:102:5e::1")
    assert [path.probe for path in found.paths] == [Probe(here, there, PathId(1, (0xA, 0xCAFE, 0xB))), None]


def test_a_trace_alone_is_no_probe() -> None:
    [found] = parse_config(SITE + schedule(TRACE)).schedules
    assert [path.probe for path in found.paths] == [None, None]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (NAMESPACE + schedule(SEGMENT), "probe: comes back with a trace; name its nodes"),
        (NAMESPACE + schedule(TRACE + SEGMENT, source="marks"), "trace: is read by nobody: source is 'marks'"),
        (NAMESPACE + schedule(TRACE + 'probe = "ff02::1"\n'), "probe: 'ff02::1' is wrong (packets are not sent there)"),
        (NAMESPACE + schedule(TRACE + 'probe = "b"\n'), "probe: 'b' is wrong"),
        (
            NAMESPACE + schedule(TRACE + SEGMENT, remote="2001:db8:302::/48"),
            "probe: 2001:db8:102:5e::1 is not in 2001:db8:302::/48; name a segment of the peer in that prefix",
        ),
        (schedule(TRACE + SEGMENT), "trace: namespace 1 is not there; add a [[namespace]]"),
        (
            NAMESPACE + schedule('trace = "1:b-cafe-a"\n' + SEGMENT),
            "trace: begins at node b, and this node is a in namespace 1; name the nodes in the order of travel",
        ),
        (NAMESPACE + schedule('trace = "1:a"\n' + SEGMENT), "trace: 1:a is no whole way of 2 to 12 nodes"),
        (NAMESPACE + schedule('trace = "1:a-b-..."\n' + SEGMENT), "trace: 1:a-b-... is no whole way"),
        (
            NAMESPACE + schedule(f'trace = "1:a{"-b" * 12}"\n' + SEGMENT),
            "-b-b is no whole way of 2 to 12 nodes; name them all, the peer last",
        ),
    ],
)
def test_a_mistake_is_one_line(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(NUMBERED + text)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_an_edge_without_an_address_of_the_provider_cannot_probe() -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(SITE + NAMESPACE + schedule(TRACE + SEGMENT))
    wanted = "probe: no interface has an address in 2001:db8:101::/48, where probes could come back to; "
    assert wanted + "give an interface one of provider p" in str(error.value)
