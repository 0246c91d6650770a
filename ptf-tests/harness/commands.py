"""Commands that must succeed, and what is said of a machine that cannot do something."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

PATIENCE = 60.0


class NotHereError(Exception):
    """What this machine lacks for it; one line for people."""


class NotStartedError(Exception):
    """The switch, or what it needs, did not start; one line for people."""


def command(words: list[str], text: str = "", patience: float = 2 * PATIENCE) -> str:
    """Run a command that must succeed; what it writes."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False, timeout=patience)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NotStartedError(f"{' '.join(words)}: {said[-1] if said else f'status {done.returncode}'}")
    return done.stdout


def wait_until(is_so: Callable[[], object], what: str, pause: float = 0.05, patience: float = PATIENCE) -> None:
    """Wait until something is so."""
    end = time.monotonic() + patience
    while not is_so():
        if time.monotonic() > end:
            raise NotStartedError(f"{what}: not in {patience:.0f} s")
        time.sleep(pause)
