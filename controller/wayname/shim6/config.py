"""What a configuration says of Shim6."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from ipaddress import IPv6Address
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from wayname.config.checks import hosts_prefixes
from wayname.config.sections import ProtocolSection, SessionTrigger
from wayname.config.session_rules import ProxyMode, SessionRules
from wayname.config.tables import (
    WORD,
    Mistake,
    Site,
    Table,
    beneath,
    between,
    mistake,
    not_known,
    parsed,
    raise_all,
    twice,
)
from wayname.identity.errors import ParametersError, ProofError
from wayname.identity.parameters import Parameters
from wayname.shim6.trigger_rules import load_rule

MOST_SEC = 7  # three bits of an address (RFC 3972, section 3)


class Security(StrEnum):
    """Whether locators must be proved."""

    PROVED = "proved"
    NONE = "none"


def _rule(name: str) -> str:
    load_rule(name)
    return name


class ProvableHost(Table):
    """A host whose address is in a hash-based set, and what proves it; nothing does without security."""

    address: Annotated[IPv6Address, parsed(IPv6Address, "write the host's address")]
    octets: Annotated[bytes, parsed(bytes.fromhex, "write the CGA parameters in hexadecimal digits")] | None = Field(
        default=None, alias="parameters"
    )

    @property
    def parameters(self) -> Parameters | None:
        """Its CGA parameters."""
        return Parameters.decode(self.octets) if self.octets is not None else None

    @model_validator(mode="after")
    def _check_proof(self) -> Self:
        try:
            if (parameters := self.parameters) is not None:
                parameters.prove_member(self.address)
        except (ParametersError, ProofError) as error:
            raise mistake(f"do not prove {self.address} ({error})", "`wayname hba` makes both", "parameters") from None
        return self


class Shim6(SessionRules):
    """What is done for the hosts of a site."""

    # Without security whoever claims a locator is believed; a peer whose address claims less Sec than this is not.
    security: Annotated[Security, WORD] = Security.PROVED
    min_sec: Annotated[int, between(0, MOST_SEC)] = 0
    # A rule of the user's own of when a context is set up, in place of ours; as the configuration names it.
    trigger_rule: (
        Annotated[str, parsed(_rule, "write the name of an installed entry point, or module:function")] | None
    ) = None
    hosts: tuple[ProvableHost, ...] = Field(default=(), alias="host")

    @property
    def trigger(self) -> SessionTrigger:
        """When a context is set up for two of these hosts."""
        found = super().trigger
        return found if self.trigger_rule is None else SessionTrigger(self.prefixes, rule=self.trigger_rule)

    @model_validator(mode="before")
    @classmethod
    def _check_mode(cls, values: Any) -> Any:
        """Refuse rules of sessions that the edge has no part in."""
        if isinstance(values, dict) and values.get("mode") in (ProxyMode.TRANSPARENT, ProxyMode.VERIFY):
            known = ("mode", "prefixes")
            raise_all(not_known(key, known) for key in values if key not in known)
        return values

    @model_validator(mode="after")
    def _check(self) -> Self:
        raise_all(self._mistakes())
        return self

    def _mistakes(self) -> Iterator[Mistake]:
        if self.min_sec and self.security is Security.NONE:
            mend = 'leave it out, or security = "none"'
            yield Mistake(("min_sec",), f"is {self.min_sec}, and nothing is proved", mend)
        for index, host in enumerate(self.hosts):
            where = ("host", index)
            if not any(host.address in prefix for prefix in self.prefixes):
                wrong = f"{host.address} is in none of prefixes"
                yield Mistake((*where, "address"), wrong, "give the host an address in one of them")
            if host.octets is None and self.security is not Security.NONE:
                yield Mistake((*where, "parameters"), "is missing", "write parameters = ...; `wayname hba` makes them")
        addresses = (host.address for host in self.hosts)
        yield from beneath(twice(addresses, "address", "give every host once", str), "host")


def _check(found: tuple[Shim6, ...], site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with all `[[shim6]]`."""
    taken = [*site.config.host_prefixes]
    for index, rules in enumerate(found):
        yield from beneath(hosts_prefixes(rules.prefixes, taken, "prefixes"), index)
        taken += rules.prefixes


SECTION = ProtocolSection[tuple[Shim6, ...]](
    "shim6",
    tuple[Shim6, ...],
    prefixes=lambda found: (prefix for rules in found for prefix in rules.prefixes),
    check=_check,
    triggers=lambda found: (rules.trigger for rules in found),
)
