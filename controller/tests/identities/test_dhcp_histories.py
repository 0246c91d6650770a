"""Whatever clients do in whatever order, restarts between: addresses are proved, nobody shares or loses one."""

from __future__ import annotations

from ipaddress import IPv6Address

from dhcp_client import Answer, Client
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from identities.site import NEW, A, B, site
from identities.test_mappings import Desk

from wayname.edge.boundary import PacketIn, PacketOut
from wayname.p4_constants import Punt
from wayname.wire.dhcpv6 import ALL_SERVERS, CLIENT_PORT, SERVER_PORT
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac, group_mac
from wayname.wire.udp import Datagram

CLIENTS = 4
VALID = 900
clients = st.integers(0, CLIENTS - 1)


class Histories(RuleBasedStateMachine):
    """A server of which some clients ask anything."""

    def __init__(self) -> None:
        super().__init__()
        self.seed = 1
        self.desk = Desk(site('addresses = "all"\nmost = 3'))
        self.clients = [Client(f"02:00:00:00:00:{number:02x}") for number in range(CLIENTS)]
        self.ends = [0.0] * CLIENTS

    def say(self, number: int, kind: str, rapid: bool = False, named: list[IPv6Address] | None = None) -> Answer | None:
        """Send a message of a client; note what it has afterwards."""
        client = self.clients[number]
        mac = Mac(0x020000000000 + number)
        octets = client.message(kind, rapid=rapid, addresses=named)
        packet = Datagram(CLIENT_PORT, SERVER_PORT, octets).packet(mac.link_local(), ALL_SERVERS, 1)
        frame = Frame(group_mac(ALL_SERVERS), mac, TYPE_IPV6, packet.encode())
        arrival = self.desk.links.read(PacketIn(frame.encode(), Punt.DHCPV6, 1, 10))
        self.desk.outputs.connected = True
        self.desk.manager.datagram(arrival, self.desk.now)
        answers = [
            Datagram.decode(Packet.decode(Frame.decode(output.payload).payload)).data
            for output in self.desk.settle()
            if isinstance(output, PacketOut)
        ]
        if not answers:
            return None
        (octets,) = answers
        answer = client.take(octets)
        if answer.kind == 7 and client.leases:
            self.ends[number] = self.desk.now + VALID
        return answer

    @rule(number=clients, rapid=st.booleans())
    def solicit(self, number: int, rapid: bool) -> None:
        answer = self.say(number, "solicit", rapid=rapid)
        assert answer is not None
        assert bool(answer.leases) != bool(answer.statuses)

    @rule(number=clients)
    def request(self, number: int) -> None:
        if self.clients[number].server is not None:
            assert self.say(number, "request", named=[]) is not None

    @rule(number=clients, kind=st.sampled_from(["renew", "rebind"]), stranger=st.booleans())
    def extend(self, number: int, kind: str, stranger: bool) -> None:
        client = self.clients[number]
        had = list(client.leases)
        if client.server is None or not had:
            return
        answer = self.say(number, kind, named=had + [NEW[9]] * stranger)
        assert answer is not None
        assert list(client.leases) == had
        assert (NEW[9] in answer.leases) == stranger

    @rule(number=clients, kind=st.sampled_from(["release", "decline"]))
    def end(self, number: int, kind: str) -> None:
        client = self.clients[number]
        had = list(client.leases)
        if client.server is None or not had:
            return
        answer = self.say(number, kind, named=had[:1])
        assert answer is not None
        assert answer.status == 0
        client.leases, self.ends[number] = {}, 0.0

    @rule(seconds=st.sampled_from([1, 300, 899, 901]))
    def wait(self, seconds: int) -> None:
        self.desk.now += seconds
        self.desk.manager.handle_timer(self.desk.now, 0.0)
        self.forget_what_ended()

    @rule()
    def restart(self) -> None:
        self.seed += 1
        now = self.desk.now
        self.desk = Desk(site('addresses = "all"\nmost = 3'), self.desk.remembered, self.seed)
        # Leases begin anew; the clock of another process has nothing to do with this one's.
        self.ends = [end and end - now + self.desk.now for end in self.ends]

    def forget_what_ended(self) -> None:
        for number, client in enumerate(self.clients):
            if self.ends[number] <= self.desk.now:
                client.leases = {}

    @invariant()
    def addresses_are_proved_and_nobody_shares_one(self) -> None:
        held = [address for client in self.clients for address in client.leases]
        assert len(held) == len(set(held))
        for address in held:
            host = self.desk.served[address]
            assert set(host.locators) == {
                each for client in self.clients if address in client.leases for each in client.leases
            }
        for client in self.clients:
            assert [sum(address in prefix for address in client.leases) for prefix in (A, B)] in ([0, 0], [1, 1])

    @invariant()
    def what_is_written_down_is_bounded(self) -> None:
        assert len(self.desk.remembered) <= 3 + 4


Histories.TestCase.settings = settings(max_examples=8, stateful_step_count=20, deadline=None, derandomize=True)
TestHistories = Histories.TestCase
