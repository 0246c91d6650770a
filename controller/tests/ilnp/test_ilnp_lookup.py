"""From names to identifiers and locators, and dynamic updates, through messages of dnspython."""

from __future__ import annotations

import dns.message
import dns.name
import dns.rdatatype
import dns.rrset
import dns.update
from ilnp.network import A1, A2, A3, A_NID, B_NID

from wayname.ilnp.locator_update import Listed
from wayname.ilnp.lookup import Found, Lookup, Question, node_update
from wayname.ilnp.records import Identified, Pointed, Told, make_records
from wayname.ilnp.vectors import L64

ZONE = dns.name.from_text("example.com.")
HOST, SITE, OTHER = (dns.name.from_text(label, ZONE) for label in ("host", "site", "other"))
ME = Identified(A_NID, 10, 3600)


def resolve(zone: dict[dns.name.Name, list[Told]], name: dns.name.Name = HOST) -> tuple[Found | None, list[str]]:
    """Look a name up in a zone; return what was found and what was asked, in order."""
    lookup, asked = Lookup(name), []
    while questions := lookup.questions():
        for question in questions:
            asked.append(f"{question.name.relativize(ZONE)} {dns.rdatatype.to_text(question.kind)}")
            answer = dns.message.make_response(dns.message.make_query(question.name, question.kind))
            # A server that knows ILNP tells all that it has in one answer.
            answer.answer.extend(make_records(question.name, zone.get(question.name, [])))
            lookup.take(question, dns.message.from_wire(answer.to_wire()).answer)
    return lookup.found(), asked


def test_a_host_with_locators_of_its_own() -> None:
    found, asked = resolve({HOST: [ME, Listed(A2, 20, 5), Listed(A1, 10, 5)]})
    assert found == Found((A_NID,), (Listed(A1, 0, 5), Listed(A2, 1, 5)))
    assert asked == ["host NID", "host L64", "host LP"]


def test_a_host_whose_site_has_the_locators() -> None:
    found, asked = resolve({HOST: [ME, Pointed(SITE, 10, 86400)], SITE: [Listed(A1, 10, 5), Listed(A2, 5, 5)]})
    assert found == Found((A_NID,), (Listed(A2, 0, 5), Listed(A1, 1, 5)))
    assert asked == ["host NID", "host L64", "host LP", "site L64"]


def test_the_preference_of_a_pointer_goes_before_that_of_its_locators() -> None:
    zone: dict[dns.name.Name, list[Told]] = {
        HOST: [ME, Pointed(SITE, 30, 9), Pointed(OTHER, 10, 9), Listed(A1, 20, 5)],
        SITE: [Listed(A2, 1, 5)],
        OTHER: [Listed(A3, 99, 5), Listed(A1, 100, 5)],
    }
    found, _ = resolve(zone)
    assert found is not None
    assert [one.locator for one in found.listed] == [A3, A1, A2]
    assert [one.preference for one in found.listed] == [0, 1, 2]


def test_identifiers_come_by_preference() -> None:
    found, _ = resolve({HOST: [Identified(B_NID, 20, 5), ME, Listed(A1, 1, 5)]})
    assert found is not None
    assert found.nids == (A_NID, B_NID)


def test_a_host_without_identifier_or_without_locator_has_no_ilnp() -> None:
    assert resolve({})[0] is None
    assert resolve({HOST: [ME]})[0] is None
    assert resolve({HOST: [Listed(A1, 10, 5)]})[0] is None
    assert resolve({HOST: [ME, Listed(L64(0xFE80 << 48), 10, 5)]})[0] is None


def test_pointers_lead_on_only_once() -> None:
    _, asked = resolve({HOST: [ME, Pointed(SITE, 10, 5)], SITE: [Pointed(OTHER, 10, 5)], OTHER: [Listed(A1, 1, 5)]})
    assert asked == ["host NID", "host L64", "host LP", "site L64"]


def test_of_very_many_pointers_some_are_followed() -> None:
    pointers: list[Told] = [Pointed(dns.name.from_text(f"site{number}", ZONE), number, 5) for number in range(100)]
    _, asked = resolve({HOST: [ME, *pointers]})
    assert len(asked) == 3 + 16


def test_records_of_other_names_are_not_believed() -> None:
    lookup = Lookup(HOST)
    strange = make_records(OTHER, [ME, Listed(A1, 10, 5)])
    for question in lookup.questions():
        lookup.take(question, strange)
    assert lookup.found() is None
    assert lookup.questions() == []


def test_a_pointer_to_itself_is_not_followed() -> None:
    lookup = Lookup(HOST)
    looped = dns.rrset.from_text(HOST, 5, "IN", "LP", f"10 {HOST}")
    lookup.take(Question(HOST, dns.rdatatype.LP), [looped])
    assert [question.kind for question in lookup.questions()] == [dns.rdatatype.NID, dns.rdatatype.L64]


ALL_GO = [f"site.example.com. ANY {kind}" for kind in ("NID", "L64", "LP")]


def test_an_update_puts_locators_in_the_place_of_those_before() -> None:
    wire = node_update(ZONE, SITE, [Listed(A2, 10, 5), Listed(A1, 20, 5)]).to_wire()
    read = dns.message.from_wire(wire)
    assert isinstance(read, dns.update.UpdateMessage)
    assert [rrset.to_text() for rrset in read.update] == [
        *ALL_GO,
        "site.example.com. 5 IN L64 10 2001:0db8:00a0:0002",
        "site.example.com. 5 IN L64 20 2001:0db8:00a0:0001",
    ]
    assert read.zone[0].name == ZONE


def test_an_update_without_locators_takes_all_away() -> None:
    read = dns.message.from_wire(node_update(ZONE, SITE, []).to_wire())
    assert isinstance(read, dns.update.UpdateMessage)
    assert [rrset.to_text() for rrset in read.update] == ALL_GO
