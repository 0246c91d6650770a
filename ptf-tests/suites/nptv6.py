"""The border of a site: a provider's prefix for that of the inside, by flow, and back."""

from collections.abc import Iterable, Mapping

import finsy as fy
from border_cases import tcp
from border_site import (
    FAILED,
    HELD,
    PORT_OF,
    WORKS,
    border_interfaces,
    bucket,
    entries,
    out_of,
    state,
)
from carriers import hop_less
from mapped_packets import all_kinds
from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6
from scapy.packet import Packet, Raw
from session_site import endpoint_policy, from_host, in_by, out_by, to_host

from harness.edge_test import EdgeTest
from small_site import FAR, IP_OF, Entry, error_about, to_router
from wayname.p4_constants import HASH_BUCKETS_OF_POLICY

HOST = IP_OF[1]


def datagram(source: str, destination: str, sport: int, dport: int) -> Packet:
    return IPv6(src=source, dst=destination) / UDP(sport=sport, dport=dport) / Raw(b"data")


class Nptv6Test(EdgeTest):
    """All flows have the first provider for home. Registers outlive tests: flows have ports of their own in each."""

    home = 1

    def setUp(self) -> None:
        """Make the edge the border of its site."""
        super().setUp()
        for entry in border_interfaces():
            self.entries.modify(self.entries.entry(entry.table, entry.keys, entry.action, **entry.parameters))
        self.hold(entries(dict.fromkeys(range(HASH_BUCKETS_OF_POLICY), self.home)))

    def hold(self, wanted: Iterable[Entry]) -> None:
        """Insert entries."""
        made = [self.entries.entry(each.table, each.keys, each.action, **each.parameters) for each in wanted]
        self.entries.add(*made)

    def now(self, served_by: int, states: Mapping[int, int]) -> None:
        """Providers fail and are back."""
        wanted = [*(bucket(number, self.home, served_by) for number in range(HASH_BUCKETS_OF_POLICY))]
        wanted += [state(provider, condition) for provider, condition in states.items()]
        self.entries.modify(
            *(self.entries.entry(each.table, each.keys, each.action, **each.parameters) for each in wanted)
        )

    def goes(self, provider: int, sent: Packet, leaves: Packet) -> None:
        """A host's packet leaves by a provider."""
        port = PORT_OF[provider]
        self.passes(1, from_host(bytes(sent)), port, out_by(port, hop_less(bytes(leaves))))

    def comes(self, provider: int, came: Packet, arrives: Packet) -> None:
        """A packet by a provider reaches the host."""
        port = PORT_OF[provider]
        self.passes(port, in_by(port, bytes(came)), 1, to_host(hop_less(bytes(arrives))))


class AllKinds(Nptv6Test):
    """Addresses change, and nothing else: all checksums stay right."""

    def runTest(self) -> None:
        outside = out_of(HOST, 1)
        for sent, leaves, came, arrives in zip(
            all_kinds(HOST, FAR), all_kinds(outside, FAR), all_kinds(FAR, outside), all_kinds(FAR, HOST), strict=True
        ):
            if ICMPv6PacketTooBig not in sent and ICMPv6DestUnreach not in sent:
                self.goes(1, sent, leaves)
                self.comes(1, came, arrives)


class AnsweredByTheSame(Nptv6Test):
    """What came in by the provider that is not its home is answered by it."""

    def runTest(self) -> None:
        outside = out_of(HOST, 2)
        self.comes(2, tcp(FAR, outside, "S", 101, 80), tcp(FAR, HOST, "S", 101, 80))
        self.goes(2, tcp(HOST, FAR, "SA", 80, 101), tcp(outside, FAR, "SA", 80, 101))
        asked, answered = ICMPv6EchoRequest(id=101, seq=1), ICMPv6EchoReply(id=101, seq=1)
        self.comes(2, IPv6(src=FAR, dst=outside) / asked, IPv6(src=FAR, dst=HOST) / asked)
        self.goes(2, IPv6(src=HOST, dst=FAR) / answered, IPv6(src=outside, dst=FAR) / answered)
        self.goes(1, tcp(HOST, FAR, "S", 80, 102), tcp(out_of(HOST, 1), FAR, "S", 80, 102))


class OfAnotherSwitch(Nptv6Test):
    """A connection that is established where another switch had its slot goes on by its provider."""

    def runTest(self) -> None:
        keys: dict[str, int | str] = {"local": HOST, "remote": FAR, "next_header": 6, "local_port": 80}
        by_two: dict[str, int | str] = {"provider": 2, "translated": 1}
        self.hold(
            Entry("established_flows", {**keys, "remote_port": port}, "use_established_flow", by_two)
            for port in (151, 152)
        )
        outside = out_of(HOST, 2)
        self.goes(2, tcp(HOST, FAR, "A", 80, 151), tcp(outside, FAR, "A", 80, 151))
        self.comes(2, tcp(FAR, outside, "A", 152, 80), tcp(FAR, HOST, "A", 152, 80))
        self.goes(2, tcp(HOST, FAR, "A", 80, 152), tcp(outside, FAR, "A", 80, 152))
        self.goes(1, tcp(HOST, FAR, "A", 80, 153), tcp(out_of(HOST, 1), FAR, "A", 80, 153))


