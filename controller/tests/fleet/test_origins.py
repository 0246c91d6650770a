"""Where a key of an edge's configuration stands among the files that it is joined from."""

from __future__ import annotations

import pytest

from wayname.fleet.origins import placed
from wayname.fleet.templates import sources_by_edge

BRANCH = """\
[switch]
device_id = 7
[[port]]
number = 1
vlan = ${vlan}
[[port]]
number = 2
tagged = [1, 2]
"""
VLANS = """\
[[port]]
tagged = [3]
[timing]
probe = 1
"""
BERLIN = """\
[edge]
groups = ["branch", "vlans"]
values = {vlan = 10}

[timing]
probe = 2

[[port]]
number = 4
"""
TEXTS = {"groups/branch.toml": BRANCH, "groups/vlans.toml": VLANS, "edges/berlin.toml": BERLIN}


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("port[0].vlan: is 10", "groups/branch.toml:5: port[0].vlan: is 10"),
        # Lists go on: each file has a place of its own for what is in it.
        ("port[1].tagged[1]: is 2", "groups/branch.toml:8: port[1].tagged[1]: is 2"),
        ("port[2].tagged[0]: is 3", "groups/vlans.toml:2: port[0].tagged[0]: is 3"),
        ("port[3].number: is 4", "edges/berlin.toml:9: port[0].number: is 4"),
        # What is missing is missing from the table that is there.
        ("port[2].number: is missing", "groups/vlans.toml:1: port[0].number: is missing"),
        # Of what is no list the last file holds.
        ("timing.probe: is 2", "edges/berlin.toml:6: timing.probe: is 2"),
        ("switch.device_id: is 7", "groups/branch.toml:2: switch.device_id: is 7"),
        # Nobody has it.
        ("interface: is missing", "edges/berlin.toml: interface: is missing"),
        ("nothing is named", "edges/berlin.toml: nothing is named"),
    ],
)
def test_a_key_is_found_where_people_wrote_it(said: str, line: str) -> None:
    assert placed(said, sources_by_edge(TEXTS)["berlin"]) == line
