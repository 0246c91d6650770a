"""The suites of ESP_TRANSFORM (RFC 7402, section 5.1.2): what each needs of keys, and what it adds to a packet.

All AES keys have 128 bits but those of suite 9: the RFC draws keys of their natural size and names no other.
"""

from dataclasses import dataclass
from enum import Enum, IntEnum


class SuiteId(IntEnum):
    """The numbers that hosts name suites by."""

    AES_128_CBC_HMAC_SHA1 = 1
    NULL_HMAC_SHA_256 = 7
    AES_128_CBC_HMAC_SHA_256 = 8
    AES_256_CBC_HMAC_SHA_256 = 9
    AES_CCM_8 = 10
    AES_CCM_16 = 11
    AES_GCM_8 = 12
    AES_GCM_16 = 13
    AES_CMAC_96 = 14
    AES_GMAC = 15


class Cipher(Enum):
    """How payloads are hidden."""

    NULL = "null"
    CBC = "cbc"  # RFC 3602
    CCM = "ccm"  # RFC 4309
    GCM = "gcm"  # RFC 4106
    GMAC = "gmac"  # not at all, RFC 4543


class Integrity(Enum):
    """What tells that a packet is the peer's, where the cipher does not."""

    NONE = "none"
    HMAC_SHA1 = "hmac_sha1"  # RFC 2404
    HMAC_SHA_256 = "hmac_sha_256"  # RFC 4868
    CMAC = "cmac"  # RFC 4494


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite; sizes in octets."""

    id: SuiteId
    cipher: Cipher
    integrity: Integrity
    encryption_key: int  # with the salt, where nonces have one
    salt: int
    integrity_key: int
    iv: int
    icv: int
    block: int  # that padding fills up to

    @property
    def hides(self) -> bool:
        """Whether it encrypts; one that does not is only for who asks for it (RFC 7402, section 3.3.5)."""
        return self.cipher not in (Cipher.NULL, Cipher.GMAC)

    @property
    def most_added(self) -> int:
        """The most that a packet grows by: SPI, sequence number, IV, padding, trailer, ICV."""
        return 8 + self.iv + self.block - 1 + 2 + self.icv


def _aead(number: SuiteId, cipher: Cipher, salt: int, icv: int) -> Suite:
    return Suite(number, cipher, Integrity.NONE, 16 + salt, salt, 0, 8, icv, 4)


SUITES = {
    suite.id: suite
    for suite in (
        Suite(SuiteId.AES_128_CBC_HMAC_SHA1, Cipher.CBC, Integrity.HMAC_SHA1, 16, 0, 20, 16, 12, 16),
        Suite(SuiteId.NULL_HMAC_SHA_256, Cipher.NULL, Integrity.HMAC_SHA_256, 0, 0, 32, 0, 16, 4),
        Suite(SuiteId.AES_128_CBC_HMAC_SHA_256, Cipher.CBC, Integrity.HMAC_SHA_256, 16, 0, 32, 16, 16, 16),
        Suite(SuiteId.AES_256_CBC_HMAC_SHA_256, Cipher.CBC, Integrity.HMAC_SHA_256, 32, 0, 32, 16, 16, 16),
        _aead(SuiteId.AES_CCM_8, Cipher.CCM, 3, 8),
        _aead(SuiteId.AES_CCM_16, Cipher.CCM, 3, 16),
        _aead(SuiteId.AES_GCM_8, Cipher.GCM, 4, 8),
        _aead(SuiteId.AES_GCM_16, Cipher.GCM, 4, 16),
        Suite(SuiteId.AES_CMAC_96, Cipher.NULL, Integrity.CMAC, 0, 0, 16, 0, 12, 4),
        _aead(SuiteId.AES_GMAC, Cipher.GMAC, 4, 16),
    )
}
