"""What `make bench-attacks` sends, and how it judges what came of it; the network itself runs in the command alone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bench.attacks import catalogue, goals
from bench.attacks.attack import FASTEST, SLOWEST, Attack, Draw, Group
from bench.attacks.configuration import write_configuration
from bench.attacks.frames import read_frames, write_frames
from bench.attacks.outcome import Outcome, Run, Sent, Span
from bench.attacks.report import lines, page
from bench.attacks.site import SITES, A, B, Site
from bench.attacks.slots import colliding
from bench.attacks.users import Window
from bench.spread import Spread
from wayname.composition.configuration import load_config
from wayname.hip.messages import Kind
from wayname.hip.messages import decode as decode_hip
from wayname.wire.ethernet import Frame
from wayname.wire.ipv6 import HIP, SHIM6, Packet
from wayname.wire.shim6.messages import I1, I2, Probe, UpdateRequest, decode

# All that has frames of its own.
FLOODS = [attack for attack in catalogue.ATTACKS if attack.group is not Group.LOCAL]
ADMITTED = {"Shim6 contexts by p": (20, 20), "Shim6 contexts by q": (20, 20)}


def draw(seed: int = 1) -> Draw:
    return Draw.of(random.Random(seed))


def attack(name: str) -> Attack:
    return next(each for each in catalogue.ATTACKS if each.name == name)


def packets(name: str) -> list[Packet]:
    return [Packet.decode(Frame.decode(frame).payload) for frame in attack(name).make(draw())[:20]]


@pytest.mark.parametrize("flood", FLOODS, ids=lambda flood: flood.name)
def test_an_attack_has_frames_that_fit_a_link(flood: Attack, tmp_path: Path) -> None:
    frames = flood.make(Draw.of(random.Random(1), flood.slowest, flood.fastest))
    assert frames and all(14 <= len(frame) <= 1514 for frame in frames)
    write_frames(tmp_path / "frames", frames)
    assert read_frames(tmp_path / "frames") == list(frames)


@pytest.mark.parametrize(
    ("name", "kind"), [("shim6-i1", I1), ("shim6-i2", I2), ("shim6-update", UpdateRequest), ("shim6-probe", Probe)]
)
def test_messages_of_shim6_are_what_they_are_called(name: str, kind: type) -> None:
    for packet in packets(name):
        assert packet.next_header == SHIM6
        assert isinstance(decode(packet.payload), kind)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("hip-i1", Kind.I1), ("hip-i2", Kind.I2), ("hip-notify", Kind.NOTIFY), ("hip-update", Kind.UPDATE)],
)
def test_messages_of_hip_are_what_they_are_called(name: str, kind: Kind) -> None:
    for packet in packets(name):
        assert packet.next_header == HIP
        assert decode_hip(packet.payload, packet.source, packet.destination).kind is kind


def test_draws_are_the_same_for_the_same_seed_and_others_for_another() -> None:
    flood = attack("shim6-i1")
    assert flood.make(draw(1)) == flood.make(draw(1))
    assert flood.make(draw(1)) != flood.make(draw(2))
    assert all(SLOWEST <= draw(seed).rate <= FASTEST for seed in range(50))


def test_pings_take_the_slots_that_crc32_gives() -> None:
    peers = [B.host("shim6").address, B.host("hip").address]
    found = colliding(draw(), peers)
    assert 1 <= len(found) <= 2


def test_only_some_attacks_run_where_they_are_named() -> None:
    assert [each.name for each in catalogue.named("rogue")] == ["rogue-ra", "rogue-dhcp"]
    assert catalogue.named("rogue,nothing") == ()


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_the_edges_are_configured_with_all_protocols(site: Site, tmp_path: Path) -> None:
    config = load_config(write_configuration(site, tmp_path, "127.0.0.1:9559", f"unix:{tmp_path / 'api'}"))
    assert config.protocols.keys() == {"shim6", "hip", "ilnp"} and config.identities
    assert bool(config.translations) is (site is A)


def span(**changed: object) -> Span:
    figures: dict[str, object] = {
        "seconds": 1.0,
        "users": Window({"Shim6": 0.03}, {"Shim6": 0.0}, 4e6),
        "admissions": ADMITTED,
        "processor": 0.2,
        "switch": 0.1,
        "punts": 100,
    }
    return Span(**(figures | changed))  # type: ignore[arg-type]


def outcome(during: Span, sent: Sent | None = None, name: str = "shim6-i1") -> Outcome:
    sent = sent or Sent(frames=2000, octets=140_000, seconds=1.0)
    return Outcome(attack(name), span(), runs=[Run(sent, during)])


def missed(one: Outcome) -> list[str]:
    return [goal for goal, found in goals.missed([one]) if found]


def test_an_attack_that_nobody_noticed_meets_all_goals() -> None:
    assert missed(outcome(span())) == []


@pytest.mark.parametrize(
    ("during", "word"),
    [
        (span(deaths=1), "ends the controller"),
        (span(moved=1), "session moves"),
        (span(next_hops_down=1), "next hop"),
        (span(users=Window({"Shim6": 0.9}, {"Shim6": 0.0}, 4e6)), "gap"),
        (span(admissions={"Shim6 contexts by p": (20, 20), "Shim6 contexts by q": (20, 8)}), "newcomers"),
        (span(processor=0.5, punts=1100), "processor"),
    ],
)
def test_what_an_attack_did_misses_its_goal(during: Span, word: str) -> None:
    [goal] = missed(outcome(during))
    assert word in goal


def test_what_began_with_users_that_were_not_served_is_not_judged() -> None:
    one = outcome(span(deaths=1))
    one.before = span(users=Window({"Shim6": 3.0}, {"Shim6": 0.0}, 4e6))
    [goal] = missed(one)
    assert "before" in goal


def test_newcomers_at_the_attackers_port_are_told_and_not_judged() -> None:
    one = outcome(span(admissions={"Shim6 contexts by p": (20, 0), "Shim6 contexts by q": (20, 20)}))
    assert missed(one) == []
    assert one.least_admitted == ("Shim6 contexts by p", 0.0)


def test_more_octets_out_than_in_are_amplification() -> None:
    [goal] = missed(outcome(span(), Sent(2000, 140_000, 0, 1.0, 1900, 140_001)))
    assert "octets" in goal


def test_a_neighbour_that_is_robbed_is_told() -> None:
    [goal] = missed(outcome(span(), Sent(10, 700, 0, 1.0, to_mallory=1), "na-override"))
    assert "LAN" in goal


def test_gaps_are_judged_by_their_median() -> None:
    one = outcome(span())
    slow = Run(one.runs[0].sent, span(users=Window({"Shim6": 3.0}, {}, 0.0)))
    one.runs += [one.runs[0], slow]
    assert missed(one) == []
    assert Spread.of(one.gaps).worst == 3.0


def test_all_is_told_on_the_screen_and_on_the_page() -> None:
    outcomes = [outcome(span()), outcome(span(moved=2), name="hip-notify")]
    text = "\n".join(lines(outcomes))
    assert "MISSED: no established session moves" in text and "hip-notify: 2 moved" in text
    written = page(outcomes, ["edge  message"], "2 attacks.")
    assert "| `hip-notify` |" in written and "| MISSED | hip-notify: 2 moved" in written
    assert "edge  message" in written
