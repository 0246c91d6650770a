"""Numbers with units on the command line, as in labs and configurations."""

from __future__ import annotations

import click

from wayname.config.units import SECONDS, scaled


class Duration(click.ParamType[float]):
    """Seconds, or a time with a unit: 10, 10s, 500ms."""

    name = "time"

    def __init__(self, least: float = 0.0) -> None:
        self.least = least

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it."""
        try:
            text = str(value)
            seconds = scaled(text, SECONDS) if text[-1:].isalpha() else float(text)
        except ValueError:
            self.fail(f"{value!r} is no time: write seconds, or a number with {', '.join(SECONDS)}", param, ctx)
        if not self.least <= seconds < float("inf"):
            self.fail(f"{value!r} is no time from {self.least:g} s on", param, ctx)
        return seconds
