"""One ILNP session on the edge of small_site.py, between a host that knows nothing of it and a far one that does.

path 0      LOCAL -> REMOTE, long nonce         the first provider
path 1      LOCAL_1 -> REMOTE_1, short nonce    the first provider
path 2      LOCAL_2 -> REMOTE_2, no nonce       the second provider

Identifiers are the same in all locators. `legacy` is how a host counts that sees whole addresses.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from carriers import ipv6, octets, ones_sum
from session_site import LOCAL, LOCATORS, REMOTE, endpoint_policy

from small_site import Entry
from wayname.p4_constants import SessionMode

SESSION = 11
SHIM6_SPOKEN, ILNP_SPOKEN, NAIVE, HOSTS_SPEAK, OPENS = 1, 2, 4, 8, 16
TCP, UDP, ICMPV6, DESTINATION, UDP_LITE, DCCP = 6, 17, 58, 60, 136, 33
LONG, SHORT = bytes.fromhex("0123456789abcdef02468ace"), bytes.fromhex("cafe0042")
PEERS_LONG, PEERS_SHORT = bytes.fromhex("fedcba987654321013579bdf"), bytes.fromhex("00c0ffee")
NONCES = {0: LONG, 1: SHORT, 2: b""}
# Where each protocol has its checksum.
CHECKSUM_AT = {TCP: 16, UDP: 6, UDP_LITE: 6, DCCP: 6, ICMPV6: 2}


def _locators(*addresses: str) -> bytes:
    return b"".join(octets(address)[:8] for address in addresses)


def identifiers_only(*addresses: str) -> int:
    """What counting identifiers only makes of a checksum over these whole addresses."""
    return -ones_sum(_locators(*addresses)) % 0xFFFF


def whole(*addresses: str) -> int:
    """What counting these addresses whole makes of a checksum over identifiers."""
    return ones_sum(_locators(*addresses)) % 0xFFFF


def upper(number: int, data: bytes, source: str, destination: str, ilnp: bool) -> bytes:
    """A transport's data, with the checksum of this kind of host; the field holds zero before."""
    if ilnp and number != ICMPV6:
        covered = bytes(8) + octets(source)[8:] + bytes(8) + octets(destination)[8:]
    else:
        covered = octets(source) + octets(destination)
    covered += struct.pack("!II", len(data), number) + data + bytes(len(data) % 2)
    checksum = 0xFFFF - ones_sum(covered) % 0xFFFF
    at = CHECKSUM_AT[number]
    return data[:at] + checksum.to_bytes(2) + data[at + 2 :]


def packet(number: int, data: bytes, source: str = LOCAL, destination: str = REMOTE, ilnp: bool = False) -> bytes:
    return ipv6(number, upper(number, data, source, destination, ilnp), source, destination)


def nonce_header(nonce: bytes, next_header: int, before: bytes = b"", behind: bytes = b"") -> bytes:
    options = before + bytes([0x8B, len(nonce)]) + nonce + behind
    return bytes([next_header, (len(options) + 2) // 8 - 1]) + options


def with_nonce(octets_: bytes, nonce: bytes, at: int = 40, said: int = 6) -> bytes:
    """The packet with a nonce in front of the octet `at`; the octet that says what follows there is `said`."""
    if not nonce:
        return octets_
    header = nonce_header(nonce, octets_[said])
    octets_ = octets_[:said] + bytes([DESTINATION]) + octets_[said + 1 :]
    return octets_[:4] + (len(octets_) - 40 + len(header)).to_bytes(2) + octets_[6:at] + header + octets_[at:]


def sent_by(path: int, number: int, data: bytes) -> bytes:
    """What a host here sends, as it goes by a path."""
    return with_nonce(packet(number, data, *LOCATORS[path], ilnp=True), NONCES[path])


def came_by(path: int, number: int, data: bytes, nonce: bytes) -> bytes:
    """What the peer sends, as it comes by a path."""
    here, there = LOCATORS[path]
    return with_nonce(packet(number, data, there, here, ilnp=True), nonce)


def identities(mode: int = SessionMode.ILNP, path: int = 0) -> Entry:
    chosen = {"session": SESSION, "path": path, "generation": 1, "ecmp_paths": 0}
    return Entry(
        "identities",
        {"local": LOCAL, "remote": REMOTE},
        "send_in_session",
        {**chosen, "send_timeout": 0, "keepalive": 0, "mode": mode},
    )


def path_entries(legacy: bool = True) -> Iterator[Entry]:
    for path, (source, destination) in LOCATORS.items():
        bears: dict[str, int | str] = {"source": source, "destination": destination, "vrf": 0}
        bears |= {"nonce": int.from_bytes(NONCES[path]), "nonce_length": len(NONCES[path])}
        bears["difference"] = identifiers_only(LOCAL, REMOTE) if legacy else 0
        yield Entry("paths", {"session": SESSION, "path": path}, "send_ilnp", bears)


def nonce_entry(nonce: bytes, legacy: bool = True) -> Entry:
    difference = whole(LOCAL, REMOTE) if legacy else 0
    return Entry(
        "ilnp_nonces",
        {"local": identifier(LOCAL), "remote": identifier(REMOTE), "nonce": int.from_bytes(nonce)},
        "admit_ilnp",
        {"session": SESSION, "local": LOCAL, "remote": REMOTE, "difference": difference},
    )


def takes_nonces(size: int) -> Entry:
    """The peer is known to speak ILNP."""
    return Entry(
        "endpoint_policy_destinations", {"destination": f"{REMOTE}/128"}, "takes_nonces", {"nonce_length": size}
    )


def identifier(address: str) -> int:
    return int.from_bytes(octets(address)[8:])


def entries(
    path: int = 0, mode: int = SessionMode.ILNP, legacy: bool = True, protocols: int = ILNP_SPOKEN, bare: bool = True
) -> Iterator[Entry]:
    """The session; `bare`: it is also known without a nonce."""
    yield from endpoint_policy(protocols=protocols)
    yield identities(mode, path)
    yield from path_entries(legacy)
    for nonce in (PEERS_LONG, PEERS_SHORT, *((b"",) if bare else ())):
        yield nonce_entry(nonce, legacy)
    for number, (here, there) in LOCATORS.items():
        came: dict[str, int | str] = {"session": SESSION, "source": there, "destination": here}
        yield Entry("locator_pairs", came, "on_path", {"path": number})


# Transports' headers and data, their checksums zero.

DATAGRAM = struct.pack("!HHHH", 1000, 2000, 15, 0) + b"wayname"
SEGMENT = struct.pack("!HHIIHHHH", 1000, 2000, 7, 9, 5 << 12 | 0x18, 1024, 0, 0) + b"wayname"
ECHO = struct.pack("!BBHHH", 128, 0, 0, 1, 2) + b"wayname"
LITE = struct.pack("!HHHH", 1000, 2000, 0, 0) + b"wayname"
KINDS: dict[str, tuple[int, bytes]] = {
    "UDP": (UDP, DATAGRAM),
    "TCP": (TCP, SEGMENT),
    "ICMPv6": (ICMPV6, ECHO),
    "UDP-Lite": (UDP_LITE, LITE),
    "DCCP": (DCCP, LITE),
}
