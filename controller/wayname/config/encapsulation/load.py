"""Reads what packets carry, each table by itself and against what it refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from ipaddress import IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from wayname.config.checks import network, one_of
from wayname.config.encapsulation import load_paths, load_traces
from wayname.config.encapsulation.limits import check_room
from wayname.config.encapsulation.model import Encapsulation, EncapsulationConfig, Mode
from wayname.config.encapsulation.values import (
    Site,
    check_proof,
    known_name,
    known_policy,
    node_address,
    own_source,
)
from wayname.config.reader import Table

if TYPE_CHECKING:
    from wayname.config.model import Config

T = TypeVar("T")

Kind = Literal["namespace", "trace", "policy", "source_route", "table_route", "hmac_key", "segment", "encapsulation"]
# What the switch's tables hold; of what a change puts beside the old one, half of it.
MOST: dict[Kind, int] = {
    "namespace": 256,
    "trace": 127,
    "policy": 2047,
    "source_route": 511,
    "table_route": 4096,
    "hmac_key": 256,
    "segment": 4096,
    "encapsulation": 4096,
}
# Keys whose values are shown to nobody.
SECRETS = ("key",)


def load_encapsulation(tables: Callable[[str], Iterable[Table]], config: Config) -> EncapsulationConfig:
    """Read all tables of these kinds; what refers comes after what it refers to."""

    def all_of(kind: Kind, reader: Callable[[Table, Site], T]) -> tuple[T, ...]:
        site = Site(config, read)
        found: list[T] = []
        for table in tables(kind):
            if len(found) == MOST[kind]:
                raise table.error("", f"is [[{kind}]] number {len(found) + 1}", f"{MOST[kind]} are the most")
            found.append(reader(table, site))
        return tuple(found)

    read = EncapsulationConfig()
    read = replace(read, namespaces=all_of("namespace", load_traces.namespace))
    read = replace(read, traces=all_of("trace", load_traces.trace))
    read = replace(read, policies=all_of("policy", load_paths.policy))
    read = replace(read, source_routes=all_of("source_route", load_paths.source_route))
    read = replace(read, table_routes=all_of("table_route", load_paths.table_route))
    read = replace(read, hmac_keys=all_of("hmac_key", load_paths.hmac_key))
    read = replace(read, segments=all_of("segment", load_paths.segment))
    return replace(read, encapsulations=all_of("encapsulation", _encapsulation))


def name_of(kind: str, values: Mapping[str, Any]) -> str:
    """Return what tells a table from others of its kind, written in one way."""
    if kind == "table_route":
        return f"{values.get('table')} {_written(values.get('prefix'))}"
    return _written(values.get(key_of(kind)))


def key_of(kind: str) -> str:
    """Return the key that has the name of a table of this kind."""
    return {"namespace": "id", "hmac_key": "id", "segment": "sid", "encapsulation": "prefix"}.get(kind, "name")


def _written(value: object) -> str:
    text = str(value)
    try:
        return str(ip_network(text) if "/" in text else ip_address(text))
    except ValueError:
        return text


def _encapsulation(table: Table, site: Site) -> Encapsulation:
    prefix = table.parse("prefix", network, "write PREFIX/LENGTH as in 2001:db8::/32")
    site.take(table, "prefix", prefix, str(prefix))
    if prefix.is_multicast or prefix.is_link_local:
        raise table.error("prefix", f"{prefix} is never routed", "leave it out")
    own = next((each for each in site.config.interfaces if each.owns(prefix.network_address)), None)
    if own is not None and prefix.prefixlen == 128:
        raise table.error("prefix", f"{prefix.network_address} is {own.name}'s own address", "name others' addresses")
    said = [key for key in ("policy", "source_route", "locator", "nothing") if table.has(key)]
    if len(said) > 1:
        raise table.error(said[1], f"does not go with {said[0]}", "write one of them")
    if not said and not table.has("trace"):
        raise table.error("policy", "is missing", "write policy, trace, source_route, locator or nothing = true")
    if "nothing" in said:
        table.take("nothing", bool, check=lambda value: None if value else "write true, or leave it out")
        table.close()
        return Encapsulation(prefix)
    if "locator" in said:
        prefix_64 = table.parse("locator", _locator, "write a prefix of 64 bits as in 2001:db8:1:2::/64")
        neutral = table.take("neutral", bool, True)
        table.close()
        return Encapsulation(prefix, locator=int(prefix_64.network_address) >> 64, neutral=neutral)
    policy = known_policy(table, site) if "policy" in said else ""
    source_route = known_name(table, "source_route", site.read.source_route)
    trace = known_name(table, "trace", site.read.trace)
    mode = _mode(table, policy, source_route)
    to, source = (
        (node_address(table, "to"), node_address(table, "source")) if not policy and not source_route else (None, None)
    )
    if to is None and source is not None:
        raise table.error("to", "is missing", "say where the tunnel ends")
    if to is None and mode is not Mode.INLINE and not policy:
        raise table.error("to", "is missing", "say where the trace's tunnel ends: a segment of the node there")
    if to is not None and source is None:
        source = own_source(table, site)
    found = Encapsulation(prefix, mode, policy, trace, source_route, source, to)
    if trace and mode is Mode.INLINE and site.read.trace[trace].loopback:
        # What comes back goes to the packet's source, which has to be this node (RFC 9322, section 4).
        raise table.error("trace", f"trace {trace!r} would go back to hosts", 'write mode = "tunnel" or "automatic"')
    check_proof(table, "mode", mode, policy, site)
    check_room(table, "prefix", found, site.config, site.read)
    table.close()
    return found


def _mode(table: Table, policy: str, source_route: str) -> Mode:
    if source_route:
        return Mode.INLINE
    modes = tuple(Mode) if policy else (Mode.INLINE, Mode.TUNNEL, Mode.AUTOMATIC)
    default = Mode.TUNNEL if policy else Mode.AUTOMATIC
    return Mode(table.take("mode", str, default, one_of(*modes)))


def _locator(text: str) -> IPv6Network:
    locator = network(text)
    if locator.prefixlen != 64:
        raise ValueError("a locator has 64 bits")
    return locator
