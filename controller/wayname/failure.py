"""Errors for the reader: each is one line that says what happened and how to mend it."""

from __future__ import annotations


class Failure(Exception):
    """What happened and how to mend it, once or several times; a command ends with status 1."""
