"""Reads the folder of a fleet's configuration, and tells all that is wrong with what its edges get."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from wayname.composition.configuration import parse_config
from wayname.config.key_lines import KeyLines
from wayname.config.model import Config, SwitchConfig
from wayname.config.tables import ConfigError
from wayname.failure import Failure
from wayname.fleet.origins import placed
from wayname.fleet.templates import EDGES, GROUPS, TemplateError, joined, read_folder, sources_by_edge, unused_values

# Edges that a line names which is not about each of them.
MOST_NAMED = 3


def checked(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of a folder, and what each edge gets, all of which is a configuration."""
    try:
        texts = read_folder(folder)
    except TemplateError as error:
        raise Failure(*error.lines) from None
    return texts, checked_texts(texts, str(folder))


def checked_texts(texts: Mapping[str, str], folder: str) -> dict[str, str]:
    """Return what each edge gets by the texts of a folder, all of which is a configuration."""
    try:
        sources = sources_by_edge(texts)
    except TemplateError as error:
        raise Failure(*(f"{folder}/{_with_line(line, texts)}" for line in error.lines)) from None
    by_edge = {edge: joined(each) for edge, each in sources.items()}
    configs: dict[str, Config] = {}
    # What is wrong, and with which edges.
    mistakes: defaultdict[str, list[str]] = defaultdict(list)
    for edge, text in by_edge.items():
        try:
            configs[edge] = parse_config(text, edge)
        except ConfigError as error:
            for line in error.lines:
                mistakes[placed(line.removeprefix(f"{edge}: "), sources[edge])].append(edge)
    wrong = [
        f"{folder}/{line}{_of_edges(edges) if line.startswith(GROUPS) else ''}" for line, edges in mistakes.items()
    ]
    without = {edge for edge in configs if not any("switch" in each.tables for each in sources[edge])}
    switches = {edge: config.switch for edge, config in configs.items() if edge not in without}
    wrong += _shared_switches(folder, switches)
    if wrong:
        raise Failure(*wrong)
    warnings = [_with_line(line, texts) for line in unused_values(texts)]
    if len(without) > 1:
        warnings.append(_default_switch(without))
    for line in warnings:
        click.echo(f"{folder}: warning: {line}", err=True)
    return by_edge


def _with_line(line: str, texts: Mapping[str, str]) -> str:
    file = line.partition(": ")[0]
    return KeyLines(texts[file]).placed(ConfigError(line), file).lines[0]


def _of_edges(edges: Sequence[str]) -> str:
    """Say whose a group's mistake is: values of an edge may have made it."""
    return f" ({'edge' if len(edges) == 1 else 'edges'} {_some(edges)})"


def _some(edges: Sequence[str]) -> str:
    """Name edges, not more than a line has room for."""
    more = f" and {len(edges) - MOST_NAMED} more" if len(edges) > MOST_NAMED else ""
    return f"{', '.join(edges[:MOST_NAMED])}{more}"


def _shared_switches(folder: str, switches: Mapping[str, SwitchConfig]) -> Iterator[str]:
    """Yield lines about edges that have one and the same switch: a controller of one would write to the other's."""
    users: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for edge, switch in switches.items():
        users[switch.address, switch.device_id].append(edge)
    for (address, device), edges in users.items():
        if len(edges) > 1:
            files = ", ".join(f"{folder}/{EDGES}/{edge}.toml" for edge in edges)
            yield (
                f"{files}: switch: edges {', '.join(edges)} have one switch, {address} with device_id {device}; "
                "write for each edge the address, or the device_id, of its own"
            )


def _default_switch(edges: set[str]) -> str:
    """Say what two edges without [switch] come to. The files of their controllers may have it, so it is no mistake."""
    default = SwitchConfig()
    return (
        f"edges {_some(sorted(edges))} have no [switch]: the default {default.address}, or what the files of their "
        "controllers say; one process cannot stand for two of them, so write [switch] for each if one is to"
    )
