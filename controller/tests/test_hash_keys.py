"""The secrets behind a switch's slots and nonces."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import finsy as fy
from finsy.proto import p4r
from rig import Rig
from two_networks import TWO_NETWORKS

from wayname.edge.boundary import UpdateKind
from wayname.edge.desired_state import key_of
from wayname.pipeline import entries
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import names, read_snapshot


def keys_of(rig: Rig) -> tuple[int, int]:
    """The keys of the rig's switch."""
    (entry,) = rig.read([fy.P4TableEntry("hash_keys", is_default_action=True)])
    assert isinstance(entry, fy.P4TableEntry) and isinstance(entry.action, fy.P4TableAction)
    return entry.action.args["slots"], entry.action.args["nonces"]


def test_a_switch_gets_keys_before_anything_else() -> None:
    rig = Rig(TWO_NETWORKS)
    first = {key_of(entity)[0]: kind for kind, entity in rig.writes[0].updates}
    assert first["hash_keys"] is UpdateKind.MODIFY and not {"interfaces", "ports"} & first.keys()
    slots, nonces = keys_of(rig)
    assert slots != nonces and min(slots, nonces) > 1 << 100


def test_another_controller_leaves_the_keys_and_a_switch_that_begins_anew_gets_others() -> None:
    rig = Rig(TWO_NETWORKS)
    keys = keys_of(rig)
    rig.writes.clear()
    rig.restart_controller()
    assert keys_of(rig) == keys and rig.writes == []
    rig.restart_switch()
    assert set(keys_of(rig)).isdisjoint(keys)


def test_keys_of_zero_are_none() -> None:
    """Somebody may have written them; or half of them."""
    rig = Rig(TWO_NETWORKS)
    for slots, nonces in ((0, 0), (1, 0), (0, 1)):
        update = p4r.Update(type=p4r.Update.MODIFY, entity=entries.hash_keys(slots, nonces).encode(rig.schema))
        rig.switch.write(p4r.WriteRequest(updates=[update]).SerializeToString())
        rig.restart_controller()
        assert min(keys_of(rig)) > 1


async def test_the_api_does_not_show_them() -> None:
    rig = Rig(TWO_NETWORKS)

    async def read(wanted: list[fy.P4TableEntry]) -> list[entries.Entity]:
        return rig.read(wanted)

    running = cast(Running, SimpleNamespace(schema=rig.schema, read=read))
    switch_snapshot = await read_snapshot(running, names(rig.schema))
    assert "hash_keys" in switch_snapshot.tables and switch_snapshot.tables["ports"]
    shown = repr(switch_snapshot)
    for key in keys_of(rig):
        assert str(key) not in shown and f"{key:x}" not in shown
