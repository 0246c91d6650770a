"""What can be chosen about sessions, and the times that go with them, in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

from wayname.ilnp.config import IDLE_TIME, NonceUse
from wayname.ilnp.nonce import LONG_NONCE, NONCE_LENGTHS

FIRST_TIMEOUT = 1.0
TRIES = 4
HOLD_DOWN_TIME = 60.0
WITHOUT_ILNP_TIME = 600.0
# Of a locator that nobody told the lifetime of: it was seen on a packet.
SEEN_LIFETIME = 300
# RFC 6744, section 4, puts the nonce on all packets for three round trips after a move, or for so long.
NONCE_TIME = 60.0
# Packets to a locator that was given up may still be under way.
GRACE_TIME = 30.0
UPDATE_TIMEOUT = 0.5
UPDATE_TRIES = 7
# Sessions that are asked for, or whose peers did not answer of late: a part of the capacity, and no more than so many.
HALF_OPEN_SHARE = 4
MOST_HALF_OPEN = 4096
# So long a packet may be under way.
OLD_LIST_TIME = 10.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be chosen."""

    capacity: int = 1_000_000
    nonce_octets: int = LONG_NONCE
    nonce_use: NonceUse = NonceUse.ALWAYS
    naive: bool = False
    # After how long without a packet a session is collected; None: the tables know, and `unused` is called.
    idle: float | None = IDLE_TIME
    # What the nonces that a responder gives out are made of; the next program knows them if it has the same.
    secret: bytes | None = field(default=None, repr=False)

    @property
    def half_open(self) -> int:
        """How many sessions may be asked for, or left alone, at once."""
        return min(max(1, self.capacity // HALF_OPEN_SHARE), MOST_HALF_OPEN)

    def __post_init__(self) -> None:
        if self.nonce_octets not in NONCE_LENGTHS:
            raise ValueError(f"nonces of {self.nonce_octets} octets; 4 and 12 are known")
        if self.capacity < 1:
            raise ValueError(f"a cache for {self.capacity} sessions")
