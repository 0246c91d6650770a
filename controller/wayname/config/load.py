"""Reads a configuration file and checks all of it, each part by itself and the parts against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tomli_w

from wayname.config.api import ApiConfig, check_api
from wayname.config.delegated_texts import DelegatedTexts
from wayname.config.encapsulation.load import MOST, Kind, Written, load_encapsulation
from wayname.config.fleet import Fleet, FleetAccess, check_fleet
from wayname.config.identities import Identities, check_identities
from wayname.config.key_lines import KeyLines
from wayname.config.limits import Limits
from wayname.config.linux import Linux, check_linux
from wayname.config.model import (
    Config,
    ControllerConfig,
    Interface,
    NeighbourTable,
    Port,
    Route,
    RouteTable,
    StaticNeighbour,
    SwitchConfig,
    Timing,
)
from wayname.config.nptv6 import Nptv6, TranslationTable, check_translations
from wayname.config.path_policies import PathPolicy, check_path_policies
from wayname.config.provider import Learned, ProviderTable, WrittenProvider, check_providers
from wayname.config.renamed_keys import RENAMED_KEYS, renamed
from wayname.config.schedules import Schedule, check_schedules
from wayname.config.sections import ProtocolSection, Section
from wayname.config.simple_security import (
    Pinhole,
    PinholeTable,
    SimpleSecurity,
    check_pinholes,
    check_simple_security,
)
from wayname.config.tables import ConfigError, Mistake, Site, by, not_known, raise_all, read, reported, twice
from wayname.config.toml_text import TomlError, parse_toml
from wayname.config.vrrp import Vrrp, check_vrrp
from wayname.private_files import read_private

Protocols = Sequence[ProtocolSection[Any]]


def load_config(
    path: Path, protocols: Protocols, learned: Mapping[str, Learned] | None = None, more: str = "", edge: str = ""
) -> Config:
    """Read a configuration file, with the sections of these protocols, and with what providers said.

    `more` are tables that a fleet's configuration has for the edge, and that the file has not. A file that is of many
    edges is read as that of the one that is named.
    """
    text, wrong = _read_text(path)
    try:
        config = parse_config(_with_more(text, more, edge, path), protocols, str(path), path.parent, learned or {})
    except ConfigError as error:
        raise KeyLines(text).placed(error, str(path)) from None
    if wrong and not more and has_secrets(config, protocols):
        raise ConfigError(f"{path}: has keys, and {wrong}")
    return config


def load_fleet(path: Path) -> FleetAccess | None:
    """Read what a file says of a fleet to somebody who asks etcd, and nothing else of it; None if it says nothing."""
    text, _ = _read_text(path)
    try:
        written = parse_toml(text).get("fleet")
        if written is None:
            return None
        site = Site(Config(), path.parent)
        fleet: FleetAccess = read(FleetAccess, written, str(path), "fleet", site)
        with reported(str(path), "fleet"):
            raise_all(check_fleet(fleet, site))
    except TomlError as error:
        raise ConfigError(f"{path}: {error}") from None
    except ConfigError as error:
        raise KeyLines(text).placed(error, str(path)) from None
    return fleet


def _read_text(path: Path) -> tuple[str, str]:
    """Return a file's text, and why others than its owner can read it if so."""
    try:
        octets, wrong = read_private(path)
        return octets.decode("utf-8"), wrong
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text; write it as TOML") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); name a configuration file") from None


def _with_more(text: str, more: str, edge: str, path: Path) -> str:
    """Return a file's text with tables from elsewhere, for one of its edges if one is named."""
    if not more and not edge:
        return text
    try:
        own, others = parse_toml(text), parse_toml(more)
    except TomlError as error:
        raise ConfigError(f"{path}: {error}") from None
    if twice := own.keys() & others.keys():
        names = ", ".join(sorted(twice))
        raise ConfigError(f"{path}: the fleet's configuration has {names} for this edge too; leave that out here")
    if edge and isinstance(own.get("fleet"), dict):
        own["fleet"] = {**own["fleet"], "edge": edge}
        own["fleet"].pop("edges", None)
    return tomli_w.dumps(own | others)


