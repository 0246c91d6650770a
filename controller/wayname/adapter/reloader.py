"""Reads the configuration's file again while the controller runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from wayname.adapter.controller import Controller, ReloadError
from wayname.adapter.state_file import StateError
from wayname.config.model import Config
from wayname.config.tables import ConfigError
from wayname.edge.boundary import Severity
from wayname.edge.identities.identity import RecordError
from wayname.identity.key_files import KeyFileError


class Reloader:
    """Has a controller go on by what its file says now, or by what it said before if that cannot be.

    `prepare` has what stands beside the edge read its files, or raises `ReloadError`; what it returns uses them.
    """

    def __init__(
        self,
        controller: Controller,
        file: Path,
        load: Callable[[], Config],
        prepare: Callable[[Config], Callable[[], None]],
    ) -> None:
        self._controller = controller
        self._file = file
        self._load = load
        self._prepare = prepare
        self._one_at_a_time = asyncio.Lock()

    async def reload(self) -> list[str]:
        """Return which sections changed; raise `ReloadError` if the old configuration goes on. An event says it too."""
        async with self._one_at_a_time:
            try:
                config = self._load()
                put_in_force = self._prepare(config)
                changed = await self._controller.reload(config)
            except (ConfigError, KeyFileError, RecordError, ReloadError, StateError) as error:
                text = "; ".join(error.lines) if isinstance(error, ConfigError) else str(error)
                self._report("config.refused", Severity.WARNING, f"{text}; the old configuration goes on")
                raise ReloadError(text) from None
            put_in_force()
            self._report("config.reloaded", Severity.INFO, f"changed: {', '.join(changed) or 'nothing'}")
            return changed

    def _report(self, kind: str, severity: Severity, text: str) -> None:
        self._controller.report(kind, severity, str(self._file), text)
