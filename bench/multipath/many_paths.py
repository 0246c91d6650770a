"""The lab `many-paths`, its schedules by what TCP acknowledges or by what the peer's edge reports."""

from __future__ import annotations

from dataclasses import replace

from wayname.config.schedules import SchedulingPolicy, Source
from wayname_lab.load import LABS, parse_lab
from wayname_lab.model import Lab

NAME = "many-paths"
SOURCES = (Source.MARKS, Source.FEEDBACK)


def many_paths(source: Source = Source.MARKS, policy: SchedulingPolicy = SchedulingPolicy.FASTEST_FIRST) -> Lab:
    """Return the lab without its flows."""
    text = (LABS / f"{NAME}.toml").read_text()
    text = text.replace(f'source = "{Source.MARKS}"', f'source = "{source}"\npolicy = "{policy}"')
    return replace(parse_lab(text, NAME, NAME), flows=())
