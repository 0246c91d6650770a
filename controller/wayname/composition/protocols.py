"""The session protocols of the edge: a new one is a line here (docs/adding-a-protocol.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from wayname.hip.protocol import HIP
from wayname.ilnp.protocol import ILNP
from wayname.session.protocol import Protocol
from wayname.shim6.protocol import SHIM6

if TYPE_CHECKING:
    from wayname.config.model import Config

# In this order they are asked about a message that several of them know. HIP's sessions bear Shim6's headers and
# probes, and HIP takes what is for its own hosts alone.
PROTOCOLS: tuple[Protocol, ...] = (HIP, SHIM6, ILNP)


def load_keys(config: Config) -> Mapping[str, object]:
    """Return the keys of each protocol; files that are not there yet are made."""
    return {each.name: each.load_keys(config) for each in PROTOCOLS if each.is_configured(config)}