class AProviderFails(Nptv6Test):
    """New flows move, those of the other stay, connections of the failed one wait, and then are lost."""

    def runTest(self) -> None:
        one, two = (out_of(HOST, provider) for provider in (1, 2))
        self.comes(2, tcp(FAR, two, "S", 201, 80), tcp(FAR, HOST, "S", 201, 80))
        self.goes(2, tcp(HOST, FAR, "SA", 80, 201), tcp(two, FAR, "SA", 80, 201))
        self.goes(1, tcp(HOST, FAR, "S", 202, 80), tcp(one, FAR, "S", 202, 80))
        self.now(2, {1: HELD})
        self.goes(2, tcp(HOST, FAR, "S", 203, 80), tcp(two, FAR, "S", 203, 80))
        self.goes(2, tcp(HOST, FAR, "A", 80, 201), tcp(two, FAR, "A", 80, 201))
        self.drops(1, from_host(bytes(tcp(HOST, FAR, "A", 202, 80))), "DROP_FLOW_HELD")
        self.now(1, {1: WORKS})
        self.goes(1, tcp(HOST, FAR, "A", 202, 80), tcp(one, FAR, "A", 202, 80))
        self.goes(2, tcp(HOST, FAR, "A", 203, 80), tcp(two, FAR, "A", 203, 80))
        self.now(2, {1: FAILED})
        self.goes(2, tcp(HOST, FAR, "A", 202, 80), tcp(two, FAR, "A", 202, 80))
        sent = to_router(tcp(HOST, FAR, "S", 204, 80))
        self.now(0, {2: FAILED})
        self.refused(1, sent, "DROP_NO_PROVIDER", error_about(sent, ICMPv6DestUnreach(code=0), 1, HOST_MAC))


HOST_MAC = "02:00:00:00:00:11"


class Quotes(Nptv6Test):
    """Errors tell hosts of their own packets, and peers of theirs."""

    def runTest(self) -> None:
        outside, router = out_of(HOST, 2), "2001:db8:f00:9::1"
        seen, own = (Raw(bytes(tcp(source, FAR, "A", 301, 80))) for source in (outside, HOST))
        for message in (ICMPv6PacketTooBig(mtu=1400), ICMPv6DestUnreach(code=4)):
            told = IPv6(src=router, dst=HOST) / message / own
            self.comes(2, IPv6(src=router, dst=outside) / message / seen, told)
        self.comes(2, datagram(FAR, outside, 302, 99), datagram(FAR, HOST, 302, 99))
        closed = ICMPv6DestUnreach(code=4)
        sent = IPv6(src=HOST, dst=FAR) / closed / Raw(bytes(datagram(FAR, HOST, 302, 99)))
        self.goes(2, sent, IPv6(src=outside, dst=FAR) / closed / Raw(bytes(datagram(FAR, outside, 302, 99))))


class Sources(Nptv6Test):
    """No source crosses the border from the side where it is not at home."""

    def runTest(self) -> None:
        for source in (IP_OF[2], out_of(HOST, 1), out_of(HOST, 2)):
            self.drops(4, in_by(4, bytes(datagram(source, out_of(HOST, 1), 1, 2))), "DROP_BORDER_SOURCE")
        self.drops(1, from_host(bytes(datagram("2001:db8:77::1", FAR, 1, 2))), "DROP_BORDER_SOURCE")
        sent = to_router(datagram("2001:db8:1:ffff::1", FAR, 1, 2))
        error = error_about(sent, ICMPv6DestUnreach(code=0), 1, HOST_MAC)
        self.refused(1, sent, "DROP_UNTRANSLATABLE", error)


class Policies(Nptv6Test):
    """Some flows have buckets of their own."""

    def runTest(self) -> None:
        self.hold(bucket(number, 2, 2, policy=100) for number in range(HASH_BUCKETS_OF_POLICY))
        matches = (fy.Match(next_header=6, remote_port=(443, 443)), fy.Match(local=f"{IP_OF[2]}"))
        for number, match in enumerate(matches):
            action = fy.Action("use_flow_policy", number=100)
            self.entries.add(fy.P4TableEntry("flow_policies", match=match, action=action, priority=10 + number))
        one, two = (out_of(HOST, provider) for provider in (1, 2))
        self.goes(2, tcp(HOST, FAR, "S", 401, 443), tcp(two, FAR, "S", 401, 443))
        self.goes(1, tcp(HOST, FAR, "S", 401, 444), tcp(one, FAR, "S", 401, 444))
        self.goes(1, datagram(HOST, FAR, 401, 443), datagram(one, FAR, 401, 443))
        other = out_of(IP_OF[2], 2)
        self.goes(2, datagram(IP_OF[2], FAR, 401, 53), datagram(other, FAR, 401, 53))


class WithASession(Nptv6Test):
    """A session takes up what begins after it; a connection under a provider's address stays out of it."""

    home = 2

    def runTest(self) -> None:
        self.hold(endpoint_policy())
        outside = out_of(HOST, 2)
        self.goes(2, tcp(HOST, FAR, "S", 501, 80), tcp(outside, FAR, "S", 501, 80))
        self.comes(2, tcp(FAR, outside, "SA", 80, 501), tcp(FAR, HOST, "SA", 80, 501))
        chosen = {
            "session": 77,
            "path": 0,
            "generation": 1,
            "ecmp_paths": 0,
            "send_timeout": 0,
            "keepalive": 0,
            "mode": 0,
        }
        self.entries.insert("paths", {"session": 77, "path": 0}, "send_plain", vrf=1)
        self.entries.insert("identities", {"local": HOST, "remote": FAR}, "send_in_session", **chosen)
        self.goes(2, tcp(HOST, FAR, "A", 501, 80), tcp(outside, FAR, "A", 501, 80))
        self.comes(2, tcp(FAR, outside, "A", 80, 501), tcp(FAR, HOST, "A", 80, 501))
        self.goes(1, tcp(HOST, FAR, "S", 502, 80), tcp(HOST, FAR, "S", 502, 80))
        self.comes(1, tcp(FAR, HOST, "SA", 80, 502), tcp(FAR, HOST, "SA", 80, 502))
