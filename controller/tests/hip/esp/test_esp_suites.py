"""Each suite against scapy's ESP, which was written by others: what one seals the other opens."""

import random
from dataclasses import dataclass
from typing import Any

import pytest
from hip.esp.associations import LOCATOR_A, LOCATOR_B, SPI, keys_of, pair_of
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.ipsec import ESP, SecurityAssociation
from scapy.packet import Raw

from wayname.hip.esp.associations import Content, Incoming, Outgoing
from wayname.hip.esp.errors import Rejected, RejectReason
from wayname.hip.esp.suites import SUITES, Suite, SuiteId
from wayname.hip.esp.window import WORD


@dataclass(frozen=True)
class Named:
    """A suite as scapy calls it; it always makes the longest tag, of which a shorter one is the beginning."""

    cipher: str
    integrity: str | None = None
    tag: int | None = None
    left_out: int = 0


NAMES = {
    SuiteId.AES_128_CBC_HMAC_SHA1: Named("AES-CBC", "HMAC-SHA1-96"),
    SuiteId.NULL_HMAC_SHA_256: Named("NULL", "SHA2-256-128"),
    SuiteId.AES_128_CBC_HMAC_SHA_256: Named("AES-CBC", "SHA2-256-128"),
    SuiteId.AES_256_CBC_HMAC_SHA_256: Named("AES-CBC", "SHA2-256-128"),
    SuiteId.AES_CCM_8: Named("AES-CCM", tag=8),
    SuiteId.AES_CCM_16: Named("AES-CCM", tag=16),
    SuiteId.AES_GCM_8: Named("AES-GCM", left_out=8),
    SuiteId.AES_GCM_16: Named("AES-GCM"),
    SuiteId.AES_CMAC_96: Named("NULL", "AES-CMAC-96"),
    SuiteId.AES_GMAC: Named("AES-NULL-GMAC"),
}
# Scapy opens no tag that is cut short.
OPENED = pytest.mark.parametrize(
    "suite", [suite for suite in SUITES.values() if not NAMES[suite.id].left_out], ids=lambda suite: suite.id.name
)
ALL = pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.id.name)


def referee(suite: Suite, number: int = 1) -> Any:
    """Scapy's end of the association that `pair_of` makes."""
    keys, name = keys_of(suite), NAMES[suite.id]
    return SecurityAssociation(  # type: ignore[no-untyped-call]
        ESP,
        spi=SPI,
        seq_num=number % WORD,
        crypt_algo=name.cipher,
        crypt_key=keys.encryption or None,
        crypt_icv_size=name.tag,
        auth_algo=name.integrity,
        auth_key=keys.integrity or None,
        esn_en=True,
        esn=number // WORD,
    )


def datagram(octets: int) -> Any:
    """A packet with so many octets of payload, of which eight are UDP's."""
    return IPv6(src=str(LOCATOR_A), dst=str(LOCATOR_B)) / UDP(sport=1, dport=2) / Raw(bytes(octets - 8))


@ALL
@pytest.mark.parametrize("octets", [8, 9, 14, 15, 16, 100, 1400])
def test_opens_what_scapy_seals(suite: Suite, octets: int) -> None:
    _, incoming = pair_of(suite)
    packet = datagram(octets)
    sealed = bytes(referee(suite).encrypt(packet))[40:]
    sealed = sealed[: len(sealed) - NAMES[suite.id].left_out]
    if (len(sealed) - 8 - suite.iv - suite.icv) % 4 == 0:
        assert incoming.open(sealed) == Content(17, bytes(packet)[40:])
    else:
        # Scapy pads for a cipher of single octets to single octets, which RFC 4303 (section 2.4) does not allow.
        with pytest.raises(Rejected, match="short"):
            incoming.open(sealed)


@OPENED
@pytest.mark.parametrize("octets", [8, 9, 14, 15, 16, 100, 1400])
def test_scapy_opens_what_is_sealed(suite: Suite, octets: int) -> None:
    outgoing, _ = pair_of(suite)
    packet = datagram(octets)
    sealed = outgoing.seal(Content(17, bytes(packet)[40:]))
    assert len(sealed) <= octets + suite.most_added
    wire = IPv6(src=str(LOCATOR_A), dst=str(LOCATOR_B), nh=50) / Raw(sealed)
    assert bytes(referee(suite).decrypt(IPv6(bytes(wire))))[40:] == bytes(packet)[40:]


@ALL
def test_the_upper_half_of_the_number_is_checked(suite: Suite) -> None:
    number = 5 * WORD + 7
    outgoing, incoming = pair_of(suite)
    outgoing.sent = number - 1
    sealed = outgoing.seal(Content(59, b""))
    with pytest.raises(Rejected, match="forged"):
        incoming.open(sealed)
    if not NAMES[suite.id].left_out:
        wire = IPv6(bytes(IPv6(src=str(LOCATOR_A), dst=str(LOCATOR_B), nh=50) / Raw(sealed)))
        assert referee(suite, number).decrypt(wire).nh == 59


@ALL
def test_one_changed_bit_anywhere_is_found(suite: Suite) -> None:
    outgoing, incoming = pair_of(suite)
    sealed = outgoing.seal(Content(17, bytes(20)))
    for bit in range(32, 8 * len(sealed)):
        tampered = bytearray(sealed)
        tampered[bit // 8] ^= 1 << bit % 8
        with pytest.raises(Rejected, match=r"forged|replayed"):
            incoming.open(bytes(tampered))
    assert incoming.open(sealed) == Content(17, bytes(20))


@ALL
def test_less_than_a_packet_is_none(suite: Suite) -> None:
    outgoing, incoming = pair_of(suite)
    sealed = outgoing.seal(Content(17, bytes(20)))
    for length in range(len(sealed)):
        with pytest.raises(Rejected, match=r"short|forged"):
            incoming.open(sealed[:length])


@ALL
def test_the_keys_of_the_other_direction_open_nothing(suite: Suite) -> None:
    outgoing, _ = pair_of(suite)
    incoming = Incoming(SPI, suite, keys_of(suite, seed=9), random.Random(0).randbytes)
    with pytest.raises(Rejected) as rejected:
        incoming.open(outgoing.seal(Content(17, bytes(20))))
    assert rejected.value.why is RejectReason.FORGED


def test_keys_of_wrong_sizes_are_refused() -> None:
    suite = SUITES[SuiteId.AES_256_CBC_HMAC_SHA_256]
    keys = keys_of(SUITES[SuiteId.AES_128_CBC_HMAC_SHA_256])
    with pytest.raises(ValueError, match="AES_256_CBC_HMAC_SHA_256: its keys have 32 and 32 octets, not 16 and 32"):
        Outgoing(SPI, suite, keys, random.Random(0).randbytes)


def test_what_hides_nothing_says_so() -> None:
    assert {suite.id for suite in SUITES.values() if not suite.hides} == {7, 14, 15}
