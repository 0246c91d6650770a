"""All that reads octets of others, one by one.

A new decoder needs a target in one of these modules, or a word in without_target.py: a test looks.
"""

from __future__ import annotations

from fuzz.hip_targets import HIP_TARGETS
from fuzz.ilnp_targets import ILNP_TARGETS
from fuzz.shim6_targets import SHIM6_TARGETS
from fuzz.target import Target
from fuzz.wire_targets import WIRE_TARGETS

TARGETS: tuple[Target, ...] = (*WIRE_TARGETS, *SHIM6_TARGETS, *HIP_TARGETS, *ILNP_TARGETS)
