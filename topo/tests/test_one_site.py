"""One site alone, on the virtual clock: peers that speak nothing, two providers, one of them cut."""

from __future__ import annotations

from wayname.edge.boundary import Event
from wayname_lab.load import find_lab
from wayname_lab.traffic import Traffic
from wayname_lab.virtual.lab import VirtualLab

STARTED = 2.0
HOLD = 2.0  # as the lab says


def one_site() -> VirtualLab:
    """Return the lab with servers at both ends, when everything has converged."""
    lab = VirtualLab(find_lab("one-site"), seed=1)
    lab.run_until(STARTED)
    for host in ("s1", "f1"):
        lab.command(host, "tcp_serve", port=5001, service="echo")
    return lab


def asks(lab: VirtualLab, host: str, to: str, count: int = 0) -> int:
    """Let a host ask ten times a second over a connection of its own."""
    flow = lab.command(host, "tcp_request", to=to, port=5001, interval=0.1, report=0.1, count=count)
    assert flow is not None
    return flow


def far(lab: VirtualLab) -> str:
    return str(lab.plan.hosts["f1"].address.ip)


def near(lab: VirtualLab, provider: str) -> str:
    """How others reach s1 by a provider."""
    return str(lab.plan.routers["s"].outside(lab.plan.hosts["s1"].address.ip, provider))


def providers(lab: VirtualLab) -> dict[str, str]:
    """Return by which provider each connection to f1 comes, by the port at the site."""
    prefixes = {provider.prefix: provider.name for provider in lab.plan.routers["s"].providers}
    named = {}
    for event in lab.events_of("f1", "tcp_connected"):
        address, _, port = event["remote"].rpartition(":")
        for prefix, name in prefixes.items():
            if address.strip("[]").startswith(str(prefix.network_address).rstrip(":")):
                named[port] = name
    return named


def outcomes(lab: VirtualLab, host: str, flows: list[int]) -> list[str]:
    return [event["outcome"] for flow in flows for event in lab.events_of(host, "requests_done", flow)]


def answered(lab: VirtualLab, host: str, flow: int, since: float) -> int:
    """Return how many requests were answered since a moment."""
    told = lab.events_of(host, "requests", flow)
    return sum(event["answered"] for event in told if event["at_ns"] / 1e9 > since)


def told(lab: VirtualLab, kind: str) -> list[Event]:
    return [event for router, event in lab.events if router == "s" and event.kind == kind]


def test_connections_out_and_in_go_by_both_providers() -> None:
    lab = one_site()
    out = [asks(lab, "s1", far(lab), count=3) for _ in range(8)]
    into = [asks(lab, "f1", near(lab, provider), count=3) for provider in ("p", "q")]
    lab.run_for(2)
    assert outcomes(lab, "s1", out) == ["finished"] * 8
    assert outcomes(lab, "f1", into) == ["finished"] * 2
    assert set(providers(lab).values()) == {"p", "q"}


def test_new_connections_work_within_a_second_of_a_cut() -> None:
    lab = one_site()
    asks(lab, "s1", far(lab))
    lab.run_for(1)
    lab.cut("s-p")
    lab.run_for(1)
    new = [asks(lab, "s1", far(lab), count=1) for _ in range(8)]
    into = asks(lab, "f1", near(lab, "q"), count=1)
    lab.run_for(0.5)
    assert outcomes(lab, "s1", new) == ["finished"] * 8, "every one, at the first try"
    assert outcomes(lab, "f1", [into]) == ["finished"], "in by the other provider too"


def test_connections_over_the_living_provider_stay_and_the_others_are_told() -> None:
    lab = one_site()
    out = [asks(lab, "s1", far(lab)) for _ in range(8)]
    lab.run_for(1)
    by_p = [port for port, name in providers(lab).items() if name == "p"]
    assert 0 < len(by_p) < 8
    lab.cut("s-p")
    cut = lab.now
    lab.run_for(HOLD + 2)
    assert outcomes(lab, "s1", out) == ["reset"] * len(by_p), "their peer knows no such connection"
    going_on = [flow for flow in out if answered(lab, "s1", flow, cut + 1)]
    assert len(going_on) == 8 - len(by_p)
    [down], [lost] = told(lab, "provider.down"), told(lab, "flows.lost")
    assert down.time - cut < 1
    assert lost.details["count"] == len(by_p)
    assert all(f"port {port} with {far(lab)} port 5001" in str(lost.details["flows"]) for port in by_p)
    assert "p, which is down" in lost.text
    lab.restore("s-p")
    lab.run_for(2)
    assert len(told(lab, "provider.up")) == 1
    assert [flow for flow in out if answered(lab, "s1", flow, lab.now - 1)] == going_on


def test_connections_outlive_a_cut_that_is_shorter_than_they_wait() -> None:
    lab = one_site()
    out = [asks(lab, "s1", far(lab)) for _ in range(8)]
    into = [asks(lab, "f1", near(lab, provider)) for provider in ("p", "q")]
    lab.run_for(1)
    lab.cut("s-p")
    lab.run_for(HOLD)
    lab.restore("s-p")
    lab.run_for(8)
    assert outcomes(lab, "s1", out) + outcomes(lab, "f1", into) == []
    assert all(answered(lab, "s1", flow, lab.now - 2) for flow in out)
    assert all(answered(lab, "f1", flow, lab.now - 2) for flow in into)
    [up] = told(lab, "provider.up")
    assert "connections that waited go on" in up.text
    assert told(lab, "flows.lost") == []


def test_the_traffic_of_the_lab_reaches_each_end_by_the_address_it_says() -> None:
    plan = find_lab("one-site")
    traffic = Traffic(VirtualLab(plan, seed=1).plan)
    to = {part.flow.name: part.command["to"] for part in traffic.parts if "to" in part.command}
    assert to["tcp f1 > s2@p"].startswith("2001:db8:101:")
    assert to["tcp f2 > s2@q"].startswith("2001:db8:201:")
    assert to["tcp s1 > f1"] == "2001:db8:2:10::11"


def test_connections_that_moved_outlive_a_switch_that_begins_anew() -> None:
    """Nothing but slots said by which provider they go; hosts here speak first, so nobody outside says it either."""
    lab = one_site()
    lab.cut("s-p")
    lab.run_for(1)
    out = [asks(lab, "s1", far(lab)) for _ in range(8)]
    lab.run_for(HOLD)
    lab.restore("s-p")
    lab.run_for(2)
    assert set(providers(lab).values()) == {"q"}
    for state in (lab.switches["s"].kill, lab.switches["s"].start):
        state()
        lab.run_for(0.2)
    lab.run_for(4)
    assert outcomes(lab, "s1", out) == []
    assert all(answered(lab, "s1", flow, lab.now - 1) for flow in out)
