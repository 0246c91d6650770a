"""What can be chosen about associations, and the times that go with them, in seconds."""

from __future__ import annotations

from dataclasses import dataclass

from wayname.hip import ciphers, groups
from wayname.hip.ciphers import Cipher
from wayname.hip.esp.suites import SuiteId
from wayname.hip.groups import Group
from wayname.hip.transports import EspTransform, Tagged
from wayname.token_buckets import Rate

FIRST_TIMEOUT = 1.0
I1_RETRIES_MAX = 4
I2_RETRIES_MAX = 4
UPDATE_TIMEOUT = 0.5
UPDATE_RETRIES_MAX = 6
# R2 may have to come again for as long as I2 is sent again: 1 + 2 + 4 + 8 + 16.
EXCHANGE_COMPLETE_TIME = 32.0
FAILED_TIME = 60.0
# UAL and MSL of RFC 7401, section 4.4.1.
UNUSED_TIME = 900.0
SEGMENT_LIFETIME = 120.0
CLOSING_TIME = UNUSED_TIME + SEGMENT_LIFETIME
CLOSED_TIME = UNUSED_TIME + 2 * SEGMENT_LIFETIME
# How often a peer's NOTIFYs are read, and how many at once: each costs a signature, and anybody can send them.
NOTIFIES = Rate(1.0, 5)
# Parameters list so many at the most (RFC 7402, section 5.1.2).
MOST_SUITES = 6
FORMATS = (EspTransform.number, Tagged.number)


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be chosen."""

    groups: tuple[Group, ...] = groups.PREFERRED
    ciphers: tuple[Cipher, ...] = ciphers.PREFERRED
    formats: tuple[int, ...] = (Tagged.number,)
    esp_suites: tuple[SuiteId, ...] = (SuiteId.AES_128_CBC_HMAC_SHA_256, SuiteId.AES_GCM_16)
    # Whether I1s without the responder's HIT are answered, and such ones may be sent.
    opportunistic: bool = False
    # Whether an initiator encrypts who it is: then nobody on the way can check what it says (section 5.3.3).
    hides_identity: bool = True
    least_difficulty: int = 8
    max_difficulty: int = 18
    # What this end is ready to solve: some tenths of a second.
    most_solved: int = 18
    exchanges_per_second: float = 50.0
    unused_time: float = UNUSED_TIME

    def __post_init__(self) -> None:
        if not 0 <= self.least_difficulty <= self.max_difficulty <= 32:
            raise ValueError(f"puzzles of difficulty {self.least_difficulty} to {self.max_difficulty}; 0 to 32 can be")
        if unknown := set(self.formats) - set(FORMATS):
            raise ValueError(f"transport formats {sorted(unknown)} are not known")
        if not (self.groups and self.ciphers and self.formats and self.esp_suites):
            raise ValueError("at least one group, cipher, format and suite must be offered")
        if len(self.esp_suites) > MOST_SUITES:
            raise ValueError(f"{len(self.esp_suites)} suites of ESP; {MOST_SUITES} at most may be offered")
