"""What the packets to a prefix carry, as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Network
from typing import Annotated, Self

from pydantic import model_validator

from wayname.config.checks import FarAddress, network, prefix
from wayname.config.encapsulation.limits import check_room
from wayname.config.encapsulation.model import Encapsulation, Mode
from wayname.config.encapsulation.values import check_proof, own_address, own_source, unknown_name
from wayname.config.tables import WORD, Mistake, Site, Table, mistake, not_known, parsed, raise_all

# Of these a table has one at most, and each goes with some keys.
_KEYS = {
    "policy": ("trace", "mode"),
    "source_route": ("trace",),
    "locator": ("neutral",),
    "no_encapsulation": (),
    "trace": ("mode", "to", "source"),
}
_MODES_ALONE = (Mode.INLINE, Mode.TUNNEL, Mode.AUTOMATIC)


def _locator(text: str) -> int:
    locator = network(text)
    if locator.prefixlen != 64:
        raise ValueError("a locator has 64 bits")
    return int(locator.network_address) >> 64


Destinations = Annotated[IPv6Network, prefix("2001:db8::/32")]


class EncapsulationTable(Table):
    """`[[encapsulation]]`."""

    prefix: Destinations
    policy: str = ""
    source_route: str = ""
    locator: Annotated[int, parsed(_locator, "write a prefix of 64 bits as in 2001:db8:1:2::/64")] | None = None
    no_encapsulation: bool = False
    trace: str = ""
    mode: Annotated[Mode, WORD] | None = None
    to: FarAddress | None = None
    source: FarAddress | None = None
    neutral: bool = True

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        given = self.model_fields_set - {"prefix"}
        said = [key for key in _KEYS if key in given]
        if not said:
            raise mistake(
                "is missing", "write policy, trace, source_route, locator or no_encapsulation = true", "policy"
            )
        first, *others = said
        for key in others:
            if key not in _KEYS[first]:
                raise mistake(f"does not go with {first}", "write one of them", key)
        known = ("prefix", first, *_KEYS[first])
        raise_all(not_known(key, known) for key in given if key not in known)
        if "no_encapsulation" in given and not self.no_encapsulation:
            raise mistake("is False", "write true, or leave it out", "no_encapsulation")
        if first != "policy" and self.mode is not None and self.mode not in _MODES_ALONE:
            mend = f"write one of {', '.join(map(repr, map(str, _MODES_ALONE)))}"
            raise mistake(f"is {self.mode.value!r}", mend, "mode")
        return self

    def resolved(self, site: Site) -> Encapsulation:
        """Return it, if what it refers to is there."""
        raise_all(self._mistakes(site))
        if self.no_encapsulation:
            return Encapsulation(self.prefix)
        if self.locator is not None:
            return Encapsulation(self.prefix, locator=self.locator, neutral=self.neutral)
        mode = Mode.INLINE if self.source_route else self.mode or (Mode.TUNNEL if self.policy else Mode.AUTOMATIC)
        if self.to is None and self.source is not None:
            raise mistake("is missing", "say where the tunnel ends", "to")
        if self.to is None and mode is not Mode.INLINE and not self.policy:
            raise mistake("is missing", "say where the trace's tunnel ends: a segment of the node there", "to")
        source = own_source(site) if self.to is not None and self.source is None else self.source
        if self.trace and mode is Mode.INLINE and site.config.encapsulation.trace[self.trace].loopback:
            # What comes back goes to the packet's source, which has to be this node (RFC 9322, section 4).
            mend = 'write mode = "tunnel" or "automatic"'
            raise mistake(f"trace {self.trace!r} would go back to hosts", mend, "trace")
        check_proof("mode", mode, self.policy, site)
        found = Encapsulation(self.prefix, mode, self.policy, self.trace, self.source_route, source, self.to)
        check_room("prefix", found, site.config)
        return found

    def _mistakes(self, site: Site) -> Iterator[Mistake]:
        if self.prefix.is_multicast or self.prefix.is_link_local:
            yield Mistake(("prefix",), f"{self.prefix} is never routed", "leave it out")
        if self.prefix.prefixlen == 128 and (own := own_address(self.prefix, site)) is not None:
            wrong = f"{self.prefix.network_address} is {own.name}'s own address"
            yield Mistake(("prefix",), wrong, "name others' addresses")
        known = site.config.encapsulation
        for key, there in (("policy", known.policy), ("source_route", known.source_route), ("trace", known.trace)):
            if key in self.model_fields_set:
                yield from unknown_name(key, getattr(self, key), there)
