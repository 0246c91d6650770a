"""The DNS at the edge: which answers count (RFC 5452, section 9), and by which ports and transports it is asked."""

from __future__ import annotations

import asyncio
import itertools
import random
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import IPv6Address
from typing import Any

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
import dns.tsig
import dns.update
import pytest

from wayname.adapter.dns_transport import MOST, DnsTransport
from wayname.config import tables
from wayname.config.names import Names, Transport
from wayname.config.tables import ConfigError
from wayname.edge.boundary import CancelDnsQuery, DnsQuery, DnsResponse
from wayname.edge.outputs import Outputs
from wayname.session.dns_client import DnsClient
from wayname_lab.dns_server import DnsServer as LabServer
from wayname_lab.dns_server import serve_both

KEY_NAME, KEY = "edge.lab.test", b"a secret of the zone"
KEYS = {(OWNER := dns.name.from_text(KEY_NAME)): dns.tsig.Key(OWNER, KEY)}
OTHER_KEYS = {OWNER: dns.tsig.Key(OWNER, b"another secret")}
LONG = [f"long.lab.test L64 {number} 2001:0db8:0101:{number:04x}" for number in range(200)]
PATIENCE = 20.0


class Asking:
    """Something that asks a DNS server about a name."""

    def __init__(self, seed: int = 1, **given: Any) -> None:
        self.outputs = Outputs()
        names = Names(server=IPv6Address("::1"), zone="lab.test", **given)
        self.server: DnsClient[str] = DnsClient(names, random.Random(seed), self.outputs)

    def ask(self, name: str = "peer.lab.test", tries: int = 1) -> DnsQuery:
        """Ask, and return what goes to the server."""
        self.server.send(dns.message.make_query(name, "L64"), name, tries, 0.0)
        [question] = self.asked()
        return question

    def update(self) -> DnsQuery:
        """Tell something."""
        self.server.send(dns.update.UpdateMessage("lab.test"), "told", 1, 0.0)
        [question] = self.asked()
        return question

    def asked(self) -> list[DnsQuery]:
        """What goes to the server since the last call."""
        return [output for output in self.outputs.take() if isinstance(output, DnsQuery)]

    def takes(self, question: DnsQuery, answer: dns.message.Message | bytes) -> bool:
        """Whether what came to the port of a question counts."""
        octets = answer if isinstance(answer, bytes) else answer.to_wire()
        return self.server.answered(DnsResponse(question, octets), 0.5) is not None


def read(question: DnsQuery) -> dns.message.Message:
    return dns.message.from_wire(question.message, keyring=KEYS)


def answer_to(question: DnsQuery) -> dns.message.Message:
    answer = dns.message.make_response(read(question))
    answer.answer.append(dns.rrset.from_text(answer.question[0].name, 60, "IN", "L64", "10 2001:0db8:0101:0010"))
    return answer


def with_other_id(question: DnsQuery) -> dns.message.Message:
    answer = answer_to(question)
    answer.id ^= 1
    return answer


def with_other_case(question: DnsQuery) -> dns.message.Message:
    answer = answer_to(question)
    name = answer.question[0].name
    answer.question[0].name = dns.name.Name([label.swapcase() for label in name.labels])
    return answer


def with_other_question(question: DnsQuery) -> dns.message.Message:
    answer = dns.message.make_response(dns.message.make_query("other.lab.test", "L64"))
    answer.id = read(question).id
    return answer


def without_question(question: DnsQuery) -> dns.message.Message:
    answer = answer_to(question)
    answer.question.clear()
    answer.set_rcode(dns.rcode.REFUSED)
    return answer


def with_other_opcode(question: DnsQuery) -> dns.message.Message:
    answer = answer_to(question)
    answer.flags ^= 0x2800
    return answer


FORGERIES: list[Callable[[DnsQuery], dns.message.Message | bytes]] = [
    with_other_id,
    with_other_case,
    with_other_question,
    without_question,
    with_other_opcode,
    lambda question: read(question),
    lambda question: question.message[:5],
    lambda question: b"",
    lambda question: question.message[:1],
    lambda question: answer_to(question).to_wire() + b"more",
]


def test_an_answer_counts_once() -> None:
    asking = Asking()
    question = asking.ask()
    assert asking.takes(question, answer_to(question))
    assert asking.outputs.take() == [CancelDnsQuery(question)]
    assert not asking.takes(question, answer_to(question))


