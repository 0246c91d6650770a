"""A small authoritative DNS server: one zone, in memory, with dynamic update (RFC 2136) that a key signs (RFC 8945).

A message goes in, its answer comes out. As a process it listens to UDP and TCP: `python -m wayname_lab.dns_server`.
"""

import argparse
import asyncio
import base64
import socket
from collections.abc import Iterable
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rdtypes.ANY.SOA
import dns.rrset
import dns.tsig
import dns.update
from dns.rdatatype import RdataType

from wayname.config.names import Transport

LIFETIME = 60
UDP_OCTETS = 1232
LONGEST = 65535


class DnsServer:
    """The records of a zone; whoever has its key may change them."""

    def __init__(self, zone: str, key_name: str, key: bytes, records: Iterable[str] = ()) -> None:
        self.zone = dns.name.from_text(zone)
        name = dns.name.from_text(key_name)
        self._keys = {name: dns.tsig.Key(name, key)}
        self._serial = 1
        self._records: dict[tuple[dns.name.Name, RdataType], dns.rrset.RRset] = {}
        for text in records:
            owner, kind, data = text.split(maxsplit=2)
            record = dns.rdata.from_text(dns.rdataclass.IN, kind, data, dns.name.root, relativize=False)
            self._add(dns.rrset.from_rdata(dns.name.from_text(owner), LIFETIME, record))

    def records(self) -> list[str]:
        """Return all records as text, in order."""
        return sorted(line for rrset in self._records.values() for line in rrset.to_text().splitlines())

    def answer(self, octets: bytes, transport: Transport = Transport.UDP) -> bytes | None:
        """Answer a message, by UDP with what fits; what is none gets no answer."""
        try:
            message = dns.message.from_wire(octets, keyring=self._keys)
        except (dns.tsig.BadSignature, dns.tsig.BadTime, dns.message.UnknownTSIGKey, dns.tsig.BadKey):
            return self._refusal(octets)
        except dns.exception.DNSException:
            return None
        if message.flags & dns.flags.QR:
            return None
        answer = dns.message.make_response(message)
        if isinstance(message, dns.update.UpdateMessage):
            answer.set_rcode(self._update(message))
        elif message.opcode() == dns.opcode.QUERY and len(message.question) == 1:
            self._look_up(message.question[0], answer)
        else:
            answer.set_rcode(dns.rcode.NOTIMP)
        return answer.to_wire(max_size=UDP_OCTETS if transport is Transport.UDP else LONGEST, prefer_truncation=True)

    def _refusal(self, octets: bytes) -> bytes | None:
        try:
            message = dns.message.from_wire(octets, keyring=False, ignore_trailing=True)
        except dns.exception.DNSException:
            return None
        message.tsig = None
        answer = dns.message.make_response(message)
        answer.set_rcode(dns.rcode.NOTAUTH)
        return answer.to_wire()

    def _look_up(self, question: dns.rrset.RRset, answer: dns.message.Message) -> None:
        if not question.name.is_subdomain(self.zone):
            answer.set_rcode(dns.rcode.REFUSED)
            return
        answer.flags |= dns.flags.AA
        found = self._records.get((question.name, question.rdtype))
        if found is not None:
            answer.answer.append(found)
            return
        answer.authority.append(self._soa())
        if question.name != self.zone and not any(name == question.name for name, _ in self._records):
            answer.set_rcode(dns.rcode.NXDOMAIN)

    def _soa(self) -> dns.rrset.RRset:
        text = f"ns.{self.zone} nobody.{self.zone} {self._serial} 3600 600 86400 {LIFETIME}"
        return dns.rrset.from_text(self.zone, LIFETIME, "IN", "SOA", text)

    def _update(self, message: dns.update.UpdateMessage) -> dns.rcode.Rcode:
        """Carry out an update, all of it or nothing (RFC 2136, section 3)."""
        if len(message.zone) != 1 or message.zone[0].rdtype != dns.rdatatype.SOA:
            return dns.rcode.FORMERR
        if message.zone[0].name != self.zone:
            return dns.rcode.NOTAUTH
        if not message.had_tsig:
            return dns.rcode.REFUSED
        if message.prerequisite:
            return dns.rcode.NOTIMP
        if any(not rrset.name.is_subdomain(self.zone) for rrset in message.update):
            return dns.rcode.NOTZONE
        for rrset in message.update:
            self._change(rrset)
        self._serial += 1
        return dns.rcode.NOERROR

    def _change(self, rrset: dns.rrset.RRset) -> None:
        key = rrset.name, rrset.rdtype
        if rrset.deleting is None:
            self._add(rrset)
        elif rrset.deleting == dns.rdataclass.ANY and rrset.rdtype == dns.rdatatype.ANY:
            for known in [known for known in self._records if known[0] == rrset.name]:
                del self._records[known]
        elif rrset.deleting == dns.rdataclass.ANY:
            self._records.pop(key, None)
        elif key in self._records:
            left = [record for record in self._records.pop(key) if record not in rrset]
            if left:
                self._add(dns.rrset.from_rdata_list(rrset.name, LIFETIME, left))

    def _add(self, rrset: dns.rrset.RRset) -> None:
        known = self._records.get((rrset.name, rrset.rdtype))
        if known is None:
            self._records[rrset.name, rrset.rdtype] = known = dns.rrset.RRset(
                rrset.name, dns.rdataclass.IN, rrset.rdtype
            )
        for record in rrset:
            known.add(record, rrset.ttl)


async def serve(server: DnsServer, endpoint: socket.socket) -> None:
    """Answer what comes to a UDP socket until cancelled."""
    loop = asyncio.get_running_loop()
    endpoint.setblocking(False)
    while True:
        octets, sender = await loop.sock_recvfrom(endpoint, LONGEST)
        answer = server.answer(octets)
        if answer is not None:
            await loop.sock_sendto(endpoint, answer, sender)


async def serve_tcp(server: DnsServer, listener: socket.socket) -> None:
    """Answer what comes by TCP, a message a connection, until cancelled."""

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            octets = await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
            answer = server.answer(octets, Transport.TCP)
            if answer is not None:
                writer.write(len(answer).to_bytes(2) + answer)
        except (OSError, asyncio.IncompleteReadError):
            # Whoever asked is gone.
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve_one, sock=listener) as serving:
        await serving.serve_forever()


async def serve_both(server: DnsServer, endpoint: socket.socket, listener: socket.socket) -> None:
    """Answer by UDP and TCP until cancelled."""
    await asyncio.gather(serve(server, endpoint), serve_tcp(server, listener))


def main() -> None:
    """Serve a zone on UDP and TCP."""
    parser = argparse.ArgumentParser(prog="wayname_lab.dns_server", description="Serves a zone on UDP and TCP.")
    parser.add_argument("--zone", required=True)
    parser.add_argument("--key-name", required=True)
    parser.add_argument("--key-file", type=Path, required=True, help="what signs updates, in base64")
    parser.add_argument("--address", default="::1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--record", action="append", default=[], metavar="'NAME TYPE DATA'")
    given = parser.parse_args()
    server = DnsServer(given.zone, given.key_name, base64.b64decode(given.key_file.read_text("ascii")), given.record)
    with (
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as endpoint,
        socket.create_server((given.address, given.port), family=socket.AF_INET6) as listener,
    ):
        endpoint.bind((given.address, given.port))
        asyncio.run(serve_both(server, endpoint, listener))


if __name__ == "__main__":
    main()
