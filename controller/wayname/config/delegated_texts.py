"""Texts of a configuration that stand for what is in a delegated prefix: "<isp>::10:0:0:0:1/64".

Behind the provider's name in angle brackets stands the rest of the address or prefix; the prefix takes the place of
its first bits, as a general prefix does on other routers. While a provider is renumbered it has several prefixes, and a
text in a list becomes as many. Where there is none yet the text is left out of its list; and so is a table that is
about nothing then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Interface, IPv6Network
from typing import Any

from wayname.config.provider import DELEGATED, Learned
from wayname.config.tables import Mistake, Where

_TEXT = re.compile(r"<(?P<name>[^<>]+)>(?P<rest>.*)")
# A table in which such a list is empty is about no hosts at all.
_OF_HOSTS = frozenset(("prefixes", "proxy", "mapped"))


@dataclass
class _LeftOut(Exception):
    """A table cannot be there yet."""


@dataclass
class DelegatedTexts:
    """Puts prefixes in the place of providers' names; `mistakes` has what cannot be."""

    learned: Mapping[str, Learned]
    mistakes: list[Mistake] = field(default_factory=list)
    # Whether a text stands for nothing yet.
    is_incomplete: bool = False
    _names: frozenset[str] = frozenset()
    # Providers that have no prefix or no router yet.
    _absent: frozenset[str] = frozenset()

    def replaced(self, tables: dict[str, Any]) -> dict[str, Any]:
        """Return the tables of a file with texts that hold for the prefixes that are there."""
        providers = (
            [each for each in tables.get("provider", ()) if isinstance(each, dict)]
            if isinstance(tables.get("provider"), list)
            else []
        )
        self._names = frozenset(str(each.get("name")) for each in providers if each.get("prefix") == DELEGATED)
        self.is_incomplete = any(not self._prefixes(name) for name in self._names)
        self._absent = frozenset(str(each.get("name")) for each in providers if self._is_absent(each))
        found: dict[str, Any] = {}
        for key, value in tables.items():
            try:
                found[key] = value if key == "provider" else self._value(value, (key,))
            except _LeftOut:
                continue
        return found

    def _value(self, value: Any, where: Where) -> Any:
        if isinstance(value, dict):
            return {key: self._value(each, (*where, key)) for key, each in value.items()}
        if isinstance(value, list):
            return self._list(value, where)
        if isinstance(value, str) and (match := _TEXT.fullmatch(value)):
            texts = list(self._texts(match, where))
            if not texts:
                raise _LeftOut
            return texts[0]
        return value

    def _list(self, values: list[Any], where: Where) -> list[Any]:
        found: list[Any] = []
        left_out = False
        for index, each in enumerate(values):
            at = (*where, index)
            if isinstance(each, str) and (match := _TEXT.fullmatch(each)):
                texts = list(self._texts(match, at))
                left_out = left_out or not texts
                found += texts
                continue
            try:
                if _is_path(where) and isinstance(each, dict) and each.get("provider") in self._absent:
                    raise _LeftOut
                found.append(self._value(each, at))
            except _LeftOut:
                left_out = True
        if left_out and not found and (where[-1] in _OF_HOSTS or any(isinstance(each, dict) for each in values)):
            raise _LeftOut
        return found

    def _texts(self, match: re.Match[str], where: Where) -> Iterator[str]:
        name, rest = match["name"], match["rest"]
        if name not in self._names:
            known = ", ".join(sorted(self._names)) or "none"
            mend = f'name a [[provider]] with prefix = "{DELEGATED}"; known here: {known}'
            self.mistakes.append(Mistake(where, f"{match[0]!r} names no such provider", mend))
            # One mistake is enough.
            yield "2001:db8::1/64" if "/" in rest else "2001:db8::1"
            return
        for prefix in self._prefixes(name):
            try:
                yield _joined(prefix, rest)
            except ValueError as wrong:
                mend = "write what stands behind the prefix, as in <isp>::10:0:0:0:1/64"
                self.mistakes.append(Mistake(where, f"{match[0]!r} is wrong ({wrong})", mend))

    def _is_absent(self, provider: dict[str, Any]) -> bool:
        learned = self.learned.get(str(provider.get("name")), Learned())
        waits_for_routers = "via" not in provider and not learned.routers
        return waits_for_routers or (provider.get("prefix") == DELEGATED and not learned.prefixes)

    def _prefixes(self, name: str) -> list[IPv6Network]:
        return [each.network for each in self.learned.get(name, Learned()).prefixes]


def _is_path(where: Where) -> bool:
    """Whether a list is of paths by providers: of a schedule."""
    return where[:1] == ("schedule",) and where[-1] == "path"


def _joined(prefix: IPv6Network, rest: str) -> str:
    """Return a prefix with the bits that a text has behind it."""
    text, slash, length = rest.partition("/")
    behind = int(IPv6Interface(rest).ip if slash else IPv6Address(text))
    if behind & int(prefix.netmask):
        raise ValueError(f"{prefix} has no room for {text}")
    return f"{IPv6Address(int(prefix.network_address) | behind)}{slash}{length}"
