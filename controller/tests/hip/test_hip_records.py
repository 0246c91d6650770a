"""HIP records (RFC 8005)."""

from __future__ import annotations

import dns.message
import dns.name
import dns.rdataclass
import dns.rdatatype
import dns.rrset
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from dns.rdtypes.ANY.HIP import HIP as HIPRecord
from hip.keys import ecdsa, eddsa, eddsa448, rsa_identity

from wayname.hip.errors import NoProposalError, ProofError
from wayname.hip.identities import Identity
from wayname.hip.parameters import HostId
from wayname.hip.records import Named, make_record, read_records
from wayname.hip.suites import Algorithm
from wayname.identity.hits import Point

SEC1 = (ecdsa(1, ec.SECP256R1, Point.SEC1), ecdsa(1, point=Point.SEC1))
OWNER = dns.name.from_text("www.example.com.")
SERVER = dns.name.from_text("rvs.example.com.")
# RFC 8005, section 7: the key is read; its tag is one of version 1.
OF_THE_RFC = (
    "2 200100107B1A74DF365639CC39F1D578 "
    "AwEAAbdxyhNuSutc5EMzxTs9LBPCIkOFH8cIvM4p9+LrV4e19WzK00+CI6zBCQTdtWsuxKbWIy87UOoJTwkUs7lBu+Upr1gsNrut79ry"
    "ra+bSRGQb1slImA8YVJyuIDsj7kwzG7jnERNqnWxZ48AWkskmdHaVDP4BcelrTI3rMXdXF5D rvs.example.com."
)


@pytest.mark.parametrize("which", range(7))
def test_what_a_record_tells_comes_back_from_the_wire(which: int) -> None:
    identity: Identity = (ecdsa(1, ec.SECP256R1), ecdsa(1), rsa_identity(), eddsa(1), eddsa448(1), *SEC1)[which]
    answer = dns.message.make_response(dns.message.make_query(OWNER, dns.rdatatype.HIP))
    answer.answer.append(dns.rrset.from_rdata(OWNER, 300, make_record(identity.host, [SERVER])))
    read = dns.message.from_wire(answer.to_wire()).answer
    host = HostId(identity.host.algorithm, identity.host.key)
    assert read_records(read) == [Named(identity.hit, host, (SERVER,))]


def test_a_record_is_refused_whose_tag_is_not_that_of_its_key() -> None:
    record = dns.rrset.from_text(OWNER, 300, dns.rdataclass.IN, dns.rdatatype.HIP, OF_THE_RFC)
    with pytest.raises(ProofError, match="tag 200100107b1a74df365639cc39f1d578 is not that of its key, 2001:2"):
        read_records([record])


@pytest.mark.parametrize("identity", [eddsa(1), eddsa448(1)])
def test_a_key_of_eddsa_stands_alone(identity: Identity) -> None:
    # RFC 9373: algorithm 4, and the key as in RFC 8080, section 3, which has no curve.
    record = make_record(identity.host)
    assert isinstance(record, HIPRecord)
    assert (record.algorithm, record.key) == (4, identity.host.key[4:])


@pytest.mark.parametrize("text", ["1 20010020 AAAA", "3 20010020 AAAA", "0 20010020 AAAA", "4 20010020 AAAA"])
def test_keys_that_are_not_known_are_refused(text: str) -> None:
    record = dns.rrset.from_text(OWNER, 300, dns.rdataclass.IN, dns.rdatatype.HIP, text)
    with pytest.raises(NoProposalError, match="with 3 octets in a HIP record"):
        read_records([record])
    with pytest.raises(NoProposalError, match="no place in HIP records"):
        make_record(HostId(Algorithm.DSA, bytes(213)))
