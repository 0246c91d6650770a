"""The command `wayname`."""

from wayname.cli.root import main

__all__ = ["main"]
