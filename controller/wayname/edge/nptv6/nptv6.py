"""The border of a site: keeps its tables as providers fail and come back, and says what became of flows.

A provider that fails loses its buckets at once; connections over it wait for `hold` seconds, and are given up then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Network
from itertools import count
from types import MappingProxyType

from wayname.config.kept_networks import kept_networks
from wayname.config.model import Config, Provider
from wayname.config.nptv6 import Nptv6 as Rules
from wayname.config.nptv6 import Nptv6Policy, Shares
from wayname.config.provider import Phase
from wayname.edge.boundary import FlowEvent, Json, Severity
from wayname.edge.interfaces import answered_addresses
from wayname.edge.nptv6.buckets import Weights, homes, serving
from wayname.edge.nptv6.established_flows import RATE, EstablishedFlows, FlowProvider
from wayname.edge.nptv6.failed_flows import FailedFlows, FlowOutcome
from wayname.edge.nptv6.numbers import provider_numbers
from wayname.edge.outputs import Outputs
from wayname.edge.provider_reachability import ProviderReachability
from wayname.edge.providers import DEFAULT
from wayname.nptv6 import PrefixMapping, UnmappableError
from wayname.p4_constants import BorderSide, FlowEventKind, ProviderHealth
from wayname.pipeline import borders, entries
from wayname.timers import Timers
from wayname.wire.flow import Flow
from wayname.wire.ipv6 import TCP, Packet

FLOW_EVENT_RATE = 200  # flows told a second, of each provider
SUMMARY = 1.0  # seconds in which what is told of flows becomes one event
MOST_KNOWN = 10_000  # flows of one failure
FIRST_POLICY = 1000  # sites have the numbers below
FIRST_PRIORITY = 20_000
LINK_LOCAL, GROUPS = IPv6Network("fe80::/10"), IPv6Network("ff00::/8")


@dataclass(slots=True)
class ProviderStatus:
    """A provider as flows see it."""

    number: int
    provider: Provider
    hold: float
    state: ProviderHealth = ProviderHealth.WORKS
    since: float = 0.0
    # Of this failure: what waits, what is not told yet, and what was told.
    waiting: list[Flow] = field(default_factory=list)
    lost: list[Flow] = field(default_factory=list)
    moved: list[Flow] = field(default_factory=list)
    known: set[Flow] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Policy:
    number: int
    weights: Weights
    # Connections that nothing is remembered of go by these for as long as they live: they never change.
    homes: list[int]


class Nptv6Manager:
    """Wants the border's entries, and hears of its flows."""

    def __init__(
        self,
        config: Config,
        reachability: ProviderReachability,
        outputs: Outputs,
        remembered: Mapping[str, Json] = MappingProxyType({}),
    ) -> None:
        self._config = config
        self._reachability = reachability
        self._outputs = outputs
        self._timers: Timers[tuple[str, str]] = Timers()
        self._mappings: list[PrefixMapping] = []
        # Of each site its own policy, and then those of some flows in order.
        self._of_site: dict[int, list[_Policy]] = {}
        self.rules = list(config.translations)
        self.flows = FailedFlows()
        self.providers = self._number(remembered)
        self._by_number = {each.number: each for each in self.providers.values()}
        self._by_prefix = {str(each.provider.prefix): each for each in self.providers.values()}
        self.established = EstablishedFlows(outputs, remembered, self._provider_of)
        if config.translations:
            self._want_border()

    def is_open(self, provider: Provider) -> bool:
        """Whether a provider can be used."""
        return self._reachability.is_open(provider)

    def numbered(self, number: int) -> Provider | None:
        """Return a provider by its number in the tables."""
        each = self._by_number.get(number)
        return each.provider if each else None

    def share(self, name: str) -> tuple[int, int]:
        """Return how many buckets of all policies are at home with a provider, and how many it serves now."""
        number = self.providers[name].number
        at_home = sum(policy.homes.count(number) for policy in self._policies)
        return at_home, sum(self._serving(policy).count(number) for policy in self._policies)

    def as_routed(self, packet: Packet) -> Packet:
        """Return a packet with the destination that the switch routes it to."""
        for mapping in self._mappings:
            if packet.destination in mapping.outside:
                try:
                    return replace(packet, destination=mapping.back(packet.destination))
                except UnmappableError:
                    return packet
        return packet

    def change(self, rules: Rules, now: float) -> None:
        """Let new flows go by other providers. Connections stay with theirs: buckets keep their homes."""
        site = next(site for site, old in enumerate(self.rules, 1) if old.inside == rules.inside)
        before, self.rules[site - 1] = self.rules[site - 1], rules
        configured = len(self._config.translations[site - 1].policies)
        own, *others = self._of_site[site]
        ranked = [own, *others[:configured]]
        for policy in others[configured:]:
            self._forget(policy, site, before.policies[others.index(policy)])
        shares = [rules.shares, *(each.shares for each in rules.policies)]
        self._of_site[site] = [
            replace(policy, weights=self._weights(share)) for policy, share in zip(ranked, shares, strict=False)
        ]
        for added in rules.policies[configured:]:
            # What fits it went by the site's own policy until now.
            self._add_policy(site, added, own.homes)
        self._want_buckets()
        self._outputs.event(
            now, "translation.changed", rules.inside, f"new flows of {rules.inside} go by other providers"
        )

    def start(self, now: float) -> None:
        """The switch is there: what it was told may be old."""
        self.next_hops_changed(now)

    def next_hops_changed(self, now: float) -> None:
        """Let flows begin by the providers that work."""
        known = self.providers.values()
        changed = [each for each in known if self.is_open(each.provider) != (each.state is ProviderHealth.WORKS)]
        for each in changed:
            if each.state is ProviderHealth.WORKS:
                self._fail(each, now)
            else:
                self._come_back(each, now)
        if changed:
            self._want_buckets()

    def switch_event(self, switch_event: FlowEvent, now: float) -> None:
        """A flow met a provider that does not work, or is to be kept for the next switch."""
        each = self._by_number.get(switch_event.provider_from)
        if switch_event.kind is FlowEventKind.ESTABLISHED:
            if each and (provider := self._provider_of(switch_event.flow, str(each.provider.prefix))):
                self.established.told(switch_event.flow, provider, now)
            return
        if (
            each is None
            or each.state is ProviderHealth.WORKS
            or switch_event.flow in each.known
            or len(each.known) >= MOST_KNOWN
        ):
            return
        each.known.add(switch_event.flow)
        if each.state is ProviderHealth.HELD and switch_event.kind is FlowEventKind.HELD:
            each.waiting.append(switch_event.flow)
            return
        (each.lost if switch_event.flow.protocol == TCP else each.moved).append(switch_event.flow)
        if self._timers.at((each.provider.name, "tell")) is None:
            self._timers.set((each.provider.name, "tell"), now + SUMMARY)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self._timers.next()

    def handle_timer(self, now: float, late: float) -> None:
        """Give up what waited for too long, and tell."""
        for name, what in self._timers.due(now):
            each = self.providers[name]
            if what == "hold":
                self._give_up(each, now)
            else:
                self._tell(each, now)

    def _provider_of(self, flow: Flow, prefix: Json) -> FlowProvider | None:
        """Return what a flow's provider is to it, unless the provider or the prefix inside is gone."""
        each = self._by_prefix.get(prefix) if isinstance(prefix, str) else None
        rules = next((rules for rules in self.rules if flow.local in rules.inside), None)
        if each is None or rules is None:
            return None
        return FlowProvider(str(prefix), each.number, not rules.inside.subnet_of(each.provider.prefix))

    def _fail(self, each: ProviderStatus, now: float) -> None:
        each.state, each.since = (ProviderHealth.HELD if each.hold else ProviderHealth.FAILED), now
        self._outputs.desired.put(borders.provider_state(each.number, each.state))
        if each.hold:
            self._timers.set((each.provider.name, "hold"), now + each.hold)
        others = [other.provider.name for other in self.providers.values() if other.state is ProviderHealth.WORKS]
        new = f"new flows go by {', '.join(others)}" if others else "there is no other"
        wait = f"connections over it wait for {each.hold:g} s" if each.hold else "connections over it are lost"
        why = self._reachability.why_closed(each.provider)
        text = f"provider {each.provider.name} is down, since {why}: {new}, {wait}"
        self._outputs.event(now, "provider.down", each.provider.name, text, Severity.WARNING)

    def _come_back(self, each: ProviderStatus, now: float) -> None:
        self._tell(each, now)
        was = each.state
        each.state = ProviderHealth.WORKS
        self._outputs.desired.put(borders.provider_state(each.number, ProviderHealth.WORKS))
        self._timers.cancel((each.provider.name, "hold"))
        away = now - each.since
        why = self._reachability.why_closed(each.provider)
        used = f"is used though {why}: no other works" if why else f"works again after {away:.1f} s"
        text = f"provider {each.provider.name} {used}; new flows go by it as before"
        if was is ProviderHealth.HELD and each.waiting:
            why = f"{each.provider.name} was away for {away:.1f} s only"
            named = self.flows.tell(now, each.waiting, each.provider.name, FlowOutcome.WENT_ON, why)
            text += f"; connections that waited go on: {len(each.waiting)} ({named})"
        self._outputs.event(now, "provider.up", each.provider.name, text)
        each.waiting = []
        each.known.clear()

    def _give_up(self, each: ProviderStatus, now: float) -> None:
        each.state = ProviderHealth.FAILED
        self._outputs.desired.put(borders.provider_state(each.number, ProviderHealth.FAILED))
        each.lost += each.waiting
        each.waiting = []
        self._tell(each, now)

    def _tell(self, each: ProviderStatus, now: float) -> None:
        """Say what became of flows since the last time."""
        name = each.provider.name
        self._timers.cancel((name, "tell"))
        known_by = f"peers know them by {each.provider.prefix} of {name}, which is down"
        for flows, fate, what, why in (
            (each.lost, FlowOutcome.LOST, "connections lost", known_by),
            (each.moved, FlowOutcome.MOVED, "flows moved", f"{name} is down; they bear another address now"),
        ):
            if flows:
                named = self.flows.tell(now, flows, name, fate, why)
                text = f"{what} with provider {name}: {len(flows)} ({named}): {why}"
                listed: list[Json] = [str(flow) for flow in flows[:100]]
                details: dict[str, Json] = {"provider": name, "count": len(flows), "flows": listed, "why": why}
                kind = f"flows.{fate.value}"
                self._outputs.event(now, kind, name, text, Severity.WARNING, details)
        each.lost, each.moved = [], []

    def _number(self, remembered: Mapping[str, Json]) -> dict[str, ProviderStatus]:
        holds = {name: each.hold for each in self._config.translations for name, _ in each.shares}
        used = {each.prefix: each for each in self._config.providers if (each.successor or each.name) in holds}
        numbers = provider_numbers(used, remembered, self._outputs)
        known = {}
        for prefix, each in sorted(used.items()):
            # Nobody waits for a prefix that has ended.
            hold = 0.0 if each.phase is Phase.ENDED else holds[each.successor or each.name]
            known[each.name] = ProviderStatus(numbers[prefix], each, hold)
        return known

    def _homes(self, weights: Weights) -> list[int]:
        """Return the home of each bucket: the prefix that connections bear which nothing is remembered of.

        Those of a provider that was renumbered bear its prefix from before, until that is over for good.
        """
        before: dict[int, int] = {}
        for each in self.providers.values():
            if each.provider.successor is not None:
                before.setdefault(self.providers[each.provider.successor].number, each.number)
        return [before.get(number, number) for number in homes(weights)]

    def _weights(self, shares: Shares) -> Weights:
        return tuple((self.providers[name].number, weight) for name, weight in shares)

    def _want_border(self) -> None:
        put = self._outputs.desired.put
        for entry in self._own():
            put(entry)
        for site, rules in enumerate(self._config.translations, 1):
            self._want_site(site, rules)
        for each in self.providers.values():
            put(borders.provider_state(each.number, each.state))
            put(entries.rate("flow_event_meter", each.number, FLOW_EVENT_RATE))
            put(entries.rate("established_flow_meter", each.number, RATE))
        self._want_buckets()

    def _own(self) -> Iterator[entries.Entity]:
        """Yield which interfaces are the border, and what is the site's own and leaves as it is."""
        outer = {hop.vlan for each in self.providers.values() for hop, _ in each.provider.via}
        routers: set[IPv6Network] = set()
        for interface in self._config.interfaces:
            side = BorderSide.OUTSIDE if interface.vlan in outer else BorderSide.INSIDE
            yield borders.border_interface(interface.vlan, interface.mac, interface.error_address, side)
            routers |= {IPv6Network(address) for address in answered_addresses(interface) if not address.is_link_local}
        for prefix in dict.fromkeys((*kept_networks(self._config), *sorted(routers), LINK_LOCAL, GROUPS)):
            if prefix != DEFAULT and not any(prefix.subnet_of(each.inside) for each in self._config.translations):
                of_hosts = prefix not in routers and prefix not in (LINK_LOCAL, GROUPS)
                yield (borders.inside_network if of_hosts else borders.stay_in_site)(prefix)
                if prefix not in (LINK_LOCAL, GROUPS):
                    yield borders.own_source(prefix)
        for each in self.providers.values():
            yield borders.own_source(each.provider.prefix)

    def _want_site(self, site: int, rules: Rules) -> None:
        put = self._outputs.desired.put
        put(borders.inside_network(rules.inside))
        shared = dict(rules.shares)
        for each in self.providers.values():
            if (each.provider.successor or each.provider.name) not in shared:
                continue
            if rules.inside.subnet_of(each.provider.prefix):
                put(borders.untranslated_inbound(rules.inside, site, each.number))
                put(borders.untranslated_outbound(site, each.number))
            else:
                mapping = PrefixMapping(rules.inside, each.provider.prefix)
                self._mappings.append(mapping)
                put(borders.nptv6_inbound(mapping, site, each.number))
                put(borders.nptv6_outbound(mapping, site, each.number))
        put(borders.from_site(rules.inside, site))
        weights = self._weights(rules.shares)
        self._of_site[site] = [_Policy(site, weights, self._homes(weights))]
        for policy in rules.policies:
            self._add_policy(site, policy, self._homes(self._weights(policy.shares)))

    @property
    def _policies(self) -> list[_Policy]:
        return [policy for policies in self._of_site.values() for policy in policies]

    def _add_policy(self, site: int, policy: Nptv6Policy, at_home: list[int]) -> None:
        taken = {each.number for each in self._policies}
        number = next(number for number in count(FIRST_POLICY) if number not in taken)
        self._outputs.desired.put(borders.flow_policy(number, FIRST_PRIORITY - number, site, policy))
        self._of_site[site].append(_Policy(number, self._weights(policy.shares), at_home))

    def _forget(self, policy: _Policy, site: int, rules: Nptv6Policy) -> None:
        remove = self._outputs.desired.remove
        remove(borders.flow_policy(policy.number, FIRST_PRIORITY - policy.number, site, rules))
        for entry in borders.buckets(policy.number, policy.homes, policy.homes):
            remove(entry)

    def _serving(self, policy: _Policy) -> list[int]:
        working = {each.number for each in self.providers.values() if each.state is ProviderHealth.WORKS}
        # After a change buckets are shared out anew, and have their homes from before.
        return serving(homes(policy.weights), policy.weights, working)

    def _want_buckets(self) -> None:
        for policy in self._policies:
            for entry in borders.buckets(policy.number, policy.homes, self._serving(policy)):
                self._outputs.desired.put(entry)
