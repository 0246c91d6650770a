"""Cases of ESP between HIP hosts (RFC 7402): sessions by their SPIs, locators exchanged, nothing put on."""

from collections.abc import Callable

from carriers import hop_less, ipv6
from case import Case
from esp_site import (
    ESP,
    INWARD,
    LOCATORS,
    OUR_SPI,
    OUTWARD,
    PEERS_SPI,
    PORTS,
    SEALED,
    EspSession,
    came_by,
    esp,
    sent_by,
    spi,
)
from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6PacketTooBig
from session_cases import CHAINS, FIRST_PART, FRAGMENT, LAST_PART, chained, hold
from session_site import LOCAL, LOCAL_2, REMOTE, REMOTE_2, between, from_host, in_by, out_by, to_host

from small_site import HOST, IP_OF, error_about

BODY = PEERS_SPI.to_bytes(4) + (1).to_bytes(4) + SEALED


def in_chain(source: str, destination: str, *headers: tuple[int, bytes], body: bytes = BODY) -> bytes:
    """ESP behind extension headers."""
    packet = chained(source, destination, *headers, upper=body)
    said, following = 6, 40
    for _, rest in headers:
        said, following = following, following + 1 + len(rest)
    return packet[:said] + bytes([ESP]) + packet[said + 1 :]


def esp_sessions() -> Case:
    case = Case("esp_sessions", "ESP of a host that speaks HIP: by its SPI, with the locators of the session's path.")
    hold(case, EspSession(path=1).entries())

    case.say("To the peer, whichever of its locators the host has chosen, also behind extension headers.")
    for there in (REMOTE, REMOTE_2):
        packet = esp(LOCAL, there, PEERS_SPI)
        case.passes(1, from_host(packet), 5, out_by(5, hop_less(sent_by(1, packet))))
    for name in ("hop-by-hop options", "a routing header", "destination options"):
        packet = in_chain(LOCAL, REMOTE, *CHAINS[name][0])
        case.passes(1, from_host(packet), 5, out_by(5, hop_less(sent_by(1, packet))))

    case.say("From the peer by either path: as it is, since the host knows its own locators.")
    for path, port in PORTS.items():
        packet = came_by(path, INWARD)
        case.passes(port, in_by(port, packet), 1, to_host(hop_less(packet)))

    case.say("With locators that are not proven, or are no pair.")
    for source, destination in (("2001:db8:bad::1", LOCAL), (REMOTE, LOCAL_2), (REMOTE_2, LOCAL)):
        case.drops(4, in_by(4, esp(source, destination, OUR_SPI)), "DROP_ESP_LOCATORS")

    case.say("In a rekey both SPIs are the session's.")
    hold(case, [spi(REMOTE, 0x5555), spi(LOCAL, 0x6666)])
    for number in (0x5555, PEERS_SPI):
        packet = esp(LOCAL, REMOTE, number)
        case.passes(1, from_host(packet), 5, out_by(5, hop_less(sent_by(1, packet))))
    packet = esp(REMOTE, LOCAL, 0x6666)
    case.passes(4, in_by(4, packet), 1, to_host(hop_less(packet)))
    case.drops(4, in_by(4, esp("2001:db8:bad::1", LOCAL, 0x6666)), "DROP_ESP_LOCATORS")

    case.say("What does not fit by the path is told its whole MTU: no header is put on.")
    packet = ipv6(ESP, BODY + bytes(1280 - 40 - len(BODY)), LOCAL, REMOTE)
    case.passes(1, from_host(packet), 5, out_by(5, hop_less(sent_by(1, packet))))
    big = from_host(ipv6(ESP, BODY + bytes(1281 - 40 - len(BODY)), LOCAL, REMOTE))
    case.drops(1, big, "DROP_PACKET_TOO_BIG")
    case.expect(1, error_about(big, ICMPv6PacketTooBig(mtu=1280), 1, HOST[1]))
    return case


