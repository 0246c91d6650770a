"""A session protocol as the edge sees it: what it declares, and what the managers of its sessions answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

# `wayname --help` asks protocols for their commands: nothing that takes long is loaded for that.
if TYPE_CHECKING:
    from ipaddress import IPv6Address, IPv6Network

    from prometheus_client.core import Metric

    from wayname.config.model import Config
    from wayname.config.sections import ProtocolSection
    from wayname.edge.boundary import Input
    from wayname.edge.links import ReceivedPacket
    from wayname.identity.locators import ProvableLocators
    from wayname.p4_constants import Punt
    from wayname.session.answers import SessionAnswer
    from wayname.session.context import SessionContext
    from wayname.session.keys import Pair
    from wayname.wire.ipv6 import Packet


class SessionPath(NamedTuple):
    """A path that a session has, whether it is in use, found silent, and how long its last answer took in seconds."""

    pair: Pair
    in_use: bool
    is_silent: bool = False
    round_trip: float | None = None


class PathsOfSession(NamedTuple):
    """With whom a session is, and by which paths."""

    peer: IPv6Address
    paths: list[SessionPath]


# Whether a packet that the switch punted is taken; then no other manager is asked.
PuntHandlers = Mapping[int, "Callable[[ReceivedPacket, float], bool]"]
# What to do about digests, commands and other inputs; every manager that has a handler is told.
InputHandlers = Mapping[type, Callable[[Any, float], None]]


class SessionManager(ABC):
    """Keeps sessions of a protocol on the switch; one that has no use for something leaves it as it is here."""

    # Messages that were checked and did not pass, by why.
    refused: Mapping[str, int] = MappingProxyType({})

    @property
    def punts(self) -> PuntHandlers:
        """By reason, who takes what the switch punts."""
        return {}

    @property
    def inputs(self) -> InputHandlers:
        """By type, who takes what else goes into the edge."""
        return {}

    @abstractmethod
    def start(self, now: float) -> None:
        """The switch is there."""

    def become_backup(self, now: float) -> None:  # noqa: B027
        """The switch is there, and another edge acts for the site: want what that one wrote down, and no more."""

    @abstractmethod
    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""

    @abstractmethod
    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due, so late."""

    @abstractmethod
    def next_hops_changed(self, now: float) -> None:
        """A next hop is up or down, and so may be the provider that a path leaves by."""

    @abstractmethod
    def hosts(self) -> Iterator[IPv6Address]:
        """Yield the identities here that sessions are of."""

    def numbers(self) -> Iterable[int]:
        """Return the numbers of its sessions."""
        return ()

    def paths_of_sessions(self) -> Iterator[PathsOfSession]:
        """Yield the paths of the sessions that there are now, for who counts very many; they may change meanwhile."""
        return iter(())

    def answer(self, number: int) -> SessionAnswer | None:
        """Return a session as the API tells of it, without what passed it; None if it is not among these."""
        return None

    def may_move(self, number: int, path: str) -> tuple[int | None, str]:
        """Return the path that a number or "LOCAL,PEER" names if a session may move there, or why it may not."""
        return None, "its protocol chooses the path"

    def may_prefer(self, number: int, policy: str, path: str | None) -> tuple[int | None, str]:
        """Return the path that is named if flows of a policy may take it in a session, or why they may not.

        Without a path they are to go as the policy says, and there is no reason against that if the text is empty.
        """
        return None, "sessions of its protocol have no paths for single flows"

    def restored(self, packet: Packet) -> Packet:
        """Return a packet as the switch passes it on to a host: with the identities that the host knows."""
        return packet

    def unfinished(self) -> Iterable[Input]:
        """Return what began and is not finished, for an edge in the place of this one: the switch tells of it once."""
        return ()

    def is_here(self, address: IPv6Address, now: float) -> None:  # noqa: B027
        """Somebody on a link here said that it has an address."""

    def serve(self, host: ProvableLocators, now: float) -> None:  # noqa: B027
        """A host has an identity that the edge can prove, or has other locators."""

    def deprecate(self, prefixes: Iterable[IPv6Network], now: float) -> None:  # noqa: B027
        """Locators in these prefixes, and no others, are for use where there is nothing better."""


@dataclass(frozen=True, slots=True)
class PuntedMessage:
    """What a message looks like that P4 does not know, to hosts whose prefix has one of these bits (docs/punts.md).

    The reason, 48 to 63, is its meters' class as well.
    """

    reason: int
    protocols: int
    next_header: int | None = None
    udp_port: int | None = None
    icmpv6_type: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command of `wayname`: the module whose `command` it is, and what the list of commands says of it."""

    name: str
    module: str
    about: str


@dataclass(frozen=True, slots=True)
class Protocol:
    """What a protocol declares; the registry of all is `wayname.composition.protocols`.

    Its functions import what they need when they are called.
    """

    # Its section of the configuration has this name too.
    name: str
    section: Callable[[], ProtocolSection[Any]]
    # Only called where it is configured.
    managers: Callable[[SessionContext], Sequence[SessionManager]]
    # Reads the files with keys, or makes them; the context has what it returns.
    load_keys: Callable[[Config], object] = field(default=lambda config: None, repr=False)
    # What the switch is to bring to the controller.
    messages: tuple[PuntedMessage, ...] = ()
    # What Prometheus is told of a manager, beside what it refused.
    metrics: Callable[[SessionManager], Iterable[Metric]] = field(default=lambda manager: (), repr=False)
    # Messages that go on to their destination if no manager takes them.
    passed_on: frozenset[Punt] = frozenset()
    # The module whose `serve(app, running)` adds the protocol's routes to the API.
    routes: str | None = None
    commands: tuple[Command, ...] = ()

    def is_configured(self, config: Config) -> bool:
        """Whether an edge speaks it."""
        return self.name in config.protocols
