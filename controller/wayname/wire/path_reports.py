"""What edges tell each other of the path option (docs/scheduling.md), by an option of Shim6 and parameters of HIP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from wayname.wire.errors import DecodeError


@dataclass(frozen=True, slots=True)
class PathReports:
    """Whoever sends it counts packets that are numbered by path, and reports what came: a version of the path option.

    Others skip it. More octets are for later versions: the first of them says that its switch puts packets in order,
    the second that it drops what comes twice.
    """

    version: int
    puts_in_order: bool = False
    eliminates: bool = False

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes([self.version, self.puts_in_order, self.eliminates]).rstrip(b"\0") or b"\0"

    @classmethod
    def of(cls, contents: bytes) -> Self:
        """Read the contents."""
        if not contents:
            raise DecodeError("what tells of path reports has no version")
        return cls(contents[0], contents[1:2] == b"\1", contents[2:3] == b"\1")
