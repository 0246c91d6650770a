"""The ways that packets take as they are written: policies, source routes, routes of tables, segments of this node."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Network, IPv6Address, IPv6Network
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from wayname.config.checks import FarAddress, Name, NextHop, link_of, network
from wayname.config.encapsulation.limits import check_room
from wayname.config.encapsulation.model import (
    Behaviour,
    Encapsulation,
    Flavours,
    HmacForm,
    HmacUse,
    KeyNumber,
    KeyText,
    LocalSid,
    Mode,
    SrPolicy,
    VrfRoute,
)
from wayname.config.encapsulation.values import check_proof, own_address, own_source, unknown_name
from wayname.config.links import LinkAddress, Refusal
from wayname.config.tables import (
    WORD,
    Mistake,
    Site,
    Table,
    between,
    count,
    known_words,
    mistake,
    not_known,
    parsed,
    raise_all,
    within,
)

MOST_SEGMENTS = 36
MOST_TABLE = 0x7FFF  # those behind are of providers
_KEYS = {
    Behaviour.END: ("flavours",),
    Behaviour.END_X: ("flavours", "via"),
    Behaviour.END_T: ("flavours", "table"),
    Behaviour.END_B6_ENCAPS: ("flavours", "policy", "reduced"),
    Behaviour.END_DX6: ("via",),
    Behaviour.END_DX4: ("via",),
    Behaviour.END_DT6: ("table",),
    Behaviour.END_DT4: ("table",),
    Behaviour.END_DT46: ("table",),
    Behaviour.END_DX2: ("port",),
    Behaviour.SOURCE_ROUTE_HOP: (),
}


class PolicyTable(Table):
    """A list of segments to send packets along."""

    name: Name
    segments: Annotated[tuple[FarAddress, ...], count(1, MOST_SEGMENTS)]
    source: FarAddress | None = None
    key_id: KeyNumber | None = None
    key: KeyText = Field(default="", repr=False)
    hmac_form: Annotated[HmacForm, WORD] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.key_id) != bool(self.key):
            raise mistake("is missing", "key and key_id go together", "key" if self.key_id else "key_id")
        if self.hmac_form is not None and not self.key:
            raise mistake("is of an HMAC, and there is none", "write key_id and key as well", "hmac_form")
        return self

    def resolved(self, site: Site) -> SrPolicy:
        """Return it with the source of its tunnels."""
        form = self.hmac_form or HmacForm.RFC_8754
        return SrPolicy(self.name, self.source or own_source(site), self.segments, self.key_id or 0, self.key, form)


class TableRouteTable(Table):
    """A route of a table of its own."""

    table: Annotated[int, between(1, MOST_TABLE)]
    prefix: Annotated[
        IPv4Network | IPv6Network,
        parsed(
            lambda text: network(text) if ":" in text else IPv4Network(text),
            "write PREFIX/LENGTH as in 2001:db8::/32 or 192.0.2.0/24",
        ),
    ]
    via: str

    def resolved(self, site: Site) -> VrfRoute:
        """Return it with the link or the next hop that it leads to."""
        interface = next((each for each in site.config.interfaces if each.name == self.via), None)
        is_ipv4 = isinstance(self.prefix, IPv4Network)
        if interface is not None:
            if is_ipv4:
                mend = "name a router's IPv6 address"
                raise mistake("is a link, and nobody is asked for IPv4 neighbours", mend, "via")
            return VrfRoute(self.table, self.prefix, vlan=interface.vlan)
        if self.via in tuple(Refusal):
            if is_ipv4 and self.via == Refusal.PROHIBITED:
                raise mistake("tells nobody of IPv4", 'write "discard"', "via")
            return VrfRoute(self.table, self.prefix, refusal=Refusal(self.via))
        return VrfRoute(self.table, self.prefix, via=_neighbour(self.via, site))


def _neighbour(text: str, site: Site) -> LinkAddress:
    with within("via"):
        try:
            return link_of(IPv6Address(text), site)
        except AddressValueError as wrong:
            mend = "write an address, with %INTERFACE if it is link-local"
            raise mistake(f"{text!r} is wrong ({wrong})", mend) from None


def _sid(text: str) -> IPv6Network:
    prefix = network(text if "/" in text else f"{text}/128")
    nobody = prefix.is_multicast or prefix.is_link_local or prefix.is_loopback or prefix.is_unspecified
    if nobody or prefix.prefixlen == 0:
        raise mistake(f"{text} cannot be one node's", "write an address that is routed to this node")
    return prefix


class SegmentTable(Table):
    """A segment of this node, and what it does."""

    sid: Annotated[IPv6Network, parsed(_sid, "write an address, or PREFIX/LENGTH for one with arguments")]
    behaviour: Annotated[Behaviour, WORD]
    flavours: tuple[Annotated[int, known_words({"psp": 1, "usp": 2, "usd": 4})], ...] = ()
    via: NextHop | None = None
    table: Annotated[int, between(0, MOST_TABLE)] = 0
    policy: str = ""
    reduced: bool = False
    port: int = 0
    hmac: Annotated[HmacUse, WORD] = HmacUse.IGNORE

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, values: Any) -> Any:
        """Each behaviour has keys of its own, and needs all but those that have a default."""
        if isinstance(values, dict) and values.get("behaviour") in tuple(Behaviour):
            own = _KEYS[Behaviour(values["behaviour"])]
            known = ("behaviour", "hmac", "sid", *own)
            raise_all(not_known(key, known) for key in values if key not in known)
            needed = [key for key in own if key in ("via", "table", "policy", "port") and key not in values]
            raise_all(Mistake((key,), "is missing", f"write {key} = ...") for key in needed)
        return values

    def resolved(self, site: Site) -> LocalSid:
        """Return it, if what it refers to is there."""
        raise_all(self._mistakes(site))
        flavours = Flavours(sum(set(self.flavours)))
        segment = LocalSid(
            self.sid, self.behaviour, flavours, self.via, self.table, self.policy, self.reduced, self.port, self.hmac
        )
        if self.behaviour is Behaviour.END_B6_ENCAPS:
            mode = Mode.REDUCED if self.reduced else Mode.TUNNEL
            check_proof("reduced", mode, self.policy, site)
            check_room("policy", Encapsulation(self.sid, mode, policy=self.policy), site.config)
        return segment

    def _mistakes(self, site: Site) -> Iterator[Mistake]:
        if (own := own_address(self.sid, site)) is not None:
            wrong = f"{self.sid.network_address} is {own.name}'s own address"
            yield Mistake(("sid",), wrong, "give the segment an address of its own")
        if self.behaviour is Behaviour.END_B6_ENCAPS:
            yield from unknown_name("policy", self.policy, site.config.encapsulation.policy)
            if 4 in self.flavours:
                yield Mistake(("flavours",), "USD has no meaning here (RFC 8986)", 'leave "usd" out')
        # Table 0 is that of all other packets; there is none of IPv4.
        if "table" in _KEYS[self.behaviour] and self.table == 0 and self.behaviour is not Behaviour.END_DT6:
            yield Mistake(("table",), "is 0", f"write a number from 1 to {MOST_TABLE}")
        if self.behaviour is Behaviour.END_DX2 and site.config.port(self.port) is None:
            known = ", ".join(str(port.number) for port in site.config.ports) or "none"
            yield Mistake(("port",), f"there is no port {self.port}", f"the ports are {known}")
        if self.hmac is not HmacUse.IGNORE and self.behaviour is Behaviour.SOURCE_ROUTE_HOP:
            yield Mistake(("hmac",), "is for segments", "leave it out: source routes of RPL have no HMAC")
        elif self.hmac is not HmacUse.IGNORE and not site.config.encapsulation.hmac_keys:
            yield Mistake(("hmac",), "has no key to verify with", "write a [[hmac_key]] as well")
