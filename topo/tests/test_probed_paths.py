"""Edges that believe wrong delays find the true ones by probes of their own, whoever else has something to say (N3)."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv6Address
from statistics import median

import pytest
from click.testing import CliRunner
from lab_api import answer, client_of
from looking import kinds
from probed import BELIEVED, TRUE, delays, probed
from test_many_paths import SUM, goodput, sending

from wayname.cli.root import wayname
from wayname.client import transport as client
from wayname.ioam.options import trace_in
from wayname.session.scheduling.path_estimates import LOOK, EstimateOrigin
from wayname.session.scheduling.probes import EVERY, STALE
from wayname.wire import ipv6
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname_lab.virtual.lab import VirtualLab

# Of a link's 1514 octets at 2 Mbit/s, and the way of probes through the queue of the other ones.
NEAR = 0.004


def came(lab: VirtualLab) -> int:
    """Return how many probes came back to edge a."""
    edge = lab.controllers["a"].edge
    assert edge is not None
    return sum(answers.came for answers in edge.figures.probes.answers.values())


def is_true(found: dict[str, float]) -> bool:
    """Whether delays are what they really are."""
    return all(abs(found[name] - TRUE[name]) < NEAR for name in TRUE)


@cache
def both(carried: bool) -> tuple[float, dict[str, float], dict[str, float]]:
    """Return goodput, the median of five starts, and delays of a lab both of whose edges measure."""
    # How soon TCP fills three paths is a matter of chance: one start in five has not, in these seconds.
    labs = [sending(probed("ab", carried=carried, seed=seed)) for seed in range(1, 6)]
    for lab in labs:
        lab.run_for(1)
    return median(map(goodput, labs)), delays(labs[0], "a"), delays(labs[0], "b")


@pytest.mark.parametrize("carried", [True, False], ids=["providers write too", "only edges write"])
def test_both_edges_find_the_true_delays_and_nobody_carries_anything(carried: bool) -> None:
    reached, here, there = both(carried)
    assert is_true(here) or not carried
    assert is_true(there)
    assert all(abs(here[name] - TRUE[name]) < abs(BELIEVED[name] - TRUE[name]) / 2 for name in TRUE)
    assert reached > 0.95 * SUM


def test_probes_may_come_back_as_they_are() -> None:
    lab = probed(plain=True)
    lab.run_until(2.0)
    edge = lab.controllers["a"].edge
    assert edge is not None
    rule = edge.schedules.rules["sites"]
    assert is_true(dict(zip(TRUE, (delay for delay, _ in rule.figures), strict=True)))


class Overheard:
    """What a provider saw on its way back to edge a, so that it can say it again."""

    def __init__(self, lab: VirtualLab, link: str) -> None:
        self.frames: list[bytes] = []
        receivers = lab.links[link].receivers
        self.deliver = receivers["a"]
        receivers["a"] = self._pass

    def _pass(self, frame: bytes) -> None:
        decoded = Frame.decode(frame)
        if decoded.type == TYPE_IPV6 and ipv6.Packet.decode(decoded.payload).upper_layer().number in (41, 59):
            self.frames.append(frame)
        self.deliver(frame)


def test_copies_and_forgeries_from_outside_change_nothing() -> None:
    lab = probed()
    overheard = Overheard(lab, "a-p")
    lab.run_until(3.0)
    before = came(lab)
    assert len(overheard.frames) >= 10
    for frame in overheard.frames:
        overheard.deliver(frame)
        # The nonce is the end of it: one that nobody knows, with the same trace.
        overheard.deliver(frame[:-1] + bytes([frame[-1] ^ 1]))
    lab.run_for(0.05)
    # Those that came meanwhile are the true ones, one by each provider.
    assert came(lab) - before <= 3


def test_a_host_that_says_what_probes_say_changes_nothing() -> None:
    lab = probed()
    overheard = Overheard(lab, "a-p")
    lab.run_until(2.0)
    inner = [ipv6.Packet.decode(Frame.decode(frame).payload).upper_layer() for frame in overheard.frames]
    probe = ipv6.Packet.decode(next(upper.data for upper in inner if upper.number == 41))
    assert trace_in(probe.payload) is not None
    plan = lab.plan.hosts["a1"]
    router = lab.controllers["a"].edge
    assert router is not None
    mac = next(each.mac for each in router.config.interfaces if each.vlan == plan.vlan)
    before = came(lab)
    for octet in range(64):
        forged = probe.encode()[:-1] + bytes([octet])
        packet = ipv6.Packet(plan.address.ip, IPv6Address(probe.destination), 41, forged)
        frame = Frame(mac, Frame.decode(overheard.frames[0]).source, TYPE_IPV6, packet.encode())
        lab.switches["a"].receive(plan.port, frame.encode())
    lab.run_for(0.01)
    assert came(lab) - before <= 1


def test_a_peer_whose_controller_is_away_sends_probes_back_all_the_same() -> None:
    lab = sending(probed())
    lab.controllers["b"].kill()
    before = came(lab)
    lab.run_for(1)
    assert came(lab) >= before + 12
    assert is_true(delays(lab))


def test_a_peer_that_is_started_again_is_measured_again() -> None:
    lab = probed()
    lab.run_until(1.5)
    lab.controllers["b"].kill()
    lab.switches["b"].kill()
    lab.run_for(STALE + 1)
    assert kinds(lab, "a", 1.5).count("path.unmeasured") == 3
    [text] = [event.text for _, event in lab.events if event.kind == "path.unmeasured" and "path p " in event.text]
    assert "is as configured, nothing was told of it for 30 s" in text
    assert "30 s: probes to 2001:db8:102:5e::1: " in text
    since = lab.now
    lab.switches["b"].start()
    lab.controllers["b"].start()
    lab.run_for(3)
    assert kinds(lab, "a", since).count("path.measured") == 3


def test_a_controller_that_is_started_again_goes_on_with_what_the_last_one_measured() -> None:
    lab = sending(probed())
    before = delays(lab)
    assert is_true(before)
    lab.controllers["a"].kill()
    lab.run_for(0.2)
    lab.controllers["a"].start()
    lab.run_for(0.1)
    assert delays(lab) == pytest.approx(before, abs=2e-6)
    assert goodput(lab) > 0.9 * SUM
    assert is_true(delays(lab))


async def test_the_command_says_by_whom_a_path_was_measured_and_when(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = probed()
    lab.run_until(0.3)
    async with client_of(lab, "a") as asking:
        early = await answer(asking, "/v1/schedules/sites")
        lab.run_until(2.0)
        late = await answer(asking, "/v1/schedules/sites")
    assert [path["told_by"] for path in early["paths"]] == [EstimateOrigin.CONFIGURATION] * 3
    assert [path["told_by"] for path in late["paths"]] == [EstimateOrigin.PROBES] * 3
    assert all(0 <= path["told_seconds_ago"] <= LOOK + EVERY for path in late["paths"])
    monkeypatch.setattr(client.Transport, "get", lambda self, path: early)
    shown = CliRunner().invoke(wayname, ["schedule", "show", "sites"]).output
    assert "configured: probes to 2001:db8:102:5e::1: 2 sent, 1 came back" in shown
    monkeypatch.setattr(client.Transport, "get", lambda self, path: late)
    shown = CliRunner().invoke(wayname, ["schedule", "show", "sites"]).output
    assert "probes by 1:a-1-b, 0." in shown
