"""Runs many edges of a fleet in this process: each by itself, so that what ends one ends no other."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import structlog
from finsy import P4Schema

from wayname.adapter import ReloadError, StateError, SwitchError
from wayname.adapter.fleet_configuration import FleetConfiguration
from wayname.cli.running_edge import RunningEdge
from wayname.composition.configuration import load_config
from wayname.config.fleet import Fleet
from wayname.config.load import RESTARTED_FOR, changed_keys
from wayname.config.model import Config, SwitchConfig
from wayname.config.tables import ConfigError
from wayname.edge.identities.identity import RecordError
from wayname.fleet.etcd import EtcdError
from wayname.fleet.leadership import FormError
from wayname.fleet.lease import PAUSE, Lease
from wayname.fleet.member import FleetMember
from wayname.fleet.sealing import SealError
from wayname.identity.key_files import KeyFileError
from wayname.pipeline.program import ProgramError, load_program
from wayname.tls_files import TlsError

# What is said in a line; anything else is a mistake of the program, and has a traceback.
SAID = (
    ConfigError,
    FormError,
    KeyFileError,
    ProgramError,
    RecordError,
    SealError,
    StateError,
    SwitchError,
    TlsError,
)
# Seconds until an edge that failed begins anew: twice as many each time, unless it ran for as long as the longest.
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0


class Edges:
    """Those that `[fleet] edges` names. `run` them; `reload` goes by what the file says now."""

    def __init__(
        self,
        config: Config,
        file: Path,
        lease: Lease,
        prepare: Callable[[Config], Callable[[], None]],
        *,
        replace_pipeline: bool = False,
    ) -> None:
        """`prepare` is as of `Reloader`."""
        assert config.fleet is not None
        # What the file says for all of them.
        self.config = config
        # Those that run now, and of the others why they do not.
        self.running: dict[str, RunningEdge] = {}
        self.why_not: dict[str, str] = {}
        # How often each edge failed and began anew, by what it failed of.
        self.restarts: Counter[tuple[str, str]] = Counter()
        self._fleet: Fleet = config.fleet
        self._file, self._lease, self._prepare = file, lease, prepare
        self._replace_pipeline = replace_pipeline
        self._log = structlog.get_logger()
        self._programs: dict[tuple[object, ...], P4Schema] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group = asyncio.TaskGroup()
        # The process ends, and gives back its lease with all that stands under it.
        self._is_ending = False

    async def run(self) -> None:
        """Run them until cancelled."""
        async with self._group:
            try:
                for name in self._fleet.edges:
                    self._start(name)
                await asyncio.Event().wait()
            finally:
                self._is_ending = True

    async def reload(self) -> list[str]:
        """Go by what the file says now: begin with edges that are new there, end those that are gone, reload others.

        Return what changed of it; raise `ReloadError`, and log it, if the old configuration goes on.
        """
        try:
            config = load_config(self._file)
            changed = changed_keys(self.config, config)
            self._check(config, changed)
            self._prepare(config)()
        except (ConfigError, ReloadError) as error:
            text = "; ".join(error.lines) if isinstance(error, ConfigError) else str(error)
            self._log.warning(f"{text}; the old configuration goes on", kind="config.refused")
            raise ReloadError(text) from None
        assert config.fleet is not None
        self.config, self._fleet = config, config.fleet
        gone = self._tasks.keys() - set(config.fleet.edges)
        for name in config.fleet.edges:
            if name not in self._tasks:
                self._start(name)
        for edge in [edge for name, edge in self.running.items() if name not in gone]:
            with contextlib.suppress(ReloadError):
                await edge.reloader.reload()
        await asyncio.gather(*map(self._end, gone))
        return changed

    def _check(self, config: Config, changed: Sequence[str]) -> None:
        """Refuse what cannot change while the process runs."""
        fleet = config.fleet
        if fleet is None or not fleet.edges or fleet.model_copy(update={"edges": self._fleet.edges}) != self._fleet:
            wrong = "fleet: only its edges can change while the controller runs: restart it, or undo that"
            raise ReloadError(f"{self._file}: {wrong}")
        fixed = [key for key in changed if key != "fleet" and {key, key.partition(".")[0]} & RESTARTED_FOR]
        if fixed:
            wrong = f"{', '.join(fixed)} cannot change while the controller runs: restart it, or undo that"
            raise ReloadError(f"{self._file}: {wrong}")

    def _start(self, name: str) -> None:
        self.why_not[name] = "it has just begun"
        self._tasks[name] = self._group.create_task(self._keep(name))

    async def _end(self, name: str) -> None:
        task = self._tasks.pop(name)
        task.cancel()
        await asyncio.wait([task])
        del self.why_not[name]

    async def _keep(self, name: str) -> None:
        """Run an edge; where it fails, say why, and begin anew."""
        loop = asyncio.get_running_loop()
        wait = 0.0
        while True:
            began = loop.time()
            try:
                await self._run(name)
            except Exception as error:
                self.restarts[name, type(error).__name__] += 1
                self.why_not[name] = str(error) or type(error).__name__
                is_first = not wait or loop.time() - began > LONGEST_WAIT
                wait = FIRST_WAIT if is_first else min(2 * wait, LONGEST_WAIT)
                text = f"the edge ended and begins anew in {wait:g} s: {self.why_not[name]}"
                tell = self._log.error if isinstance(error, SAID) else self._log.exception
                tell(text, kind="edge.failed", edge=name)
            await asyncio.sleep(wait)

    async def _run(self, name: str) -> None:
        def waits(why: str) -> None:
            self.why_not[name] = why
            self._log.warning(why, kind="controller.waits", edge=name)

        def prepare(config: Config) -> Callable[[], None]:
            if clash := self._clash(name, config):
                raise ReloadError(clash)
            return self._prepare(config)

        fleet = self._fleet.model_copy(update={"edge": name, "edges": ()})
        tables = FleetConfiguration(fleet, self._file, self._lease, waits, of_many=True)

        def load() -> Config:
            # Who may ask is of the process: its own reload has it changed for all edges at once.
            return replace(tables.load(), api=self.config.api)

        config = replace(await tables.read(), api=self.config.api)
        if clash := self._clash(name, config):
            raise ConfigError(clash)
        edge = RunningEdge(
            config,
            self._file,
            load,
            prepare,
            replace_pipeline=self._replace_pipeline,
            lease=self._lease,
            tables=tables,
            schema=self._program(config.switch),
            name=name,
        )
        self.running[name] = edge
        try:
            await edge.run()
        finally:
            del self.running[name]
            edge.services.end_streams()
            if edge.controller.fleet is not None:
                await self._withdraw(edge.controller.fleet)

    async def _withdraw(self, member: FleetMember) -> None:
        """Have others lead an edge that ended here; when the process ends, its lease does so."""
        while not self._is_ending:
            try:
                await member.withdraw()
                return
            except EtcdError:
                await asyncio.sleep(PAUSE)

    def _program(self, switch: SwitchConfig) -> P4Schema:
        """Return the program of a switch; edges that have the same have it once, since it is larger than they are."""
        which = switch.target, switch.program, switch.p4info
        if which not in self._programs:
            self._programs[which] = load_program(switch)
        return self._programs[which]

    def _clash(self, name: str, config: Config) -> str:
        """Say what an edge has that is another's in this process too; an empty text if there is nothing."""
        if config.linux is not None:
            return f"edge {name}: linux: is of one machine's only edge; have a process of its own for this edge"
        others: Mapping[str, Config] = {
            other: edge.controller.config for other, edge in self.running.items() if other != name
        }
        for other, has in others.items():
            if (config.switch.address, config.switch.device_id) == (has.switch.address, has.switch.device_id):
                where = f"{config.switch.address}, device {config.switch.device_id}"
                return f"edge {name}: switch: {where} is that of edge {other} too; write [switch] for each edge in etcd"
            if same := set(config.key_files.values()) & set(has.key_files.values()):
                mend = "name a file for each edge, with one of its values in the path"
                return f"edge {name}: {min(same)} is the key of edge {other} too; {mend}"
        return ""
