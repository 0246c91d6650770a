"""Entries in words."""

from __future__ import annotations

import finsy as fy
import pytest

from wayname.snapshot.switch_snapshot import in_words


@pytest.mark.parametrize(
    ("table", "keys", "match"),
    [
        ("fdb", {"vlan": 7, "destination": 0x020000000001}, {"vlan": 7, "destination": "02:00:00:00:00:01"}),
        ("routes", {"destination": (0x20010DB8 << 96, 32)}, {"destination": "2001:db8::/32"}),
        ("routes", {}, {"destination": "::/0"}),
        (
            "ipv4_vrf_routes",
            {"vrf": 4, "destination": (0xC0000200, 24)},
            {"vrf": 4, "destination": "192.0.2.0/24"},
        ),
    ],
)
def test_keys(schema: fy.P4Schema, table: str, keys: dict[str, object], match: dict[str, object]) -> None:
    entry = fy.P4TableEntry(table, match=fy.Match(**keys), action=fy.Action("route_local"))
    assert in_words(entry, schema).match == match


def test_an_action_that_picks_of_a_group(schema: fy.P4Schema) -> None:
    entry = fy.P4TableEntry("ecmp_groups", match=fy.Match(ecmp_group=3), action=fy.P4IndirectAction(group_id=3))
    words = in_words(entry, schema)
    assert (words.action, words.parameters) == ("group", {"group": 3})
