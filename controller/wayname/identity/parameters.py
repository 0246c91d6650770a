"""CGA Parameters, and the addresses that they make and prove (RFC 3972, RFC 5535).

    | modifier (16 octets) | subnet prefix (8) | collision count (1) | public key (variable) | extension fields |

Hash1 runs over all of it and makes the interface identifier. Hash2 runs over it with prefix and collision count zero,
and must begin with zeros: the higher the address's Sec, the more of them, so the more expensive is a forgery.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from ipaddress import IPv6Address, IPv6Network

from wayname.identity.errors import ParametersError, ProofError
from wayname.identity.extensions import (
    MULTI_PREFIX,
    Extension,
    MultiPrefix,
    decode_extensions,
    octets_of_prefixes,
    prefix_octets,
    prefix_of,
)
from wayname.identity.keys import key_length

MODIFIER_OCTETS = 16
FIXED_OCTETS = 25
MOST_COLLISIONS = 2
MOST_SEC = 7
PROVER_CACHE_SIZE = 1024

# Of an interface identifier: the bits that are not from Hash1 are Sec and the "u" and "g" bits.
SEC_SHIFT = 61
SEC_OCTET_SHIFT = 5
HASH1_MASK = 0x1CFF_FFFF_FFFF_FFFF
IDENTIFIER_MASK = (1 << 64) - 1


def _sha1(octets: bytes) -> bytes:
    return hashlib.sha1(octets, usedforsecurity=False).digest()


@dataclass(frozen=True, slots=True)
class Strength:
    """What a value of Sec stands for (RFC 4982, section 4): a hash function and the zeros that Hash2 begins with."""

    hash: Callable[[bytes], bytes]
    zero_bits: int


# RFC 4982 keeps a registry, so that a new hash function can take a value of Sec; so far SHA-1 has all of them.
STRENGTHS = tuple(Strength(_sha1, 16 * sec) for sec in range(MOST_SEC + 1))


@dataclass(frozen=True, slots=True)
class Parameters:
    """What proves an address."""

    modifier: bytes
    prefix: IPv6Network
    collisions: int
    public_key: bytes
    extensions: tuple[Extension, ...] = ()

    @property
    def tail(self) -> bytes:
        """The public key and the extension fields, as both hashes take them."""
        return self.public_key + b"".join(extension.encode() for extension in self.extensions)

    @property
    def multi_prefix(self) -> MultiPrefix | None:
        """The set of prefixes, if the address is a hash-based one."""
        for extension in self.extensions:
            if extension.type == MULTI_PREFIX:
                return MultiPrefix.of(extension)
        return None

    def encode(self) -> bytes:
        """Return their octets."""
        return self.modifier + prefix_octets(self.prefix) + bytes([self.collisions]) + self.tail

    @classmethod
    def decode(cls, octets: bytes) -> "Parameters":
        """Read CGA Parameters from octets."""
        if len(octets) < FIXED_OCTETS:
            raise ParametersError(f"CGA Parameters have more than {len(octets)} octets")
        end = FIXED_OCTETS + key_length(octets[FIXED_OCTETS:])
        return cls(
            modifier=octets[:MODIFIER_OCTETS],
            prefix=prefix_of(octets[MODIFIER_OCTETS : FIXED_OCTETS - 1]),
            collisions=octets[FIXED_OCTETS - 1],
            public_key=octets[FIXED_OCTETS:end],
            extensions=decode_extensions(octets[end:]),
        )

    def address(self, sec: int) -> IPv6Address:
        """Return the address that these parameters make with this Sec (RFC 3972, section 4, steps 5 to 7)."""
        identifier = self._hash1(sec) & HASH1_MASK | sec << SEC_SHIFT
        return self.prefix[identifier]

    def prove(self, address: IPv6Address) -> None:
        """Raise ProofError unless these parameters are this address's own (RFC 3972, section 5)."""
        Prover(self).prove(address)

    def prove_member(self, address: IPv6Address) -> None:
        """Raise ProofError unless the address belongs to the set they define (RFC 5535, section 7.2)."""
        Prover(self).prove_member(address)

    def _hash1(self, sec: int) -> int:
        return int.from_bytes(STRENGTHS[sec].hash(self.encode())[:8])


class Prover:
    """Checks addresses against the same parameters; what was proved once is not hashed again."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._prefix = prefix_octets(parameters.prefix)
        self._tail = parameters.tail
        # No more than Sec and "u" and "g" bits let a prefix have: the rest of an address is a hash.
        self._proved: set[bytes] = set()

    def prove(self, address: IPv6Address) -> None:
        """Raise ProofError unless the parameters are this address's own."""
        octets = address.packed
        if octets[:8] != self._prefix:
            raise ProofError(f"the parameters are for {self.parameters.prefix}, which {address} is not in")
        self._prove_identifier(octets)

    def prove_member(self, address: IPv6Address) -> None:
        """Raise ProofError unless the address belongs to the set that the parameters define."""
        octets = address.packed
        if octets[:8] not in self._prefixes_of_set:
            raise ProofError(f"{prefix_of(octets[:8])} is not among the prefixes of the set")
        self._prove_identifier(octets)

    @cached_property
    def _prefixes_of_set(self) -> frozenset[bytes]:
        for extension in self.parameters.extensions:
            if extension.type == MULTI_PREFIX:
                return frozenset(octets_of_prefixes(extension))
        raise ProofError("the parameters have no Multi-Prefix extension, so they define no set")

    def _prove_identifier(self, octets: bytes) -> None:
        """Check the 64 bits behind the prefix: Hash1 with the address's own prefix, and the zeros of its Sec."""
        if octets in self._proved:
            return
        strength = STRENGTHS[octets[8] >> SEC_OCTET_SHIFT]
        modifier, collisions = self.parameters.modifier, self.parameters.collisions
        if collisions > MOST_COLLISIONS:
            raise ProofError(f"the collision count is {collisions}, but at most {MOST_COLLISIONS} are allowed")
        hash1 = strength.hash(modifier + octets[:8] + bytes((collisions,)) + self._tail)
        if (int.from_bytes(hash1[:8]) ^ int.from_bytes(octets[8:])) & HASH1_MASK:
            raise ProofError(f"the interface identifier of {IPv6Address(octets)} is not what its parameters hash to")
        if strength.zero_bits:
            hash2 = int.from_bytes(strength.hash(modifier + bytes(9) + self._tail)[:14])
            if hash2 >> (112 - strength.zero_bits):
                claim = f"{IPv6Address(octets)} claims Sec {octets[8] >> SEC_OCTET_SHIFT}"
                raise ProofError(f"{claim}, but Hash2 does not begin with {strength.zero_bits} zeros")
        self._proved.add(octets)


@lru_cache(PROVER_CACHE_SIZE)
def prover_of(octets: bytes) -> Prover:
    """Return what checks addresses against encoded parameters; whoever comes again is checked by what is known."""
    return Prover(Parameters.decode(octets))


def sec_of(address: IPv6Address) -> int:
    """Return the Sec that an address claims."""
    return (int(address) & IDENTIFIER_MASK) >> SEC_SHIFT
