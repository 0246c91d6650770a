"""What the edge gives everyone who keeps sessions, whatever their protocol."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from wayname.edge.boundary import Json
from wayname.edge.outputs import Outputs
from wayname.edge.providers import Providers
from wayname.edge.scheduling.schedules import Schedules
from wayname.edge.session_numbers import SessionNumbers
from wayname.edge.sessions.preferences import PathPreferences
from wayname.edge.sessions.ways_out import WaysOut


@dataclass(frozen=True, slots=True)
class SessionMeans:
    """Where sessions get their numbers and ways out from, and where they tell and write down what becomes of them."""

    numbers: SessionNumbers
    providers: Providers
    ways_out: WaysOut
    schedules: Schedules
    preferences: PathPreferences
    outputs: Outputs
    rng: random.Random
    # What earlier controllers wrote down.
    remembered: Mapping[str, Json]
