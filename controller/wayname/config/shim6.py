"""What a configuration says of Shim6."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address

from wayname.config.session_rules import SessionRules
from wayname.identity.parameters import Parameters


class Security(StrEnum):
    """Whether locators must be proved."""

    PROVED = "proved"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ProvableHost:
    """A host whose address is in a hash-based set, and what proves it; nothing does without security."""

    address: IPv6Address
    parameters: Parameters | None


@dataclass(frozen=True, slots=True)
class Shim6(SessionRules):
    """What is done for the hosts of a site."""

    # Without security whoever claims a locator is believed; a peer whose address claims less Sec than this is not.
    security: Security = Security.PROVED
    least_sec: int = 0
    # A rule of the user's own of when a context is set up, in place of ours; as the configuration names it.
    begin_rule: str | None = None
    hosts: tuple[ProvableHost, ...] = ()
