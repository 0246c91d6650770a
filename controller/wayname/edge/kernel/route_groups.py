"""ECMP groups that the kernel's routes share: prefix -> group -> members.

So a next hop that fails costs a write for each group and none for its routes. A group has the next hops of a route, and
behind them those of the same prefix with a higher metric. Its members are the first of these that are in use; if none
is, those of the default route. So packets go where the routing daemon would send them next, or at least where a shorter
prefix would, until the daemon says what it thinks itself (fast reroute, RFC 5714).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wayname.config.links import LinkAddress
from wayname.edge.content_numbers import ContentNumbers
from wayname.edge.desired_state import DesiredState
from wayname.edge.next_hops import NextHops, Via, via_text
from wayname.pipeline import entries

# A member that is no next hop: packets are dropped and counted, as long as nobody is in use.
NOBODY = 0x10000

Vias = tuple[Via, ...]


@dataclass(slots=True, eq=False)
class RouteGroup:
    """A group on the switch: what the kernel calls its next hops, and these, the preferred ones first."""

    name: str
    number: int
    vias: Vias
    users: int = 0

    @property
    def hops(self) -> set[LinkAddress]:
        """All its next hops."""
        return {hop for via in self.vias for hop, _ in via}


class RouteGroups:
    """Keeps the `ecmp_groups` of the kernel's routes, and their members."""

    def __init__(
        self,
        next_hops: NextHops,
        numbers: ContentNumbers[Via | str],
        room: int,
        default: Callable[[], Via],
        desired: DesiredState,
    ) -> None:
        self._next_hops = next_hops
        self._numbers = numbers
        self._room = room
        self._default = default
        self._desired = desired
        self._groups: dict[str, RouteGroup] = {}
        desired.put(entries.ecmp_member(0, NOBODY))

    def use(self, name: str, vias: Vias) -> RouteGroup | None:
        """Return the group of this name for one more user, or None if there is no room for more groups."""
        group = self._groups.get(name)
        if group is None:
            if len(self._numbers) >= self._room:
                return None
            group = RouteGroup(name, self._numbers.assign(name), ())
            self._groups[name] = group
        group.users += 1
        self.change(group, vias)
        return group

    def release(self, group: RouteGroup) -> None:
        """One user less; with the last one the group goes."""
        group.users -= 1
        if group.users:
            return
        self._desired.remove(entries.ecmp_group(group.number))
        self._desired.remove(entries.ecmp_group_members(group.number, {}))
        for hop in group.hops:
            self._next_hops.leave(hop)
        del self._groups[group.name]
        self._numbers.release(group.name)

    def change(self, group: RouteGroup, vias: Vias) -> None:
        """Let a group have these next hops."""
        if vias == group.vias:
            return
        before = group.hops
        group.vias = vias
        for hop in group.hops - before:
            self._next_hops.join(hop)
        for hop in before - group.hops:
            self._next_hops.leave(hop)
        self._want(group)

    def refresh(self) -> None:
        """Next hops are in use that were not, or the other way round, or the default route is another."""
        for group in self._groups.values():
            self._want(group)

    def in_use(self, group: RouteGroup) -> Via:
        """Return the next hops by which packets leave now."""
        return next(filter(None, map(self._next_hops.alive, group.vias)), ()) or self._default()

    def _want(self, group: RouteGroup) -> None:
        members = self._next_hops.weights(self.in_use(group)) or {NOBODY: 1}
        self._desired.put(entries.ecmp_group_members(group.number, members))
        self._desired.put(entries.ecmp_group(group.number))


def name_of(objects: list[int], vias: Vias) -> str:
    """Return the name of a group: by the numbers of nexthop objects, where there are, for these may change."""
    parts = (f"object {number}" if number else via_text(via) for number, via in zip(objects, vias, strict=True))
    return "linux " + " else ".join(parts)