@pytest.mark.parametrize("forge", FORGERIES)
def test_what_is_no_answer_changes_nothing(forge: Callable[[DnsQuery], dns.message.Message | bytes]) -> None:
    asking = Asking()
    question = asking.ask()
    assert not asking.takes(question, forge(question))
    assert asking.outputs.take() == []
    assert asking.takes(question, answer_to(question))


def test_an_answer_counts_only_at_the_port_of_its_question() -> None:
    asking = Asking()
    first, second = asking.ask("a.lab.test"), asking.ask("b.lab.test")
    assert not asking.takes(second, answer_to(first))
    assert asking.takes(first, answer_to(first))
    # It is sent again by another port: what comes to the old one is late, or forged.
    list(asking.server.silent(10.0))
    again = asking.ask("b.lab.test", 2)
    late = answer_to(again)
    assert not asking.takes(second, late)
    assert asking.takes(again, late)


def test_numbers_and_cases_cannot_be_told_ahead() -> None:
    asked = [Asking(seed).ask("abcdefghijklmnop.lab.test") for seed in range(200)]
    assert len({read(question).id for question in asked}) > 190
    assert len({read(question).question[0].name.labels for question in asked}) > 190
    assert len({read(question).question[0].name for question in asked}) == 1


@pytest.mark.parametrize("ask", [Asking.ask, Asking.update])
def test_with_a_key_all_is_signed_both_ways(ask: Callable[[Asking], DnsQuery]) -> None:
    asking = Asking(key_name=KEY_NAME, key=KEY)
    question = ask(asking)
    asked = read(question)
    assert asked.had_tsig
    unsigned = dns.message.make_response(asked)
    unsigned.tsig = None
    assert not asking.takes(question, unsigned)
    forged = dns.message.make_response(asked)
    forged.use_tsig(OTHER_KEYS)
    assert not asking.takes(question, forged)
    assert asking.takes(question, dns.message.make_response(asked))


def test_a_part_of_an_answer_has_all_of_it_asked_for_by_tcp() -> None:
    asking = Asking()
    question = asking.ask()
    assert question.transport is Transport.UDP
    part = answer_to(question)
    part.flags |= dns.flags.TC
    assert not asking.takes(question, part)
    stop, again = asking.outputs.take()
    assert stop == CancelDnsQuery(question)
    assert isinstance(again, DnsQuery)
    assert again.transport is Transport.TCP
    assert read(again).id != read(question).id
    assert asking.takes(again, answer_to(again))
    assert asking.server.next_timer() is None


def test_all_by_tcp() -> None:
    assert Asking(transport=Transport.TCP).ask().transport is Transport.TCP
    assert Asking(transport=Transport.TCP).update().transport is Transport.TCP


def test_whether_an_answer_is_said_to_be_authentic() -> None:
    question = Asking().ask()
    assert read(question).flags & dns.flags.AD
    plain, authentic = answer_to(question), answer_to(question)
    plain.flags &= ~dns.flags.AD
    authentic.flags |= dns.flags.AD
    assert [Asking(dnssec=True).server.is_believed(answer) for answer in (plain, authentic)] == [False, True]
    assert [Asking().server.is_believed(answer) for answer in (plain, authentic)] == [True, True]


def test_authenticity_is_taken_from_nobody_on_the_way() -> None:
    def names(**given: object) -> Names:
        found: Names = tables.read(Names, {"zone": "lab.test", **given}, "edge.toml", "ilnp.names")
        return found

    assert names(server="::1", dnssec=True).dnssec
    assert names(server="2001:db8::53", dnssec=True, key_name="k", key="c2VjcmV0").dnssec
    with pytest.raises(ConfigError, match=r"ilnp.names.dnssec: whoever is between here and 2001:db8::53 can say"):
        names(server="2001:db8::53", dnssec=True)
    with pytest.raises(ConfigError, match=r"ilnp.names.transport"):
        names(server="::1", transport="https")


