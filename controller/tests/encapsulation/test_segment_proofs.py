"""HMACs of segment lists through the real switch: who proves the list goes on, and in tables from then on."""

from __future__ import annotations

import hashlib
import hmac
import random
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from encapsulating_site import CARRIED, SITE
from rig import Host, Rig

from wayname.config.encapsulation.changes import Changes
from wayname.config.encapsulation.model import HmacForm
from wayname.config.tables import ConfigError
from wayname.edge.boundary import SetEncapsulation
from wayname.edge.encapsulation import segment_proofs
from wayname.edge.encapsulation.proofs import hmac_of
from wayname.p4_constants import Punt
from wayname.wire import ipv6
from wayname.wire.segments import ProvenSegments

SEGMENT = "2001:db8:100:b::1"
CHECKED = """
[[hmac_key]]
id = 8
key = "secret"
[[segment]]
sid = "2001:db8:100:b::1"
behaviour = "end"
hmac = "require"
"""


class Site:
    """An edge with a segment that asks for HMACs; a host, and a provider whose packets come to the segment."""

    def __init__(self, checked: str = CHECKED) -> None:
        self.rig = Rig(SITE + CARRIED + checked)
        self.host = Host(self.rig, 1, 10, "02:00:00:00:00:11", "2001:db8:1::11")
        self.provider = Host(self.rig, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")
        self.host.ping("2001:db8:1::1")
        self.provider.ping("2001:db8:100::2")

    def goes_on(self, packet: ipv6.Packet) -> bool:
        """Whether a packet of the provider's comes to the host."""
        return any(each.payload[4:] == packet.payload[4:] for each in self.host.heard(self.provider.send(packet)))

    def verified(self) -> int:
        """How many lists are on the switch."""
        return len(self.rig.entries("verified_segments"))

    def refused(self) -> int:
        """How many packets the controller did not let go on."""
        return self.rig.edge.undecodable[Punt.SEGMENT_HMAC]


def proven(
    *between: str, secret: bytes = b"secret", key: int = 8, source: str = "2001:db8:9::9", said: str | None = None
) -> ipv6.Packet:
    """Return a packet by the segment, and perhaps others, to the host; its HMAC may be over another source's."""
    path = (SEGMENT, "2001:db8:1::11", *between)
    segments = b"".join(IPv6Address(each).packed for each in reversed(path))
    head = bytes([len(path) - 1, 0])
    tail = bytes(2) + key.to_bytes(4)
    covered = IPv6Address(said or source).packed + head + tail + segments
    tlv = bytes([5, 38]) + tail + hmac.new(secret, covered, hashlib.sha256).digest()
    header = bytes([17, 2 * len(path) + 5, 4, len(path) - 1]) + head + bytes(2) + segments + tlv
    return ipv6.Packet(IPv6Address(source), IPv6Address(SEGMENT), ipv6.ROUTING, header + bytes(8))


def test_who_proves_the_list_goes_on_and_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site()
    assert site.goes_on(proven())
    assert site.verified() == 1
    monkeypatch.delattr(segment_proofs.SegmentProofs, "packet")
    assert all(site.goes_on(proven()) for _ in range(10))


@pytest.mark.parametrize(
    "packet",
    [
        proven(secret=b"another"),
        proven(key=9),
        proven(said="2001:db8:9::a"),
        replace(proven(), payload=proven().payload[:6] + b"\0\1" + proven().payload[8:-9] + b"\1" + bytes(8)),
        replace(proven(), payload=proven().payload[:5] + b"\1" + proven().payload[6:]),
    ],
    ids=["secret", "key", "source", "octet", "flags"],
)
def test_who_does_not_is_dropped_and_counted(packet: ipv6.Packet) -> None:
    site = Site()
    assert not any(site.goes_on(packet) for _ in range(3))
    assert (site.verified(), site.refused()) == (0, 3)
    [event] = [each for each in site.rig.events if each.kind == "segments.refused"]
    assert "secret" not in event.text
    # The right one is not mistaken for it afterwards, nor the wrong one for the right one.
    assert site.goes_on(proven())
    assert not site.goes_on(packet)


def test_a_list_without_an_hmac_goes_no_further_where_one_is_required() -> None:
    header = bytes([17, 4, 4, 1, 1, 0, 0, 0])
    path = IPv6Address("2001:db8:1::11").packed + IPv6Address(SEGMENT).packed
    packet = ipv6.Packet(IPv6Address("2001:db8:9::9"), IPv6Address(SEGMENT), ipv6.ROUTING, header + path + bytes(8))
    assert not Site().goes_on(packet)
    assert Site(CHECKED.replace("require", "check")).goes_on(packet)
    assert not Site(CHECKED.replace("require", "check")).goes_on(proven(secret=b"another"))


def test_any_octet_that_an_hmac_covers_matters() -> None:
    """Sixty octets of the header and the source, at random, one changed in each."""
    draws = random.Random(1)
    site = Site()
    right = proven()
    assert site.goes_on(right)
    covered = [*range(4, 6), *range(8, 80)]
    for at in draws.sample(covered, 60):
        wrong = right.payload[:at] + bytes([right.payload[at] ^ 1 << draws.randrange(8)]) + right.payload[at + 1 :]
        assert not site.goes_on(replace(right, payload=wrong)), at
    assert not site.goes_on(replace(right, source=IPv6Address("2001:db8:9::8")))
    assert site.verified() == 1


@pytest.mark.parametrize("form", ["rfc8754", "linux"])
def test_a_policy_of_another_edge_is_verified(form: str) -> None:
    said = f'key = "secret"\nhmac_form = "{form}"'
    sender = Rig(SITE + CARRIED.replace('key = "secret"', said))
    host = Host(sender, 1, 10, "02:00:00:00:00:11", "2001:db8:1::11")
    provider = Host(sender, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    host.ping("2001:db8:1::1")
    provider.ping("2001:db8:100::2")
    [sent] = [each for each in provider.heard(host.ping("2001:db8:5::1")) if each.next_header == ipv6.ROUTING]
    for expected in ("rfc8754", "linux"):
        known = CHECKED.replace('key = "secret"', f'key = "secret"\nhmac_form = "{expected}"')
        site = Site(known.replace(SEGMENT, "fd00::1"))
        site.provider.send(sent)
        assert (site.verified(), site.refused()) == ((1, 0) if expected == form else (0, 1))


def test_a_list_that_nobody_uses_is_forgotten_and_verified_anew() -> None:
    site = Site()
    assert site.goes_on(proven())
    site.rig.advance(segment_proofs.IDLE + 5)
    assert site.verified() == 0
    assert site.goes_on(proven())


def test_a_key_that_is_changed_makes_what_it_proved_void() -> None:
    site = Site()
    assert site.goes_on(proven())
    changes = Changes(site.rig.config).put("hmac_key", {"id": 8, "key": "another"})
    site.rig.receive(SetEncapsulation(changes.read()))
    site.rig.settle()
    assert site.verified() == 0
    assert not site.goes_on(proven())
    assert site.goes_on(proven(secret=b"another"))


def test_a_restarted_controller_verifies_anew() -> None:
    site = Site()
    assert site.goes_on(proven())
    site.rig.restart_controller()
    assert site.goes_on(proven())
    assert (site.verified(), site.refused()) == (1, 0)


def test_lists_are_bounded_by_who_sends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_proofs, "MOST_OF_PREFIX", 3)
    site = Site()
    through = [site.goes_on(proven(f"fd00::{number:x}")) for number in range(6)]
    assert site.verified() == 3 == 6 - site.refused()
    assert through == [True] * 3 + [False] * 3
    assert site.goes_on(proven(source="2001:db8:a::9"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (CHECKED.replace("require", "always"), "hmac: is .always.; write one of .ignore., .check. or .require."),
        (CHECKED[CHECKED.index("[[segment]]") :], r"hmac: has no key to verify with; write a \[\[hmac_key\]\]"),
        (CHECKED.replace('"secret"', '""'), "key: is wrong .it is empty."),
        (CHECKED.replace('"end"', '"source-route-hop"'), "hmac: is for segments"),
        (CHECKED + 'hmac_form = "linux"\n', "hmac_form: is not known"),
        (CHECKED + '[[policy]]\nname = "x"\nsegments = ["fd00::1"]\nhmac_form = "linux"\n', "is of an HMAC"),
        (CHECKED + '[[hmac_key]]\nid = 8\nkey = "b"\n', "id: .8. is there twice"),
    ],
)
def test_what_cannot_be_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as refused:
        Rig(SITE + CARRIED + text)
    assert "secret" not in str(refused.value)


def test_an_hmac_that_linux_made_is_that_of_its_form() -> None:
    """By Linux 6.18: `encap seg6 mode encap segs fd00:2::7,fd00:2::3 hmac 8`, key `secret`."""
    segments = b"".join(IPv6Address(each).packed for each in ("fd00:2::3", "fd00:2::7"))
    proven = ProvenSegments(1, 8, segments, bytes.fromhex("0526000000000008"))
    made = bytes.fromhex("eddfe0da7312fc9f3568b57f38caa4062e5b1015747c451b986c5ff275d510c0")
    source = IPv6Address("2001:db8:f01::9")
    assert hmac_of(proven, source, "secret", HmacForm.LINUX) == made
    assert hmac_of(proven, source, "secret", HmacForm.RFC_8754) != made
