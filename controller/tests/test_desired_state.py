"""What is wanted comes to the switch, whatever was there, and never leaves a gap on the way."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from ipaddress import IPv6Address, IPv6Network
from unittest.mock import patch

import finsy as fy
from hypothesis import given
from hypothesis import strategies as st

from wayname.edge import desired_state
from wayname.edge.boundary import Update, UpdateKind
from wayname.edge.desired_state import DesiredState, Key, key_of, value_of
from wayname.pipeline import entries
from wayname.pipeline.entries import Entity
from wayname.wire.mac import Mac

ALREADY_EXISTS, NOT_FOUND = 6, 5


class Held:
    """A switch as a dictionary, that refuses what P4Runtime has refused."""

    def __init__(self) -> None:
        self.entities: dict[Key, Entity] = {}

    def carry_out(self, update: Update) -> int:
        kind, entity = update
        key = key_of(entity)
        if key[0] == "meter":
            if isinstance(entity, fy.P4MeterEntry) and entity.config is None:
                self.entities.pop(key, None)
            else:
                self.entities[key] = entity
            return 0
        if kind is UpdateKind.INSERT and key in self.entities:
            return ALREADY_EXISTS
        if kind is not UpdateKind.INSERT and key not in self.entities:
            return NOT_FOUND
        if kind is UpdateKind.DELETE:
            del self.entities[key]
        else:
            self.entities[key] = entity
        return 0

    def values(self) -> dict[Key, object]:
        return {key: value_of(entity) for key, entity in self.entities.items()}

    def refers_to_what_is_there(self) -> bool:
        return all(reference in self.entities for entity in self.entities.values() for reference in references(entity))


def references(entity: Entity) -> Iterator[Key]:
    """Yield the keys of what an entity needs."""
    match entity:
        case fy.P4TableEntry(action=fy.P4TableAction() as action):
            if "nexthop" in action.args:
                yield "nexthops", ("nexthop", action.args["nexthop"])
            if "ecmp_group" in action.args:
                yield "ecmp_groups", ("ecmp_group", action.args["ecmp_group"])
            if "group" in action.args:
                yield "multicast_group", action.args["group"]
        case fy.P4TableEntry(action=fy.P4IndirectAction() as action):
            yield "group", ("ecmp_members", action.group_id)
        case fy.P4ActionProfileMember(action=fy.P4TableAction() as action):
            yield "nexthops", ("nexthop", action.args["nexthop"])
        case fy.P4ActionProfileGroup():
            for member in entity.members or ():
                yield "member", ("ecmp_members", member.member_id)


@st.composite
def networks(draw: Callable[..., object]) -> list[Entity]:
    """A consistent set of entities: next hops, ECMP groups, routes by both, VLANs, stations."""
    numbers = st.integers(1, 4)
    hops = draw(st.dictionaries(numbers, st.integers(1, 3), max_size=3))
    assert isinstance(hops, dict)
    made: list[Entity] = [entries.nexthop(number, vlan, IPv6Address(vlan)) for number, vlan in hops.items()]
    made += [entries.ecmp_member(number) for number in hops]
    ways = ["refused", *(["hop", "ecmp_group"] if hops else [])]
    for ecmp_group in range(1, 4):
        chosen = draw(st.dictionaries(st.sampled_from(sorted(hops)), st.integers(1, 3), min_size=1)) if hops else {}
        assert isinstance(chosen, dict)
        if chosen:
            made += [entries.ecmp_group_members(ecmp_group, chosen), entries.ecmp_group(ecmp_group)]
    routes = draw(st.dictionaries(st.integers(0, 3), st.sampled_from(ways)))
    assert isinstance(routes, dict)
    for number, way in routes.items():
        prefix = IPv6Network((number << 96, 32)) if number else IPv6Network("::/0")
        if way == "hop":
            made.append(entries.route_nexthop(prefix, next(iter(hops))))
        elif way == "ecmp_group":
            made.append(entries.route_ecmp(prefix, 1 + number % 3))
        else:
            made.append(entries.route_refused(prefix, bool(number % 2)))
    vlans = draw(st.dictionaries(numbers, st.sets(numbers, min_size=1)))
    assert isinstance(vlans, dict)
    for vlan, ports in vlans.items():
        made += [entries.flood_group(vlan, ports), entries.flood(vlan)]
        made += [entries.fdb_entry(vlan, Mac(port), port) for port in ports]
        made += [entries.rate("learn_meter", port, vlan) for port in ports]
    return list({key_of(each): each for each in made}.values())


def want(desired: DesiredState, before: list[Entity], after: list[Entity]) -> None:
    keys = {key_of(each) for each in after}
    for each in before:
        if key_of(each) not in keys:
            desired.remove(each)
    for each in after:
        desired.put(each)


def apply(desired: DesiredState, held: Held, order: Callable[[list[Update]], list[Update]]) -> None:
    """Carry out all updates, those of one write in any order; nothing may ever refer to what is not there."""
    for updates in desired.updates():
        for update in order(updates):
            assert held.carry_out(update) == 0
            assert held.refers_to_what_is_there()


@given(networks(), networks(), st.randoms(use_true_random=False))
def test_changes_leave_no_gap_and_no_difference(first: list[Entity], second: list[Entity], rng: random.Random) -> None:
    def shuffled(updates: list[Update]) -> list[Update]:
        return rng.sample(updates, len(updates))

    desired, held = DesiredState(), Held()
    want(desired, [], first)
    apply(desired, held, shuffled)
    want(desired, first, second)
    apply(desired, held, shuffled)
    assert held.values() == {key_of(each): value_of(each) for each in second}
    assert desired.updates() == []


@given(networks(), networks())
def test_whatever_is_there_becomes_what_is_wanted(there: list[Entity], wanted: list[Entity]) -> None:
    held = Held()
    held.entities = {key_of(each): each for each in there}
    desired = DesiredState()
    want(desired, [], wanted)
    desired.compare(there)
    apply(desired, held, list)
    assert held.values() == {key_of(each): value_of(each) for each in wanted}
    desired.compare(held.entities.values())
    assert desired.updates() == []


@given(networks(), networks(), networks())
def test_what_changes_while_entries_are_compared_counts(
    there: list[Entity], wanted: list[Entity], changed: list[Entity]
) -> None:
    with patch.object(desired_state, "_COMPARED_AT_ONCE", 1):
        held = Held()
        held.entities = {key_of(each): each for each in there}
        desired = DesiredState()
        want(desired, [], wanted)
        desired.compare(there)
        for each in wanted:
            desired.compare_some()
            desired.remove(each)
        for each in changed:
            desired.compare_some()
            desired.put(each)
        apply(desired, held, list)
    assert held.values() == {key_of(each): value_of(each) for each in changed}
    assert not desired.compare_some()


def test_an_entry_that_is_there_already_is_modified() -> None:
    desired = DesiredState()
    desired.put(entries.port(1, 10))
    desired.compare([])
    ((update,),) = desired.updates()
    assert desired.refused(update, ALREADY_EXISTS)
    assert desired.updates() == [[(UpdateKind.MODIFY, entries.port(1, 10))]]


def test_an_entry_that_is_gone_is_inserted() -> None:
    desired = DesiredState()
    desired.put(entries.port(1, 10))
    desired.compare([entries.port(1, 20)])
    ((update,),) = desired.updates()
    assert update[0] is UpdateKind.MODIFY
    assert desired.refused(update, NOT_FOUND)
    assert desired.updates() == [[(UpdateKind.INSERT, entries.port(1, 10))]]


def test_a_refused_entry_is_not_tried_for_ever() -> None:
    desired = DesiredState()
    desired.put(entries.port(1, 10))
    desired.compare([])
    ((update,),) = desired.updates()
    assert not desired.refused(update, 8)
    assert desired.updates() == []
    desired.compare([])
    assert desired.updates() == [[update]]


def test_tables_of_others_are_left_alone() -> None:
    desired = DesiredState()
    desired.compare([fy.P4TableEntry("sessions", match=fy.Match(number=1)), fy.P4MeterEntry("punt_meter", index=1)])
    assert desired.updates() == []
