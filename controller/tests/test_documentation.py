"""What the documentation shows is so."""

from __future__ import annotations

import re

import pytest
from repository import REPOSITORY

from wayname.composition.configuration import parse_config
from wayname.config.tables import ConfigError

REFERENCE = (REPOSITORY / "docs" / "configuration.md").read_text()
# Which keys these take depends on what they are; the others take the same ones always.
MAIN, _, CARRIED = REFERENCE.partition("## Encapsulation and telemetry")


PORT = "[[port]]\nnumber = 1\nvlan = 1"
INTERFACE = f"{PORT}\n[[interface]]\nvlan = 1"
# The least that each section needs, at its end.
LEAST = {
    "switch": "[switch]",
    "controller": "[controller]",
    "api": "[api]",
    "timing": "[timing]",
    "port": PORT,
    "limits": "[limits]",
    "interface": INTERFACE,
    "neighbour": f'{INTERFACE}\n[[neighbour]]\naddress = "fe80::1%vlan1"\nmac = "02:00:00:00:00:01"',
    "route": f'{INTERFACE}\n[[route]]\nprefix = "::/0"\nvia = ["fe80::1%vlan1"]',
}


def test_the_example_of_a_configuration_is_one() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", REFERENCE, re.DOTALL)
    config = parse_config(example)
    assert [interface.name for interface in config.interfaces] == ["site", "lab", "uplink"]


def test_every_key_is_in_the_reference_and_every_key_there_is_known() -> None:
    sections = re.findall(r"## `\[+(\w+)\]+`\n(.*?)(?=\n## |\Z)", MAIN, re.DOTALL)
    assert [name for name, _ in sections] == [
        "switch",
        "controller",
        "api",
        "timing",
        "limits",
        "port",
        "interface",
        "neighbour",
        "route",
    ]
    for name, text in sections:
        assert keys_in(text) == known_keys(LEAST[name])


NAMESPACE = "[[namespace]]\nid = 1"
POLICY = f'{INTERFACE}\naddresses = ["2001:db8::1/64"]\n[[policy]]\nname = "a"\nsegments = ["fd00::1"]'
BOUND = '[[encapsulation]]\nprefix = "fd01::/64"\n'


@pytest.mark.parametrize(
    "text",
    [
        NAMESPACE,
        f'{NAMESPACE}\n[[trace]]\nname = "a"\nnamespace = 1',
        POLICY,
        f'{POLICY}\n[[segment]]\nsid = "fd00::2"\nbehaviour = "end.b6.encaps"\npolicy = "a"',
        f'{POLICY}\n[[segment]]\nsid = "fd00::2"\nbehaviour = "end.x"\nvia = "fe80::1%vlan1"',
        '[[hmac_key]]\nid = 1\nkey = "a"',
        f'{POLICY}\n{BOUND}policy = "a"',
        f'{BOUND}locator = "2001:db8:1::/64"',
    ],
)
def test_every_key_of_what_packets_carry_is_in_the_reference(text: str) -> None:
    name = re.findall(r"\[\[(\w+)\]\]", text)[-1]
    (section,) = re.findall(rf"### `\[\[{name}\]\]`\n(.*?)(?=\n##)", CARRIED, re.DOTALL)
    assert known_keys(text) <= keys_in(section)


def keys_in(text: str) -> set[str]:
    """The keys that a section's table has."""
    return {key for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}


def known_keys(text: str) -> set[str]:
    """The keys that the last section of a configuration takes."""
    with pytest.raises(ConfigError) as error:
        parse_config(f"{text}\nzzz = 1\n", "edge.toml")
    return set(str(error.value).partition("known here: ")[2].split(", "))
