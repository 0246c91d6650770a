"""The screen fits its terminal and shows what it is given."""

import io

import pytest
from rich.console import Console

from wayname_lab.admin import Octets, parse_counters
from wayname_lab.lab_events import LabEvent
from wayname_lab.model import TrafficFlow
from wayname_lab.screen import Screen
from wayname_lab.show import KEYS
from wayname_lab.traffic import FlowState
from wayname_lab.view import HostView, LinkView, RouterView, View, bits, clock, milliseconds, octets

API = "unix:/tmp/wayname-x1y2z3ab/NAME.api"
PAGE = "http://127.0.0.1:39605/a/#token=kFpZoOdunb1MbiRsAmtSy4&edges=a,b,providers-p,providers-q"
LINKS = [
    LinkView("a-p", "a", "p", False, 23.1e6, 4e5),
    LinkView("q-a", "q", "a", True, 0, 0),
    LinkView("b-p", "b", "p", False, 4e5, 23e6),
    LinkView("p-q", "p", "q", False, 0, 0),
]


def drawn(width: int, height: int) -> list[str]:
    flow = FlowState(TrafficFlow("ping", "a1", "b1", None), 5001, received=97, lost=3, rtt=16_200_000)
    view = View(
        "Two sites",
        "wires",
        83.4,
        0,
        LINKS,
        [RouterView(name, name in "ab", "ready", 1, 2) for name in "abpq"],
        [HostView("a1", "a", 10, "2001:db8:1:10::11")],
        [flow],
        [LabEvent(float(number), "lab", f"event {number}") for number in range(100)],
    )
    console = Console(width=width, height=height, file=io.StringIO(), force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(Screen(view, KEYS.format(5), API, PAGE), end="")
    return capture.get().splitlines()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 48)])
def test_everything_is_there_and_fits(width: int, height: int) -> None:
    lines = drawn(width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for shown in ("Two sites", "23.1M→ ←400k", " cut ", "ping a1 > b1", "16.2 ms", "2001:db8:1:10::11", "event 99"):
        assert shown in text
    assert "event 1\n" not in text
    # The keys are whole, and so are the addresses, be it on two lines.
    assert KEYS.format(5) in lines[-1]
    assert API in text
    assert PAGE in "".join(line.strip() for line in lines)


def test_a_link_is_drawn_in_its_direction() -> None:
    line = next(line for line in drawn(80, 24) if " p " in line)
    # From a to p and on to b; b's own link counts from b.
    assert line.index("23.1M→ ←400k") < line.index(" p ") < line.index("23.0M→ ←400k")


def test_numbers_for_people() -> None:
    assert [bits(rate) for rate in (0, 999, 1500, 23.14e6, 123e6, 2e9)] == ["0", "999", "1.5k", "23.1M", "123M", "2.0G"]
    assert [octets(count) for count in (5, 2500, 3e6, 4e9)] == ["5 B", "2.5 kB", "3.0 MB", "4.0 GB"]
    assert [milliseconds(time) for time in (None, 1_500_000, 200_000_000)] == ["-", "1.5 ms", "200 ms"]
    assert clock(83.44) == "01:23.4"


def test_counters_of_ports() -> None:
    text = (
        'wayname_switch_received_bytes_total{port="1"} 7\n'
        'wayname_switch_sent_bytes_total{port="1"} 9\nwayname_switch_sent_packets_total{port="1"} 3\n'
    )
    assert parse_counters(text) == {1: Octets(7, 9)}
