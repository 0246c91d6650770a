"""Packets that were too many for the controller, by class and port."""

from __future__ import annotations

from pydantic import BaseModel, Field

from wayname.config.model import Config
from wayname.pipeline import punts
from wayname.pipeline.reasons import class_words
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import SwitchSnapshot

HELD_BACK = "punts_held_back"


class RateLimitedPunts(BaseModel):
    """A class of packets for the controller that were too many by a port."""

    punt_class: int = Field(description="the punt reason, or 35 and more for what the tables know")
    name: str = Field(description="the class in words")
    port: int = Field(description="number of the port that they came by")
    port_name: str = Field(description="name of that port")
    switch: int = Field(description="above a rate of the switch")
    controller: int = Field(description="no room in the controller")


def punt_cells(config: Config) -> dict[str, list[int]]:
    """What to read of the switch for `held_back`."""
    return {HELD_BACK: [punts.cell(each, port.number) for port in config.ports for each in punts.CLASSES]}


def held_back(running: Running, switch_snapshot: SwitchSnapshot) -> list[RateLimitedPunts]:
    """The classes and ports of which something was held back, the most frequent first."""
    answer = []
    for port in running.config.ports:
        for each in (punts.DIGEST, *punts.CLASSES):
            row = RateLimitedPunts(
                punt_class=each,
                name=class_words(each),
                port=port.number,
                port_name=port.name,
                switch=switch_snapshot.counted(HELD_BACK, punts.cell(each, port.number)).packets,
                controller=running.lost.get((each, port.number), 0),
            )
            if row.switch or row.controller:
                answer.append(row)
    return sorted(answer, key=lambda row: (-row.switch - row.controller, row.punt_class, row.port))
