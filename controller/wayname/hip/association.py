"""What is known of an association, and of the host that it serves."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import NamedTuple

from wayname.hip.admission_control import LeakyBucket
from wayname.hip.ciphers import Cipher
from wayname.hip.esp.keys import Keys
from wayname.hip.esp.suites import SuiteId
from wayname.hip.groups import KeyPair
from wayname.hip.identities import Identity
from wayname.hip.keymat import Keymat
from wayname.hip.locator_set import Locator
from wayname.hip.parameters import HostId
from wayname.hip.path_reports import SignedPathReports
from wayname.hip.peer_locators import PeerLocators
from wayname.hip.rhash import Rhash
from wayname.hip.states import State
from wayname.session.keys import Pair


class Names(NamedTuple):
    """Which association: the HITs at both ends."""

    local: IPv6Address
    peer: IPv6Address


@dataclass(frozen=True, slots=True)
class LocalHost:
    """A host that we speak for: its identity, where it is, the preferred locator first, and what its edge reports."""

    identity: Identity
    locators: tuple[IPv6Address, ...]
    path_reports: SignedPathReports | None = None


@dataclass(frozen=True, slots=True)
class Esp:
    """A pair of security associations; keys are those for what leaves and for what comes."""

    suite: SuiteId
    spi: int  # ours
    peer_spi: int
    outgoing: Keys
    incoming: Keys


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags that packets bear: those to us, and those to the peer."""

    tag: int = field(repr=False)
    peer_tag: int = field(repr=False)


Transport = Esp | Tags


@dataclass(slots=True)
class Secured:
    """What an exchange agreed on."""

    peer: HostId
    rhash: Rhash
    cipher: Cipher
    pair: KeyPair
    peer_public: bytes
    salt: bytes
    keymat: Keymat = field(repr=False)
    outgoing: Keys
    incoming: Keys


@dataclass(slots=True)
class Update:
    """An UPDATE of ours that is not acknowledged."""

    octets: bytes
    # Where it must go if it verifies that very locator.
    destination: IPv6Address | None = None
    # Whether it tells where we are.
    tells: bool = False
    tries: int = 0


@dataclass(slots=True)
class Rekeying:
    """New security associations that are not agreed on yet: our half, and the peer's when it came."""

    update: int
    spi: int
    index: int
    pair: KeyPair | None
    acknowledged: bool = False
    peer_spi: int | None = None
    peer_index: int = 0
    peer_public: bytes | None = None


@dataclass(slots=True)
class Association:
    """An association; what depends on its state is None where the state has no use for it."""

    names: Names
    local: IPv6Address  # where our packets leave from
    peer: PeerLocators
    # What the exchange began between; hosts that know nothing of HIP know each other by these.
    exchange: Pair
    state: State = State.UNASSOCIATED
    tries: int = 0
    peer_counter: int = -1
    # The last I1, I2, R2 or CLOSE, as it may have to be sent again.
    sent: bytes = b""
    i2: bytes = b""  # the one that made this association
    secured: Secured | None = None
    transport: Transport | None = None
    # What the peer said in the exchange that its edge reports.
    path_reports: SignedPathReports | None = None
    close_nonce: bytes = field(default=b"", repr=False)
    next_update: int = 0
    updates: dict[int, Update] = field(default_factory=dict)
    peer_next: int = 0
    peer_told: int = -1
    taken: OrderedDict[int, bytes] = field(default_factory=OrderedDict)
    told: tuple[Locator, ...] = ()
    rekeying: Rekeying | None = None
    # The peer's SPI before the keys of now: a peer that does not know yet that they are agreed on still names it.
    replaced_peer_spi: int | None = None
    used: float = 0.0
    # How long the timers of this state ran, and when the peer was told last what was wrong with a message.
    waited: float = 0.0
    objected: float = -math.inf
    notices: LeakyBucket = field(default_factory=LeakyBucket)
    # Messages in the peer's name that are dear to check, and that anybody can send.
    checks: LeakyBucket = field(default_factory=LeakyBucket)

    @property
    def pair(self) -> Pair:
        """Where packets of this association go from and to."""
        return Pair(self.local, self.peer.current)

    def begin_anew(self) -> None:
        """Forget what an exchange before this one agreed on, but not what the peer's counter was."""
        self.transport = self.rekeying = self.replaced_peer_spi = None
        self.next_update = self.peer_next = 0
        self.updates.clear()
        self.taken.clear()
        self.peer_told, self.told, self.close_nonce = -1, (), b""
