"""What a configuration says of ILNP."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from ipaddress import IPv6Network
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from wayname.config.checks import HostPrefixes, Octets32, hosts_prefixes
from wayname.config.names import NetworkNames
from wayname.config.sections import ProtocolSection, SessionTrigger
from wayname.config.tables import (
    WORD,
    Mistake,
    Site,
    Table,
    beneath,
    between,
    count,
    known_words,
    not_known,
    parsed,
    raise_all,
)
from wayname.nptv6 import SUBNET_PREFIX

MOST_SPEAKERS = 256
MOST_SESSIONS = 1_000_000
MOST_SECONDS = 4000  # microseconds in 32 bits
# So much of the cache others may fill, unless it is said otherwise.
OTHERS_SHARE = 0.9


IDLE_TIME = 300.0  # seconds


class NonceUse(StrEnum):
    """Which packets of a session bear the nonce option."""

    ALWAYS = "always"
    AT_FIRST = "at-first"  # the first ones, and those after a move


class IlnpMode(StrEnum):
    """What the edge does for the hosts of a site."""

    PROXY = "proxy"
    TRANSPARENT = "transparent"
    BORDER = "border"  # they speak ILNP themselves, and their locators are changed on the way out


class TcpAdmission(StrEnum):
    """What makes the session of a TCP connection that a host of a site opens."""

    HANDSHAKE = "handshake"  # its own, if the peer is known to speak ILNP
    REQUEST = "request"  # the messages that ask for any session


class IlnpSite(Table):
    """The hosts of a network: its prefixes are their locators, the most preferred first, one from each provider."""

    prefixes: HostPrefixes
    mode: Annotated[IlnpMode, WORD] = IlnpMode.PROXY
    bytes: Octets32 = 2048
    seconds: Annotated[float, between(0, MOST_SECONDS)] = 60.0
    tcp: Annotated[TcpAdmission, WORD] = TcpAdmission.HANDSHAKE

    @property
    def trigger(self) -> SessionTrigger:
        """When the edge sets up a session for two of these hosts: never where they do so themselves."""
        if self.mode is not IlnpMode.PROXY:
            return SessionTrigger(self.prefixes)
        return SessionTrigger(self.prefixes, self.bytes, self.seconds)

    @model_validator(mode="before")
    @classmethod
    def _check_mode(cls, values: Any) -> Any:
        """Refuse rules of sessions that hosts make themselves."""
        if isinstance(values, dict) and values.get("mode") in (IlnpMode.TRANSPARENT, IlnpMode.BORDER):
            known = ("mode", "prefixes")
            raise_all(not_known(key, known) for key in values if key not in known)
        return values


class AdmissionLimits(Table):
    """Which wishes of others are granted; a rate of None has no bound."""

    count: Annotated[int, between(1, MOST_SESSIONS)] = int(MOST_SESSIONS * OTHERS_SHARE)
    resources: Annotated[float, between(0.01, 1)] = OTHERS_SHARE
    rate: Annotated[float | None, between(0, 1_000_000), AfterValidator(lambda rate: rate or None)] = 100.0
    burst: Annotated[float, between(1, 1_000_000)] = Field(
        default_factory=lambda policies: max(2 * (policies["rate"] or 0), 1.0)
    )
    rate_prefix: Annotated[int, between(1, 64)] = 48


class Ilnp(Table):
    """What the edge does about sessions between identifiers."""

    sites: tuple[IlnpSite, ...] = Field(default=(), alias="site")
    capacity: Annotated[int, between(1, MOST_SESSIONS)] = MOST_SESSIONS
    policies: AdmissionLimits = Field(alias="admission")
    nonce_octets: Annotated[int, known_words({"short": 4, "long": 12})] = Field(default=12, alias="nonce")
    nonce_use: Annotated[NonceUse, WORD] = NonceUse.ALWAYS
    naive: bool = False
    idle: Annotated[float, between(1, 86_400)] = IDLE_TIME
    names: NetworkNames | None = None
    # Prefixes whose hosts are known to speak ILNP, beside those of whom the DNS says so.
    ilnp_prefixes: Annotated[
        tuple[Annotated[IPv6Network, parsed(IPv6Network, "write a prefix of peers as in 2001:db8:2::/48")], ...],
        count(0, MOST_SPEAKERS, "; a shorter prefix has more"),
    ] = ()

    @model_validator(mode="before")
    @classmethod
    def _share_capacity(cls, values: Any) -> Any:
        """Leave a part of the cache to those whom hosts here ask, unless it is said how much."""
        if isinstance(values, dict) and isinstance(policy := values.get("admission", {}), dict):
            capacity = values.get("capacity", MOST_SESSIONS)
            if type(capacity) is int and capacity > 0:
                return {**values, "admission": {"count": max(1, int(capacity * OTHERS_SHARE)), **policy}}
            return {**values, "admission": policy}
        return values

    @model_validator(mode="after")
    def _check(self) -> Self:
        raise_all(self._mistakes())
        return self

    def _mistakes(self) -> Iterator[Mistake]:
        if not self.sites:
            yield Mistake(("site",), "is missing", "write [[ilnp.site]] with the prefixes of a network")
        if self.policies.count > self.capacity:
            mend = f"write a number from 1 to {self.capacity}"
            yield Mistake(("admission", "count"), f"is {self.policies.count}", mend)
        if self.names is not None:
            sites = [site.prefixes for site in self.sites]
            if self.names.network and len(sites) > 1:
                mend = "leave network out, and each host's name gets the locators of its own site"
                yield Mistake(("names", "network"), f"is one name for {len(sites)} sites", mend)
            yield from self.names.outsiders(sites)


def _check(ilnp: Ilnp, site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with its prefixes beside those of other protocols, and with its borders."""
    config = site.config
    taken = [*config.host_prefixes]
    bits = {provider.name: provider.prefix.prefixlen for provider in config.providers}
    longest = {each.inside: max(bits[name] for name, _ in each.shares) for each in config.translations}
    for index, each in enumerate(ilnp.sites):
        yield from beneath(hosts_prefixes(each.prefixes, taken, "prefixes"), "site", index)
        taken += each.prefixes
        if each.mode is IlnpMode.BORDER:
            yield from beneath(_border(each, longest), "site", index)
    for index, prefix in enumerate(ilnp.ilnp_prefixes):
        if prefix in taken or prefix in ilnp.ilnp_prefixes[:index]:
            mend = "give the prefixes of peers, not those of sites here"
            yield Mistake(("ilnp_prefixes", index), f"{prefix} is there twice", mend)


