"""What a configuration says of how a provider is tracked beyond its first hop."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Self

import dns.exception
import dns.name
from pydantic import BeforeValidator, model_validator

from wayname.config.checks import FarAddress
from wayname.config.tables import WORD, Mistake, Table, between, count, mistake, parsed, raise_all

MOST_TARGETS = 8
DNS_PORT = 53


class ProbeKind(StrEnum):
    """What a target is asked."""

    ICMP = "icmp"
    TCP = "tcp"
    DNS = "dns"


def _read_dns_name(text: str) -> str:
    try:
        return dns.name.from_text(text).to_text()
    except (dns.exception.DNSException, UnicodeError) as error:
        raise ValueError(str(error) or "it is no name") from None


class TrackTarget(Table):
    """Somebody beyond the provider who answers."""

    address: FarAddress
    probe: Annotated[ProbeKind, WORD] = ProbeKind.ICMP
    port: Annotated[int, between(1, 65535)] | None = None
    # What a DNS server is asked for.
    name: Annotated[str, parsed(_read_dns_name, "write a name as in example.org")] | None = None

    @property
    def dns_port(self) -> int:
        """The port of a DNS server."""
        return self.port or DNS_PORT

    def __str__(self) -> str:
        match self.probe:
            case ProbeKind.TCP:
                return f"TCP [{self.address}]:{self.port}"
            case ProbeKind.DNS:
                at = self.address if self.dns_port == DNS_PORT else f"[{self.address}]:{self.port}"
                return f"DNS {at} {self.name}"
        return str(self.address)

    @model_validator(mode="after")
    def _check(self) -> Self:
        raise_all(self._mistakes())
        return self

    def _mistakes(self) -> Iterator[Mistake]:
        if self.probe is ProbeKind.TCP and self.port is None:
            yield Mistake(("port",), "is missing", "name the port to connect to, as in port = 443")
        if self.probe is ProbeKind.ICMP and self.port is not None:
            yield Mistake(("port",), f"is {self.port}", 'leave it out, or write probe = "tcp"')
        if self.probe is ProbeKind.DNS and self.name is None:
            yield Mistake(("name",), "is missing", 'name what to ask for, as in name = "example.org"')
        if self.probe is not ProbeKind.DNS and self.name is not None:
            yield Mistake(("name",), f"is {self.name!r}", 'leave it out, or write probe = "dns"')


def _with_address(given: object) -> object:
    return {"address": given} if isinstance(given, str) else given


def _with_targets(given: Any) -> Any:
    return {"targets": given} if isinstance(given, tuple) else given


class Track(Table):
    """Whom to ask through a provider, and what makes it down; times are in seconds, the loss in percent."""

    targets: Annotated[
        tuple[Annotated[TrackTarget, BeforeValidator(_with_address)], ...], count(1, MOST_TARGETS, " targets")
    ]
    # So many targets must be up.
    reliability: int = 1
    interval: Annotated[float, between(0.1, 3600)] = 0.5
    timeout: Annotated[float, between(0.05, 10)] = 1.0
    # Probes in a row: without an answer, until a target is down, and answered, until it is up.
    down: Annotated[int, between(1, 100)] = 3
    up: Annotated[int, between(1, 100)] = 3
    loss: Annotated[int, between(1, 100)] = 40
    delay: Annotated[float, between(0.001, 10)] | None = None
    # For so long enough targets must be up until the provider is.
    quiet: Annotated[float, between(0, 3600)] = 10.0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not 1 <= self.reliability <= len(self.targets):
            mend = f"write a number from 1 to {len(self.targets)}, of which there are targets"
            raise mistake(f"is {self.reliability}", mend, "reliability")
        for index, target in enumerate(self.targets):
            if target in self.targets[:index]:
                raise mistake(f"{target} is there twice", "give every target once", "targets", index)
        if self.delay is not None and self.delay >= self.timeout:
            mend = f"write less than timeout, {self.timeout:g}: what takes longer is lost"
            raise mistake(f"is {self.delay:g}", mend, "delay")
        return self


TrackRules = Annotated[Track, BeforeValidator(_with_targets)]
