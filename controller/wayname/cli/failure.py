"""Errors that a command tells its user, each in one line."""

from __future__ import annotations


class Failure(Exception):
    """What happened and how to mend it, once or several times; the command ends with status 1."""
