"""Several controllers: one is primary, and only it writes."""

from finsy.proto import U128, p4r
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6

from harness.edge_test import EdgeTest
from harness.entries import Entries
from harness.grpc_target import Controller
from harness.target import RefusedError
from small_site import ADDRESS, IP_OF, to_router

PRIMARY, BACKUP, NO_PRIMARY = 0, 6, 5


class ArbitrationTest(EdgeTest):
    """A test with controllers beside ours."""

    def setUp(self) -> None:
        """Skip where there are no streams."""
        super().setUp()
        self.grpc = self.needs_grpc()
        self.ours = self.grpc.controller
        self.election_id = self.ours.election_id
        self.addCleanup(self.regain)

    def regain(self) -> None:
        """Be primary again, whatever the test did."""
        highest = self.ours.election_id + 10
        self.ours.bid(highest)
        self.hears(self.ours, PRIMARY, highest)

    def another(self, election_id: int, role: str = "") -> Controller:
        """One more controller."""
        controller = Controller(self.grpc.address, self.grpc.device_id, election_id, role, self.grpc.patience)
        self.addCleanup(controller.close)
        return controller

    def hears(self, controller: Controller, code: int, election_id: int) -> None:
        """A controller hears, at last, what it is and the highest election id."""
        heard = []
        while (message := controller.next("arbitration")) is not None:
            update = message.arbitration
            heard.append((update.status.code, U128.decode(update.election_id)))
            if heard[-1] == (code, election_id):
                return
        self.fail(f"wanted {(code, election_id)}, heard {heard}")

    def writes(self, controller: Controller) -> str:
        """The canonical code of a controller's insert, which is undone."""
        keys = {"vlan": 9, "destination": "02:00:00:00:00:09"}
        entity = Entries.entry("fdb", keys, "send_to_port", port=1).encode(self.target.schema)
        try:
            (status,) = controller.write([p4r.Update(type=p4r.Update.INSERT, entity=entity)])
        except RefusedError as error:
            return error.status.name
        controller.write([p4r.Update(type=p4r.Update.DELETE, entity=entity)])
        return status.name


class Backup(ArbitrationTest):
    """A lower election id is a backup: it is told who is higher, reads, and does not write."""

    def runTest(self) -> None:
        backup = self.another(self.election_id - 1)
        self.hears(backup, BACKUP, self.election_id)
        self.assertEqual(self.writes(backup), "PERMISSION_DENIED")
        self.assertEqual(self.writes(self.ours), "OK")
        routes = Entries.entry("routes", {"destination": "2001:db8::/32"}, "route_nexthop", nexthop=1)
        self.assertEqual(len(backup.read([routes.encode(self.target.schema)])), 1)


class Takeover(ArbitrationTest):
    """A higher election id is primary at once. When it leaves there is none, until somebody bids as high."""

    def runTest(self) -> None:
        higher = self.election_id + 1
        second = self.another(higher)
        self.hears(second, PRIMARY, higher)
        self.hears(self.ours, BACKUP, higher)
        self.assertEqual(self.writes(second), "OK")
        self.assertEqual(self.writes(self.ours), "PERMISSION_DENIED")
        second.close()
        self.hears(self.ours, NO_PRIMARY, higher)
        self.assertEqual(self.writes(self.ours), "PERMISSION_DENIED")
        self.ours.bid(higher)
        self.hears(self.ours, PRIMARY, higher)
        self.assertEqual(self.writes(self.ours), "OK")


class SameElectionId(ArbitrationTest):
    """No two controllers have one election id."""

    def runTest(self) -> None:
        ended = self.another(self.election_id).end()
        self.assertEqual(ended and ended.name, "INVALID_ARGUMENT")
        self.assertEqual(self.writes(self.ours), "OK")


class AnotherDevice(ArbitrationTest):
    """There is no other device."""

    def runTest(self) -> None:
        controller = Controller(self.grpc.address, self.grpc.device_id + 1, 1, patience=self.grpc.patience)
        self.addCleanup(controller.close)
        ended = controller.end()
        self.assertEqual(ended and ended.name, "NOT_FOUND")


class PacketsGoToThePrimary(ArbitrationTest):
    """A backup hears of no packets."""

    def runTest(self) -> None:
        backup = self.another(self.election_id - 1)
        self.hears(backup, BACKUP, self.election_id)
        self.punts(1, to_router(IPv6(src=IP_OF[1], dst=ADDRESS[1]) / ICMPv6EchoRequest()), "PUNT_LOCAL")
        # What was sent to it before comes before this.
        backup.bid(self.election_id - 2)
        self.hears(backup, BACKUP, self.election_id)
        self.assertEqual(backup.waiting("packet"), 0)


class Roles(ArbitrationTest):
    """Each role has a primary of its own."""

    def runTest(self) -> None:
        other = self.another(1, role="lab")
        self.hears(other, PRIMARY, 1)
        self.assertEqual(self.writes(other), "OK")
        self.assertEqual(self.writes(self.ours), "OK")
