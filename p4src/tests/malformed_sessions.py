"""Malformed packets of a session: payload headers, tags, Shim6's own messages, and errors about them."""

from __future__ import annotations

import random

from carriers import HOP_BY_HOP, ROUTING, ipv6
from malformed_headers import behind
from session_cases import DATAGRAM
from session_site import FOLLOW, LOCAL, LOCATORS, OUR_TAG, PEERS_TAG, REMOTE, REPORT, Session, between, came_by
from shim6_layers import SHIM6, Shim6Keepalive
from site_switch import SiteSwitch

CONTROL_TYPES = (1, 2, 3, 4, 5, 6, 64, 65, 66, 67, 127)
ICMPV6 = 58


def add_session(switch: SiteSwitch) -> None:
    """A session with backups; no packet of it is copied, so that each has one fate."""
    session = Session(mode=REPORT | FOLLOW)
    for entry in (*session.entries(), session.backup(0, 2), session.backup(1, 2), session.backup(2, 0)):
        switch.add(entry.table, entry.action, entry.keys, entry.parameters)


def addressed(numbers: random.Random, packet: bytes) -> bytes:
    """Between the addresses of a path in either direction, or of two that do not belong together."""
    here, there = LOCATORS[numbers.randrange(3)][0], LOCATORS[numbers.randrange(3)][1]
    if numbers.randrange(4):
        here, there = LOCATORS[numbers.randrange(3)]
    return between(packet, *((here, there) if numbers.randrange(2) else (there, here)))


def payload_headers(numbers: random.Random) -> bytes:
    """One or more payload headers among other headers, with the tag or one that is nearly it."""
    payload, upper = DATAGRAM, 17
    for _ in range(numbers.choice((1, 1, 1, 2, 3))):
        tag = numbers.choice(
            (OUR_TAG, OUR_TAG, PEERS_TAG, OUR_TAG ^ 1 << numbers.randrange(47), numbers.getrandbits(47))
        )
        length = numbers.choice((0, 0, 0, 1, 255))
        first = numbers.choice((0x80, 0x80, 0x80, 0)) | tag >> 40
        payload = bytes([upper, length, first]) + (tag & (1 << 40) - 1).to_bytes(5) + payload
        upper = SHIM6
        kind = numbers.choice((SHIM6, SHIM6, HOP_BY_HOP, ROUTING, 60, 44))
        payload, upper = behind(numbers, kind, payload, upper, LOCAL)
    return addressed(numbers, ipv6(upper, payload, REMOTE, LOCAL))


def control_messages(numbers: random.Random) -> bytes:
    """Messages of every type with any length and tag; keepalives with and without a right checksum."""
    message = bytes(Shim6Keepalive(tag=numbers.choice((OUR_TAG, OUR_TAG, PEERS_TAG, numbers.getrandbits(47)))))
    if numbers.randrange(2):
        body = numbers.randbytes(8 * numbers.randrange(12))
        length = numbers.choice((len(body) // 8, numbers.randrange(256)))
        kind = numbers.choice((*CONTROL_TYPES, numbers.randrange(128)))
        message = bytes([59, length, kind, numbers.randrange(256)]) + numbers.randbytes(4) + body
    elif numbers.randrange(2):
        message = message[:4] + numbers.randbytes(2) + message[6:]
    return addressed(numbers, ipv6(SHIM6, message + numbers.randbytes(numbers.choice((0, 0, 8))), REMOTE, LOCAL))


def errors_about_sessions(numbers: random.Random) -> bytes:
    """ICMPv6 errors that quote a packet of the session, whole or in part."""
    quoted = between(came_by(1, ipv6(17, DATAGRAM, REMOTE, LOCAL), tag=PEERS_TAG), *LOCATORS[numbers.randrange(3)])
    body = bytes([numbers.choice((1, 2, 3, 4, 0, 127)), numbers.randrange(8)]) + numbers.randbytes(6)
    return addressed(numbers, ipv6(ICMPV6, body + quoted[: numbers.randrange(len(quoted) + 1)], REMOTE, LOCAL))
