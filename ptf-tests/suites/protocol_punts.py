"""Messages of protocols that P4 does not know: for the controller, by what it says that they look like."""

from typing import Any

import finsy as fy
from carriers import hop_less
from protocol_punt_cases import MESSAGES, NEXT_HEADER, OTHERS, PORT, REASON, SPOKEN, TYPE
from session_site import SHIM6_SPOKEN, endpoint_policy, in_by, to_host

from harness.edge_test import EdgeTest


class ProtocolPuntTest(EdgeTest):
    """A test with a prefix that speaks the protocol."""

    def setUp(self) -> None:
        """Have it."""
        super().setUp()
        self.hold(endpoint_policy(protocols=SHIM6_SPOKEN | SPOKEN))

    def rule(self, punt_class: int = REASON, **keys: int) -> Any:
        """Return an entry for what has these numbers, and the protocol's bit."""
        masks = {"next_header": 0xFF, "udp_port": 0xFFFF, "icmpv6_type": 0xFF}
        match = fy.Match(protocols=(SPOKEN, SPOKEN), **{key: (value, masks[key]) for key, value in keys.items()})
        action = fy.Action("punt_message", **{"reason": REASON, "class": punt_class})
        return fy.P4TableEntry("protocol_punts", match=match, action=action, priority=1)


class ByNextHeaderPortAndType(ProtocolPuntTest):
    """Each alone tells a message; without its rule it goes to its host, and again when the rule is gone."""

    def runTest(self) -> None:
        rules = (self.rule(next_header=NEXT_HEADER), self.rule(udp_port=PORT), self.rule(icmpv6_type=TYPE))
        for rule, message in zip(rules, MESSAGES, strict=True):
            self.verify([(4, in_by(4, message))], [(1, to_host(hop_less(message)))])
            self.entries.add(rule)
            self.punts(4, in_by(4, message), "PUNT_PROTOCOL", 100)
            self.entries.delete(rule)
            self.verify([(4, in_by(4, message))], [(1, to_host(hop_less(message)))])


class WhatLooksOtherwise(ProtocolPuntTest):
    """TCP, another port or type, and fragments pass."""

    def runTest(self) -> None:
        self.entries.add(self.rule(next_header=NEXT_HEADER), self.rule(udp_port=PORT), self.rule(icmpv6_type=TYPE))
        for packet in OTHERS:
            self.verify([(4, in_by(4, packet))], [(1, to_host(hop_less(packet)))])


class InItsClass(ProtocolPuntTest):
    """The rule names the class, and the class has its rate at each port."""

    def runTest(self) -> None:
        punt_class = REASON + 1
        self.entries.add(self.rule(punt_class, udp_port=PORT))
        config = fy.P4MeterConfig(cir=1, cburst=2, pir=1, pburst=2)
        self.entries.modify(fy.P4MeterEntry("punt_class_meter", index=punt_class * 512 + 4, config=config))
        message = in_by(4, MESSAGES[1])
        told = [self.punt("PUNT_PROTOCOL", 4, 100, message)] * 2
        self.verify([(4, message)] * 4, punted=told, dropped={"DROP_PUNT_RATE": 2})
