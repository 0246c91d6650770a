"""What a controller writes down for the one after it: in a file, or in a fleet's etcd."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wayname.adapter.state_file import StateFile
from wayname.composition.protocols import PROTOCOLS
from wayname.config.model import Config
from wayname.edge.boundary import Json, Persist, Severity
from wayname.fleet.member import FleetMember


def is_lasting(config: Config) -> bool:
    """Whether a controller of this configuration has something to write down."""
    return (
        config.identities is not None
        or bool(config.translations)
        or bool(config.prefix_sources)
        or config.filters_inbound
        or any(protocol.is_configured(config) for protocol in PROTOCOLS)
    )


class Memory:
    """Reads and writes it, and tells of trouble once; a file is opened when there is something to write down."""

    def __init__(
        self, config: Config, fleet: FleetMember | None, report: Callable[[str, Severity, str, str], None]
    ) -> None:
        self._fleet = fleet
        self._file: StateFile | None = None
        self._subject = str(config.controller.state) if config.fleet is None else f"edge {config.fleet.edge} in etcd"
        self._report = report
        self._unwritten = ""
        self.open(config)

    def open(self, config: Config) -> None:
        """Open the file, if a configuration needs one."""
        if self._fleet is None and self._file is None and is_lasting(config):
            self._file = StateFile(config.controller.state)

    def read(self) -> dict[str, Json]:
        """Return all that is written down."""
        if self._fleet is not None:
            return self._fleet.read()
        return self._file.read() if self._file else {}

    async def write_down(self, remembers: Sequence[Persist], *, lasts: bool = True) -> None:
        """Write down what the next controller must know, before anything is done that it would have to know of.

        What does not last is written if this controller leads again, and nobody else did before.
        """
        if self._fleet is not None and not lasts:
            self._fleet.note(remembers)
        elif self._fleet is not None:
            if remembers or self._fleet.unwritten:
                self._note(await self._fleet.write_down(remembers))
        elif self._file and remembers:
            self._note(self._file.put(*remembers))

    def _note(self, trouble: str) -> None:
        """Tell once that nothing can be written down, and once that it can again."""
        if trouble != self._unwritten:
            self._unwritten = trouble
            if trouble:
                self._report("state.unwritten", Severity.WARNING, self._subject, trouble)
            else:
                self._report("state.written", Severity.INFO, self._subject, "is written again")

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
