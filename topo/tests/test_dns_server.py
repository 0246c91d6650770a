"""The lab's DNS server: what it answers, and who may change what it tells."""

import dns.message
import dns.name
import dns.rcode
import dns.tsig
import dns.update

from wayname_lab.dns_server import DnsServer

KEY_NAME, KEY = "edge.lab.test.", b"a secret of the zone"
A1, ZONE = dns.name.from_text("a1.lab.test"), dns.name.from_text("lab.test")


def server() -> DnsServer:
    return DnsServer("lab.test", KEY_NAME, KEY, ["a1.lab.test NID 10 0014:4fff:ff20:ee64"])


def asked(known: DnsServer, name: str, kind: str) -> dns.message.Message:
    answer = known.answer(dns.message.make_query(name, kind).to_wire())
    assert answer is not None
    return dns.message.from_wire(answer)


def updated(known: DnsServer, key: bytes | None, name: dns.name.Name = A1) -> int:
    message = dns.update.UpdateMessage(ZONE)
    message.delete(name, "L64")
    message.add(name, 30, "L64", "10 2001:0db8:0101:0010")
    if key is not None:
        message.use_tsig({(owner := dns.name.from_text(KEY_NAME)): dns.tsig.Key(owner, key)})
    answer = known.answer(message.to_wire())
    assert answer is not None
    return int.from_bytes(answer[2:4]) & 0xF


def test_tells_what_it_knows() -> None:
    answer = asked(server(), "a1.lab.test", "NID")
    assert [rrset.to_text() for rrset in answer.answer] == ["a1.lab.test. 60 IN NID 10 0014:4fff:ff20:ee64"]


def test_tells_a_name_without_such_records_from_no_name() -> None:
    assert [asked(server(), name, "L64").rcode() for name in ("a1.lab.test", "b1.lab.test", "a1.example")] == [
        dns.rcode.NOERROR,
        dns.rcode.NXDOMAIN,
        dns.rcode.REFUSED,
    ]


def test_takes_an_update_that_its_key_signed() -> None:
    known = server()
    assert updated(known, KEY) == dns.rcode.NOERROR
    assert "a1.lab.test. 30 IN L64 10 2001:0db8:0101:0010" in known.records()


def test_takes_no_other_update() -> None:
    known = server()
    before = known.records()
    assert updated(known, None) == dns.rcode.REFUSED
    assert updated(known, b"another secret") == dns.rcode.NOTAUTH
    assert updated(known, KEY, dns.name.from_text("a1.example")) == dns.rcode.NOTZONE
    assert known.records() == before


def test_leaves_alone_what_is_no_question() -> None:
    known = server()
    assert known.answer(b"\x00") is None
    answer = known.answer(dns.message.make_query("a1.lab.test", "NID").to_wire())
    assert answer is not None and known.answer(answer) is None
