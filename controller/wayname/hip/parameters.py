"""The parameters of RFC 7401, section 5.2, of which an exchange consists; `framing.py` says how they stand in a packet.

Puzzles and what negotiates keys and ciphers; those of transport formats and of locators have files of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

from wayname.hip.errors import MessageError

MOST_CIPHERS = 6


class Parameter(Protocol):
    """What all parameters have."""

    @property
    def number(self) -> int:
        """The type, which is also the parameter's place among others."""

    def contents(self) -> bytes:
        """Return what stands behind type and length, without padding."""


Reader = Callable[[bytes], Parameter]


def sized(name: str, contents: bytes, least: int) -> bytes:
    """Return contents that are long enough to be read."""
    if len(contents) < least:
        raise MessageError(f"{name} has at least {least} octets, not {len(contents)}")
    return contents


def fixed(name: str, contents: bytes, size: int) -> bytes:
    """Return contents that are as long as they must be."""
    if len(contents) != size:
        raise MessageError(f"{name} has {size} octets, not {len(contents)}")
    return contents


@dataclass(frozen=True, slots=True)
class R1Counter:
    """The generation of valid puzzles: reserved (32 bits, echoed as it is), counter (64 bits)."""

    number: ClassVar[int] = 129
    counter: int
    reserved: int = 0

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.reserved.to_bytes(4) + self.counter.to_bytes(8)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        fixed("R1_COUNTER", contents, 12)
        return cls(int.from_bytes(contents[4:]), int.from_bytes(contents[:4]))


@dataclass(frozen=True, slots=True)
class Puzzle:
    """What an initiator has to solve: K, lifetime (2 to the power of it less 32, seconds), opaque (16 bits), I."""

    number: ClassVar[int] = 257
    difficulty: int
    lifetime: int
    opaque: bytes
    random: bytes

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes([self.difficulty, self.lifetime]) + self.opaque + self.random

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        sized("PUZZLE", contents, 5)
        return cls(contents[0], contents[1], contents[2:4], contents[4:])


@dataclass(frozen=True, slots=True)
class Solution:
    """A puzzle and its solution: K, reserved (8 bits), opaque (16 bits), I, J; I and J are equally long."""

    number: ClassVar[int] = 321
    difficulty: int
    opaque: bytes
    random: bytes
    solution: bytes

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes([self.difficulty, 0]) + self.opaque + self.random + self.solution

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        sized("SOLUTION", contents, 6)
        half, odd = divmod(len(contents) - 4, 2)
        if odd:
            raise MessageError(f"a SOLUTION of {len(contents)} octets does not hold I and J of one length")
        return cls(contents[0], contents[2:4], contents[4 : 4 + half], contents[4 + half :])


@dataclass(frozen=True, slots=True)
class Seq:
    """The number of an UPDATE that wants to be acknowledged."""

    number: ClassVar[int] = 385
    update: int

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.update.to_bytes(4)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        return cls(int.from_bytes(fixed("SEQ", contents, 4)))


@dataclass(frozen=True, slots=True)
class Ack:
    """The numbers of UPDATEs that arrived."""

    number: ClassVar[int] = 449
    updates: tuple[int, ...]

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return b"".join(update.to_bytes(4) for update in self.updates)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        if not contents or len(contents) % 4:
            raise MessageError(f"an ACK of {len(contents)} octets holds no whole numbers")
        return cls(tuple(int.from_bytes(contents[at : at + 4]) for at in range(0, len(contents), 4)))


@dataclass(frozen=True, slots=True)
class DhGroupList:
    """The Diffie-Hellman groups that a host knows, the preferred one first; an octet each."""

    number: ClassVar[int] = 511
    groups: tuple[int, ...]

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes(self.groups)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        return cls(tuple(sized("DH_GROUP_LIST", contents, 1)))


@dataclass(frozen=True, slots=True)
class DiffieHellman:
    """A public value: group (8 bits), length (16 bits), value."""

    number: ClassVar[int] = 513
    group: int
    value: bytes

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes([self.group]) + len(self.value).to_bytes(2) + self.value

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        sized("DIFFIE_HELLMAN", contents, 4)
        fixed("the value of DIFFIE_HELLMAN", contents[3:], int.from_bytes(contents[1:3]))
        return cls(contents[0], contents[3:])


@dataclass(frozen=True, slots=True)
class HipCipher:
    """The ciphers that a host knows, or the one that it chose: 16 bits each; of more than six the rest is ignored."""

    number: ClassVar[int] = 579
    ciphers: tuple[int, ...]

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return b"".join(cipher.to_bytes(2) for cipher in self.ciphers)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        return cls(words("HIP_CIPHER", contents)[:MOST_CIPHERS])


@dataclass(frozen=True, slots=True)
class Encrypted:
    """Parameters that only the peer can read: reserved (32 bits), then what the cipher made of them."""

    number: ClassVar[int] = 641
    data: bytes

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes(4) + self.data

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        return cls(sized("ENCRYPTED", contents, 5)[4:])


