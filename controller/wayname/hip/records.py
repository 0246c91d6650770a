"""HIP records in the DNS (RFC 8005), through dnspython: a host's identity, its tag, and its rendezvous servers.

Keys stand there as they do in DNSSEC: one of ECDSA or EdDSA (RFC 9373) without the number of its curve, which its
length tells.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address

import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from dns.rdtypes.ANY.HIP import HIP as HIPRecord

from wayname.hip.edwards import HEAD_OCTETS, edwards_octets_of_length
from wayname.hip.errors import NoProposalError, ProofError
from wayname.hip.parameters import HostId
from wayname.hip.suites import Algorithm, hit_of

RSA, ECDSA, EDDSA = 2, 3, 4
CURVE_OCTETS = 2
# Lengths of x and y together, and with the octet of SEC 1 before them.
_CURVES = {64: 1, 65: 1, 96: 2, 97: 2}


@dataclass(frozen=True, slots=True)
class Named:
    """What a record tells of a host."""

    hit: IPv6Address
    host: HostId
    servers: tuple[dns.name.Name, ...] = ()


def read_record(record: HIPRecord) -> Named:
    """Return what a record tells; raise ProofError if its tag is not that of its key."""
    host = _host(record.algorithm, record.key)
    if hit_of(host).packed != record.hit:
        raise ProofError(f"a HIP record's tag {record.hit.hex()} is not that of its key, {hit_of(host)}")
    return Named(hit_of(host), host, tuple(record.servers))


def read_records(rrsets: Iterable[dns.rrset.RRset]) -> list[Named]:
    """Return what the HIP records among others tell."""
    return [read_record(record) for rrset in rrsets for record in rrset if isinstance(record, HIPRecord)]


def make_record(host: HostId, servers: Iterable[dns.name.Name] = ()) -> dns.rdata.Rdata:
    """Return the record of a host."""
    if host.algorithm == Algorithm.RSA:
        algorithm, key = RSA, host.key
    elif host.algorithm == Algorithm.ECDSA:
        algorithm, key = ECDSA, host.key[CURVE_OCTETS:]
    elif host.algorithm == Algorithm.EDDSA:
        algorithm, key = EDDSA, host.key[HEAD_OCTETS:]
    else:
        raise NoProposalError(f"keys of algorithm {host.algorithm} have no place in HIP records here")
    words = (str(algorithm), hit_of(host).packed.hex(), b64encode(key).decode(), *(name.to_text() for name in servers))
    return dns.rdata.from_text(dns.rdataclass.IN, dns.rdatatype.HIP, " ".join(words))


def _host(algorithm: int, key: bytes) -> HostId:
    if algorithm == RSA:
        return HostId(Algorithm.RSA, key)
    if algorithm == ECDSA and len(key) in _CURVES:
        return HostId(Algorithm.ECDSA, _CURVES[len(key)].to_bytes(CURVE_OCTETS) + key)
    if algorithm == EDDSA and (octets := edwards_octets_of_length(key)) is not None:
        return HostId(Algorithm.EDDSA, octets)
    raise NoProposalError(f"a key of algorithm {algorithm} with {len(key)} octets in a HIP record")
