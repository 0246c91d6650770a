"""What a suite makes of a padded payload, and back.

    SPI (4), sequence number's lower half (4), IV, [payload, padding, pad length (1), next header (1)], ICV

The whole sequence number is checked, though its upper half is not sent: behind all the rest by an integrity algorithm
(RFC 4303, section 2.2.1), in its place by a cipher that checks itself (RFC 4106, section 5).
"""

from collections.abc import Callable
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher as BlockCipher
from cryptography.hazmat.primitives.ciphers import algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from cryptography.hazmat.primitives.cmac import CMAC
from cryptography.hazmat.primitives.constant_time import bytes_eq
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from wayname.hip.esp.errors import Rejected, RejectReason
from wayname.hip.esp.keys import Keys
from wayname.hip.esp.suites import Cipher, Integrity, Suite

RandomOctets = Callable[[int], bytes]


class Protection(Protocol):
    """One direction's keys at work."""

    def seal(self, spi: int, number: int, plain: bytes) -> bytes:
        """Return what stands behind the sequence number."""

    def unseal(self, spi: int, number: int, sealed: bytes) -> bytes:
        """Return what was sealed; it has at least an IV, a block and an ICV."""


def protection(suite: Suite, keys: Keys, random_octets: RandomOctets) -> Protection:
    """Put a suite's keys to work."""
    if (len(keys.encryption), len(keys.integrity)) != (suite.encryption_key, suite.integrity_key):
        wanted = f"{suite.encryption_key} and {suite.integrity_key} octets"
        raise ValueError(
            f"{suite.id.name}: its keys have {wanted}, not {len(keys.encryption)} and {len(keys.integrity)}"
        )
    if suite.integrity is Integrity.NONE:
        return _Combined(suite, keys.encryption)
    return _Separate(suite, keys, random_octets)


class _Separate:
    """A cipher, and an integrity algorithm over what it made."""

    def __init__(self, suite: Suite, keys: Keys, random_octets: RandomOctets) -> None:
        self._suite = suite
        self._keys = keys
        self._random_octets = random_octets

    def seal(self, spi: int, number: int, plain: bytes) -> bytes:
        iv = self._random_octets(self._suite.iv)
        hidden = iv + (self._cbc(iv).encryptor().update(plain) if iv else plain)
        return hidden + self._icv(spi, number, hidden)

    def unseal(self, spi: int, number: int, sealed: bytes) -> bytes:
        hidden, icv = sealed[: -self._suite.icv], sealed[-self._suite.icv :]
        if not bytes_eq(icv, self._icv(spi, number, hidden)):
            raise Rejected(RejectReason.FORGED)
        iv, hidden = hidden[: self._suite.iv], hidden[self._suite.iv :]
        return self._cbc(iv).decryptor().update(hidden) if iv else hidden

    def _cbc(self, iv: bytes) -> BlockCipher[modes.CBC]:
        return BlockCipher(algorithms.AES(self._keys.encryption), modes.CBC(iv))

    def _icv(self, spi: int, number: int, hidden: bytes) -> bytes:
        algorithm: CMAC | HMAC
        if self._suite.integrity is Integrity.CMAC:
            algorithm = CMAC(algorithms.AES(self._keys.integrity))
        else:
            algorithm = HMAC(self._keys.integrity, SHA1() if self._suite.integrity is Integrity.HMAC_SHA1 else SHA256())
        lower, upper = number & 0xFFFF_FFFF, number >> 32
        algorithm.update(spi.to_bytes(4) + lower.to_bytes(4) + hidden + upper.to_bytes(4))
        return algorithm.finalize()[: self._suite.icv]


class _Combined:
    """A cipher that checks itself. Nonces are the keys' salt and the sequence number: none comes twice."""

    def __init__(self, suite: Suite, key_and_salt: bytes) -> None:
        self._suite = suite
        self._key, self._salt = key_and_salt[: -suite.salt], key_and_salt[-suite.salt :]

    def seal(self, spi: int, number: int, plain: bytes) -> bytes:
        iv = number.to_bytes(8)
        nonce, checked = self._salt + iv, spi.to_bytes(4) + number.to_bytes(8)
        match self._suite.cipher:
            case Cipher.GMAC:
                return iv + plain + AESGCM(self._key).encrypt(nonce, b"", checked + iv + plain)
            case Cipher.CCM:
                return iv + AESCCM(self._key, self._suite.icv).encrypt(nonce, plain, checked)
            case _:
                sealed = AESGCM(self._key).encrypt(nonce, plain, checked)
                return iv + sealed[: len(plain) + self._suite.icv]

    def unseal(self, spi: int, number: int, sealed: bytes) -> bytes:
        iv, rest = sealed[:8], sealed[8:]
        nonce, checked = self._salt + iv, spi.to_bytes(4) + number.to_bytes(8)
        hidden, icv = rest[: -self._suite.icv], rest[-self._suite.icv :]
        try:
            match self._suite.cipher:
                case Cipher.GMAC:
                    AESGCM(self._key).decrypt(nonce, icv, checked + iv + hidden)
                    return hidden
                case Cipher.CCM:
                    return AESCCM(self._key, self._suite.icv).decrypt(nonce, rest, checked)
                case _:
                    mode = modes.GCM(nonce, icv, min_tag_length=self._suite.icv)
                    decryptor = BlockCipher(algorithms.AES(self._key), mode).decryptor()
                    decryptor.authenticate_additional_data(checked)
                    return decryptor.update(hidden) + decryptor.finalize()
        except InvalidTag as error:
            raise Rejected(RejectReason.FORGED) from error
