"""Security associations: one for what leaves, one for each SPI that the peer may use (RFC 4303).

SPI (4), sequence number's lower half (4), sealed [payload, padding 1, 2, 3 ..., pad length (1), next header (1)]
"""

from dataclasses import dataclass

from wayname.hip.esp.errors import Exhausted, Rejected, RejectReason
from wayname.hip.esp.keys import Keys
from wayname.hip.esp.protection import RandomOctets, protection
from wayname.hip.esp.suites import Suite
from wayname.hip.esp.window import Window

HEADER = 8  # octets
TRAILER = 2
LAST_NUMBER = (1 << 64) - 1
# To 255 are for the IANA (RFC 4303, section 2.1).
FIRST_SPI = 256


@dataclass(frozen=True, slots=True)
class Content:
    """What a packet is about."""

    next_header: int
    payload: bytes
    is_newest: bool = True  # nothing that was sent later came before


class Outgoing:
    """The association for what leaves; its SPI is the peer's choice."""

    def __init__(self, spi: int, suite: Suite, keys: Keys, random_octets: RandomOctets) -> None:
        self.spi = spi
        self.sent = 0  # the last sequence number
        self._suite = suite
        self._protection = protection(suite, keys, random_octets)

    def seal(self, content: Content) -> bytes:
        """Return an ESP packet, from its SPI to its ICV."""
        if self.sent == LAST_NUMBER:
            raise Exhausted(f"SPI {self.spi:#010x} has no sequence numbers left")
        self.sent += 1
        padding = -(len(content.payload) + TRAILER) % self._suite.block
        plain = content.payload + bytes(range(1, padding + 1)) + bytes([padding, content.next_header])
        header = self.spi.to_bytes(4) + (self.sent & 0xFFFF_FFFF).to_bytes(4)
        return header + self._protection.seal(self.spi, self.sent, plain)


class Incoming:
    """The association for what comes; its SPI is ours."""

    def __init__(self, spi: int, suite: Suite, keys: Keys, random_octets: RandomOctets) -> None:
        self.spi = spi
        self._suite = suite
        self._protection = protection(suite, keys, random_octets)
        self._window = Window()

    def open(self, packet: bytes) -> Content:
        """Return what an ESP packet is about, if it is the peer's and came never before."""
        sealed = packet[HEADER:]
        blocks = len(sealed) - self._suite.iv - self._suite.icv
        if blocks <= 0 or blocks % self._suite.block:
            raise Rejected(RejectReason.SHORT)
        number = self._window.number(int.from_bytes(packet[4:HEADER]))
        if not self._window.is_fresh(number):
            raise Rejected(RejectReason.REPLAYED)
        plain = self._protection.unseal(self.spi, number, sealed)
        is_newest = number > self._window.highest
        self._window.take(number)
        padding, next_header = plain[-2], plain[-1]
        payload = plain[: -TRAILER - padding]
        if padding + TRAILER > len(plain) or plain[len(payload) : -TRAILER] != bytes(range(1, padding + 1)):
            raise Rejected(RejectReason.PADDING)
        return Content(next_header, payload, is_newest)
