"""What the DNS tells of a node (RFC 6742): NID, L64, L32 and LP records, through dnspython.

A locator is the same thing here and in a Locator Update, only that its lifetime may be longer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address

import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from dns.rdtypes.ANY.L32 import L32 as L32Record
from dns.rdtypes.ANY.L64 import L64 as L64Record
from dns.rdtypes.ANY.LP import LP as LPRecord
from dns.rdtypes.ANY.NID import NID as NIDRecord

from wayname.ilnp.locator_update import Listed
from wayname.ilnp.vectors import L64, NID, half_text, read_half


@dataclass(frozen=True, slots=True)
class Identified:
    """A node identifier under a name; lower preference goes first."""

    nid: NID
    preference: int
    lifetime: int


@dataclass(frozen=True, slots=True)
class LocatedV4:
    """A locator of ILNPv4 under a name; it is read and written, and nothing here uses it."""

    locator: IPv4Address
    preference: int
    lifetime: int


@dataclass(frozen=True, slots=True)
class Pointed:
    """The name of a subnetwork, whose locators a node has."""

    name: dns.name.Name
    preference: int
    lifetime: int


Told = Identified | Listed | LocatedV4 | Pointed


def read_records(rrsets: Iterable[dns.rrset.RRset]) -> list[Told]:
    """Return what records tell, the most preferred first; records of other kinds are left out."""
    told: list[Told] = []
    for rrset in rrsets:
        for record in rrset:
            match record:
                case NIDRecord():
                    told.append(Identified(NID(read_half(record.nodeid)), record.preference, rrset.ttl))
                case L64Record():
                    told.append(Listed(L64(read_half(record.locator64)), record.preference, rrset.ttl))
                case L32Record():
                    told.append(LocatedV4(IPv4Address(record.locator32), record.preference, rrset.ttl))
                case LPRecord():
                    told.append(Pointed(record.fqdn, record.preference, rrset.ttl))
    return sorted(told, key=lambda one: one.preference)


def make_records(owner: dns.name.Name, told: Iterable[Told]) -> list[dns.rrset.RRset]:
    """Return the records of a name; those of a kind share the shortest of their lifetimes (RFC 2181, section 5.2)."""
    rrsets: dict[dns.rdatatype.RdataType, dns.rrset.RRset] = {}
    for one in told:
        kind, text = _presentation(owner, one)
        record = dns.rdata.from_text(dns.rdataclass.IN, kind, f"{one.preference} {text}")
        rrset = rrsets.setdefault(kind, dns.rrset.RRset(owner, dns.rdataclass.IN, kind))
        rrset.add(record, one.lifetime)
    return list(rrsets.values())


def _presentation(owner: dns.name.Name, one: Told) -> tuple[dns.rdatatype.RdataType, str]:
    match one:
        case Identified():
            return dns.rdatatype.NID, half_text(one.nid)
        case Listed():
            return dns.rdatatype.L64, half_text(one.locator)
        case LocatedV4():
            return dns.rdatatype.L32, str(one.locator)
        case Pointed():
            if one.name == owner:
                raise ValueError(f"{owner} cannot point at itself (RFC 6742, section 2.4.1.2)")
            return dns.rdatatype.LP, one.name.to_text()
