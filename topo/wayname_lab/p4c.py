"""Compiles the pipeline for BMv2."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from wayname.pipeline.program import PROGRAM, SOURCE
from wayname_lab.load import LabError

# To which programs that catch a signal add its number.
SIGNALLED = 128


def compile_for_bmv2(into: Path) -> None:
    """Write what BMv2 runs into a file."""
    arguments = ["p4c-bm2-ss", "-I", str(SOURCE), str(PROGRAM), "-o", str(into)]
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    except OSError as error:
        raise LabError(f"p4c-bm2-ss does not start: {error.strerror}") from None
    if done.returncode != 0:
        # Among the warnings, each with lines of the program behind it.
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        why = errors[0] if errors else "it names no error"
        raise LabError(f"p4c-bm2-ss failed ({_status(done.returncode)}): {why}")


def _status(status: int) -> str:
    """Return how a process ended, by itself or by a signal; p4c is killed where there is too little memory."""
    number = -status if status < 0 else status - SIGNALLED
    if number <= 0:
        return f"status {status}"
    hint = "; it needs 2 GB of memory" if number == signal.SIGKILL else ""
    return f"ended by {signal.Signals(number).name}{hint}"
