"""Extension fields of CGA Parameters (RFC 4581), and the one that binds an address to a set of prefixes (RFC 5535).

 0                   1                   2                   3
| extension type               | length of the data           |
| data ...
"""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Network

from wayname.identity.errors import ParametersError

MULTI_PREFIX = 0x0012
PREFIX_OCTETS = 8
PUBLIC_KEY_FLAG = 0x80
HEADER_OCTETS = 4
PREFIX_CACHE_SIZE = 4096


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension field, known or not."""

    type: int
    data: bytes

    def encode(self) -> bytes:
        """Return its octets."""
        return self.type.to_bytes(2) + len(self.data).to_bytes(2) + self.data


@dataclass(frozen=True, slots=True)
class MultiPrefix:
    """The prefixes that a set of hash-based addresses is bound to (RFC 5535, section 5).

    | P |                  reserved                                |
    | prefix 1 (64 bits) | prefix 2 | ...
    """

    prefixes: tuple[IPv6Network, ...]
    has_public_key: bool

    def extension(self) -> Extension:
        """Return it as an extension field."""
        flags = bytes([PUBLIC_KEY_FLAG if self.has_public_key else 0, 0, 0, 0])
        return Extension(MULTI_PREFIX, flags + b"".join(prefix_octets(prefix) for prefix in self.prefixes))

    @classmethod
    def of(cls, extension: Extension) -> "MultiPrefix":
        """Read an extension field of this type."""
        prefixes = tuple(prefix_of(octets) for octets in octets_of_prefixes(extension))
        return cls(prefixes, bool(extension.data[0] & PUBLIC_KEY_FLAG))


def octets_of_prefixes(extension: Extension) -> list[bytes]:
    """Return the prefixes of a Multi-Prefix extension as they stand there."""
    data = extension.data
    prefixes, rest = divmod(len(data) - HEADER_OCTETS, PREFIX_OCTETS)
    if prefixes < 0 or rest:
        raise ParametersError(f"a Multi-Prefix extension of {len(data)} octets holds no whole prefixes")
    return [data[at : at + PREFIX_OCTETS] for at in range(HEADER_OCTETS, len(data), PREFIX_OCTETS)]


def decode_extensions(octets: bytes) -> tuple[Extension, ...]:
    """Split what follows the public key into extension fields."""
    extensions = []
    at = 0
    while at < len(octets):
        if len(octets) - at < HEADER_OCTETS:
            raise ParametersError(f"{len(octets) - at} octets are left, too few for the head of an extension field")
        end = at + HEADER_OCTETS + int.from_bytes(octets[at + 2 : at + 4])
        if end > len(octets):
            raise ParametersError(f"an extension field ends {end - len(octets)} octets behind the parameters")
        extensions.append(Extension(int.from_bytes(octets[at : at + 2]), octets[at + HEADER_OCTETS : end]))
        at = end
    return tuple(extensions)


def prefix_octets(prefix: IPv6Network) -> bytes:
    """Return the 64 bits of a subnet prefix."""
    if prefix.prefixlen != 64:
        raise ParametersError(f"{prefix} is no subnet prefix of 64 bits")
    return prefix.network_address.packed[:PREFIX_OCTETS]


@lru_cache(PREFIX_CACHE_SIZE)
def prefix_of(octets: bytes) -> IPv6Network:
    """Return the subnet prefix with these 64 bits."""
    return IPv6Network((octets + bytes(8), 64))
