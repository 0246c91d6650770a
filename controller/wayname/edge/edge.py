"""The controller of one switch, composed of its managers."""

from __future__ import annotations

import random

from finsy import P4Schema

from wayname.config.model import Config
from wayname.edge.boundary import (
    CloseCapture,
    Input,
    OpenCapture,
    Output,
    PacketIn,
    Severity,
    SwitchDown,
    SwitchUp,
    WriteFailed,
)
from wayname.edge.captures import Captures
from wayname.edge.interfaces import want_interfaces
from wayname.edge.outputs import Outputs
from wayname.edge.ports import want_ports
from wayname.pipeline.reasons import CAPTURES


class Edge:
    """Takes inputs and gives outputs as `boundary` says."""

    def __init__(self, config: Config, schema: P4Schema, rng: random.Random) -> None:
        self.config = config
        self._outputs = Outputs()
        self._captures = Captures(self._outputs)
        want_ports(config, self._outputs.desired)
        want_interfaces(config, self._outputs.desired)

    def receive(self, input: Input, now: float) -> None:
        """Take note of something that happened."""
        match input:
            case SwitchUp(entities):
                self._outputs.connected = True
                self._outputs.desired.compare(entities)
                self._outputs.event(now, "switch.up", self.config.switch.address, "the switch is there")
            case SwitchDown(reason):
                self._outputs.connected = False
                self._outputs.event(now, "switch.down", self.config.switch.address, reason, Severity.WARNING)
            case PacketIn() if input.reason in CAPTURES:
                self._captures.packet(input)
            case OpenCapture():
                self._captures.open(input)
            case CloseCapture(number):
                self._captures.close(number)
            case WriteFailed(update, code, text):
                if not self._outputs.desired.refused(update, code):
                    self._outputs.event(now, "write.failed", update[1], text, Severity.ERROR)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return None

    def handle_timer(self, now: float) -> None:
        """Do what is due."""

    def take_outputs(self) -> list[Output]:
        """Return what has to be carried out, in order."""
        return self._outputs.take()
