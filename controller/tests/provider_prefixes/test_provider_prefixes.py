"""Prefixes that providers delegate: they become the edge's, others take their place, they end."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest
from provider_prefixes.delegated_site import NPTV6, P2, SITE, STRANGER, P, Q, Site
from rig import messages

from wayname.composition.configuration import parse_config
from wayname.config.model import Provider
from wayname.config.provider import Learned, LearnedPrefix
from wayname.config.tables import ConfigError
from wayname.wire.discovery import Resolvers
from wayname.wire.icmpv6 import UNREACHABLE


def learned(prefix: IPv6Network) -> Learned:
    """Return what a provider says that gives a prefix."""
    return Learned((LearnedPrefix(prefix),), (IPv6Address("fe80::1"),))


def numbered(site: Site) -> dict[int, Provider]:
    """Return the providers by their numbers in the tables."""
    return {each.number: each.provider for each in site.rig.edge.translation.providers.values()}


def without_probes(site: Site) -> dict[object, object]:
    """Return the tables but for the probes of next hops that are under way."""
    return {key: value for key, value in site.rig.tables().items() if "own_probes" not in str(key)}


def lan(prefix: IPv6Network) -> IPv6Network:
    """Return the prefix of the hosts' link."""
    return IPv6Network((int(prefix.network_address) | 0x10 << 64, 64))


def test_both_providers_give_their_prefix_and_their_router() -> None:
    site = Site()
    assert site.prefixes == {"p": (str(P), "preferred"), "q": (str(Q), "preferred")}
    for provider, isp in zip(site.rig.config.providers, (site.p, site.q), strict=True):
        assert [(hop.vlan, hop.address) for hop, _ in provider.via] == [(isp.vlan, isp.addresses[0])]
    assert site.rig.kinds().count("prefix.new") == 2
    assert len(site.rig.entries("nptv6_sources")) == 2


def test_new_flows_bear_the_prefix_at_once_and_another_one_after_renumbering() -> None:
    site = Site()
    left = site.sources(site.host.ping(STRANGER))
    assert {source in P or source in Q for _, source in left} == {True}
    site.p.server.delegate(P2)
    site.rig.advance(400)
    assert site.prefixes == {"p": (str(P2), "preferred"), "p (old)": (str(P), "ended"), "q": (str(Q), "preferred")}
    seen = set()
    for number in range(40):
        site.host.addresses[-1] = site.host.addresses[-1] + 1
        for _, source in site.sources(site.host.ping(STRANGER, data=bytes([number]))):
            seen.add(next(each for each in (P, P2, Q) if source in each))
    assert seen == {P2, Q}


def test_a_renumbering_with_notice_keeps_connections_on_the_old_prefix_until_it_ends() -> None:
    site = Site()
    numbers = {each.prefix: number for number, each in numbered(site).items()}
    site.p.server.renumber(P2)
    site.rig.advance(310)
    assert site.prefixes == {
        "p": (str(P2), "preferred"),
        "p (old)": (str(P), "deprecated"),
        "q": (str(Q), "preferred"),
    }
    after = {each.prefix: number for number, each in numbered(site).items()}
    # Who is there already keeps its number, and flows of which nothing is remembered keep their home.
    assert after == {**numbers, P2: 3}
    owners = {(entry["owner"], entry["now"]) for entry in site.rig.entries("hash_buckets")}
    assert owners == {(after[P], after[P2]), (after[Q], after[Q])}
    site.rig.advance(1600)
    assert site.prefixes == {"p": (str(P2), "preferred"), "q": (str(Q), "preferred")}
    owners = {(entry["owner"], entry["now"]) for entry in site.rig.entries("hash_buckets")}
    assert owners == {(after[P2], after[P2]), (after[Q], after[Q])}
    order = [kind for kind in site.rig.kinds() if kind.startswith("prefix.")]
    assert order == ["prefix.new", "prefix.new", "prefix.new", "prefix.deprecated", "prefix.gone"]


def test_a_provider_that_is_gone_and_back_with_its_prefix_is_as_before() -> None:
    site = Site()
    before = without_probes(site)
    site.p.server.withdraw()
    site.look_again(site.p)
    assert site.prefixes == {"p": (str(P), "ended"), "q": (str(Q), "preferred")}
    [told] = [event.text for event in site.rig.events if event.kind == "provider.down" and "ended" in event.text]
    assert (
        told == f"provider p is down, since its prefix {P} has ended: new flows go by q, connections over it are lost"
    )
    assert {entry["now"] for entry in site.rig.entries("hash_buckets")} == {2}
    site.p.server.delegate(P)
    site.rig.advance(200)
    assert site.prefixes == {"p": (str(P), "preferred"), "q": (str(Q), "preferred")}
    assert without_probes(site) == before