class Resolver(asyncio.DatagramProtocol):
    """Notes who asks what; answers nothing."""

    def __init__(self) -> None:
        self.seen: asyncio.Queue[tuple[bytes, tuple[str, int]]] = asyncio.Queue()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Note a question."""
        self.seen.put_nowait((data, addr))


@asynccontextmanager
async def resolver() -> AsyncIterator[tuple[Resolver, asyncio.DatagramTransport]]:
    """A resolver on the loopback."""
    transport, protocol = await asyncio.get_running_loop().create_datagram_endpoint(Resolver, local_addr=("::1", 0))
    yield protocol, transport
    transport.close()


@asynccontextmanager
async def asking() -> AsyncIterator[tuple[DnsTransport, asyncio.Queue[DnsResponse]]]:
    """What asks, and the answers that came."""
    answers: asyncio.Queue[DnsResponse] = asyncio.Queue()
    questions = DnsTransport(answers.put)
    running = asyncio.create_task(questions.run())
    async with asyncio.timeout(PATIENCE):
        yield questions, answers
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def question_to(port: int, text: bytes = b"question", transport: Transport = Transport.UDP) -> DnsQuery:
    return DnsQuery(IPv6Address("::1"), port, transport, text)


async def test_each_question_has_a_port_of_its_own_by_lot() -> None:
    async with resolver() as (server, transport), asking() as (questions, _):
        port = transport.get_extra_info("sockname")[1]
        ports: list[int] = []
        for number in range(64):
            questions.ask(question_to(port, b"%d" % number))
            _, sender = await server.seen.get()
            ports.append(sender[1])
    assert len(set(ports)) == 64
    # Neither one after the other nor in steps.
    steps = {after - before for before, after in itertools.pairwise(ports)}
    assert len(steps) > 50


async def test_only_what_the_server_sends_to_that_very_port_is_heard() -> None:
    async with resolver() as (server, transport), asking() as (questions, answers):
        first, second = (question_to(transport.get_extra_info("sockname")[1], text) for text in (b"1", b"2"))
        questions.ask(first)
        _, one = await server.seen.get()
        questions.ask(second)
        _, two = await server.seen.get()
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as stranger:
            stranger.sendto(b"forged", one)
        transport.sendto(b"to the second", two)
        assert await answers.get() == DnsResponse(second, b"to the second")
        transport.sendto(b"to the first", one)
        assert await answers.get() == DnsResponse(first, b"to the first")
        assert answers.empty()


async def test_the_port_is_closed_when_nothing_is_waited_for() -> None:
    async with resolver() as (server, transport), asking() as (questions, answers):
        question = question_to(transport.get_extra_info("sockname")[1])
        questions.ask(question)
        _, sender = await server.seen.get()
        questions.ask(CancelDnsQuery(question))
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            while True:
                try:
                    probe.bind(("::1", sender[1]))
                    break
                except OSError:
                    await asyncio.sleep(0)
        assert answers.empty()


async def test_questions_under_way_are_bounded_and_nobody_who_is_not_there_ends_asking() -> None:
    async with resolver() as (server, transport), asking() as (questions, _):
        port = transport.get_extra_info("sockname")[1]
        for kind in Transport:
            # Nobody listens at port 9.
            questions.ask(question_to(9, transport=kind))
        many = [question_to(port, b"%d" % number) for number in range(MOST + 50)]
        for question in many:
            questions.ask(question)
        for question in many:
            questions.ask(CancelDnsQuery(question))
        questions.ask(question_to(port, b"last"))
        seen = [(await server.seen.get())[0]]
        while seen[-1] != b"last":
            seen.append((await server.seen.get())[0])
        assert len(seen) <= MOST + 1
        assert len(questions._asked) <= 3


@pytest.mark.parametrize("kind", Transport)
async def test_a_long_answer_comes_by_tcp(kind: Transport) -> None:
    """From the question to the answer, with a server of the lab on the loopback."""
    known = LabServer("lab.test", KEY_NAME, KEY, LONG)
    with (
        socket.create_server(("::1", 0), family=socket.AF_INET6) as listener,
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as endpoint,
    ):
        port = listener.getsockname()[1]
        endpoint.bind(("::1", port))
        serving = asyncio.create_task(serve_both(known, endpoint, listener))
        outputs = Outputs()
        names = Names(server=IPv6Address("::1"), port=port, zone="lab.test", key_name=KEY_NAME, key=KEY, transport=kind)
        server: DnsClient[str] = DnsClient(names, random.Random(1), outputs)
        async with asking() as (questions, answers):
            server.send(dns.message.make_query("long.lab.test", "L64"), "long", 1, 0.0)
            transports: list[Transport] = []
            taken = None
            while taken is None:
                for wish in outputs.take():
                    assert isinstance(wish, DnsQuery | CancelDnsQuery)
                    questions.ask(wish)
                    if isinstance(wish, DnsQuery):
                        transports.append(wish.transport)
                taken = server.answered(await answers.get(), 0.0)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    about, answer = taken
    assert (about, len(answer.answer[0]), answer.had_tsig) == ("long", 200, True)
    assert transports == ([Transport.UDP, Transport.TCP] if kind is Transport.UDP else [Transport.TCP])
