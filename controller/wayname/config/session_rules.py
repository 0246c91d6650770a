"""When sessions begin and end, and how they are watched: for every protocol with paths that are probed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from wayname.config.checks import HostPrefixes, Octets32
from wayname.config.sections import SessionTrigger
from wayname.config.tables import WORD, Table, between, mistake

SEND_TIMEOUT = 15.0  # RFC 5534, section 6: Tsend, and three keepalives in it
KEEPALIVES_IN_TIMEOUT = 3
MOST_TIMEOUT = 4000  # microseconds in 32 bits
AUTO = "auto"
LEAST_OF_AUTO = 0.1
Timeout = Annotated[float, between(0.01, MOST_TIMEOUT)]


class ProxyMode(StrEnum):
    """What the edge does for the hosts of a prefix."""

    PROXY = "proxy"
    TRANSPARENT = "transparent"
    VERIFY = "verify"


class WatchRules(Table):
    """When sessions of hosts begin and end, and how they are watched."""

    # With a least one it follows the round trips, up to this.
    send_timeout: Timeout = SEND_TIMEOUT
    min_send_timeout: Timeout | None = None
    keepalive: Annotated[float, between(0.001, MOST_TIMEOUT)] = Field(
        default_factory=lambda rules: rules["send_timeout"] / KEEPALIVES_IN_TIMEOUT
    )
    bytes: Octets32 = 2048
    seconds: Annotated[float, between(0, MOST_TIMEOUT)] = 60.0
    hold: bool = True
    # A server lets its clients begin; how many contexts there may be; how long one may be without a packet.
    server: bool = False
    most: Annotated[int, between(1, 131_071)] = 100_000
    idle: Annotated[float, between(1, 86_400)] = 600.0
    # How often paths that are not in use are probed, and how long the first must have worked before a session goes
    # back to it; a multiple of send_timeout unless given.
    backup_probe_interval: Timeout | None = None
    failback_delay: Annotated[float, between(0, MOST_TIMEOUT)] | None = None

    @property
    def told_send_timeout(self) -> float:
        """What peers are told, so that they answer in time however short a session's send timeout is."""
        return self.send_timeout if self.min_send_timeout is None else self.min_send_timeout

    @model_validator(mode="before")
    @classmethod
    def _read_auto(cls, values: Any) -> Any:
        """Read a send timeout of "auto" as the most and the least that it may be."""
        if not isinstance(values, dict):
            return values
        if values.get("send_timeout") == AUTO:
            given = {"min_send_timeout": LEAST_OF_AUTO, **values}
            most = given.pop("max_send_timeout", SEND_TIMEOUT)
            return {**given, "send_timeout": most}
        for key in ("min_send_timeout", "max_send_timeout"):
            if values.get(key) is not None:
                raise mistake("bounds a send timeout that follows", 'write send_timeout = "auto"', key)
        return values

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if self.keepalive >= self.send_timeout:
            mend = f"write less than send_timeout, which is {self.send_timeout:g}"
            raise mistake(f"is {self.keepalive:g}", mend, "keepalive")
        if self.min_send_timeout is not None and self.min_send_timeout > self.send_timeout:
            mend = f"write {self.send_timeout:g} at most"
            raise mistake(f"is {self.min_send_timeout:g}", mend, "min_send_timeout")
        return self


class SessionRules(WatchRules):
    """The same for the hosts of a site: the prefixes are of one network, one from each provider."""

    prefixes: HostPrefixes
    mode: Annotated[ProxyMode, WORD] = ProxyMode.PROXY

    @property
    def trigger(self) -> SessionTrigger:
        """When the edge sets up a session for two of these hosts: never where they, or their peers, have to."""
        if self.server or self.mode is not ProxyMode.PROXY:
            return SessionTrigger(self.prefixes)
        return SessionTrigger(self.prefixes, self.bytes, self.seconds)
