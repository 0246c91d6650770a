"""Reads the folder of a fleet's configuration, and tells all that is wrong with what its edges get."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from wayname.composition.configuration import parse_config
from wayname.config.model import Config, SwitchConfig
from wayname.config.tables import ConfigError
from wayname.config.toml_text import parse_toml
from wayname.failure import Failure
from wayname.fleet.templates import EDGES, TemplateError, read_folder, rendered


def checked(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of a folder, and what each edge gets, all of which is a configuration."""
    try:
        texts = read_folder(folder)
        by_edge = rendered(texts)
    except TemplateError as error:
        raise Failure(*(f"{folder}: {line}" for line in error.lines)) from None
    configs: dict[str, Config] = {}
    wrong: list[str] = []
    for edge, text in by_edge.items():
        try:
            configs[edge] = parse_config(text, f"edge {edge}")
        except ConfigError as error:
            wrong += error.lines
    without = {edge for edge in configs if "switch" not in parse_toml(by_edge[edge])}
    switches = {edge: config.switch for edge, config in configs.items() if edge not in without}
    wrong += _shared_switches(folder, switches)
    if wrong:
        raise Failure(*wrong)
    if len(without) > 1:
        click.echo(f"{folder}: warning: {_default_switch(without)}", err=True)
    return texts, by_edge


def _shared_switches(folder: Path, switches: Mapping[str, SwitchConfig]) -> Iterator[str]:
    """Yield lines about edges that have one and the same switch: a controller of one would write to the other's."""
    users: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for edge, switch in switches.items():
        users[switch.address, switch.device_id].append(edge)
    for (address, device), edges in users.items():
        if len(edges) > 1:
            files = ", ".join(str(folder / EDGES / f"{edge}.toml") for edge in edges)
            yield (
                f"{files}: switch: edges {', '.join(edges)} have one switch, {address} with device_id {device}; "
                "write for each edge the address, or the device_id, of its own"
            )


def _default_switch(edges: set[str]) -> str:
    """Say what two edges without [switch] come to. The files of their controllers may have it, so it is no mistake."""
    default = SwitchConfig()
    return (
        f"edges {', '.join(sorted(edges))} have no [switch]: the default {default.address}, or what the files of their "
        "controllers say; one process cannot stand for two of them, so write [switch] for each if one is to"
    )
