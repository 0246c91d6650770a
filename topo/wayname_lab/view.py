"""What the screen and the plain lines show of a lab at one moment; no drawing, no asking."""

from dataclasses import dataclass

from wayname_lab.lab_events import LabEvent
from wayname_lab.traffic import FlowState


@dataclass(frozen=True, slots=True)
class LinkView:
    """A link and what goes through it."""

    name: str
    a: str
    b: str
    is_cut: bool
    forth: float  # bits per second from a to b
    back: float


@dataclass(frozen=True, slots=True)
class RouterView:
    """A switch and its controller."""

    name: str
    is_edge: bool
    state: str
    switch_starts: int
    controller_starts: int


@dataclass(frozen=True, slots=True)
class HostView:
    """A host."""

    name: str
    edge: str
    vlan: int
    address: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything at one moment."""

    title: str
    medium: str
    elapsed: float
    now: int  # of the hosts' clock, in nanoseconds
    links: list[LinkView]
    routers: list[RouterView]
    hosts: list[HostView]
    flows: list[FlowState]
    event_log: list[LabEvent]


def bits(rate: float) -> str:
    """Write a rate in three digits or so."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate >= factor:
            value = rate / factor
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return f"{rate:.0f}"


def octets(count: float) -> str:
    """Write a number of bytes."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"


def milliseconds(nanoseconds: int | None) -> str:
    """Write a time in milliseconds."""
    if nanoseconds is None:
        return "-"
    value = nanoseconds / 1e6
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms"


def clock(seconds: float) -> str:
    """Write the time since the lab began."""
    return f"{int(seconds) // 60:02d}:{seconds % 60:04.1f}"
