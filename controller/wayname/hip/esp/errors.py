"""Why a packet is not taken."""

from enum import StrEnum


class RejectReason(StrEnum):
    """What is wrong with a packet that came."""

    SHORT = "short"  # less than its association's headers, or no whole blocks
    SPI_UNKNOWN = "spi_unknown"
    REPLAYED = "replayed"
    FORGED = "forged"  # the integrity check fails
    PADDING = "padding"


class Rejected(Exception):
    """A packet that came is dropped (RFC 4303, section 3.4); nothing of the association changes."""

    def __init__(self, why: RejectReason) -> None:
        super().__init__(why.value)
        self.why = why


class Exhausted(Exception):
    """Every sequence number is used; the association must be replaced (RFC 7402, section 3.3.6)."""