def test_a_source_in_a_prefix_that_has_ended_is_refused_and_told() -> None:
    """With code 1 for RFC 7084's code 5 (L-14), which says the same more exactly."""
    site = Site(more="")
    address = lan(P)[0x11]
    site.host.addresses.append(address)
    assert site.sources(site.host.ping(STRANGER)) >= {(site.p.port, address)}
    site.p.server.delegate(P2)
    site.rig.advance(400)
    answers = messages(site.host.heard(site.host.ping(STRANGER)))
    assert [(each.type, each.code) for each in answers] == [(UNREACHABLE, 1)]


def test_two_providers_with_one_prefix_are_refused() -> None:
    config = parse_config(SITE + NPTV6)
    assert config.again
    with pytest.raises(ConfigError, match="there twice; give every address once"):
        config.again({"p": learned(P), "q": learned(P)})


def test_hosts_hear_of_each_prefix_for_as_long_as_it_is_given_and_no_longer() -> None:
    site = Site()
    site.p.server.dns_servers = (STRANGER,)
    site.p.server.search_domains = ("example.org",)
    site.rig.advance(300)
    said = site.advertised(600)
    assert said.lifetime == 1800
    told = {prefix.network: prefix for prefix in said.prefixes}
    assert set(told) == {lan(P), lan(Q), IPv6Network("fd12:3456:789a:10::/64")}
    assert told[lan(P)].preferred <= 600
    assert told[lan(P)].preferred < told[lan(P)].valid <= 1200
    assert said.resolvers == (Resolvers((STRANGER,), said.resolvers[0].lifetime),)
    assert said.resolvers[0].lifetime <= 1200
    assert said.domains[0].names == ("example.org",)
    site.p.server.renumber(P2)
    site.rig.advance(310)
    told = {prefix.network: prefix for prefix in site.advertised(600).prefixes}
    assert told[lan(P)].preferred == 0
    assert 0 < told[lan(P)].valid < 1200
    assert told[lan(P2)].preferred > 0


def test_hosts_hear_at_once_that_a_prefix_has_ended_without_notice() -> None:
    """With lifetimes of 0 (RFC 9096, section 3.5)."""
    site = Site()
    site.p.server.delegate(P2)
    began = len(site.rig.sent)
    site.look_again(site.p)
    told = {prefix.network: prefix for prefix in site.advertised(0, began).prefixes}
    assert (told[lan(P)].preferred, told[lan(P)].valid) == (0, 0)
    assert told[lan(P2)].preferred > 0


def test_a_router_that_leads_nowhere_says_so() -> None:
    site = Site()
    assert site.advertised(600).lifetime == 1800
    for isp in (site.p, site.q):
        isp.server.withdraw()
        site.look_again(isp)
    assert site.advertised(600).lifetime == 0


def test_a_long_prefix_has_no_room_for_the_subnet() -> None:
    config = parse_config(SITE + NPTV6)
    assert config.again
    wrong = r"interface\[0\]\.addresses\[1\]: .*2001:db8:a1::/64 has no room for ::10:0:0:0:1"
    with pytest.raises(ConfigError, match=wrong):
        config.again({"p": learned(IPv6Network("2001:db8:a1::/64"))})


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (('"<p>::10:0:0:0:1/64"', '"<r>::1/64"'), "'<r>::1/64' names no such provider; .* known here: p, q"),
        (('interface = "wan-p"', 'interface = "lan"'), "no interface 'lan'; the interfaces are: site, wan-p, wan-q"),
        (('interface = "wan-p"', ""), "via: is missing; write the addresses of the provider's routers, or the interf"),
        (('"dhcpv6-pd"\nprefix_length', '"2001:db8:a1::/48"\nprefix_length'), "is for a prefix that is asked for"),
        (("prefix_length = 48", "prefix_length = 65"), "is 65; write a number from 8 to 64"),
        (('prefix = "dhcpv6-pd"', 'prefix = "dhcp"'), 'or "dhcpv6-pd"'),
    ],
)
def test_mistakes(change: tuple[str, str], wrong: str) -> None:
    # Where p is no such provider, nothing refers to it.
    text = SITE if "<r>" in change[1] else SITE.replace('"<p>::10:0:0:0:1/64", ', "")
    with pytest.raises(ConfigError, match=wrong):
        parse_config(text.replace(*change, 1) + NPTV6)


def test_a_restarted_controller_has_the_prefixes_before_it_looks_at_the_switch() -> None:
    site = Site()
    before = site.rig.tables()
    site.p.is_server_dead = site.q.is_server_dead = True
    writes = len(site.rig.writes)
    site.rig.restart_controller()
    assert len(site.rig.writes) == writes
    assert site.rig.tables() == before
    assert site.prefixes == {"p": (str(P), "preferred"), "q": (str(Q), "preferred")}
