"""Reads what packets carry, each table by itself and against what it refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from wayname.config.encapsulation.bindings import EncapsulationTable
from wayname.config.encapsulation.model import EncapsulationConfig, HmacKey, RplSourceRoute
from wayname.config.encapsulation.paths import PolicyTable, SegmentTable, TableRouteTable
from wayname.config.encapsulation.traces import NamespaceTable, TraceTable
from wayname.config.tables import ConfigError, Site, Table, by, mistake, read, reported

if TYPE_CHECKING:
    from wayname.config.model import Config

Kind = Literal["namespace", "trace", "policy", "source_route", "vrf_route", "hmac_key", "segment", "encapsulation"]
# What the switch's tables hold; of what a change puts beside the old one, half of it.
MOST: dict[Kind, int] = {
    "namespace": 256,
    "trace": 127,
    "policy": 2047,
    "source_route": 511,
    "vrf_route": 4096,
    "hmac_key": 256,
    "segment": 4096,
    "encapsulation": 4096,
}
# The form of each kind, and where its tables stand in the configuration.
KINDS: dict[Kind, tuple[type[Table], str]] = {
    "namespace": (NamespaceTable, "namespaces"),
    "trace": (TraceTable, "traces"),
    "policy": (PolicyTable, "policies"),
    "source_route": (RplSourceRoute, "source_routes"),
    "vrf_route": (TableRouteTable, "table_routes"),
    "hmac_key": (HmacKey, "hmac_keys"),
    "segment": (SegmentTable, "segments"),
    "encapsulation": (EncapsulationTable, "encapsulations"),
}
# Keys whose values are shown to nobody.
SECRETS = ("key",)


# A table of a kind: the file that it stands in, its place there, and its keys.
Written = tuple[str, str, Mapping[str, Any]]


def load_encapsulation(tables: Callable[[Kind], Iterable[Written]], config: Config) -> EncapsulationConfig:
    """Read all tables of these kinds; what refers comes after what it refers to."""
    config, wrong = replace(config, encapsulation=EncapsulationConfig()), list[str]()
    for kind, (form, field) in KINDS.items():
        found: dict[str, Any] = {}
        for file, path, values in tables(kind):
            try:
                with reported(file, path):
                    if len(found) == MOST[kind]:
                        raise mistake(f"is [[{kind}]] number {len(found) + 1}", f"{MOST[kind]} are the most")
                each = read(Annotated[object, by(form)], values, file, path, Site(config, Path()))
                name, key = name_of(kind, values), "prefix" if kind == "vrf_route" else key_of(kind)
                if name in found:
                    with reported(file, path):
                        raise mistake(f"{name!r} is there twice", "say it once", key)
                found[name] = each
            except ConfigError as error:
                wrong.append(str(error))
        # What refers to what could not be read would be wrong for that alone.
        if wrong:
            raise ConfigError(*wrong)
        config = replace(config, encapsulation=replace(config.encapsulation, **{field: tuple(found.values())}))
    return config.encapsulation


def name_of(kind: str, values: Mapping[str, Any]) -> str:
    """Return what tells a table from others of its kind, written in one way."""
    if kind == "vrf_route":
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
