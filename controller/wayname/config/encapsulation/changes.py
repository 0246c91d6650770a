"""What was changed while the controller runs, over what the file says; kept in a file of its own if one is named.

A change is read and checked exactly as the configuration is, together with all the rest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from wayname.config.encapsulation.load import MOST, Kind, Written, key_of, load_encapsulation, name_of
from wayname.config.encapsulation.model import EncapsulationConfig
from wayname.config.model import Config
from wayname.config.tables import ConfigError
from wayname.private_files import make_private, read_private

LIVE = "live"

# By kind and name: the keys, or None for what the file says and somebody removed.
Overlay = dict[str, dict[str, dict[str, Any] | None]]


class Changes:
    """Changes of one running configuration; `put` and `remove` return new ones, which are not yet checked."""

    def __init__(self, config: Config, overlay: Overlay | None = None) -> None:
        self._config = config
        self._overlay: Overlay = overlay or {}

    @classmethod
    def load(cls, config: Config) -> Changes:
        """Return those that an earlier controller kept."""
        path = config.controller.changes
        if path is None:
            return cls(config)
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise ConfigError(f"{path}: no file can be made there; make its folder, or name another controller.changes")
        try:
            octets, wrong = read_private(path)
            overlay = json.loads(octets.decode("utf-8"))
        except FileNotFoundError:
            return cls(config)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read ({error.strerror}); name a file as controller.changes") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: is no file of changes ({error}); correct it or remove it") from None
        if wrong:
            raise ConfigError(f"{path}: {wrong}")
        if not _is_overlay(overlay):
            raise ConfigError(f"{path}: is no file of changes; name another one as controller.changes")
        changes = cls(config, overlay)
        try:
            changes.read()
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None
        return changes

    def over(self, config: Config) -> Changes:
        """Return the same changes of another configuration."""
        return Changes(config, self._overlay)

    def save(self) -> None:
        """Keep them, readable for the owner only: keys of policies are among them."""
        path = self._config.controller.changes
        if path is None:
            return
        new = path.with_name(f".{path.name}.new")
        try:
            new.unlink(missing_ok=True)
            with open(new, "x", encoding="utf-8", opener=make_private) as file:
                json.dump(self._overlay, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except OSError as error:
            raise ConfigError(
                f"{path}: cannot be written ({error.strerror}); mend that, or name another file"
            ) from None

    def put(self, kind: str, values: Mapping[str, Any]) -> Changes:
        """Add something, or replace what has its name."""
        _check_kind(kind)
        keys = ("table", "prefix") if kind == "vrf_route" else (key_of(kind),)
        for key in keys:
            if key not in values:
                raise ConfigError(f"{LIVE}: {kind}: {key} is missing; write {key}=... as well")
        return self._with(kind, name_of(kind, values), dict(values))

    def remove(self, kind: str, name: str) -> Changes:
        """Remove something by its name."""
        _check_kind(kind)
        given = [each for each, _, _ in self.all(kind)]
        if name not in given:
            there = ", ".join(given[:20]) or "none"
            raise ConfigError(f"{LIVE}: {kind} {name}: is not there; there are: {there}")
        return self._with(kind, name, None)

    def all(self, kind: str) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Yield name, keys, and where it comes from: the file, or a live change."""
        changed = self._overlay.get(kind, {})
        written = {name_of(kind, values): values for values in self._config.written.get(kind, ())}
        for name, values in written.items():
            replaced = changed.get(name, {})
            if replaced is not None:
                yield name, dict(replaced or values), LIVE if replaced else "file"
        for name, added in changed.items():
            if added is not None and name not in written:
                yield name, dict(added), LIVE

    def read(self) -> EncapsulationConfig:
        """Read all that is wanted now; raise `ConfigError` for what cannot be."""
        current = load_encapsulation(self._tables, self._config)
        vias = [route.via for route in self._config.routes] + [each.via for each in self._config.providers]
        known = {hop for via in vias for hop, _ in via}
        known.update(self._config.encapsulation.next_hops)
        for hop in current.next_hops:
            if hop not in known:
                mend = "name one of a [[route]], or write it into the file and start again"
                raise ConfigError(f"{LIVE}: via: {hop} is no next hop that the controller watches; {mend}")
        return current

    def _with(self, kind: str, name: str, values: dict[str, Any] | None) -> Changes:
        _check_kind(kind)
        overlay = {**self._overlay, kind: {**self._overlay.get(kind, {}), name: values}}
        is_written = any(name_of(kind, each) == name for each in self._config.written.get(kind, ()))
        if values is None and not is_written:
            del overlay[kind][name]
        return Changes(self._config, overlay)

    def _tables(self, kind: Kind) -> Iterator[Written]:
        return ((origin, f"{kind} {name}", values) for name, values, origin in self.all(kind))


def _check_kind(kind: str) -> None:
    if kind not in MOST:
        raise ConfigError(f"{LIVE}: {kind}: is not known; the kinds are {', '.join(MOST)}")


def _is_overlay(overlay: object) -> bool:
    return isinstance(overlay, dict) and all(
        kind in MOST
        and isinstance(items, dict)
        and all(values is None or isinstance(values, dict) for values in items.values())
        for kind, items in overlay.items()
    )
