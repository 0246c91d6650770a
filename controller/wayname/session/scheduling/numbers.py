"""Numbers of schedules: their registers on the switch, which know by the generation whose they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from wayname.config.schedules import SchedulingPolicy
from wayname.edge.boundary import Json
from wayname.edge.outputs import Outputs
from wayname.p4_constants import SCHEDULES
from wayname.pipeline.schedules import Registers

# 0 is no schedule.
MOST_NUMBER = SCHEDULES - 1
GENERATIONS = 256
NUMBER = "schedule"


class ScheduleNumbers:
    """Gives each schedule its registers, the same ones again as long as there are enough."""

    def __init__(self, remembered: Mapping[str, Json], outputs: Outputs, most: int = MOST_NUMBER) -> None:
        self._outputs = outputs
        self._most = most
        self._registers: dict[str, Registers] = {}
        self._policies: dict[str, str] = {}
        for key, written in remembered.items():
            kind, _, number = key.partition(" ")
            if kind == NUMBER and isinstance(written, list):
                of, policy, generation = written
                assert isinstance(generation, int)
                self._registers[str(of)] = Registers(int(number), generation)
                self._policies[str(of)] = str(policy)

    def take(self, of: str, policy: SchedulingPolicy, live: Collection[str]) -> Registers | None:
        """Return the registers of a schedule; those of none that is live, and None if there are no others."""
        registers = self._registers.get(of)
        if registers is None:
            if len(self._registers) < self._most:
                registers = Registers(len(self._registers) + 1, 0)
            else:
                idle = next((each for each in self._registers if each not in live), None)
                if idle is None:
                    return None
                registers = self._registers.pop(idle)
                self._policies.pop(idle, None)
        if self._policies.get(of) != policy:
            registers = _anew(registers)
        self._keep(of, policy, registers)
        return registers

    def of(self, schedule: str) -> Registers | None:
        """Return the registers that a schedule has, or had last."""
        return self._registers.get(schedule)

    def begin_anew(self, of: str, policy: SchedulingPolicy) -> Registers:
        """Return the registers of a schedule with another generation: what they know counts no more."""
        registers = _anew(self._registers[of])
        self._keep(of, policy, registers)
        return registers

    def _keep(self, of: str, policy: SchedulingPolicy, registers: Registers) -> None:
        if (self._registers.get(of), self._policies.get(of)) != (registers, policy):
            self._registers[of], self._policies[of] = registers, policy
            self._outputs.remember(f"{NUMBER} {registers.schedule}", [of, policy.value, registers.generation])


def _anew(registers: Registers) -> Registers:
    return Registers(registers.schedule, (registers.generation + 1) % GENERATIONS)
