"""Parameters of HIP that tell of the path option (docs/scheduling.md), neither of them critical.

An edge that speaks HIP for hosts tells it in its own I2 and R2, under MAC and signature: a type of the private range.
An edge beside hosts that speak themselves cannot sign for them. It puts the other parameter into messages of theirs
that pass, behind the signature, where RFC 7401, section 5.2, has what is neither signed nor MACed; there are no private
types there. Who does not know either skips it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wayname.hip.parameters import Reader
from wayname.wire.path_reports import PathReports


@dataclass(frozen=True, slots=True)
class SignedPathReports(PathReports):
    """What an edge tells that speaks for the sender."""

    number: ClassVar[int] = 37834


@dataclass(frozen=True, slots=True)
class AddedPathReports(PathReports):
    """What an edge tells that the message passed on its way from the sender."""

    number: ClassVar[int] = 62842


READERS: dict[int, Reader] = {
    SignedPathReports.number: SignedPathReports.of,
    AddedPathReports.number: AddedPathReports.of,
}
