"""Single keys from a terminal, without Enter; the terminal is as before afterwards."""

from __future__ import annotations

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Callable
from typing import Self


def has_screen() -> bool:
    """Whether there is a terminal that can be drawn on, and keys; a dumb one gets lines."""
    return sys.stdout.isatty() and sys.stdin.isatty() and os.environ.get("TERM", "dumb") not in {"dumb", "unknown"}


class Keys:
    """Calls `pressed` with each key while it is entered."""

    def __init__(self, pressed: Callable[[str], None]) -> None:
        self._pressed = pressed
        self._before: list[object] | None = None

    def __enter__(self) -> Self:
        if sys.stdin.isatty():
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
            asyncio.get_running_loop().add_reader(sys.stdin, self._read)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            asyncio.get_running_loop().remove_reader(sys.stdin)
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]

    def _read(self) -> None:
        for key in sys.stdin.read(1):
            self._pressed(key)
