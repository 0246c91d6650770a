"""Writes entities, remembers them, and takes them away again when the test is over."""

from collections.abc import Iterable, Mapping

import finsy as fy
from finsy.p4entity import P4Entity
from finsy.proto import p4r

from harness.target import Status, Target

# What identifies an entity of each kind; the rest is its value.
KEYS = {
    "table_entry": ("table_id", "match", "priority", "is_default_action"),
    "meter_entry": ("meter_id", "index"),
    "counter_entry": ("counter_id", "index"),
    "direct_counter_entry": ("table_entry",),
    "action_profile_member": ("action_profile_id", "member_id"),
    "action_profile_group": ("action_profile_id", "group_id"),
    "multicast_group_entry": ("multicast_group_id",),
    "clone_session_entry": ("session_id",),
    "digest_entry": ("digest_id",),
}


def identity(entity: p4r.Entity) -> p4r.Entity:
    """The entity without its value."""
    bare = p4r.Entity()
    bare.CopyFrom(entity)
    kind = str(bare.WhichOneof("entity"))
    message = getattr(bare, kind)
    if kind == "packet_replication_engine_entry":
        kind = str(message.WhichOneof("type"))
        message = getattr(message, kind)
    for field in message.DESCRIPTOR.fields:
        if field.name not in KEYS[kind]:
            message.ClearField(field.name)
    return bare


class Entries:
    """The entities that a test wrote."""

    def __init__(self, target: Target) -> None:
        self._target = target
        # By identity, in the order of writing; the update that undoes it.
        self._undo: dict[bytes, p4r.Update] = {}

    def insert(self, table: str, keys: Mapping[str, object], action: str, **parameters: object) -> None:
        """Insert a table entry."""
        self.add(self.entry(table, keys, action, **parameters))

    @staticmethod
    def entry(table: str, keys: Mapping[str, object], action: str, **parameters: object) -> fy.P4TableEntry:
        """A table entry."""
        return fy.P4TableEntry(table, match=fy.Match(**keys), action=fy.Action(action, **parameters))

    def add(self, *entities: P4Entity) -> None:
        """Insert entities, all of which must be taken."""
        self._must(p4r.Update.INSERT, *entities)

    def modify(self, *entities: P4Entity) -> None:
        """Modify entities, all of which must be taken."""
        self._must(p4r.Update.MODIFY, *entities)

    def delete(self, *entities: P4Entity) -> None:
        """Delete entities, all of which must go."""
        self._must(p4r.Update.DELETE, *entities)

    def try_write(self, kind: p4r.Update.Type.ValueType, *entities: P4Entity) -> list[Status]:
        """Write entities, whatever the switch says to them."""
        return self.write(self._updates(kind, *entities))

    def write(
        self,
        updates: list[p4r.Update],
        atomicity: p4r.WriteRequest.Atomicity.ValueType = p4r.WriteRequest.CONTINUE_ON_ERROR,
    ) -> list[Status]:
        """Carry out updates, and remember those that the switch carried out."""
        statuses = self._target.write(updates, atomicity)
        for update, status in zip(updates, statuses, strict=True):
            if status.code == 0:
                self._remember(update)
        return statuses

    def _remember(self, update: p4r.Update) -> None:
        bare = identity(update.entity)
        key = bare.SerializeToString(deterministic=True)
        if update.type == p4r.Update.DELETE:
            self._undo.pop(key, None)
        elif update.type == p4r.Update.INSERT:
            self._undo[key] = p4r.Update(type=p4r.Update.DELETE, entity=bare)
        elif update.entity.HasField("meter_entry") or update.entity.table_entry.is_default_action:
            # Without a value they are as they were in the beginning.
            self._undo[key] = p4r.Update(type=p4r.Update.MODIFY, entity=bare)

    def holds(self, table: str, **keys: object) -> bool:
        """Whether the test wrote an entry with these keys."""
        entry = fy.P4TableEntry(table, match=fy.Match(**keys)).encode(self._target.schema)
        return identity(entry).SerializeToString(deterministic=True) in self._undo

    def forget(self) -> None:
        """The switch has lost everything, as it should."""
        self._undo.clear()

    def clean_up(self) -> None:
        """Undo everything, last first."""
        updates = list(reversed(self._undo.values()))
        self._undo.clear()
        if updates:
            self._all_right(updates, self._target.write(updates))

    def _updates(self, kind: p4r.Update.Type.ValueType, *entities: P4Entity) -> list[p4r.Update]:
        return [p4r.Update(type=kind, entity=entity.encode(self._target.schema)) for entity in entities]

    def _must(self, kind: p4r.Update.Type.ValueType, *entities: P4Entity) -> None:
        updates = self._updates(kind, *entities)
        self._all_right(updates, self.write(updates))

    def _all_right(self, updates: Iterable[p4r.Update], statuses: Iterable[Status]) -> None:
        refused = [
            f"{p4r.Update.Type.Name(update.type)} of {self._named(update.entity)}: {status.name}: {status.text}"
            for update, status in zip(updates, statuses, strict=True)
            if status.code
        ]
        if refused:
            raise AssertionError("the switch refused " + "; ".join(refused))

    def _named(self, entity: p4r.Entity) -> str:
        """What an update is about, in words for people."""
        kind = str(entity.WhichOneof("entity"))
        if kind == "table_entry":
            return f"an entry of {self._target.schema.tables[entity.table_entry.table_id].alias}"
        if kind == "packet_replication_engine_entry":
            kind = str(entity.packet_replication_engine_entry.WhichOneof("type"))
        return f"a {kind}"
