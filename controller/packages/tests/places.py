"""Where the tests of packages find what they test."""

from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
PACKAGES = REPOSITORY / "controller" / "packages"
# Runs a command to its end, and returns its output.
Run = Callable[..., str]
