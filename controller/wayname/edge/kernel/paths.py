"""Where the kernel's routes lead on the switch, by its links and nexthop objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import NamedTuple

from wayname.config.links import LinkAddress, Refusal
from wayname.edge.kernel.route_groups import Vias, name_of
from wayname.edge.next_hops import Via
from wayname.netlink.messages import Hop, Nexthop, Path, Target
from wayname.p4_constants import ECMP_GROUP_MEMBERS_MOST

_BY_KERNEL = 2  # RTPROT_KERNEL


class Level(NamedTuple):
    """A route of a prefix; the one with the least metric is used."""

    metric: int
    protocol: int
    path: Path


Levels = tuple[Level, ...]


class ByGroup(NamedTuple):
    """By next hops: the name of their group, and the next hops."""

    name: str
    vias: Vias


class OnLink(NamedTuple):
    """To neighbours on a VLAN."""

    vlan: int


Leads = ByGroup | OnLink | Refusal | None


@dataclass
class Paths:
    """The links that are ours, and all nexthop objects."""

    vlan_by_name: Mapping[str, int]
    links: dict[int, int] = field(default_factory=dict)  # VLANs by the kernel's index
    objects: dict[int, Nexthop] = field(default_factory=dict)

    def leads_to(self, levels: Levels) -> Leads:
        """Return where packets of a prefix go; None is by no link of ours."""
        objects: list[int] = []
        vias: list[Via] = []
        for level in levels:
            path = level.path
            target = self._target(path)
            if target is not Target.FORWARD:
                if level.protocol == _BY_KERNEL:
                    # "unreachable default", which only says what there is not.
                    continue
                return self._by_group(objects, vias) or Refusal(target.value)
            own = [(self.links[hop.link], hop) for hop in self._hops(path) if hop.link in self.links]
            if not own:
                continue
            if not all(hop.address for _, hop in own):
                return self._by_group(objects, vias) or OnLink(own[0][0])
            objects.append(path.nexthop)
            vias.append(_via(own))
        return self._by_group(objects, vias)

    def hop(self, link: int, address: int) -> LinkAddress | None:
        """Return a neighbour, if it is on a link of ours."""
        vlan = self.links.get(link)
        return None if vlan is None else LinkAddress(vlan, IPv6Address(address))

    def _by_group(self, objects: list[int], vias: list[Via]) -> ByGroup | None:
        return ByGroup(name_of(objects, tuple(vias)), tuple(vias)) if vias else None

    def _target(self, path: Path) -> Target:
        known = self.objects.get(path.nexthop)
        return known.path.target if known else path.target

    def _hops(self, path: Path) -> Iterator[Hop]:
        if not path.nexthop:
            yield from path.hops
        elif known := self.objects.get(path.nexthop):
            yield from known.path.hops
            for number, weight in known.members:
                if member := self.objects.get(number):
                    yield from (hop._replace(weight=weight) for hop in member.path.hops)


def _via(hops: list[tuple[int, Hop]]) -> Via:
    weights: dict[LinkAddress, int] = {}
    for vlan, hop in hops:
        at = LinkAddress(vlan, IPv6Address(hop.address))
        weights[at] = weights.get(at, 0) + hop.weight
    return tuple(sorted(weights.items()))[:ECMP_GROUP_MEMBERS_MOST]