def has_secrets(config: Config, protocols: Protocols) -> bool:
    """Whether a configuration holds what others must not read, beside the names of files."""
    spoken = ((each, each.of(config)) for each in protocols)
    carried = config.encapsulation
    return (
        any(found is not None and each.has_secrets(found) for each, found in spoken)
        or any(policy.secret for policy in carried.policies)
        or bool(carried.hmac_keys)
    )


def parse_config(
    text: str, protocols: Protocols, file: str, folder: Path, learned: Mapping[str, Learned] | None = None
) -> Config:
    """Read a configuration's text; paths in it are relative to the folder."""
    try:
        written = parse_toml(text)
    except TomlError as error:
        raise ConfigError(f"{file}: {error}") from None
    texts = DelegatedTexts(learned or {})
    tables = texts.replaced(written)
    with reported(file, ""):
        raise_all(texts.mistakes)
    config = _read(tables, protocols, file, Site(Config(), folder, texts.learned, texts.is_incomplete))
    return replace(config, learned=texts.learned, again=lambda said: parse_config(text, protocols, file, folder, said))


def _read(tables: dict[str, Any], protocols: Protocols, file: str, site: Site) -> Config:
    first: tuple[Section | ProtocolSection[Any], ...] = (*FIRST, *protocols)
    with reported(file, ""):
        raise_all(renamed(tables, RENAMED_KEYS))
        known = {*MOST, *(each.key for each in first), *(each.key for each in LAST)}
        raise_all(not_known(key, known) for key in tables if key not in known)
    config = _read_sections(site, first, tables, file)
    with reported(file, ""):
        raise_all(_not_lists(tables))
    written: dict[str, tuple[Any, ...]] = {kind: tuple(tables.get(kind, ())) for kind in MOST}

    def of_kind(kind: Kind) -> Iterator[Written]:
        return ((file, f"{kind}[{index}]", values) for index, values in enumerate(written[kind]))

    config = replace(config, encapsulation=load_encapsulation(of_kind, config), written=written)
    return _read_sections(replace(site, config=config), LAST, tables, file)


def _not_lists(tables: dict[str, Any]) -> Iterator[Mistake]:
    for kind in MOST:
        if not isinstance(tables.get(kind, []), list):
            yield Mistake((kind,), "is no list", f"write [[{kind}]] with its keys below")


def _read_sections(
    site: Site, sections: Sequence[Section | ProtocolSection[Any]], tables: dict[str, Any], file: str
) -> Config:
    """Read sections; the mistakes of all that refer to nothing wrong are told together."""
    config = site.config
    wrong: list[str] = []
    for section in sections:
        if section.key not in tables and not section.always:
            continue
        # What refers to a section with mistakes would be wrong for that alone.
        if wrong and section.refers:
            break
        site = replace(site, config=config)
        try:
            found = read(section.form, tables.get(section.key, {}), file, section.key, site)
            with reported(file, section.key):
                raise_all(section.check(found, site))
        except ConfigError as error:
            wrong.append(str(error))
        else:
            config = section.put(config, found)
    if wrong:
        raise ConfigError(*wrong)
    return config


def _ports(ports: tuple[Port, ...], _site: Site) -> Iterator[Mistake]:
    numbers = list(twice((port.number for port in ports), "number", "give every port once", "port {}".format))
    yield from numbers or twice((port.name for port in ports), "name", "give every port a name of its own")


def _interfaces(interfaces: tuple[Interface, ...], site: Site) -> Iterator[Mistake]:
    for index, each in enumerate(interfaces):
        if each.vlan not in site.config.vlans:
            wrong = f"no port is in VLAN {each.vlan}"
            yield Mistake((index, "vlan"), wrong, "add it to a [[port]]'s vlan or tagged")
        if (each.virtual_router_id is None) != (site.config.vrrp is None):
            wrong = (
                "has no virtual_router_id" if site.config.vrrp else "has a virtual_router_id, and there is no [vrrp]"
            )
            mend = "write [vrrp], and a virtual_router_id for every interface: the other edge takes over all at once"
            yield Mistake((index,), wrong, mend)
        if any(other.vlan == each.vlan for other in interfaces[:index]):
            yield Mistake((index, "vlan"), f"VLAN {each.vlan} has two interfaces", "put all addresses into one")
        for number, own in enumerate(each.addresses):
            for other in interfaces[:index]:
                for taken in other.global_addresses:
                    if taken.network.overlaps(own.network) and not own.ip.is_link_local:
                        wrong = f"{own.network} overlaps {taken.network} on {other.name}"
                        yield Mistake((index, "addresses", number), wrong, "a prefix is on one interface only")
    yield from twice((each.name for each in interfaces), "name", "give every interface a name of its own")


