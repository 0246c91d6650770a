"""The lab of HIP hosts on the virtual clock: all that leaves a host is encrypted, and goes on by the other provider."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import HIP, ICMPV6, Packet
from wayname.wire.mac import Mac
from wayname_lab.load import LabError, find_lab, parse_lab
from wayname_lab.plan import check_for_linux, plan_lab
from wayname_lab.virtual.lab import VirtualLab

ESP = 50
BUFFER = 64 * 1024


@pytest.fixture
def lab() -> Iterator[VirtualLab]:
    """The lab, when its switches are set up; its edges have no part in what hosts do."""
    lab = hip_lab(edges=None)
    lab.run_until(1.0)
    yield lab


def hip_lab(**wishes: Any) -> VirtualLab:
    """Return the lab with some things otherwise."""
    described = find_lab("hip")
    assert described.hip is not None
    return VirtualLab(replace(described, hip=replace(described.hip, **wishes)), seed=1)


def hit(lab: VirtualLab, host: str) -> str:
    """Return who a host is."""
    return str(lab.plan.hosts[host].address.ip)


def seen_on(lab: VirtualLab, link: str, node: str) -> list[Packet]:
    """Return what arrives at a node's end of a link from now on."""
    packets: list[Packet] = []
    take = lab.links[link].receivers[node]

    def note(frame: bytes) -> None:
        packets.append(Packet.decode(Frame.decode(frame).payload))
        take(frame)

    lab.links[link].connect(node, note)
    return packets


def test_hosts_reach_each_other_by_their_hits(lab: VirtualLab) -> None:
    flow = lab.command("a1", "ping", to=hit(lab, "b2"), count=3, interval=0.1)
    lab.run_for(1.0)
    replies = lab.events_of("a1", "ping_reply", flow)
    assert [reply["from"] for reply in replies] == [hit(lab, "b2")] * 3


def test_but_for_what_proves_itself_all_is_encrypted(lab: VirtualLab) -> None:
    packets = seen_on(lab, "b-p", "b")
    lab.command("a1", "ping", to=hit(lab, "b1"), count=3, interval=0.1, size=64)
    lab.run_for(1.0)
    assert {packet.next_header for packet in packets} == {ICMPV6, HIP, ESP}
    data = [packet for packet in packets if packet.next_header == ESP]
    locators = lab.plan.hosts["a1"].hip, lab.plan.hosts["b1"].hip
    assert locators[0] is not None and locators[1] is not None
    ways = {(packet.source, packet.destination) for packet in data}
    assert ways == {(locators[0].locators[0], locators[1].locators[0])}
    inside = lab.plan.hosts["a1"].address.ip.packed
    assert not any(inside in packet.payload for packet in data)


@pytest.mark.parametrize("link", ["a-p", "b-p"])
def test_a_transfer_goes_on_when_a_provider_is_cut(lab: VirtualLab, link: str) -> None:
    lab.command("b1", "tcp_serve", port=5001, interval=0.1, buffer=BUFFER)
    lab.command("a1", "tcp_send", to=hit(lab, "b1"), port=5001, bytes=400_000, interval=0.1, buffer=BUFFER)
    lab.run_for(0.2)
    lab.cut(link)
    lab.run_for(4.0)
    (done,) = lab.events_of("b1", "tcp_done")
    assert (done["outcome"], done["bytes"], done["intact"]) == ("finished", 400_000, True)
    for host, site, other in (("a1", 1, 2), ("b1", 2, 1)):
        moved = lab.events_of(host, "locators_changed")[-1]
        assert (moved["local"], moved["remote"]) == (f"2001:db8:20{site}:10::11", f"2001:db8:20{other}:10::11")


def test_peers_are_told_of_each_move_and_of_the_move_back(lab: VirtualLab) -> None:
    lab.command("a1", "ping", to=hit(lab, "b1"), count=0, interval=0.1)
    packets = seen_on(lab, "b-q", "b")
    lab.run_for(1.0)
    lab.cut("a-p")
    lab.run_for(2.0)
    assert HIP in {packet.next_header for packet in packets}
    lab.restore("a-p")
    lab.run_for(12.0)
    lab.cut("a-q")
    lab.run_for(3.0)
    moves = [(move["local"], move["remote"]) for move in lab.events_of("a1", "locators_changed")]
    assert moves[0] == ("2001:db8:201:10::11", "2001:db8:202:10::11")
    assert moves[-1][0] == "2001:db8:101:10::11"
    replies = lab.events_of("a1", "ping_reply")
    assert replies[-1]["at_ns"] > lab.now * 1e9 - 0.2e9


def test_an_exchange_that_nobody_answers_is_tried_again(lab: VirtualLab) -> None:
    lab.cut("a-p")
    flow = lab.command("a1", "ping", to=hit(lab, "b1"), count=10, interval=0.2, timeout=10)
    lab.run_for(1.5)
    assert lab.events_of("a1", "association_up") == []
    lab.restore("a-p")
    lab.run_for(12.0)
    assert len(lab.events_of("a1", "association_up")) == 1
    assert lab.events_of("a1", "ping_reply", flow)


def test_who_is_not_known_is_told_of(lab: VirtualLab) -> None:
    lab.command("a1", "ping", to="2001:20::1", count=5, interval=0.3)
    lab.run_for(1.5)
    told = [(event["peer"], event["held_back"]) for event in lab.events_of("a1", "peer_unknown")]
    assert told == [("2001:20::1", 0), ("2001:20::1", 3)]


