"""Cases of identifier-locator addressing: the locator changes, transport checksums stay right."""

from collections.abc import Callable

from carriers import hop_less, ipv6_of, octets, ones_sum, out_by_first
from case import Case, number
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Raw
from segment_cases import arrives, leaves_to

from small_site import FAR, HOST, IP_OF, to_router, udp

LOCATOR = 0x2001_0DB8_0F77_0000


def locators() -> Case:
    case = Case("locators", "Locators translated: plainly, and so that no checksum notices.")
    here = int.from_bytes(octets(IP_OF[1])[:8])
    for prefix, locator, neutral in (
        ("0x20010db80f010000", LOCATOR, 0),
        ("0x20010db80f020000", LOCATOR, 1),
        (f"0x{LOCATOR:016x}", here, 1),
    ):
        case.add(
            "encapsulations",
            f"ila_translate(locator:{locator},neutral:{neutral})",
            destination=prefix + "0" * 16 + "/64",
        )

    def with_destination(packet: bytes, destination: bytes) -> bytes:
        return packet[:24] + destination + packet[40:]

    case.say("Plainly.")
    packet = to_router(udp(to="2001:db8:f01::1:2:3"))
    translated = LOCATOR.to_bytes(8) + octets("::1:2:3")[8:]
    case.passes(1, packet, 4, out_by_first(with_destination(hop_less(ipv6_of(packet)), translated)))

    case.say("Neutrally: the bit is set, the last sixteen bits make up for it.")
    for identifier in ("0:0:0:1", "1:2:ffff:fffe", "7fff:1:1:8000", "1:2:3:0"):
        packet = to_router(udp(to=f"2001:db8:f02:0:{identifier}"))
        old = ipv6_of(packet)[24:40]
        flipped = bytearray(LOCATOR.to_bytes(8) + old[8:])
        flipped[8] ^= 0x10
        difference = (ones_sum(old[:14]) - ones_sum(bytes(flipped[:14]))) % 0xFFFF
        last = (int.from_bytes(old[14:]) + difference) % 0xFFFF
        flipped[14:] = last.to_bytes(2)
        assert ones_sum(bytes(flipped)) % 0xFFFF == ones_sum(old) % 0xFFFF
        case.passes(1, packet, 4, out_by_first(with_destination(hop_less(ipv6_of(packet)), bytes(flipped))))

    case.say("And back: the bit is gone, and the address is the host's again, also one that ends in 0.")
    ends_in_0 = f"{IP_OF[1].rsplit('::', 1)[0]}::5:0"
    case.add("neighbours", f"set_neighbour(port:1,mac:{number(HOST[1])})", vlan=1, address=number(ends_in_0))
    for address in (IP_OF[1], ends_in_0):
        sent = octets(address)
        flipped = bytearray(LOCATOR.to_bytes(8) + sent[8:])
        flipped[8] ^= 0x10
        difference = (ones_sum(sent[:14]) - ones_sum(bytes(flipped[:14]))) % 0xFFFF
        flipped[14:] = ((int.from_bytes(sent[14:]) + difference) % 0xFFFF).to_bytes(2)
        original = bytes(IPv6(src=FAR, dst=address) / UDP(sport=1, dport=2) / Raw(b"neutral"))
        case.passes(4, arrives(with_destination(original, bytes(flipped))), 1, leaves_to(1, hop_less(original)))
    return case


ALL: tuple[Callable[[], Case], ...] = (locators,)