def esp_of_none() -> Case:
    case = Case("esp_of_none", "ESP that is no session's: it passes, unless it is less than its header.")
    hold(case, EspSession(path=1).entries())

    case.say("SPIs that nobody knows, either way; the peer's SPI at another host.")
    for number in (0, 1, OUR_SPI, 0xFFFF_FFFF):
        packet = esp(LOCAL, REMOTE, number)
        case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
    packet = esp(REMOTE, LOCAL, PEERS_SPI)
    case.passes(4, in_by(4, packet), 1, to_host(hop_less(packet)))
    packet = esp(LOCAL, "2001:db8:f01::7", PEERS_SPI)
    case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))

    case.say("In fragments: later ones have no SPI, and all go the same way. A packet in one fragment is whole.")
    for part in (FIRST_PART, LAST_PART):
        packet = in_chain(LOCAL, REMOTE, (FRAGMENT, part))
        case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
    packet = in_chain(LOCAL, REMOTE, (FRAGMENT, bytes(3) + b"\0\xc0\xff\xee"))
    case.passes(1, from_host(packet), 5, out_by(5, hop_less(sent_by(1, packet))))

    case.say("Less than an SPI and a sequence number.")
    for octets in range(8):
        short = BODY[:octets]
        case.drops(1, from_host(ipv6(ESP, short, LOCAL, REMOTE)), "DROP_ESP_SHORT")
        case.drops(4, in_by(4, ipv6(ESP, short, REMOTE, LOCAL)), "DROP_ESP_SHORT")
    packet = ipv6(ESP, BODY[:8], LOCAL, REMOTE)
    case.passes(1, from_host(packet), 5, out_by(5, hop_less(sent_by(1, packet))))

    case.say("Between others, and between two hosts behind this edge.")
    for source in ("2001:db8:99::1", "2001:20::a"):
        for body in (BODY, BODY[:7], b""):
            packet = ipv6(ESP, body, source, REMOTE)
            case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
    hold(case, [spi(IP_OF[2], PEERS_SPI)])
    packet = esp(LOCAL, IP_OF[2], PEERS_SPI)
    from_here = bytes(to_host(hop_less(packet)))
    case.send(1, from_host(packet))
    case.expect(2, bytes.fromhex(HOST[2].replace(":", "")) + from_here[6:])

    case.say("What the host sends beside ESP is no session's.")
    for source, destination in ((LOCAL, REMOTE), LOCATORS[1]):
        packet = ipv6(17, bytes(UDP(len=8)), source, destination)
        out = 4 if destination == REMOTE else 5
        case.passes(1, from_host(packet), out, out_by(out, hop_less(packet)))
    return case


def esp_endpoint_policy() -> Case:
    case = Case("esp_endpoint_policy", "ESP of hosts that the edge speaks for, or looks at.")
    hold(case, EspSession(path=1, action="proxy").entries())
    case.say("Of those that it speaks for, it is payload as any: their session is not HIP's.")
    case.passes(1, from_host(OUTWARD), 4, out_by(4, hop_less(OUTWARD)))
    case.passes(4, in_by(4, INWARD), 1, to_host(hop_less(INWARD)))
    short = ipv6(ESP, BODY[:3], LOCAL, REMOTE)
    case.passes(1, from_host(short), 4, out_by(4, hop_less(short)))
    return case


def esp_verify() -> Case:
    case = Case("esp_verify", "ESP of hosts whose messages are looked at: as of those that only pass.")
    hold(case, EspSession(action="verify").entries())
    case.passes(1, from_host(OUTWARD), 4, out_by(4, hop_less(OUTWARD)))
    packet = esp(LOCAL, REMOTE_2, PEERS_SPI)
    case.passes(1, from_host(packet), 4, out_by(4, hop_less(between(packet, LOCAL, REMOTE))))
    case.passes(4, in_by(4, INWARD), 1, to_host(hop_less(INWARD)))
    case.drops(4, in_by(4, esp("2001:db8:bad::1", LOCAL, OUR_SPI)), "DROP_ESP_LOCATORS")
    return case


ALL: tuple[Callable[[], Case], ...] = (esp_sessions, esp_of_none, esp_endpoint_policy, esp_verify)
