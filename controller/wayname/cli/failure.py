"""Errors that a command tells its user in one line."""

from __future__ import annotations


class Failure(Exception):
    """What happened and how to mend it; the command ends with status 1."""
