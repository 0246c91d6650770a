"""Public keys as CGA Parameters hold them: DER of a SubjectPublicKeyInfo, and how to find its end."""

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from wayname.identity.errors import ParametersError
from wayname.identity.rsa_limits import check_rsa_numbers

SEQUENCE = 0x30
INTEGER = 0x02
BIT_STRING = 0x03
LONG_LENGTH = 0x80

# AlgorithmIdentifier of rsaEncryption, 1.2.840.113549.1.1.1, its parameters NULL.
RSA_ENCRYPTION = bytes.fromhex("300d06092a864886f70d0101010500")
EXTENDED_MODIFIER_BITS = 384
PUBLIC_EXPONENT = 65537
LEAST_BITS = 1024
# A sequence's tag and a length of one octet, or of two with one before that says so.
LONGEST_HEAD = 4


def extended_modifier_key(modifier: int) -> bytes:
    """Encode a random number as if it were an RSA key: what hash-based addresses have instead (RFC 5535, section 6)."""
    if not 0 < modifier < 1 << EXTENDED_MODIFIER_BITS:
        raise ParametersError(f"an extended modifier has {EXTENDED_MODIFIER_BITS} bits")
    key = _element(SEQUENCE, _integer(modifier) + _integer(PUBLIC_EXPONENT))
    return _element(SEQUENCE, RSA_ENCRYPTION + _element(BIT_STRING, b"\0" + key))


def key_length(octets: bytes) -> int:
    """Return how many octets the SubjectPublicKeyInfo at the beginning takes."""
    if len(octets) < 2 or octets[0] != SEQUENCE:
        raise ParametersError("the public key is no DER sequence")
    if octets[1] < LONG_LENGTH:
        end = 2 + octets[1]
    else:
        octets_of_length = octets[1] - LONG_LENGTH
        if octets_of_length not in (1, 2):
            raise ParametersError("the public key has a length that DER does not write so")
        end = 2 + octets_of_length + int.from_bytes(octets[2 : 2 + octets_of_length])
    if end > len(octets):
        raise ParametersError(f"the public key ends {end - len(octets)} octets behind the parameters")
    return end


def rsa_key(octets: bytes) -> RSAPublicKey:
    """Return the RSA key of a SubjectPublicKeyInfo; raise ParametersError if it is none that signs."""
    if RSA_ENCRYPTION not in octets[: LONGEST_HEAD + len(RSA_ENCRYPTION)]:
        raise ParametersError("the public key is none of RSA")
    try:
        key = load_der_public_key(octets)
        assert isinstance(key, RSAPublicKey)
        numbers = key.public_numbers()
        check_rsa_numbers(numbers.e, numbers.n, LEAST_BITS)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ParametersError(f"the public key cannot be used: {error}") from None
    return key


def _integer(value: int) -> bytes:
    # One bit more than the value has: without it the number would read as negative.
    return _element(INTEGER, value.to_bytes(value.bit_length() // 8 + 1))


def _element(tag: int, content: bytes) -> bytes:
    if len(content) < LONG_LENGTH:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8)
    return bytes([tag, LONG_LENGTH + len(length)]) + length + content
