"""`[[schedule]]`: what it becomes, and the one line about each mistake."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest
from nptv6_site import SITE

from wayname.composition.configuration import parse_config
from wayname.config.schedules import Schedule, SchedulePath, SchedulingPolicy, Source
from wayname.config.tables import ConfigError
from wayname.ioam.path_metrics import PathId

PATH_P = '[[schedule.path]]\nprovider = "p"\nbandwidth = 2_000_000\ndelay = 0.02\n'
PATH_Q = '[[schedule.path]]\nprovider = "q"\nremote = "2001:db8:202::/48"\nbandwidth = 4e6\ndelay = 0.01\n'
PATHS = PATH_P + PATH_Q
NAMED = '[[schedule]]\nname = "s"\n'
P = SchedulePath("p", IPv6Network("2001:db8:101::/48"), None, 2e6, 0.02)
Q = SchedulePath("q", IPv6Network("2001:db8:201::/48"), IPv6Network("2001:db8:202::/48"), 4e6, 0.01)


def read(text: str) -> tuple[Schedule, ...]:
    return parse_config(SITE + text).schedules


def test_what_is_said_and_what_is_not() -> None:
    assert read("") == ()
    assert read(NAMED + PATHS) == (Schedule(name="s", path=(P, Q)),)
    said = 'policy = "per-flow"\nlocal = ["2001:db8:101:10::/64"]\nremote = ["2001:db8:f00::/48", "::/0"]\n'
    said += 'source = "marks"\nclose = false\nframing = 22\ntolerance = 0.5\nprobe_interval = 1\nhold = 0.05\n'
    [found] = read(NAMED + said + PATHS)
    assert (found.policy, found.source, found.close) == (SchedulingPolicy.PER_FLOW, Source.MARKS, False)
    assert (found.framing, found.tolerance, found.probe_interval, found.hold) == (22, 0.5, 1.0, 0.05)
    assert found.local == (IPv6Network("2001:db8:101:10::/64"),)
    assert found.remote == (IPv6Network("2001:db8:f00::/48"), IPv6Network("::/0"))


def test_rates_and_times_have_the_units_of_labs() -> None:
    units = PATHS.replace("2_000_000", '"2mbit"').replace("4e6", '"4000kbit"').replace("0.02", '"20ms"')
    assert read(NAMED + 'probe_interval = "500ms"\n' + units) == read(NAMED + "probe_interval = 0.5\n" + PATHS)
    with pytest.raises(ConfigError, match="write a number of bit/s, or a text with one of the units kbit, mbit"):
        read(NAMED + PATHS.replace("2_000_000", '"2 megabits"'))


def test_packets_may_go_in_several_copies() -> None:
    [found] = read(NAMED + 'policy = "redundant"\nsource = "feedback"\n' + PATHS)
    assert (found.policy, found.copies) == (SchedulingPolicy.REDUNDANT, 2)


def test_a_path_may_have_a_queue_that_is_known() -> None:
    [found] = read(NAMED + PATH_P + "queue = 75_000\n" + PATH_Q)
    assert [path.queue for path in found.paths] == [75_000, 0]


def test_a_path_has_the_trace_that_it_is_measured_by() -> None:
    trace = 'trace = "1:b-cafe-a"\n'
    [found] = read(NAMED + 'source = "ioam"\n' + PATH_P + trace + PATH_Q)
    assert [path.trace for path in found.paths] == [PathId(1, (0xB, 0xCAFE, 0xA)), None]
    assert PathId.parse("7:a-...") == PathId(7, (0xA,), complete=False)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[schedule]]\n" + PATHS, "schedule[0].name: is missing"),
        (NAMED + PATHS + NAMED + PATHS, "schedule[1].name: 's' is there twice"),
        (NAMED + PATH_P, "schedule[0].path: there are 1; write 2 to 8 [[schedule.path]]"),
        (NAMED + PATH_P + PATH_P, "schedule[0].path[1].provider: p is there twice"),
        (NAMED + PATHS.replace('"q"', '"z"'), "there is no [[provider]] 'z'; the providers are: p, q"),
        (NAMED + PATHS.replace("::/48", ""), "schedule[0].path[1].remote: '2001:db8:202' is wrong"),
        (NAMED + PATHS.replace("2_000_000", "2"), "schedule[0].path[0].bandwidth: is 2"),
        (NAMED + PATHS.replace("0.02", "-1"), "schedule[0].path[0].delay: is -1"),
        (
            NAMED + 'policy = "fast"\n' + PATHS,
            "policy: is 'fast'; write one of 'fastest-first', 'weighted-round-robin'",
        ),
        (NAMED + 'local = ["2001:db8::1"]\n' + PATHS, "local[0]: '2001:db8::1' is wrong (it has no prefix length)"),
        (NAMED + PATH_P + "queue = -1\n" + PATH_Q, "schedule[0].path[0].queue: is -1"),
        (NAMED + "framing = 256\n" + PATHS, "framing: is 256"),
        (NAMED + "tolerance = -1\n" + PATHS, "tolerance: is -1"),
        (NAMED + "probe_interval = 0\n" + PATHS, "probe_interval: is 0"),
        (NAMED + "hold = -1\n" + PATHS, "hold: is -1"),
        (NAMED + 'source = "ioam"\n' + PATHS, 'source: is "ioam", and no path has a trace'),
        (
            NAMED + 'policy = "redundant"\n' + PATHS,
            "policy: is 'redundant', and packets have no numbers: source is 'fixed'; write source = \"feedback\"",
        ),
        (
            NAMED + 'policy = "redundant"\nsource = "feedback"\ncopies = 3\n' + PATHS,
            "copies: is 3, and there are 2 paths",
        ),
        (NAMED + "copies = 1\n" + PATHS, "copies: is 1"),
        (NAMED + PATH_P + 'trace = "1:a"\n' + PATH_Q, "trace: is read by nobody"),
        (
            NAMED + 'source = "ioam"\n' + PATH_P + 'trace = "a-b"\n' + PATH_Q,
            "trace: 'a-b' is wrong (it has no namespace)",
        ),
        (NAMED + PATHS + "speed = 1\n", "schedule[0].path[1].speed: is not known"),
    ],
)
def test_a_mistake_is_one_line(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as error:
        read(text)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("local", "peer", "fits"),
    [("2001:db8:101:10::1", "2001:db8:f00::1", True), ("2001:db8:101:20::1", "2001:db8:f00::1", False)],
)
def test_which_sessions_go_by_it(local: str, peer: str, fits: bool) -> None:
    [found] = read(NAMED + 'local = ["2001:db8:101:10::/64"]\nremote = ["2001:db8:f00::/48"]\n' + PATHS)
    assert found.fits(IPv6Address(local), IPv6Address(peer)) is fits
    assert not found.fits(IPv6Address(local), IPv6Address("2001:db8:f01::1"))
