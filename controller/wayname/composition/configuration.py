"""Reads the configuration of an edge, with the sections of the protocols that it may speak."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wayname.composition.protocols import PROTOCOLS
from wayname.config import load
from wayname.config.model import Config
from wayname.config.sections import ProtocolSection
from wayname.session.protocol import Protocol


def load_config(path: Path, more: str = "", edge: str = "") -> Config:
    """Read a configuration file, and behind it the tables that its fleet has for the edge.

    Of a file that is of many edges, return the configuration of the one that is named.
    """
    return load.load_config(path, _sections(PROTOCOLS), more=more, edge=edge)


def parse_config(
    text: str, file: str = "configuration", folder: Path = Path(), protocols: Iterable[Protocol] = PROTOCOLS
) -> Config:
    """Read a configuration's text; paths in it are relative to the folder."""
    return load.parse_config(text, _sections(protocols), file, folder)


def _sections(protocols: Iterable[Protocol]) -> list[ProtocolSection[Any]]:
    return [each.section() for each in protocols]
