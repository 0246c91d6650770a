"""From a name to identifiers and locators, over LP records if there are any; and the update when locators change.

Whoever asks the DNS takes `questions`, gives each answer to `take`, and goes on until there are no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import dns.name
import dns.rdatatype
import dns.rrset
import dns.update

from wayname.ilnp.locator_update import Listed
from wayname.ilnp.locators import MOST_LOCATORS
from wayname.ilnp.records import Identified, Pointed, Told, make_records, read_records
from wayname.ilnp.vectors import NID, is_routable

_OF_A_NODE = (dns.rdatatype.NID, dns.rdatatype.L64, dns.rdatatype.LP)


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask the DNS."""

    name: dns.name.Name
    kind: dns.rdatatype.RdataType


@dataclass(frozen=True, slots=True)
class Found:
    """A node that can be spoken to over ILNP: identifiers and locators, the most preferred first."""

    nids: tuple[NID, ...]
    listed: tuple[Listed, ...]


class Lookup:
    """One name that is looked up. LP records lead to other names once, never further (RFC 6742, section 2.4)."""

    def __init__(self, name: dns.name.Name) -> None:
        self._name = name
        self._answers: dict[Question, list[dns.rrset.RRset]] = {}

    def questions(self) -> list[Question]:
        """Return what is to be asked now; nothing when all is known."""
        wanted = [Question(self._name, kind) for kind in _OF_A_NODE]
        wanted += [Question(one.name, dns.rdatatype.L64) for one in self._pointed()]
        return [question for question in wanted if question not in self._answers]

    def take(self, question: Question, answer: Iterable[dns.rrset.RRset]) -> None:
        """Take the records of an answer; what it says of other names than was asked for is not believed."""
        self._answers[question] = [
            rrset for rrset in answer if rrset.name == question.name and rrset.rdtype == question.kind
        ]

    def found(self) -> Found | None:
        """Return what came of it; nothing if the node has no ILNP."""
        nids = [one.nid for one in self._told(self._name, dns.rdatatype.NID) if isinstance(one, Identified)]
        ranked = [
            (one.preference, one.preference, one)
            for one in self._told(self._name, dns.rdatatype.L64)
            if isinstance(one, Listed)
        ]
        for pointer in self._pointed():
            for one in self._told(pointer.name, dns.rdatatype.L64):
                if isinstance(one, Listed):
                    ranked.append((pointer.preference, one.preference, one))
        best: dict[int, Listed] = {}
        for _, _, one in sorted(ranked, key=lambda each: each[:2]):
            if is_routable(one.locator):
                best.setdefault(one.locator, one)
        listed = tuple(replace(one, preference=rank) for rank, one in enumerate(best.values()))
        return Found(tuple(nids), listed) if nids and listed else None

    def _pointed(self) -> list[Pointed]:
        """Return the names that LP records lead to; very many would be a trick."""
        told = self._told(self._name, dns.rdatatype.LP)
        return [one for one in told if isinstance(one, Pointed) and one.name != self._name][:MOST_LOCATORS]

    def _told(self, name: dns.name.Name, kind: dns.rdatatype.RdataType) -> list[Told]:
        return read_records(self._answers.get(Question(name, kind), []))


def node_update(zone: dns.name.Name, owner: dns.name.Name, told: Iterable[Told]) -> dns.update.UpdateMessage:
    """Return the message that puts records in the place of all before (RFC 2136); the caller signs it (RFC 8945)."""
    message = dns.update.UpdateMessage(zone)
    records = make_records(owner, told)
    for kind in _OF_A_NODE:
        message.delete(owner, kind)
    for rrset in records:
        message.add(owner, rrset.to_rdataset())
    return message
