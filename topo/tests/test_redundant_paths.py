"""Each packet by two paths at once: a path that dies loses nothing. On the virtual clock, once with live processes."""

from __future__ import annotations

from typing import Any

import finsy as fy
import pytest
from click.testing import CliRunner
from finsy.p4entity import encode_entities
from finsy.proto import p4r
from lab_api import answer, client_of
from looking import entries
from test_many_paths import STARTED, in_use
from test_reinjected_paths import longest_gap
from test_running import PATIENCE, Watched, lacking

from wayname.cli.root import wayname
from wayname.client import transport as client
from wayname.p4_constants import Drop
from wayname_lab.load import LABS, parse_lab
from wayname_lab.model import Lab
from wayname_lab.plan import plan_lab
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.show import MEDIA
from wayname_lab.traffic import Event, Traffic
from wayname_lab.virtual.lab import VirtualLab

MARKS = 'source = "marks"\nhold = 0.06\n'
REDUNDANT = 'source = "feedback"\npolicy = "redundant"\n'
FLOWS = """
[[flow]]
kind = "udp"
from = "a1"
to = "b1"
rate = "500kbit"

[[flow]]
kind = "ping"
from = "a1"
to = "b1"

[[flow]]
kind = "tcp"
from = "a1"
to = "b1"
rate = "1mbit"
"""


def redundant(*edges: str) -> Lab:
    """Return many-paths, in which these edges send each packet twice, with flows that fit twice into its links."""
    text = (LABS / "many-paths.toml").read_text()
    begin, a, b = text.partition("[[flow]]")[0].split("[edge.")
    parts = {"a": a, "b": b}
    for edge in edges:
        parts[edge] = parts[edge].replace(MARKS, REDUNDANT)
    return parse_lab("[edge.".join([begin, *parts.values()]) + FLOWS, "redundant", "redundant")


def talking(lab: VirtualLab) -> VirtualLab:
    """Let hosts send datagrams, pings and a connection, all of which fit twice into what there is."""
    lab.run_until(STARTED)
    to = str(lab.plan.hosts["b1"].address.ip)
    lab.command("b1", "udp_receive", port=5001, interval=0.1)
    lab.command("b1", "tcp_serve", port=5002, interval=0.1)
    lab.command("a1", "udp_send", to=to, port=5001, rate=100, size=1000)
    lab.command("a1", "ping", to=to, count=0, interval=0.05)
    lab.command("a1", "tcp_send", to=to, port=5002, pace=1_000_000, buffer=65536)
    lab.run_for(2)
    return lab


def last(lab: VirtualLab, kind: str) -> dict[str, Any]:
    return dict(lab.events_of("b1", kind)[-1])


def eliminated(lab: VirtualLab, router: str) -> int:
    switch = lab.switches[router]
    counter = fy.P4CounterEntry("ingress_drops", index=Drop.ELIMINATED)
    request = p4r.ReadRequest(entities=encode_entities([counter], switch.schema))
    [entity] = p4r.ReadResponse.FromString(switch.read(request.SerializeToString())).entities
    return entity.counter_entry.data.packet_count


def copies(lab: VirtualLab, router: str) -> int:
    [of_session] = entries(lab, router, "session_schedules")
    return of_session.get("copies", 1)


@pytest.mark.parametrize(("link", "loser"), [("a-r", None), ("b-q", "q"), ("a-q", "q")])
def test_a_link_that_is_cut_loses_no_packet(link: str, loser: str | None) -> None:
    """Both ways and one way, to the peer and from it; each packet has one more copy by another provider."""
    lab = talking(VirtualLab(redundant("a", "b"), seed=1))
    assert (copies(lab, "a"), copies(lab, "b"), in_use(lab)) == (2, 2, 3)
    since = lab.now
    lab.cut(link, loser)
    lab.run_for(3)
    report = last(lab, "udp_report")
    assert (report["lost"], report["duplicates"]) == (0, 0)
    assert lab.events_of("a1", "ping_lost") == []
    assert longest_gap(lab, since) < 0.1
    assert eliminated(lab, "b") > 300, "the other copies"


async def test_the_command_says_whose_packets_go_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    both, alone = (talking(VirtualLab(redundant(*edges), seed=1)) for edges in (("a", "b"), ("a",)))
    shown = []
    for lab in (both, alone):
        async with client_of(lab, "a") as asking:
            told = await answer(asking, "/v1/schedules/sites")
        monkeypatch.setattr(client.Transport, "get", lambda self, path, told=told: told)
        shown.append(CliRunner().invoke(wayname, ["schedule", "show", "sites"]).output)
    assert all("redundant, 2 copies of each packet" in each for each in shown)
    assert "in one copy" not in shown[0]
    assert "in one copy: 1; their peers have not said that they drop the second" in shown[1]
    async with client_of(alone, "b") as asking:
        refused = await asking.post("/v1/schedules/sites/policy", json={"policy": "redundant"})
    assert (refused.status_code, refused.json()["detail"].partition(";")[0]) == (409, "the source of 'sites' is marks")


@pytest.mark.skipif(lacking("namespaces") != "", reason=lacking("namespaces"))
async def test_live_processes_lose_nothing_when_a_provider_goes_silent() -> None:
    """No port goes down: its router just gets nothing any more, and sends nothing.

    What was lost never comes, however long a busy machine takes.
    """
    plan = plan_lab(redundant("a", "b"))
    traffic = Traffic(plan)
    answered: set[int] = set()

    def take(host: str, event: Event) -> None:
        if event["event"] == "ping_reply":
            answered.add(event["sequence"])
        traffic.take(host, event)

    with LabFolder() as folder:
        async with RunningLab(plan, MEDIA["namespaces"](plan, folder), folder, take) as running:
            for part in traffic.parts:
                if part.command["command"] == "ping":
                    part.command["timeout"] = PATIENCE
                traffic.started(part, await running.hosts[part.host].start(part.command))
            lab = Watched(running, traffic)
            await lab.until_all_flow()
            await lab.until(lambda: all(lab.told(edge, "take path r", 0.0) for edge in "ab"))
            await lab.until_all_flow()
            udp, ping, tcp = traffic.flows
            since, lost, ping_began, received, octets = (
                running.elapsed(),
                udp.lost,
                max(answered),
                udp.received,
                tcp.total,
            )
            await running.set_cut(next(link for link in plan.lab.links if link.name == "a-r"), True)
            await lab.until(lambda: lab.told("a", "path r", since))
            await lab.until(lambda: answered >= set(range(ping_began, ping_began + 40)))
            await lab.until(lambda: udp.received > received + 200 and udp.lost == lost)
            await lab.until(lambda: tcp.total > octets + 400_000)
            assert (ping.ended, tcp.ended) == ("", "")
