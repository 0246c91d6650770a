"""What is said about messages that were dropped: NOTIFY to peers, ICMPv6 to others (RFC 7401, sections 4.3 and 5.4).

A NOTIFY costs a signature, so it goes to who solved a puzzle, or to where a peer is known to be, once a second. Errors
of ICMPv6 go where the message came from, which may be forged, so they count as answers to strangers' I1s do.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address

from wayname.hip.admission_control import Limits
from wayname.hip.association import Association, LocalHost, Names
from wayname.hip.associations import Associations
from wayname.hip.errors import MessageError
from wayname.hip.messages import KIND_MASK, RECEIVER_AT, SENDER_AT, Kind, Message
from wayname.hip.outputs import Outbox
from wayname.hip.parameters import Notification
from wayname.hip.proofs import sign
from wayname.outbox import Send
from wayname.session.keys import Pair
from wayname.wire import icmpv6
from wayname.wire.ipv6 import HEADER_BYTES, Packet

# Those that only a peer sends.
OF_PEERS = frozenset({Kind.UPDATE, Kind.CLOSE, Kind.CLOSE_ACK})
NOTIFY_EVERY = 1.0


class ErrorReplies:
    """Says what was wrong, seldom enough that nobody can make use of it."""

    def __init__(
        self, hosts: Mapping[IPv6Address, LocalHost], associations: Associations, outbox: Outbox, limits: Limits
    ) -> None:
        self._hosts = hosts
        self._associations = associations
        self._outbox = outbox
        self._limits = limits

    def dropped(self, error: MessageError, octets: bytes, packet: Packet, now: float) -> None:
        """A message was dropped: say so if its sender may be told."""
        if error.pointer is not None:
            self._problem(error.pointer, octets, packet, now)
            return
        names = Names(IPv6Address(octets[RECEIVER_AT : RECEIVER_AT + 16]), IPv6Address(octets[SENDER_AT:RECEIVER_AT]))
        association = self._associations.named(names)
        if association is not None and association.secured is not None and octets[2] & KIND_MASK in OF_PEERS:
            self.to_peer(association, error, now)

    def to_peer(self, association: Association, error: MessageError, now: float) -> None:
        """Tell a peer, where it is known to be, what was wrong with a message that may be its own."""
        if error.notify is not None and association.objected + NOTIFY_EVERY <= now:
            association.objected = now
            self.notify(association.names, association.pair, error, now)

    def notify(self, names: Names, pair: Pair, error: MessageError, now: float) -> None:
        """Tell whoever solved a puzzle what was wrong."""
        if error.notify is not None and self._limits.answers.may(pair.peer, now):
            message = Message(Kind.NOTIFY, names.local, names.peer, (Notification(error.notify, error.data),))
            self._outbox.send(pair, sign(message, self._hosts[names.local].identity))

    def _problem(self, pointer: int, octets: bytes, packet: Packet, now: float) -> None:
        """Send Parameter Problem; its pointer counts from the IPv6 header on (RFC 4443, section 3.4)."""
        longer, answers = self._limits.longer(False), self._limits.answers
        if icmpv6.may_be_reported(packet) and longer.is_open(packet.source, now) and answers.may(packet.source, now):
            at = HEADER_BYTES + packet.payload.index(octets) + pointer
            problem = icmpv6.parameter_problem(at, packet.encode()).packet(packet.destination, packet.source)
            longer.take(packet.source, now, max(len(problem.payload) - len(packet.payload), 1))
            self._outbox.add(Send(problem))
