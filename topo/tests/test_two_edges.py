"""Two edges for one site, each with a switch and a controller: one dies or is drained, and hosts notice little."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from operator import ne
from typing import Any

import pytest
from test_running import lacking

from wayname.fleet.etcd import Etcd
from wayname.fleet.keys import EdgeKeys
from wayname.fleet.overview import drain
from wayname_lab.etcd import missing_for_etcd
from wayname_lab.fleet_lab import FROM, PATIENCE, PING, TO, until
from wayname_lab.two_edges import FIRST, SECOND, TwoEdges, two_edges

# What the first provider gave to the site; by the second one flows are translated.
INSIDE, TRANSLATED = "2001:db8:101::/48", "[2001:db8:201:"
NPTV6 = f'[[nptv6]]\ninside = "{INSIDE}"\n'
# Connections that begin before the session, at least, by both providers.
BEFORE = 8

# Hand-overs of which one has to lose nothing.
TRIES = 4

pytestmark = pytest.mark.skipif(bool(lacking("wires") or missing_for_etcd()), reason="needs the switch and etcd")


async def translated_connections(lab: TwoEdges, request: dict[str, Any]) -> int:
    """Begin connections before there is a session; return how many of them are translated."""
    translated = 0
    # Each goes by either provider, as its hash has it.
    while not 0 < translated < len(lab.connected) or len(lab.connected) < BEFORE:
        before = list(lab.connected)
        await lab.hosts[FROM].start(request)
        await until(partial(ne, before, lab.connected), "a connection")
        translated = sum(each.startswith(TRANSLATED) for each in lab.connected)
    return translated


async def lost_by_draining(lab: TwoEdges) -> list[int] | None:
    """Have the edges change places; return which pings had no answer, None where they did so by themselves."""
    active, backup = await lab.roles()
    drained, taken = time.monotonic(), lab.kinds(backup).count("vrrp.active")
    if not await lab.ask(active, "/v1/fleet/drain", "POST"):
        return None
    await until(lambda: lab.kinds(backup).count("vrrp.active") > taken, "the other edge as router")
    await lab.roles()
    await lab.more_answers()
    lost = lab.missing(drained)
    print(f"drained: longest time without an answer {lab.gap(drained):.2f} s, lost {lost}")
    return lost


async def test_a_site_goes_on_when_an_edge_is_drained_and_when_one_dies() -> None:
    async with asyncio.timeout(4 * PATIENCE), two_edges(rules=NPTV6) as lab:
        active, backup = await lab.roles()
        to = str(lab.plan.hosts[TO].address.ip)
        await lab.hosts[TO].start({"command": "tcp_serve", "port": 5001, "service": "echo"})
        request = {"command": "tcp_request", "to": to, "interval": 0.02, "report": 0.2}
        # A translated connection ends with its provider, and one that is not there yet takes some as well.
        await lab.until_next_hops_answer(active)
        translated = await translated_connections(lab, {**request, "interval": 0.1})
        before = [await lab.session_at(edge) for edge in (active, "b")]
        await lab.hosts[FROM].start(request)
        await lab.hosts[FROM].start({**PING, "to": to})
        # The other edge has it on its switch before anything happens.
        assert (await lab.session_at(backup))["peer"] == before[0]["peer"]
        # So it has the flows of NPTv6 that only slots of the other switch say the provider of.
        await lab.until_kept(backup, translated)
        await lab.more_answers()

        # Where processes stand still for seconds, more waits than there is room for: in some hand-overs, not in all.
        for _ in range(TRIES):
            lost = await lost_by_draining(lab)
            if lost == []:
                break
        else:
            pytest.fail(f"{lost}: {[await lab.ask(edge, '/v1/drops') for edge in (FIRST, SECOND)]}")

        # On a very busy machine they may have changed places again meanwhile.
        dying, other = await lab.roles()
        since = await lab.fail_over(dying, other)
        print(f"killed: longest time without an answer {lab.gap(since):.2f} s, lost {len(lab.missing(since))}")
        # The same session at both ends, and the same connection: nobody reset it.
        after = [await lab.session_at(edge) for edge in (other, "b")]
        assert [(each["number"], each["peer"]) for each in after] == [(each["number"], each["peer"]) for each in before]
        assert [each["event"] for each in lab.requests if each["event"] == "requests_done"] == []
        # Who died is the other one's backup when it is there again.
        active, backup = await lab.roles()
        await lab.session_at(backup)
        await lab.until_kept(backup, translated)

        # By etcd alone, as `wayname fleet drain` does it.
        terms = {edge: lab.kinds(edge).count("vrrp.active") for edge in (active, backup)}
        etcd = Etcd(lab.cluster.endpoints)
        drained = await drain(etcd, EdgeKeys("wayname", "site"))
        await etcd.close()
        assert drained in terms
        other = backup if drained == active else active
        await until(lambda: lab.kinds(other).count("vrrp.active") > terms[other], "the other edge as router")
        await lab.more_answers()
        assert [each["event"] for each in lab.requests if each["event"] == "requests_done"] == []


@pytest.mark.parametrize("name", ["ilnp", "hip-edges"])
async def test_a_session_of_another_protocol_outlives_its_edge(name: str) -> None:
    async with asyncio.timeout(2 * PATIENCE), two_edges(name) as lab:
        active, backup = await lab.roles()
        to = str(lab.plan.hosts[TO].address.ip)
        await lab.hosts[TO].start({"command": "tcp_serve", "port": 5001, "service": "echo"})
        await lab.hosts[FROM].start({**PING, "to": to})
        await lab.session_at(active)
        await lab.hosts[FROM].start({"command": "tcp_request", "to": to, "interval": 0.02, "report": 0.2})
        before = await lab.session_at("b")
        if name == "ilnp":
            # Of HIP's nobody but who agreed on them has keys; the edges agree anew.
            await lab.session_at(backup)
        await until(lambda: lab.requests, "the first answers over TCP")
        await lab.more_answers()
        since = await lab.fail_over(active, backup)
        print(f"{name}: longest time without an answer {lab.gap(since):.2f} s, lost {len(lab.missing(since))}")
        after = [await lab.session_at(edge) for edge in (backup, "b")]
        assert {after[0]["local"], after[1]["peer"]} == {before["peer"]}
        assert [each["event"] for each in lab.requests if each["event"] == "requests_done"] == []