def _neighbours(neighbours: tuple[StaticNeighbour, ...], _site: Site) -> Iterator[Mistake]:
    for index, each in enumerate(neighbours):
        for other in neighbours[:index]:
            if other.at == each.at:
                wrong = f"{each.at.address} is there twice"
                yield Mistake((index, "address"), wrong, "give every neighbour once")
            elif (other.mac, other.at.vlan) == (each.mac, each.at.vlan) and other.port != each.port:
                wrong = f"{each.mac} is behind another port already"
                yield Mistake((index, "port"), wrong, "a station is behind one port")


def _routes(routes: tuple[Route, ...], _site: Site) -> Iterator[Mistake]:
    yield from twice((route.prefix for route in routes), "prefix", "list all next hops in one via", str)


PROVIDERS = tuple[Annotated[WrittenProvider, by(ProviderTable)], ...]
NEIGHBOURS = tuple[Annotated[StaticNeighbour, by(NeighbourTable)], ...]
TRANSLATIONS = tuple[Annotated[Nptv6, by(TranslationTable)], ...]
FIRST = (
    Section("switch", "switch", SwitchConfig, refers=False, always=True),
    Section("controller", "controller", ControllerConfig, refers=False, always=True),
    Section("fleet", "fleet", Fleet, check_fleet, refers=False),
    Section("api", "api", ApiConfig, check_api, refers=False, always=True),
    Section("vrrp", "vrrp", Vrrp, check_vrrp, refers=False),
    Section("timing", "timing", Timing, refers=False),
    Section("limits", "limits", Limits, refers=False),
    Section("port", "ports", tuple[Port, ...], _ports, refers=False),
    Section("interface", "interfaces", tuple[Interface, ...], _interfaces),
    Section("linux", "linux", Linux, check_linux),
    Section("route", "routes", tuple[Annotated[Route, by(RouteTable)], ...], _routes),
    Section("provider", "written_providers", PROVIDERS, check_providers),
    Section("neighbour", "static_neighbours", NEIGHBOURS, _neighbours),
    Section("nptv6", "translations", TRANSLATIONS, check_translations),
    Section("simple_security", "simple_security", SimpleSecurity, check_simple_security),
    Section("pinhole", "pinholes", tuple[Annotated[Pinhole, by(PinholeTable)], ...], check_pinholes),
    Section("identities", "identities", Identities, check_identities),
)
# Behind what packets carry.
LAST = (
    Section("schedule", "schedules", tuple[Schedule, ...], check_schedules),
    Section("path_policy", "path_policies", tuple[PathPolicy, ...], check_path_policies),
)

# What is beside the edge, which a reload does not start anew.
RESTARTED_FOR = frozenset(("switch", "controller", "fleet", "vrrp", "linux", "api.socket", "api.listen"))


def changed_keys(old: Config, new: Config) -> list[str]:
    """Return the sections in which two configurations differ; of those that are always there, the keys."""
    changed: list[str] = []
    for section in (*FIRST, *LAST):
        before, after = getattr(old, section.field), getattr(new, section.field)
        if before == after:
            continue
        if section.always:
            names = (name for name in type(before).model_fields if getattr(before, name) != getattr(after, name))
            changed += [f"{section.key}.{name}" for name in names]
        else:
            changed.append(section.key)
    spoken = {**old.protocols, **new.protocols}
    changed += [key for key in spoken if old.protocols.get(key) != new.protocols.get(key)]
    changed += [kind for kind in MOST if old.written.get(kind, ()) != new.written.get(kind, ())]
    return changed
