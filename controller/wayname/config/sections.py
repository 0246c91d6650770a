"""The parts of a configuration file: how each is written, checked, and where it stands in the configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any, Generic, TypeVar

from wayname.config.model import Config
from wayname.config.tables import Mistake, Site

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class SessionTrigger:
    """When the edge sets up a session for two hosts: after so many octets, or so long; 0 is never."""

    prefixes: tuple[IPv6Network, ...]
    bytes: int = 0
    seconds: float = 0.0
    # The name of the user's own rule, which says so instead.
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the file, and where it stands in the configuration; what refers to others is read behind them."""

    key: str
    field: str
    form: Any
    check: Callable[[Any, Site], Iterable[Mistake]] = lambda _found, _site: ()
    # Whether mistakes in sections before it may be the reason for its own.
    refers: bool = True
    # Whether it is read where nobody writes it.
    always: bool = False

    def put(self, config: Config, found: Any) -> Config:
        """Return the configuration with what the section says."""
        return replace(config, **{self.field: found})


@dataclass(frozen=True)
class ProtocolSection(Generic[Read]):
    """The part of a session protocol, under the protocol's name (docs/adding-a-protocol.md)."""

    key: str
    form: Any
    # The prefixes of the hosts that it is about; what was read before has its own in `Config.host_prefixes`.
    prefixes: Callable[[Read], Iterable[IPv6Network]]
    check: Callable[[Read, Site], Iterable[Mistake]] = lambda _found, _site: ()
    # Whether it holds what others must not read, beside the names of files.
    has_secrets: Callable[[Read], bool] = lambda _found: False
    # Files of private keys, by what they are of.
    key_files: Callable[[Read], Mapping[str, Path]] = lambda _found: {}
    # When hosts get sessions; the API tells who sees none.
    triggers: Callable[[Read], Iterable[SessionTrigger]] = lambda _found: ()
    refers = True
    always = False

    def of(self, config: Config) -> Read | None:
        """Return what a configuration says of the protocol."""
        found: Read | None = config.protocols.get(self.key)
        return found

    def put(self, config: Config, found: Read) -> Config:
        """Return the configuration with what the section says."""
        prefixes = (*config.host_prefixes, *self.prefixes(found))
        files = {**config.protocol_keys, **self.key_files(found)}
        protocols = {**config.protocols, self.key: found}
        return replace(config, protocols=protocols, host_prefixes=prefixes, protocol_keys=files)
