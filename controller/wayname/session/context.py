"""What the edge gives everyone who keeps sessions, whatever their protocol."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from wayname.config.model import Config
from wayname.edge.boundary import Json
from wayname.edge.nptv6.nptv6 import Nptv6Manager
from wayname.edge.outputs import Outputs
from wayname.edge.providers import Providers
from wayname.session.egress_selection import EgressSelection
from wayname.session.numbers import SessionNumbers
from wayname.session.preferences import PathPreferences
from wayname.session.scheduling.schedules import Schedules


@dataclass(frozen=True, slots=True)
class SessionContext:
    """Where sessions get their numbers and ways out from, and where they tell and write down what becomes of them."""

    config: Config
    numbers: SessionNumbers
    providers: Providers
    egress: EgressSelection
    schedules: Schedules
    preferences: PathPreferences
    translation: Nptv6Manager
    outputs: Outputs
    rng: random.Random
    # What earlier controllers wrote down.
    remembered: Mapping[str, Json]
    # What `Protocol.load_keys` returned, by the protocol's name.
    keys: Mapping[str, object] = field(repr=False)
