"""Next hops: their numbers, which of them are members of ECMP groups, and which are out of use, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum

from wayname.config.links import LinkAddress
from wayname.edge.content_numbers import ContentNumbers
from wayname.edge.desired_state import DesiredState
from wayname.pipeline import entries

Via = tuple[tuple[LinkAddress, int], ...]


class Cause(StrEnum):
    """Why a next hop is out of use."""

    PROBES = "probes"
    LINK = "link"
    NEIGHBOUR = "neighbour"


class NextHops:
    """Keeps `nexthops` and `ecmp_members`: those of the configuration always, others for as long as they are held."""

    def __init__(self, configured: Iterable[LinkAddress], desired: DesiredState) -> None:
        self._desired = desired
        self._numbers = ContentNumbers(link_text, configured)
        self._configured = frozenset(self._numbers)
        self._members: Counter[LinkAddress] = Counter()
        self._down: defaultdict[LinkAddress, set[Cause]] = defaultdict(set)
        self._one_way: set[LinkAddress] = set()
        for hop in self._numbers:
            desired.put(entries.nexthop(self._numbers[hop], hop.vlan, hop.address))

    def __contains__(self, hop: object) -> bool:
        return hop in self._numbers

    def __iter__(self) -> Iterator[LinkAddress]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, hop: LinkAddress) -> int:
        """Return the number of a next hop."""
        return self._numbers[hop]

    def join(self, hop: LinkAddress) -> None:
        """Hold a next hop as a member of a group."""
        number = self._numbers.assign(hop)
        self._desired.put(entries.nexthop(number, hop.vlan, hop.address))
        self._desired.put(entries.ecmp_member(number))
        self._members[hop] += 1

    def leave(self, hop: LinkAddress) -> None:
        """A group with this member is gone."""
        self._members[hop] -= 1
        if self._members[hop]:
            return
        del self._members[hop]
        self._desired.remove(entries.ecmp_member(self._numbers[hop]))
        if hop not in self._configured:
            self._desired.remove(entries.nexthop(self._numbers.release(hop), hop.vlan, hop.address))
            self._down.pop(hop, None)
            self._one_way.discard(hop)

    def is_down(self, hop: LinkAddress) -> bool:
        """Whether a next hop is out of use."""
        # Mostly none is, and each packet of the controller asks.
        return bool(self._down) and hop in self._down

    def set_down(self, hop: LinkAddress, cause: Cause, down: bool) -> bool:
        """Take note that there is a cause, or that it is gone; return whether that changes if the next hop is used."""
        before = self.is_down(hop)
        if down:
            self._down[hop].add(cause)
        elif before:
            self._down[hop].discard(cause)
            if not self._down[hop]:
                del self._down[hop]
        return self.is_down(hop) != before

    def set_one_way(self, hop: LinkAddress, one_way: bool) -> bool:
        """Take note that what goes by a next hop arrives though no probe comes back; return whether that is new."""
        if one_way == (hop in self._one_way):
            return False
        if one_way:
            self._one_way.add(hop)
        else:
            self._one_way.remove(hop)
        return True

    def is_one_way(self, hop: LinkAddress) -> bool:
        """Whether a next hop is out of use for its probes alone, and what goes by it arrives."""
        return hop in self._one_way and self._down.get(hop) == {Cause.PROBES}

    def forwarding(self, via: Via) -> Via:
        """Return what of some next hops takes packets to where they go, whether or not anything comes back."""
        return tuple((hop, weight) for hop, weight in via if not self.is_down(hop) or self.is_one_way(hop))

    def alive(self, via: Via) -> Via:
        """Return what of some next hops is in use."""
        return tuple((hop, weight) for hop, weight in via if not self.is_down(hop))

    def weights(self, via: Via) -> dict[int, int]:
        """Return the members of a group with these next hops."""
        return {self._numbers[hop]: weight for hop, weight in via}


def link_text(hop: LinkAddress) -> str:
    """Return what the number of a next hop comes from."""
    return f"{hop.vlan} {hop.address}"


def via_text(via: Via) -> str:
    """Return what the number of a group comes from."""
    return ", ".join(f"{link_text(hop)} {weight}" for hop, weight in sorted(via))
