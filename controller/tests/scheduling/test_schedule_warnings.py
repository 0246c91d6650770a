"""What `wayname check` says of schedules and path policies that are hardly meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from nptv6_site import SITE

from wayname.composition.configuration import parse_config
from wayname.config.warnings import warnings

PATH_P = '[[schedule.path]]\nprovider = "p"\nbandwidth = 2_000_000\ndelay = 0.02\n'
PATH_Q = PATH_P.replace('"p"', '"q"')
PATHS = PATH_P + PATH_Q
NAMED = '[[schedule]]\nname = "s"\n'
OTHER = NAMED.replace('"s"', '"t"')
FED = 'source = "feedback"\n'
NARROW = 'local = ["2001:db8:101:10::/64"]\n'
WIDE = 'local = ["2001:db8:101::/48"]\n'
REMOTE = 'remote = ["2001:db8:f00::/48"]\n'
QUIC = '[[path_policy]]\nname = "{}"\nprotocol = "udp"\nremote_ports = "443"\n'
TWO = QUIC.format("x") + QUIC.format("y")
SECOND = "[[schedule]] t never applies: s stands before it and fits all of its sessions;"
MILLISECONDS = '[[schedule]] s: the delay of path p is 20 seconds, one way; write "20ms" if it is in milliseconds'
NO_REINJECTION = '[[schedule]] s: reinjection has no effect with source = "marks"; write source = "feedback"'
NO_COPIES = '[[schedule]] s: copies has no effect with policy = "per-flow"; write policy = "redundant"'
SAME_FLOWS = "[[path_policy]] y never applies: x stands before it and is for the same flows; give one of them another"
NO_FLOW_COPIES = "[[path_policy]] x: copies has no effect where no [[schedule]] has"
NO_BUFFERS = "[[schedule]] s: reinjection has no effect with what [switch] names, which keeps no packets; leave target,"


def warned(text: str) -> list[str]:
    return list(warnings(parse_config(SITE + text)))


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        (NAMED + PATHS + OTHER + PATHS, SECOND),
        (NAMED + PATHS + OTHER + NARROW + REMOTE + PATHS, SECOND),
        (NAMED + WIDE + PATHS + OTHER + NARROW + REMOTE + PATHS, SECOND),
        (NAMED + PATH_P.replace("0.02", "20") + PATH_Q, MILLISECONDS),
        (NAMED + 'source = "marks"\nreinjection = true\n' + PATHS, NO_REINJECTION),
        (NAMED + FED + 'policy = "per-flow"\ncopies = 2\n' + PATHS, NO_COPIES),
        (TWO, SAME_FLOWS),
        (NAMED + FED + 'policy = "per-flow"\n' + PATHS + QUIC.format("x") + "copies = 2\n", NO_FLOW_COPIES),
    ],
)
def test_what_is_hardly_meant_is_one_line(text: str, begin: str) -> None:
    [line] = warned(text)
    assert line.startswith(begin)
    assert "\n" not in line


def test_reinjection_wants_a_switch_that_keeps_packets(tmp_path: Path) -> None:
    program = tmp_path / "main.json"
    program.write_text("{}")
    switch = f'[switch]\ntarget = "bmv2"\nprogram = "{program}"\n'
    [line] = warned(switch + NAMED + FED + "reinjection = true\n" + PATHS)
    assert line.startswith(NO_BUFFERS)
    assert warned(switch + NAMED + FED + PATHS) == []


def test_each_is_said_once() -> None:
    thrice = NAMED + PATHS + OTHER + PATHS + NAMED.replace('"s"', '"u"') + PATHS
    assert [line.split()[1] for line in warned(thrice)] == ["t", "u"]
    assert [line.split()[1] for line in warned(TWO + QUIC.format("z"))] == ["y", "z"]


@pytest.mark.parametrize(
    "text",
    [
        NAMED + PATHS,
        NAMED + NARROW + PATHS + OTHER + PATHS,
        NAMED + NARROW + PATHS + OTHER + WIDE + PATHS,
        NAMED + REMOTE + PATHS + OTHER + NARROW + PATHS,
        NAMED + PATH_P.replace("0.02", "2") + PATH_Q,
        NAMED + FED + "reinjection = true\n" + PATHS,
        NAMED + "reinjection = false\n" + PATHS,
        NAMED + FED + 'policy = "redundant"\ncopies = 2\n' + PATHS,
        NAMED + FED + PATHS + QUIC.format("x") + "copies = 2\n",
        QUIC.format("x") + QUIC.format("y").replace("443", "8443"),
        QUIC.format("x") + QUIC.format("y") + "dscp = 46\n",
    ],
)
def test_what_may_be_meant_is_not_warned_of(text: str) -> None:
    assert warned(text) == []
