"""A DHCPv6 client that knows nothing of the controller's codec: scapy's layers make and read its messages."""

from __future__ import annotations

from ipaddress import IPv6Address

from scapy.layers.dhcp6 import (
    DUID_LL,
    DHCP6_Advertise,
    DHCP6_Confirm,
    DHCP6_Decline,
    DHCP6_InfoRequest,
    DHCP6_Rebind,
    DHCP6_Release,
    DHCP6_Renew,
    DHCP6_Reply,
    DHCP6_Request,
    DHCP6_Solicit,
    DHCP6OptClientId,
    DHCP6OptElapsedTime,
    DHCP6OptIA_NA,
    DHCP6OptIAAddress,
    DHCP6OptOptReq,
    DHCP6OptRapidCommit,
    DHCP6OptServerId,
    DHCP6OptStatusCode,
)
from scapy.packet import Packet

SENT = {
    "solicit": DHCP6_Solicit,
    "request": DHCP6_Request,
    "confirm": DHCP6_Confirm,
    "renew": DHCP6_Renew,
    "rebind": DHCP6_Rebind,
    "release": DHCP6_Release,
    "decline": DHCP6_Decline,
    "information": DHCP6_InfoRequest,
}


class Answer:
    """What a server said, as scapy reads it."""

    def __init__(self, octets: bytes) -> None:
        self.layer = {2: DHCP6_Advertise, 7: DHCP6_Reply}[octets[0]](octets)
        self.kind = octets[0]
        self.transaction: int = self.layer.trid
        options: dict[type[Packet], Packet] = {}
        # Layer by layer: scapy would look for an option within others too.
        at = self.layer.payload
        while at:
            options[type(at)] = at
            at = at.payload
        self.server: Packet = options[DHCP6OptServerId].duid
        self.rapid = DHCP6OptRapidCommit in options
        self.status = options[DHCP6OptStatusCode].statuscode if DHCP6OptStatusCode in options else None
        association = options.get(DHCP6OptIA_NA)
        self.iaid: int = association.iaid if association else 0
        self.times: tuple[int, int] = (association.T1, association.T2) if association else (0, 0)
        inner: list[Packet] = association.ianaopts if association else []
        self.leases = {
            IPv6Address(each.addr): (each.preflft, each.validlft)
            for each in inner
            if isinstance(each, DHCP6OptIAAddress)
        }
        self.statuses = [each.statuscode for each in inner if isinstance(each, DHCP6OptStatusCode)]


class Client:
    """Makes messages; what a server says is given back to it with `take`."""

    def __init__(self, mac: str, iaid: int = 1) -> None:
        self.duid = DUID_LL(lladdr=mac)
        self.iaid = iaid
        self.server: Packet | None = None
        self.leases: dict[IPv6Address, tuple[int, int]] = {}
        self.transaction = 0x100

    def message(self, kind: str, *, rapid: bool = False, addresses: list[IPv6Address] | None = None) -> bytes:
        """Return a message; it names the addresses that the client has, and the server where that is due."""
        self.transaction += 1
        packet: Packet = SENT[kind](trid=self.transaction) / DHCP6OptClientId(duid=self.duid)
        if kind in ("request", "renew", "release", "decline"):
            packet /= DHCP6OptServerId(duid=self.server)
        packet /= DHCP6OptElapsedTime() / DHCP6OptOptReq(reqopts=[23, 82])
        if rapid:
            packet /= DHCP6OptRapidCommit()
        if kind != "information":
            named = self.leases if addresses is None else addresses
            inner = [DHCP6OptIAAddress(addr=str(each), preflft=0, validlft=0) for each in named]
            packet /= DHCP6OptIA_NA(iaid=self.iaid, T1=0, T2=0, ianaopts=inner)
        return bytes(packet)

    def take(self, octets: bytes) -> Answer:
        """Read what a server answered to the last message, and keep what it gave."""
        answer = Answer(octets)
        assert answer.transaction == self.transaction
        self.server = answer.server
        if answer.kind == 7 and answer.iaid:
            self.leases = {address: times for address, times in answer.leases.items() if times[1]}
        return answer
