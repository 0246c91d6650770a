"""Reads the configuration's file again while the controller runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from wayname.adapter.controller import Controller, ReloadError
from wayname.adapter.state_file import StateError
from wayname.composition.configuration import load_config
from wayname.config.tables import ConfigError
from wayname.edge.boundary import Severity
from wayname.edge.identities.identity import RecordError
from wayname.identity.key_files import KeyFileError


class Reloader:
    """Has a controller go on by what its file says now, or by what it said before if that cannot be."""

    def __init__(self, controller: Controller, file: Path) -> None:
        self._controller = controller
        self._file = file
        self._one_at_a_time = asyncio.Lock()

    async def reload(self) -> list[str]:
        """Return which sections changed; raise `ReloadError` if the old configuration goes on. An event says it too."""
        async with self._one_at_a_time:
            try:
                changed = await self._controller.reload(load_config(self._file))
            except (ConfigError, KeyFileError, RecordError, ReloadError, StateError) as error:
                text = "; ".join(error.lines) if isinstance(error, ConfigError) else str(error)
                self._report("config.refused", Severity.WARNING, f"{text}; the old configuration goes on")
                raise ReloadError(text) from None
            self._report("config.reloaded", Severity.INFO, f"changed: {', '.join(changed) or 'nothing'}")
            return changed

    def _report(self, kind: str, severity: Severity, text: str) -> None:
        self._controller.report(kind, severity, str(self._file), text)
