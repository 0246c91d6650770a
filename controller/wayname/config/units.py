"""Numbers with units, such as 10mbit and 20ms: the same in labs, configurations and on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import BeforeValidator

from wayname.config.tables import mistake

BITS_A_SECOND = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "bit": 1.0}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def scaled(text: str, units: Mapping[str, float]) -> float:
    """Read a number with one of the units; a ValueError says that it has none."""
    for unit, factor in units.items():
        if text.endswith(unit) and re.fullmatch(r"\d+(\.\d+)?", text.removesuffix(unit)):
            return float(text.removesuffix(unit)) * factor
    raise ValueError("it has no unit")


def in_units(units: Mapping[str, float], of_numbers: str) -> BeforeValidator:
    """A number, which is in the unit of numbers, or a text with a unit of its own."""

    def read(given: object) -> object:
        if not isinstance(given, str):
            return given
        try:
            return scaled(given, units)
        except ValueError:
            mend = f"write a number of {of_numbers}, or a text with one of the units {', '.join(units)}"
            raise mistake(f"is {given!r}", mend) from None

    return BeforeValidator(read)
