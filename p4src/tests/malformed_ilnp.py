"""Malformed packets of ILNP: nonce options, the messages that bear them, and TCP flows with them."""

from __future__ import annotations

import random

from carriers import HOP_BY_HOP, ROUTING, ipv6
from ilnp_site import DESTINATION, ICMPV6, ILNP_SPOKEN, LONG, PEERS_LONG, PEERS_SHORT, TCP, UDP, whole
from malformed_headers import behind
from session_cases import DATAGRAM
from session_site import endpoint_policy
from site_switch import SiteSwitch

from small_site import FAR, Entry

# A host of its own, so that the session of the others stays as it is.
LOCAL, REMOTE = "2001:db8:1:9::11", FAR
OTHER_LOCATOR = "2001:db8:f01::1"
SESSION = 21


def add_ilnp_session(switch: SiteSwitch) -> None:
    """A session by nonce, and by its locators."""
    parameters: dict[str, int | str] = {"session": SESSION, "local": LOCAL, "remote": REMOTE}
    chosen = {"session": SESSION, "path": 0, "generation": 1, "ecmp_paths": 0}
    for entry in (
        *endpoint_policy(prefix="2001:db8:1:9::/64", protocols=ILNP_SPOKEN),
        Entry(
            "identities",
            {"local": LOCAL, "remote": REMOTE},
            "send_in_session",
            {**chosen, "send_timeout": 0, "keepalive": 0, "mode": 16},
        ),
        *(
            Entry(
                "ilnp_nonces",
                {"local": 0x11, "remote": 1, "nonce": int.from_bytes(nonce)},
                "admit_ilnp",
                parameters | {"difference": whole(LOCAL, REMOTE)},
            )
            for nonce in (PEERS_LONG, PEERS_SHORT, b"")
        ),
        Entry(
            "paths",
            {"session": SESSION, "path": 0},
            "send_ilnp",
            {
                "source": LOCAL,
                "destination": OTHER_LOCATOR,
                "nonce": int.from_bytes(LONG),
                "nonce_length": 12,
                "difference": 1,
                "vrf": 0,
            },
        ),
        Entry("locator_pairs", {"session": SESSION, "source": REMOTE, "destination": LOCAL}, "on_path", {"path": 0}),
    ):
        switch.add(entry.table, entry.action, entry.keys, entry.parameters)


def nonces(numbers: random.Random) -> bytes:
    """Destination options with one or more nonces of right and wrong lengths, before anything that may follow."""
    payload, upper = _upper(numbers)
    for _ in range(numbers.choice((1, 1, 1, 2, 3))):
        payload, upper = _options(numbers, upper) + payload, DESTINATION
        kind = numbers.choice((DESTINATION, DESTINATION, HOP_BY_HOP, ROUTING, 44))
        if kind != DESTINATION:
            payload, upper = behind(numbers, kind, payload, upper, LOCAL)
    there = numbers.choice((REMOTE, REMOTE, OTHER_LOCATOR, "2001:db8:f00::2"))
    ends = (there, LOCAL) if numbers.randrange(4) else (LOCAL, there)
    return ipv6(upper, payload, *ends)


def _upper(numbers: random.Random) -> tuple[bytes, int]:
    match numbers.randrange(4):
        case 0:
            return DATAGRAM, UDP
        case 1:
            flags = numbers.choice((0x02, 0x02, 0x10, 0x12, 0x04, numbers.randrange(256)))
            return numbers.randbytes(12) + bytes([0x50, flags]) + numbers.randbytes(6 + numbers.randrange(8)), TCP
        case 2:
            kind = numbers.choice((156, 160, 128, 1, 3, numbers.randrange(256)))
            return bytes([kind, 0]) + numbers.randbytes(numbers.randrange(40)), ICMPV6
        case _:
            quoted = ipv6(DESTINATION, _options(numbers, UDP) + DATAGRAM, LOCAL, REMOTE)
            return bytes([numbers.randrange(1, 5), 0]) + bytes(6) + quoted[: numbers.randrange(len(quoted) + 1)], ICMPV6


def _options(numbers: random.Random, upper: int) -> bytes:
    octets_ = b""
    for _ in range(numbers.choice((1, 1, 1, 2, 3))):
        nonce = numbers.choice((PEERS_LONG, PEERS_SHORT, numbers.randbytes(numbers.choice((0, 3, 4, 8, 12, 13, 30)))))
        said = numbers.choice((len(nonce), len(nonce), len(nonce), 4, 12, 255))
        octets_ += bytes([0x8B, said]) + nonce
        octets_ += numbers.choice((b"", b"", b"\0", b"\x01\0", b"\x01\x03\0\0\0", b"\x1e\x02\0\0", b"\x01"))
    octets_ += bytes(-(len(octets_) + 2) % 8)
    return bytes([upper, numbers.choice(((len(octets_) + 2) // 8 - 1,) * 4 + (0, 3, 255))]) + octets_