def test_a_forged_hip_packet_is_told_and_changes_nothing(lab: VirtualLab) -> None:
    packets = seen_on(lab, "b-b1", "b1")
    flow = lab.command("a1", "ping", to=hit(lab, "b1"), count=20, interval=0.1)
    lab.run_for(1.0)
    exchanged = [packet for packet in packets if packet.next_header == HIP][-1]
    forged = replace(exchanged, payload=exchanged.payload[:-1] + bytes([exchanged.payload[-1] ^ 1]))
    mac = Mac.parse(lab.plan.hosts["b1"].mac)
    lab.links["b-b1"].receivers["b1"](Frame(mac, Mac(2), TYPE_IPV6, forged.encode()).encode())
    lab.run_for(3.0)
    (told,) = lab.events_of("b1", "hip")
    assert told["text"].startswith(f"a HIP packet from {forged.source} was dropped: ")
    assert len(lab.events_of("a1", "ping_reply", flow)) == 20


def test_without_faults_nobody_moves_however_long_it_is_quiet(lab: VirtualLab) -> None:
    for gap in (0.05, 0.3, 3.0):
        lab.command("a1", "ping", to=hit(lab, "b1"), count=3, interval=gap)
        lab.run_for(3 * gap + 1)
    assert lab.events_of("a1", "locators_changed") == lab.events_of("b1", "locators_changed") == []


def test_a_replayed_packet_is_told_and_not_heard(lab: VirtualLab) -> None:
    take = lab.links["b-b1"].receivers["b1"]
    frames = seen_on(lab, "b-b1", "b1")
    flow = lab.command("a1", "ping", to=hit(lab, "b1"), count=1)
    lab.run_for(1.0)
    request = next(packet for packet in frames if packet.next_header == ESP)
    mac = Mac.parse(lab.plan.hosts["b1"].mac)
    for _ in range(5):
        take(Frame(mac, Mac(2), TYPE_IPV6, request.encode()).encode())
    lab.run_for(1.0)
    assert len(lab.events_of("a1", "ping_reply", flow)) == 1
    assert [event["why"] for event in lab.events_of("b1", "esp_rejected")] == ["replayed"]


def two_hosts(hip: str) -> VirtualLab:
    """Two hosts with a provider between them."""
    text = f"""
title = "two hosts"
{hip}
edge = {{ a = {{}}, b = {{}} }}
provider.p = {{}}
host.a1.edge = "a"
host.b1.edge = "b"
link = [{{ between = ["a", "p"] }}, {{ between = ["b", "p"] }}]
"""
    lab = VirtualLab(parse_lab(text, "two", "two.toml"), seed=1)
    lab.run_until(1.0)
    return lab


def test_the_suite_is_the_lab_s() -> None:
    lab = two_hosts('hip.suite = "aes_gcm_16"')
    flow = lab.command("a1", "ping", to=hit(lab, "b1"), count=1, size=1200)
    lab.run_for(0.5)
    assert len(lab.events_of("a1", "ping_reply", flow)) == 1
    assert [event["suite"] for event in lab.events_of("a1", "association_up")] == ["AES_GCM_16"]


def test_new_keys_are_agreed_on_while_packets_flow() -> None:
    lab = two_hosts("hip.rekey = 100")
    packets = seen_on(lab, "b-p", "b")
    flow = lab.command("a1", "ping", to=hit(lab, "b1"), count=450, interval=0.01)
    lab.run_for(6.0)
    assert lab.events_of("a1", "ping_lost", flow) == []
    assert len(lab.events_of("a1", "ping_reply", flow)) == 450
    rekeyed = [len(lab.events_of(host, "association_rekeyed")) for host in ("a1", "b1")]
    assert rekeyed[0] == rekeyed[1] >= 4
    spis = {packet.payload[:4] for packet in packets if packet.next_header == ESP}
    assert len(spis) == rekeyed[0] + 1
    assert lab.events_of("a1", "esp_rejected") == lab.events_of("b1", "esp_rejected") == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('hip.suite = "des"', r"hip\.suite: is 'des'; write one of 'aes_128_cbc_hmac_sha1', "),
        ("hip.rekey = 0", r"hip\.rekey: is 0; write a number from 1 to "),
        ('hip.edges = "proxy"', r"hip\.edges: is 'proxy'; write one of 'transparent' or 'verify'"),
        ("hip.key = 1", r"hip\.key: is not known; did you mean rekey\?"),
        ("hip = {}\nshim6 = {}", r"a lab has one of \[shim6\], \[hip\], \[ilnp\], \[hip_edges\]; leave out the others"),
        (
            "hip = {}\nhost.a1.autoconfigure = true",
            r"host\.a1\.autoconfigure: hosts of multihomed sites have addresses that the lab gives them; leave it out",
        ),
    ],
)
def test_what_is_wrong_with_a_lab_is_said(text: str, complaint: str) -> None:
    with pytest.raises(LabError, match=complaint):
        parse_lab(f'title = "wrong"\nedge.a = {{}}\nhost.a1.edge = "a"\n{text}', "wrong", "wrong.toml")


def test_linux_hosts_are_no_hip_hosts() -> None:
    with pytest.raises(LabError, match="lab hip: Linux hosts speak no HIP; run it on wires"):
        check_for_linux(plan_lab(find_lab("hip")))
