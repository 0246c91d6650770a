"""In which line of a file each key stands; Python's own parser of TOML does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wayname.config.tables import ConfigError

_PART = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*(?P<list>\[)?\[\s*(?P<key>{_DOTTED})\s*\](?(list)\])")
_KEY = re.compile(rf"\s*(?P<key>{_DOTTED})\s*=")
# What may begin or end a value that goes on in the next line, and what such letters may stand in.
_TOKEN = re.compile(r"""\"{3}|'{3}|"(?:\\.|[^"\\])*"|'[^']*'|#|[\[{]|[\]}]""")
_NAMED = re.compile(r"(?P<key>[\w.\[\]-]+): ")


class KeyLines:
    """Knows the lines of a text's keys, by the names that mistakes have: `port[1].vlan`."""

    def __init__(self, text: str) -> None:
        self._lines: dict[str, int] = {}
        self._lists: dict[str, int] = {}
        table = ""
        for number, line in _statements(text):
            if header := _HEADER.match(line):
                table = self._open(_parts(header["key"]), bool(header["list"]))
                self._lines.setdefault(table, number)
            elif key := _KEY.match(line):
                self._lines.setdefault(".".join(filter(None, (table, *_parts(key["key"])))), number)

    def line_of(self, key: str) -> int | None:
        """Return the line of a key, or of the innermost table or list around it that is there."""
        while key:
            if key in self._lines:
                return self._lines[key]
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return None

    def placed(self, error: ConfigError, file: str) -> ConfigError:
        """Return mistakes in a file, each with its line."""
        return ConfigError(*(self._placed(line, file) for line in error.lines))

    def _placed(self, line: str, file: str) -> str:
        said = line.removeprefix(f"{file}: ")
        named = _NAMED.match(said) if said != line else None
        number = self.line_of(named["key"]) if named else None
        return f"{file}:{number}: {said}" if number else line

    def _open(self, parts: list[str], is_list: bool) -> str:
        """Return how mistakes name the table of a header."""
        path = ""
        for index, part in enumerate(parts):
            path = f"{path}.{part}" if path else part
            if is_list and index == len(parts) - 1:
                self._lists[path] = self._lists.get(path, -1) + 1
            if path in self._lists:
                path = f"{path}[{self._lists[path]}]"
        return path


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, dotted)]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, without those in which a value of an earlier one goes on."""
    quote, depth = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line) if not quote and not depth else None
        if not quote and not depth:
            yield number, line
        at = header.end() if header else 0
        while at < len(line):
            if quote:
                end = line.find(quote, at)
                at, quote = (len(line), quote) if end < 0 else (end + 3, "")
                continue
            token = _TOKEN.search(line, at)
            if token is None or token[0] == "#":
                break
            at = token.end()
            if token[0] in ('"""', "'''"):
                quote = token[0]
            elif len(token[0]) == 1:
                depth += 1 if token[0] in "[{" else -1
