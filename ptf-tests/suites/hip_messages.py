"""HIP's own messages: the controller's, to be looked at, or copied to it (RFC 7401)."""

from carriers import hop_less
from hip_cases import message
from session_site import LOCAL_1, REMOTE, REMOTE_1, endpoint_policy, from_host, in_by, out_by

from harness.edge_test import EdgeTest

CHECKED, LET_BE = "2001:db8:c::1", "2001:db8:d::1"
# I1, R1, I2, R2, UPDATE, NOTIFY, CLOSE, CLOSE_ACK, and one that nobody knows.
KINDS = (1, 2, 3, 4, 16, 17, 18, 19, 127)


class HipTest(EdgeTest):
    """A test with prefixes of each mode."""

    def setUp(self) -> None:
        """Have them."""
        super().setUp()
        for action, prefix in (("verify", "2001:db8:c::/48"), ("transparent", "2001:db8:d::/48")):
            self.hold(endpoint_policy(action, prefix))
        self.hold(endpoint_policy())


class ForAHostOfTheEdge(HipTest):
    """The controller answers in its place."""

    def runTest(self) -> None:
        for kind in KINDS:
            self.punts(4, in_by(4, message(REMOTE_1, LOCAL_1, kind)), "PUNT_HIP", 100)


class ToBeLookedAt(HipTest):
    """They wait for the controller, either way; what it submits goes on."""

    def runTest(self) -> None:
        for source, destination in ((CHECKED, REMOTE), (REMOTE, CHECKED), (CHECKED, LET_BE)):
            self.punts(1, from_host(message(source, destination, 3)), "PUNT_HIP_VERIFY")
        packet = message(CHECKED, REMOTE, 3)
        self.verify([self.out("SUBMIT", from_host(packet), port=1)], [(4, out_by(4, hop_less(packet)))])


class LetBe(HipTest):
    """They pass, and the controller gets a copy; of what it submits itself it gets none."""

    def runTest(self) -> None:
        packet = message(LET_BE, REMOTE, 3)
        leaves = [(4, out_by(4, hop_less(packet)))]
        self.verify([(1, from_host(packet))], leaves, [self.punt("PUNT_HIP_SEEN", 1, 1, from_host(packet))])
        self.verify([self.out("SUBMIT", from_host(packet), port=1)], leaves)
