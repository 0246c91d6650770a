"""What should be on the switch, what is, and the ordered updates from one to the other.

put, remove      the managers say what they want
updates          what has to be written, with dependencies first and deletions last; taken as written
compare          the switch says what it holds: what is wanted comes to it, what is not goes
compare_some     a part of that, for whoever has other things to do meanwhile; `updates` does what is left
refused          an update failed: what the switch holds is not what was written
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from itertools import chain

import finsy as fy

from wayname.edge.boundary import Update, UpdateKind
from wayname.pipeline.entries import Entity
from wayname.pipeline.write_order import write_order

Key = tuple[str, Hashable]

# Meters, and default actions.
_ALWAYS_THERE = ("meter", "hash_keys")

_ALREADY_EXISTS, _NOT_FOUND = 6, 5

# So many take a few milliseconds. With a hundred thousand sessions there are a million.
_COMPARED_AT_ONCE = 1024


def key_of(entity: Entity) -> Key:
    """Return what names an entity: the same for two that cannot both be on a switch."""
    match entity:
        case fy.P4TableEntry():
            # Flat: a session has eight entries, and a tuple for each of their fields would take 72 octets more.
            return entity.table_id, tuple(chain.from_iterable(sorted((entity.match or {}).items())))
        case fy.P4MulticastGroupEntry():
            return "multicast_group", entity.multicast_group_id
        case fy.P4CloneSessionEntry():
            return "clone_session", entity.session_id
        case fy.P4DigestEntry():
            return "digest", entity.digest_id
        case fy.P4ActionProfileMember():
            return "member", (entity.action_profile_id, entity.member_id)
        case fy.P4ActionProfileGroup():
            return "group", (entity.action_profile_id, entity.group_id)
        case fy.P4MeterEntry():
            return "meter", (entity.meter_id, entity.index)


def value_of(entity: Entity) -> Hashable:
    """Return what an entity says beside its key: the same for two between which nothing needs writing."""
    match entity:
        case fy.P4TableEntry():
            return _action_value(entity.action), entity.priority, entity.idle_timeout_ns
        case fy.P4MulticastGroupEntry():
            return tuple(sorted(map(str, entity.replicas)))
        case fy.P4CloneSessionEntry():
            return tuple(map(str, entity.replicas)), entity.class_of_service, entity.packet_length_bytes
        case fy.P4DigestEntry():
            return entity.max_list_size, entity.max_timeout_ns, entity.ack_timeout_ns
        case fy.P4ActionProfileMember():
            return _action_value(entity.action)
        case fy.P4ActionProfileGroup():
            members = sorted((member.member_id, str(member.weight)) for member in entity.members or ())
            return entity.max_size, tuple(members)
        case fy.P4MeterEntry():
            config = entity.config
            return config and (config.cir, config.cburst, config.pir, config.pburst)


def _action_value(action: fy.P4TableAction | fy.P4IndirectAction | None) -> Hashable:
    if isinstance(action, fy.P4TableAction):
        return action.name, tuple(sorted(action.args.items()))
    return action and (action.member_id, action.group_id)


class DesiredState:
    """The entries that are wanted, and those that the switch is taken to hold."""

    def __init__(self) -> None:
        self._wanted: dict[Key, Entity] = {}
        # How many of them each table has.
        self.entries_by_table: Counter[str] = Counter()
        self._held: dict[Key, Entity] = {}
        # What the switch holds under these keys is somebody else's.
        self._unknown: set[Key] = set()
        self._touched: dict[Key, None] = {}
        self._comparison: Iterator[int] = iter(())
        # Nothing in a stage depends on the others there: a switch may carry out one write's updates in any order.
        self._stage_of = write_order()
        self._stages = 1 + max(self._stage_of.values())

    def put(self, entity: Entity) -> None:
        """Want an entity; one with the same key is replaced."""
        key = key_of(entity)
        self.entries_by_table[key[0]] += key not in self._wanted
        self._wanted[key] = entity
        self._touched[key] = None

    def remove(self, entity: Entity) -> None:
        """Want no entity with this one's key any more."""
        key = key_of(entity)
        self.entries_by_table[key[0]] -= key in self._wanted
        self._wanted.pop(key, None)
        self._touched[key] = None

    def wanted(self) -> list[Entity]:
        """Return all that should be on the switch."""
        return list(self._wanted.values())

    def compare(self, entities: Iterable[Entity]) -> None:
        """Take what the switch says that it holds; what is not the controller's to write is left alone."""
        self._held = {}
        self._unknown.clear()
        self._comparison = self._compared(entities)

    def compare_some(self) -> bool:
        """Compare some of what the switch holds with what is wanted; return whether there may be more."""
        return next(self._comparison, None) is not None

    def _compared(self, entities: Iterable[Entity]) -> Iterator[int]:
        """Note what differs; yield how many were looked at, so many at a time."""
        for number, entity in enumerate(entities, 1):
            if self._is_ours(entity):
                key = key_of(entity)
                self._held[key] = entity
                wanted = self._wanted.get(key)
                if wanted is None or value_of(wanted) != value_of(entity):
                    self._touched[key] = None
            if number % _COMPARED_AT_ONCE == 0:
                yield number
        for number, key in enumerate(list(self._wanted), 1):
            if key not in self._held:
                self._touched[key] = None
            if number % _COMPARED_AT_ONCE == 0:
                yield number

    def updates(self) -> list[list[Update]]:
        """Return what has to be written, each list after the one before it, and take it as written."""
        while self.compare_some():
            pass
        if not self._touched:
            return []
        puts: list[list[Update]] = [[] for _ in range(self._stages)]
        deletes: list[list[Update]] = [[] for _ in range(self._stages)]
        for key in self._touched:
            stage = self._stage_of[key[0]]
            wanted, held = self._wanted.get(key), self._held.get(key)
            if wanted is not None:
                if held is None:
                    puts[stage].append((UpdateKind.MODIFY if key[0] in _ALWAYS_THERE else UpdateKind.INSERT, wanted))
                elif key in self._unknown or (wanted is not held and value_of(wanted) != value_of(held)):
                    puts[stage].append((UpdateKind.MODIFY, wanted))
                self._held[key] = wanted
            elif held is not None:
                deletes[stage].append(_deletion(held))
                del self._held[key]
        self._touched.clear()
        self._unknown.clear()
        return [updates for updates in (*puts, *reversed(deletes)) if updates]

    def refused(self, update: Update, code: int) -> bool:
        """Correct what the switch is taken to hold; return whether the next updates mend it."""
        kind, entity = update
        key = key_of(entity)
        if kind is UpdateKind.INSERT and code == _ALREADY_EXISTS:
            self._held[key] = entity
            self._unknown.add(key)
        elif kind is not UpdateKind.INSERT and code == _NOT_FOUND:
            self._held.pop(key, None)
        else:
            if kind is UpdateKind.INSERT:
                self._held.pop(key, None)
            return False
        self._touched[key] = None
        return True

    def _is_ours(self, entity: Entity) -> bool:
        """Whether the controller could have written it; a meter without a rate is as good as absent."""
        if isinstance(entity, fy.P4TableEntry):
            is_ours = entity.table_id == "hash_keys" if entity.is_default_action else not entity.is_const
            return entity.table_id in self._stage_of and is_ours
        return not isinstance(entity, fy.P4MeterEntry) or entity.config is not None


def _deletion(held: Entity) -> Update:
    """Return how an entity goes; a meter cannot, but its rate can."""
    if isinstance(held, fy.P4MeterEntry):
        return UpdateKind.MODIFY, fy.P4MeterEntry(held.meter_id, index=held.index)
    return UpdateKind.DELETE, held
