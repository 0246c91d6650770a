"""What a configuration says of HIP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from typing import Annotated, Any, Self

from pydantic import Field, ValidationInfo, model_validator

from wayname.config.checks import FarAddress, FilePath, HostPrefixes, hosts_prefixes, kept_file
from wayname.config.names import Names
from wayname.config.sections import ProtocolSection
from wayname.config.session_rules import KEEPALIVES_IN_TIMEOUT, ProxyMode, SessionRules, WatchRules
from wayname.config.tables import WORD, Mistake, Site, Table, between, by, mistake, parsed, raise_all
from wayname.identity.hits import Point, hit_suite

DIFFICULTY, MOST_DIFFICULTY = 8, 18


def _hit(text: str) -> IPv6Address:
    hit = IPv6Address(text)
    hit_suite(hit)
    return hit


class HipHost(Table):
    """A host that the edge speaks for, the file with the key of its identity, and how a point of that is written."""

    address: Annotated[IPv6Address, parsed(IPv6Address, "write the host's address")]
    key: FilePath
    point: Annotated[Point, WORD] = Point.XY

    @model_validator(mode="before")
    @classmethod
    def _name_key(cls, values: Any) -> Any:
        try:
            address = IPv6Address(values["address"])
        except (KeyError, TypeError, ValueError):
            return values if not isinstance(values, dict) else {"key": "unknown", **values}
        return {"key": kept_file(f"hip-{address.exploded.replace(':', '')}.pem"), **values}


class HipPeer(Table):
    """Somebody whom hosts here may have associations with: its tag, and the address that hosts know it by."""

    address: FarAddress
    hit: Annotated[IPv6Address, parsed(_hit, "write the peer's HIT, as its HIP record has it")]


@dataclass(frozen=True, slots=True)
class Hip:
    """What is done for hosts, by prefix."""

    rules: tuple[SessionRules, ...]
    hosts: tuple[HipHost, ...] = ()
    peers: tuple[HipPeer, ...] = ()
    difficulty: int = DIFFICULTY
    max_difficulty: int = MOST_DIFFICULTY
    # Hosts whose HIP records the DNS is told, and peers that are known by theirs (RFC 8005).
    names: Names | None = None

    @property
    def proxy_prefixes(self) -> tuple[IPv6Network, ...]:
        """The prefixes of hosts that the edge speaks for."""
        return tuple(prefix for each in self.rules if each.mode is ProxyMode.PROXY for prefix in each.prefixes)


class HipTable(WatchRules):
    """`[hip]` as it is written."""

    proxy: HostPrefixes | None = None
    transparent: HostPrefixes | None = None
    verify: HostPrefixes | None = None
    # HIP has no word for send timeouts, so that keepalives fit the least one.
    keepalive: float = Field(
        default_factory=lambda rules: (rules["min_send_timeout"] or rules["send_timeout"]) / KEEPALIVES_IN_TIMEOUT
    )
    hosts: tuple[HipHost, ...] = Field(default=(), alias="host")
    peers: tuple[HipPeer, ...] = Field(default=(), alias="peer")
    difficulty: Annotated[int, between(0, 24)] = DIFFICULTY
    max_difficulty: Annotated[int, between(0, 32)] = Field(
        default_factory=lambda table: max(MOST_DIFFICULTY, table["difficulty"])
    )
    names: Names | None = None

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> Self:
        given = [mode for mode in ProxyMode if getattr(self, mode) is not None]
        if not given:
            raise mistake("is missing", "give prefixes in proxy, transparent or verify", "proxy")
        if self.max_difficulty < self.difficulty:
            mend = f"write a number from {self.difficulty} to 32"
            raise mistake(f"is {self.max_difficulty}", mend, "max_difficulty")
        speaking = next((mode for mode in given if mode is not ProxyMode.PROXY), None)
        if self.min_send_timeout is not None and speaking is not None:
            raise mistake(f'is "auto", but nobody probes for hosts of {speaking}', "write seconds", "send_timeout")
        return self

    def resolved(self, _site: Site) -> Hip:
        """Return it with the rules of each kind of hosts: those who speak themselves are watched by the same ones."""
        watch = {key: getattr(self, key) for key in WatchRules.model_fields}
        rules = tuple(
            SessionRules.model_construct(**watch, mode=mode, prefixes=getattr(self, mode))
            for mode in ProxyMode
            if getattr(self, mode) is not None
        )
        hip = Hip(rules, self.hosts, self.peers, self.difficulty, self.max_difficulty, self.names)
        raise_all(_mistakes(hip))
        return hip


def _mistakes(hip: Hip) -> Iterator[Mistake]:
    proxy_prefixes = hip.proxy_prefixes
    for index, host in enumerate(hip.hosts):
        address, where = host.address, ("host", index, "address")
        if not any(address in prefix for prefix in proxy_prefixes):
            yield Mistake(where, f"{address} is in none of proxy", "give the host an address in one of them")
        # In all prefixes it has the same interface identifier.
        if any(other.address.packed[8:] == address.packed[8:] for other in hip.hosts[:index]):
            yield Mistake(where, f"{address} or its interface identifier is there twice", "give every host once")
    for index, peer in enumerate(hip.peers):
        address, where = peer.address, ("peer", index, "address")
        if any(address in prefix for prefix in proxy_prefixes):
            yield Mistake(where, f"{address} is of this site", "peers are elsewhere")
        if any(address == other.address or peer.hit == other.hit for other in hip.peers[:index]):
            yield Mistake(where, f"{address} or its HIT is there twice", "give every peer once")
    if hip.names is None:
        return
    # Names are of hosts that have an identity, and of peers that nothing else is said of.
    hosts, peers = {host.address for host in hip.hosts}, {peer.address for peer in hip.peers}
    yield from hip.names.outsiders([proxy_prefixes])
    for index, node in enumerate(hip.names.hosts):
        if node.address not in hosts:
            yield Mistake(("names", "host", index), f"{node.address} has no identity", "give it a [[hip.host]]")
    for index, node in enumerate(hip.names.peers):
        if node.address in peers or any(node.address in prefix for prefix in proxy_prefixes):
            mend = "leave the [[hip.peer]] out, or the name" if node.address in peers else "peers are elsewhere"
            yield Mistake(("names", "peer", index), f"{node.address} is known already", mend)


def _check(hip: Hip, site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with its prefixes: no other protocol has them."""
    taken = [*site.config.host_prefixes]
    for rules in hip.rules:
        yield from hosts_prefixes(rules.prefixes, taken, rules.mode)
        taken += rules.prefixes


SECTION = ProtocolSection[Hip](
    "hip",
    Annotated[Any, by(HipTable)],
    prefixes=lambda hip: (prefix for rules in hip.rules for prefix in rules.prefixes),
    check=_check,
    triggers=lambda hip: (rules.trigger for rules in hip.rules),
    key_files=lambda hip: {f"hip {host.address}": host.key for host in hip.hosts},
    has_secrets=lambda hip: hip.names is not None and bool(hip.names.key),
)
