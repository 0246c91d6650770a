"""What a controller writes down so that the next one goes on where it ended."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from wayname.edge.boundary import Json, Remember

FORM = 2


class StateError(Exception):
    """A file that cannot be used, in one line."""


class Memory:
    """A file of keys and values; what was put is there after a crash of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            # Context tags are in it: who knows them can send in our name.
            path.touch(0o600)
            self._file = sqlite3.connect(path, isolation_level=None)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            form = self._file.execute("PRAGMA user_version").fetchone()[0]
            if form not in (0, FORM):
                raise StateError(f"{path}: was written by another version; remove it, or set controller.state")
            self._file.execute("CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            self._file.execute(f"PRAGMA user_version = {FORM}")
        except (OSError, sqlite3.Error) as error:
            raise StateError(f"{path}: cannot be used ({error}); set controller.state to a file of yours") from None

    def read(self) -> dict[str, Json]:
        """Return all that is written down."""
        try:
            return {key: json.loads(value) for key, value in self._file.execute("SELECT key, value FROM state")}
        except (sqlite3.Error, json.JSONDecodeError) as error:
            raise StateError(f"{self._path}: is damaged ({error}); restore it, or remove it to begin anew") from None

    def put(self, remember: Remember) -> None:
        """Write something down, or forget it."""
        if remember.value is None:
            self._file.execute("DELETE FROM state WHERE key = ?", (remember.key,))
        else:
            self._file.execute("REPLACE INTO state VALUES (?, ?)", (remember.key, json.dumps(remember.value)))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
