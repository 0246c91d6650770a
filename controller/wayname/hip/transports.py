"""Parameters of transport formats: ESP (RFC 7402, section 5.1), and packets with a tag, which is our own format.

A host that knows nothing of HIP cannot encrypt, and tables cannot do it in its place. So between two edges that speak
for such hosts packets bear the header of Shim6 payload with a tag of 47 bits. Its number is of the private range.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from wayname.hip.parameters import Reader, fixed, sized, words

TAG_BITS = 47


@dataclass(frozen=True, slots=True)
class EspInfo:
    """Security parameter indices, and from where keys are drawn.

    | reserved (16 bits) | index into the key material (16) |
    | old SPI (32)                                          |
    | new SPI (32)                                          |
    """

    number: ClassVar[int] = 65
    keymat_index: int
    old_spi: int
    new_spi: int

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes(2) + self.keymat_index.to_bytes(2) + self.old_spi.to_bytes(4) + self.new_spi.to_bytes(4)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        fixed("ESP_INFO", contents, 12)
        return cls(*(int.from_bytes(contents[at:end]) for at, end in ((2, 4), (4, 8), (8, 12))))


@dataclass(frozen=True, slots=True)
class EspTransform:
    """The suites of ESP that a host offers, or the one that it chose: reserved (16 bits), 16 bits each."""

    number: ClassVar[int] = 4095
    suites: tuple[int, ...]

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes(2) + b"".join(suite.to_bytes(2) for suite in self.suites)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        return cls(words("ESP_TRANSFORM", sized("ESP_TRANSFORM", contents, 4)[2:]))


@dataclass(frozen=True, slots=True)
class TransportFormatList:
    """The transport formats that a host offers, or the one that it chose, as numbers of their parameters."""

    number: ClassVar[int] = 2049
    formats: tuple[int, ...]

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return b"".join(one.to_bytes(2) for one in self.formats)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        return cls(words("TRANSPORT_FORMAT_LIST", contents))


@dataclass(frozen=True, slots=True)
class Tagged:
    """The tag that packets to the sender of this are to bear: reserved (17 bits), tag (47 bits); 0 in an offer."""

    number: ClassVar[int] = 41562
    tag: int = field(repr=False)

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.tag.to_bytes(8)

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        return cls(int.from_bytes(fixed("a tag", contents, 8)) & (1 << TAG_BITS) - 1)


READERS: dict[int, Reader] = {
    EspInfo.number: EspInfo.of,
    EspTransform.number: EspTransform.of,
    TransportFormatList.number: TransportFormatList.of,
    Tagged.number: Tagged.of,
}
