"""The configuration of a fleet as people write it: a folder with groups and edges; what each edge gets of them.

groups/branch.toml   tables that edges have in common, with ${names} for what differs
edges/berlin.toml    [edge] with its groups and the values of names, and tables of its own
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import tomli_w

from wayname.config.fleet import FLEET_NAME

EDGES, GROUPS = "edges", "groups"
# What is of one controller's machine, and stands in its own file.
OF_MACHINE = ("api", "controller", "fleet", "vrrp")


class TemplateError(Exception):
    """What is wrong with files of a fleet's configuration, a line for each."""

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.lines = lines


@dataclass(frozen=True, slots=True)
class Source:
    """What an edge's configuration has from one file: its text as people wrote it, and its tables."""

    file: str
    text: str
    tables: Mapping[str, Any]


def read_folder(folder: Path) -> dict[str, str]:
    """Return the texts of all files of a fleet's configuration, by their paths in its folder."""
    if not folder.is_dir():
        raise TemplateError(f"{folder}: there is no such folder; name the one with groups/ and edges/ in it")
    texts: dict[str, str] = {}
    for room in (GROUPS, EDGES):
        for path in sorted((folder / room).glob("*.toml")):
            if not FLEET_NAME.fullmatch(path.stem):
                raise TemplateError(f"{path}: name it by up to 64 letters, digits, '.', '_' and '-'")
            try:
                texts[f"{room}/{path.name}"] = path.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise TemplateError(f"{path}: cannot be read ({error})") from None
    if not any(name.startswith(f"{EDGES}/") for name in texts):
        raise TemplateError(f"{folder}: has no edges/NAME.toml; docs/fleet.md shows a folder")
    return texts


def sources_by_edge(texts: Mapping[str, str]) -> dict[str, list[Source]]:
    """Return what each edge's configuration is joined from, in order: its groups, and its own file.

    Raise `TemplateError` with all that is wrong.
    """
    found: dict[str, list[Source]] = {}
    wrong: list[str] = []
    for name in sorted(texts):
        if name.startswith(f"{EDGES}/"):
            try:
                found[name.removeprefix(f"{EDGES}/").removesuffix(".toml")] = _sources(name, texts)
            except TemplateError as error:
                wrong += error.lines
    if wrong:
        raise TemplateError(*dict.fromkeys(wrong))
    return found


def unused_values(texts: Mapping[str, str]) -> Iterator[str]:
    """Yield lines about values of edges that none of their groups names, which may be misspelt."""
    for name in sorted(texts):
        if name.startswith(f"{EDGES}/"):
            values, groups = _edge(name, _parsed(name, texts[name]).get("edge", {}))
            named = {each for group in groups for each in Template(texts[f"{GROUPS}/{group}.toml"]).get_identifiers()}
            for key in sorted(values.keys() - named):
                mend = f"write ${{{key}}} where it belongs, or leave it out"
                yield f"{name}: edge.values.{key}: is named by no group of the edge; {mend}"


def joined(sources: Sequence[Source]) -> str:
    """Return the text of an edge's configuration."""
    tables: dict[str, Any] = {}
    for source in sources:
        tables = _joined(tables, source.tables)
    return tomli_w.dumps(tables)


def _sources(name: str, texts: Mapping[str, str]) -> list[Source]:
    own = _parsed(name, texts[name])
    values, groups = _edge(name, own.pop("edge", {}))
    sources: list[Source] = []
    for group in groups:
        file = f"{GROUPS}/{group}.toml"
        if file not in texts:
            raise TemplateError(f"{name}: edge.groups: there is no {file}; write it, or leave {group!r} out")
        sources.append(Source(file, texts[file], _parsed(file, _substituted(file, texts[file], values, name))))
    sources.append(Source(name, texts[name], own))
    for source in sources:
        for key in OF_MACHINE:
            if key in source.tables:
                mend = "write it into that one's own file"
                raise TemplateError(f"{source.file}: {key}: is of one controller's machine; {mend}")
    return sources


def _edge(name: str, edge: Any) -> tuple[dict[str, Any], list[str]]:
    known = {"groups": list, "values": dict}
    if not isinstance(edge, dict):
        raise TemplateError(f"{name}: edge: is no table; write [edge] with groups and values below it")
    for key, value in edge.items():
        if key not in known:
            raise TemplateError(f"{name}: edge.{key}: is not known; known here: groups, values")
        if not isinstance(value, known[key]):
            raise TemplateError(f"{name}: edge.{key}: write a {'list' if known[key] is list else 'table'}")
    groups = edge.get("groups", [])
    if not all(isinstance(group, str) for group in groups):
        raise TemplateError(f"{name}: edge.groups: write names of groups, as texts")
    return edge.get("values", {}), groups


def _substituted(file: str, text: str, values: Mapping[str, Any], edge: str) -> str:
    try:
        return Template(text).substitute(values)
    except KeyError as missing:
        raise TemplateError(
            f"{edge}: edge.values: has no {missing.args[0]}, which {file} names; write a value for it"
        ) from None
    except ValueError as error:
        raise TemplateError(f"{file}: {error}; write ${{name}}, and $$ for a dollar sign") from None


def _parsed(file: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TemplateError(f"{file}: {error}") from None


def _joined(before: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables with more: lists go on, of other keys the last says what holds."""
    joined = dict(before)
    for key, value in more.items():
        was = joined.get(key)
        if isinstance(was, list) and isinstance(value, list):
            joined[key] = was + value
        elif isinstance(was, dict) and isinstance(value, dict):
            joined[key] = _joined(was, value)
        else:
            joined[key] = value
    return joined
