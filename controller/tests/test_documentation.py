"""What the documentation shows is so."""

from __future__ import annotations

import re

import pytest

from wayname.config import ConfigError, parse_config
from wayname.pipeline.program import REPOSITORY

REFERENCE = (REPOSITORY / "docs" / "configuration.md").read_text()


PORT = "[[port]]\nnumber = 1\nvlan = 1"
INTERFACE = f"{PORT}\n[[interface]]\nvlan = 1"
# The least that each section needs, at its end.
LEAST = {
    "switch": "[switch]",
    "controller": "[controller]",
    "timing": "[timing]",
    "port": PORT,
    "interface": INTERFACE,
    "route": f'{INTERFACE}\n[[route]]\nprefix = "::/0"\nvia = ["fe80::1%vlan1"]',
}


def test_the_example_of_a_configuration_is_one() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", REFERENCE, re.DOTALL)
    config = parse_config(example)
    assert [interface.name for interface in config.interfaces] == ["site", "lab", "uplink"]


def test_every_key_is_in_the_reference_and_every_key_there_is_known() -> None:
    sections = re.findall(r"## `\[+(\w+)\]+`\n(.*?)(?=\n## )", REFERENCE, re.DOTALL)
    assert [name for name, _ in sections] == ["switch", "controller", "timing", "port", "interface", "route"]
    for name, text in sections:
        keys = {key for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
        with pytest.raises(ConfigError) as error:
            parse_config(f"{LEAST[name]}\nzzz = 1\n", "edge.toml")
        known = str(error.value).partition("known here: ")[2].split(", ")
        assert keys == set(known)
