"""Reads a table of TOML key by key; whatever is wrong is one line with file, key, what, and the mend."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from wayname.config.toml_text import MOST_BITS
from wayname.escape import escaped

_T = TypeVar("_T")
_REQUIRED: Any = object()

_KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
}


# Of what stands in a file, more is not shown in an error.
MOST_SHOWN = 400


class ConfigError(Exception):
    """A mistake in the configuration, in one line."""


class Table:
    """A table of the file; `close` complains of keys that nobody asked for."""

    def __init__(self, file: str, path: str, values: dict[str, Any]) -> None:
        self._file = file
        self._path = path
        self._values = values
        self._known: set[str] = set()

    def error(self, key: str, wrong: str, mend: str) -> ConfigError:
        """Return the error about a key; an empty one means the table itself."""
        where = ".".join(part for part in (self._path, key) if part)
        return ConfigError(f"{self._file}: {_one_line(where)}: {_one_line(wrong)}; {_one_line(mend)}")

    def has(self, key: str) -> bool:
        """Whether a key is given."""
        return key in self._values

    def take(
        self, key: str, kind: type[_T], default: Any = _REQUIRED, check: Callable[[_T], str | None] | None = None
    ) -> _T:
        """Return a key's value; `check` returns what it should have been if it is not right."""
        self._known.add(key)
        if key not in self._values:
            if default is _REQUIRED:
                raise self.error(key, "is missing", f"write {key} = ... ({_KINDS[kind]})")
            value: _T = default
            return value
        given = self._values[key]
        if kind is float and type(given) is int and given.bit_length() <= MOST_BITS:
            given = float(given)
        # A bool is an int for Python, but not for who writes the file.
        if type(given) is not kind:
            raise self.error(key, f"is {quoted(given)}", f"write {_KINDS[kind]}")
        checked: _T = given
        mend = check(checked) if check else None
        if mend:
            raise self.error(key, f"is {quoted(given)}", mend)
        return checked

    def raw(self, key: str) -> Any:
        """Return a key's value of whatever kind, or None."""
        self._known.add(key)
        return self._values.get(key)

    def parse(self, key: str, reader: Callable[[str], _T], mend: str) -> _T:
        """Return a key's text, read by a function that raises ValueError."""
        return self.convert(key, self.take(key, str), reader, mend)

    def convert(self, key: str, text: Any, reader: Callable[[str], _T], mend: str) -> _T:
        """Return what a function that raises ValueError makes of a text found at a key."""
        if not isinstance(text, str):
            raise self.error(key, f"is {quoted(text)}", f"write a text: {mend}")
        try:
            return reader(text)
        except ValueError as wrong:
            raise self.error(key, f"{text!r} is wrong ({wrong})", mend) from None

    def secret(self, key: str, reader: Callable[[str], _T], mend: str) -> _T:
        """Return a key's text, read by a function whose ValueError does not quote it either."""
        given = self.raw(key)
        if not isinstance(given, str):
            raise self.error(key, "is missing" if given is None else "is no text", mend)
        try:
            return reader(given)
        except ValueError as wrong:
            raise self.error(key, f"is wrong ({wrong})", mend) from None

    def table(self, key: str) -> Table:
        """Return the table at a key; an empty one if there is none."""
        values = self.take(key, dict, {})
        return Table(self._file, f"{self._path}.{key}" if self._path else key, values)

    def tables(self, key: str) -> Iterator[Table]:
        """Yield the tables of a list such as `[[port]]`."""
        path = f"{self._path}.{key}" if self._path else key
        for number, values in enumerate(self.take(key, list, [])):
            if not isinstance(values, dict):
                raise self.error(f"{key}[{number}]", f"is {quoted(values)}", f"write [[{key}]] with its keys below")
            yield Table(self._file, f"{path}[{number}]", values)

    def close(self) -> None:
        """Complain of a key that was never taken."""
        for key in self._values:
            if key not in self._known:
                near = difflib.get_close_matches(key, self._known, 1)
                mend = f"did you mean {near[0]}?" if near else f"known here: {', '.join(sorted(self._known))}"
                raise self.error(key, "is not known", mend)


def quoted(given: Any) -> str:
    """Return a value as errors show it; of tables and lists only that they are such, since secrets may be in them."""
    return _KINDS[type(given)] if isinstance(given, dict | list) else repr(given)


def _one_line(text: str) -> str:
    """Return a text that may quote the file, as it can be shown: escaped, and without its middle if it is long."""
    if len(text) > MOST_SHOWN:
        text = f"{text[: MOST_SHOWN // 2]} ... {text[-MOST_SHOWN // 2 :]}"
    return escaped(text)
