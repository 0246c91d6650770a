"""Attacks on slots that packets get by hash: of pairs that may become sessions, of a border's flows, of ILNP's TCP."""

from __future__ import annotations

import zlib
from ipaddress import IPv6Address, IPv6Network

from bench.attacks.attack import FASTEST, Attack, Draw, Group, Make, from_provider
from bench.attacks.packets import SYN, echo_request, segment_of_ilnp
from bench.attacks.ports import ILNP_PORT
from bench.attacks.site import A
from wayname.ilnp.nonce import LONG_NONCE
from wayname.p4_constants import MONITORED_PAIRS

HOST = A.host("shim6").address
BORDER = A.host("border")
ILNP_HOST = A.host("ilnp").address
# An attacker reads the slots of watched pairs in p4src.
# Where nobody is and nothing is counted: what is sent from here does not count as flood either.
NOWHERE = IPv6Network("2001:db8:e000::/64")
COLLISION_TRIES = 8 * MONITORED_PAIRS
# So many flows are heard, answered, and heard again before the next ones.
TOGETHER = 256
FLOWS = 65536
PAIRS = 32768
COLLISIONS_A_SECOND = 50
# Each is answered by a host, and the answer goes through all that measures here too.
ANSWERED = 10_000


def colliding(draw: Draw, peers: list[IPv6Address]) -> list[bytes]:
    """Return a ping for each peer from a source whose answer takes the peer's slot, if slots are by CRC32."""
    by_slot = {_slot(peer): peer for peer in peers}
    found: dict[IPv6Address, IPv6Address] = {}
    for _ in range(COLLISION_TRIES):
        source = NOWHERE[draw.rng.getrandbits(64)]
        peer = by_slot.get(_slot(source))
        if peer is not None and peer not in found:
            found[peer] = source
            if len(found) == len(by_slot):
                break
    return [from_provider(echo_request(source, HOST)) for source in found.values()]


def _slot(peer: IPv6Address) -> int:
    return zlib.crc32(HOST.packed + peer.packed) % MONITORED_PAIRS


def _pairs(draw: Draw) -> list[bytes]:
    """Return pings whose answers each take a slot of watched pairs."""
    return draw.times(lambda: from_provider(echo_request(draw.forged(), HOST)), PAIRS)


def _border_flows(draw: Draw) -> list[bytes]:
    """Return pings from forged sources to a host behind the border, each twice: a flow that was heard again is kept."""
    to = A.outside(BORDER, "p")
    frames: list[bytes] = []
    for _ in range(FLOWS // TOGETHER):
        once = [from_provider(echo_request(draw.forged(), to, draw.rng.getrandbits(16))) for _ in range(TOGETHER)]
        frames += once * 2
    return frames


def _ilnp_flows(draw: Draw) -> list[bytes]:
    """Return SYNs with nonces to a port where a host listens: its SYN-ACK keeps the slot for some seconds."""

    def one() -> bytes:
        ports, nonce = (draw.rng.randrange(1024, 65536), ILNP_PORT), draw.rng.randbytes(LONG_NONCE)
        return from_provider(segment_of_ilnp(draw.forged(), ILNP_HOST, ports, SYN, nonce, draw.rng.getrandbits(32)))

    return draw.times(one, PAIRS)


BEGINNINGS = "new sessions of hosts here"


def _attack(name: str, about: str, make: Make, rate: float = FASTEST, lasts: int = 1, against: str = "") -> Attack:
    """Return a flood that fills slots: those that it takes become free again after a while."""
    return Attack(name, about, Group.SLOTS, "a-p", make, rate, rate, lasts=lasts, against=against)


COLLISION = _attack(
    "pair-collision",
    "a ping for each new pair whose answer takes the pair's slot (if slots are by CRC32)",
    _pairs,
    COLLISIONS_A_SECOND,
    against=BEGINNINGS,
)
ATTACKS = (
    COLLISION,
    _attack("pair-fill", "pings whose answers fill the slots of watched pairs", _pairs, ANSWERED, 3, BEGINNINGS),
    _attack("border-fill", "pings that keep flows of the border", _border_flows, ANSWERED, 4),
    _attack("ilnp-fill", "SYNs with nonces to a port where a host listens", _ilnp_flows, ANSWERED),
)