@dataclass(frozen=True, slots=True)
class HostId:
    """A host's public key, and perhaps its name.

    | length of the key (16 bits) | kind of name (4) | length of the name (12) |
    | algorithm (16)              | key, name ...
    """

    number: ClassVar[int] = 705
    algorithm: int
    key: bytes
    name_kind: int = 0
    name: bytes = b""

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        kind = self.name_kind << 12 | len(self.name)
        return len(self.key).to_bytes(2) + kind.to_bytes(2) + self.algorithm.to_bytes(2) + self.key + self.name

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        sized("HOST_ID", contents, 7)
        key, kind = int.from_bytes(contents[:2]), int.from_bytes(contents[2:4])
        fixed("what HOST_ID holds", contents[6:], key + (kind & 0xFFF))
        return cls(int.from_bytes(contents[4:6]), contents[6 : 6 + key], kind >> 12, contents[6 + key :])


@dataclass(frozen=True, slots=True)
class HitSuiteList:
    """The suites of identities that a host knows: four bits each, in the upper half of an octet."""

    number: ClassVar[int] = 715
    suites: tuple[int, ...]

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes(suite << 4 for suite in self.suites)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        sized("HIT_SUITE_LIST", contents, 1)
        if any(octet & 0xF for octet in contents):
            raise MessageError("HIT_SUITE_LIST has a suite whose lower four bits are set")
        return cls(tuple(octet >> 4 for octet in contents))


@dataclass(frozen=True, slots=True)
class Certificate:
    """CERT, which is passed through (RFC 8002 says what stands in it)."""

    number: ClassVar[int] = 768
    certificate: bytes

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.certificate

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        return cls(contents)


@dataclass(frozen=True, slots=True)
class Notification:
    """What a host has to say: reserved (16 bits), what it is about (16 bits), more about it."""

    number: ClassVar[int] = 832
    kind: int
    data: bytes = b""

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes(2) + self.kind.to_bytes(2) + self.data

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        sized("NOTIFICATION", contents, 4)
        return cls(int.from_bytes(contents[2:4]), contents[4:])


@dataclass(frozen=True, slots=True)
class _Opaque:
    """Octets that mean something to one end only."""

    data: bytes

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.data

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        return cls(contents)


class EchoRequestSigned(_Opaque):
    """What is to come back, covered by the MAC."""

    __slots__ = ()
    number: ClassVar[int] = 897


class EchoResponseSigned(_Opaque):
    """What came back, covered by the MAC."""

    __slots__ = ()
    number: ClassVar[int] = 961


class HipMac(_Opaque):
    """The MAC of all that stands before it."""

    __slots__ = ()
    number: ClassVar[int] = 61505


class HipMac2(_Opaque):
    """The MAC of all that stands before it, and of the sender's HOST_ID."""

    __slots__ = ()
    number: ClassVar[int] = 61569


class EchoResponseUnsigned(_Opaque):
    """What came back, behind the signature."""

    __slots__ = ()
    number: ClassVar[int] = 63425


class EchoRequestUnsigned(_Opaque):
    """What is to come back, behind the signature."""

    __slots__ = ()
    number: ClassVar[int] = 63661


@dataclass(frozen=True, slots=True)
class HipSignature2:
    """The signature of an R1, without what differs from one initiator to the next: algorithm (16 bits), signature."""

    number: ClassVar[int] = 61633
    algorithm: int
    signature: bytes

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.algorithm.to_bytes(2) + self.signature

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        sized("a signature", contents, 3)
        return cls(int.from_bytes(contents[:2]), contents[2:])


class HipSignature(HipSignature2):
    """The signature of all that stands before it."""

    __slots__ = ()
    number: ClassVar[int] = 61697


def words(name: str, contents: bytes) -> tuple[int, ...]:
    """Read numbers of 16 bits."""
    if not contents or len(contents) % 2:
        raise MessageError(f"{len(contents)} octets of {name} are no whole numbers")
    return tuple(int.from_bytes(contents[at : at + 2]) for at in range(0, len(contents), 2))


READERS: dict[int, Reader] = {
    R1Counter.number: R1Counter.of,
    Puzzle.number: Puzzle.of,
    Solution.number: Solution.of,
    Seq.number: Seq.of,
    Ack.number: Ack.of,
    DhGroupList.number: DhGroupList.of,
    DiffieHellman.number: DiffieHellman.of,
    HipCipher.number: HipCipher.of,
    Encrypted.number: Encrypted.of,
    HostId.number: HostId.of,
    HitSuiteList.number: HitSuiteList.of,
    Certificate.number: Certificate.of,
    Notification.number: Notification.of,
    EchoRequestSigned.number: EchoRequestSigned.of,
    EchoResponseSigned.number: EchoResponseSigned.of,
    HipMac.number: HipMac.of,
    HipMac2.number: HipMac2.of,
    HipSignature2.number: HipSignature2.of,
    HipSignature.number: HipSignature.of,
    EchoResponseUnsigned.number: EchoResponseUnsigned.of,
    EchoRequestUnsigned.number: EchoRequestUnsigned.of,
}
# A packet may bear several of these.
REPEATED = frozenset({Certificate.number, Notification.number, EchoRequestUnsigned.number, EchoResponseUnsigned.number})
