"""Checks the Shim6 messages of hosts that speak it themselves: what tells locators must prove them.

I2, I2bis and R2 tell a host's locators when a context begins, UR when they change. R2 and UR do not say whose they are:
R2 answers the nonce of an I2, and UR bears the tag that its receiver gave out. Both are noted when they pass.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import TypeVar

from wayname.identity.errors import ProofError
from wayname.shim6.context import Known, Pair, option_of
from wayname.shim6.endpoint import BEFORE_SHIM6
from wayname.shim6.locators import learn
from wayname.shim6.messages import I2, R2, I2bis, UpdateRequest, decode
from wayname.shim6.options import Option, UlidPair
from wayname.wire.ipv6 import Packet

MOST_CONTEXTS = 65536

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Asked:
    """An I2 that passed: who asked whom, with which tag, and what is known of the one who asked."""

    name: Pair
    tag: int = field(repr=False)
    known: Known


class Inspection:
    """Judges messages; what it remembers of contexts is bounded, the oldest goes first."""

    def __init__(self) -> None:
        self._asked: OrderedDict[int, _Asked] = OrderedDict()
        # Who sends to the holder of a tag, and what is known of them.
        self._senders: OrderedDict[int, tuple[IPv6Address, Known]] = OrderedDict()

    def check(self, packet: Packet) -> None:
        """Raise DecodeError or ProofError if a message tells locators that it does not prove."""
        match decode(packet.upper_layer(BEFORE_SHIM6).data):
            case I2() | I2bis() as message:
                named = option_of(message.options, UlidPair)
                name = Pair(named.sender, named.receiver) if named else Pair(packet.source, packet.destination)
                known = _first(name.local, message.options)
                _keep(self._asked, message.initiator_nonce, _Asked(name, message.tag, known))
            case R2() as message:
                self._check_r2(message)
            case UpdateRequest() as message:
                if message.tag not in self._senders:
                    raise ProofError("an update of a context that did not begin here")
                sender, known = self._senders[message.tag]
                _keep(self._senders, message.tag, (sender, learn(sender, message.options, known)))

    def _check_r2(self, message: R2) -> None:
        asked = self._asked.get(message.initiator_nonce)
        if asked is None:
            # It answers an I1 without I2 between (both began at once), or nothing at all: it may not tell locators.
            if message.options:
                raise ProofError("R2 tells locators, but answers no I2 that passed here")
            return
        known = _first(asked.name.peer, message.options)
        _keep(self._senders, message.tag, (asked.name.local, asked.known))
        _keep(self._senders, asked.tag, (asked.name.peer, known))


def _first(ulid: IPv6Address, options: tuple[Option, ...]) -> Known:
    return learn(ulid, options, Known(frozenset({ulid})))


def _keep(kept: OrderedDict[K, V], key: K, value: V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > MOST_CONTEXTS:
        kept.popitem(last=False)
