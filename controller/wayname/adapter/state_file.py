"""What a controller writes down so that the next one goes on where it ended."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path

from wayname.edge.boundary import Json, Persist
from wayname.private_files import make_private, why_not_private

# The form of what is in it. A release reads those of all releases before it: its tests have a stored file of each.
FORM = 2
# A controller that is ending lets go of its file within this time.
LOCKED_SECONDS = 2.0


class StateError(Exception):
    """A file that cannot be used, in one line."""


class StateFile:
    """A file of keys and values; what was put is there after a crash of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unwritten: dict[str, Json] = {}
        try:
            # Context tags are in it: who knows them can send in our name. SQLite gives its other files the same mode.
            with open(path, "ab", opener=make_private) as file:
                wrong = why_not_private(os.fstat(file.fileno()))
            if wrong:
                raise StateError(f"{path}: {wrong}")
            self._file = sqlite3.connect(path, timeout=LOCKED_SECONDS, isolation_level=None)
            # Two controllers with one file would undo what the other wrote; the lock goes with the process.
            self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            form = self._file.execute("PRAGMA user_version").fetchone()[0]
            if form not in (0, FORM):
                raise StateError(f"{path}: {_other_form(form)}")
            # One that is there is only read: a controller starts on a full disk, too.
            if form != FORM:
                self._file.execute("CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
                self._file.execute(f"PRAGMA user_version = {FORM}")
        except (OSError, sqlite3.Error) as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise StateError(f"{path}: is another controller's; end that one, or set controller.state") from None
            raise StateError(f"{path}: cannot be used ({error}); set controller.state to a file of yours") from None

    def read(self) -> dict[str, Json]:
        """Return all that is written down."""
        try:
            return {key: json.loads(value) for key, value in self._file.execute("SELECT key, value FROM state")}
        except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
            raise StateError(f"{self._path}: is damaged ({error}); restore it, or remove it to begin anew") from None

    def put(self, *remembers: Persist) -> str:
        """Write down, or forget; return why that failed, if it did, and then it is tried again with the next."""
        self._unwritten.update((each.key, each.value) for each in remembers)
        try:
            self._write()
        except sqlite3.Error as error:
            return (
                f"{self._path}: cannot be written ({error}); mend that, or what happens now is lost at the next start"
            )
        return ""

    def _write(self) -> None:
        """Write all that is not written in one transaction: a commit for each would take as long as all of it."""
        if not self._unwritten:
            return
        changed = [(key, json.dumps(value)) for key, value in self._unwritten.items() if value is not None]
        forgotten = [(key,) for key, value in self._unwritten.items() if value is None]
        try:
            self._file.execute("BEGIN")
            self._file.executemany("DELETE FROM state WHERE key = ?", forgotten)
            self._file.executemany("REPLACE INTO state VALUES (?, ?)", changed)
            self._file.execute("COMMIT")
        except sqlite3.Error:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise
        self._unwritten.clear()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(sqlite3.Error):
            self._write()
        with contextlib.suppress(sqlite3.Error):
            self._file.close()


def _other_form(form: int) -> str:
    """What is wrong with a file of another form, and the mend."""
    if form > FORM:
        return (
            f"was written by a newer wayname (in form {form}, this one reads {FORM}); install that again, or name"
            " another file as controller.state, and sessions begin anew"
        )
    return f"was written before there were releases (in form {form}); remove it, and sessions begin anew"