def _border(site: IlnpSite, longest: dict[IPv6Network, int]) -> Iterator[Mistake]:
    """Yield what is wrong with a border that would change identifiers, or that changes nothing."""
    if len(site.prefixes) != 1:
        yield Mistake(("prefixes",), f"has {len(site.prefixes)}", "hosts inside a border have one locator")
        return
    [prefix], where = site.prefixes, ("prefixes", 0)
    inside = next((each for each in longest if prefix.subnet_of(each)), None)
    if inside is None:
        mend = "write [[nptv6]] with an inside that it is in"
        yield Mistake(where, f"{prefix} is translated at no border", mend)
    elif max(inside.prefixlen, longest[inside]) > SUBNET_PREFIX:
        mend = "identifiers stay as they are if inside and its providers' prefixes have 48 bits at most"
        yield Mistake(where, f"{inside} and its providers' prefixes have {longest[inside]} bits", mend)


SECTION = ProtocolSection[Ilnp](
    "ilnp",
    Ilnp,
    prefixes=lambda ilnp: (prefix for site in ilnp.sites for prefix in site.prefixes),
    check=_check,
    triggers=lambda ilnp: (site.trigger for site in ilnp.sites),
    has_secrets=lambda ilnp: ilnp.names is not None and bool(ilnp.names.key),
)
