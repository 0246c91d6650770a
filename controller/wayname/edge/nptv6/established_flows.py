"""Flows that only a slot of the switch says the provider of: kept for the switch that comes next.

Nobody can read slots. So the switch tells of such a flow once both ends have spoken, as often as a meter allows, and
again when it was quiet for `FLOW_KEEP_TIME`. It is written down and has an entry, by which a switch goes that has no
slot for the flow: one that began anew, or the other one of two edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address

import finsy as fy

from wayname.edge.boundary import Json, Severity
from wayname.edge.outputs import Outputs
from wayname.p4_constants import ESTABLISHED_FLOWS
from wayname.pipeline import borders
from wayname.wire.flow import Flow

KIND = "nptv6-flow"
# Told a second, of each provider.
RATE = 100
# Longer than FLOW_KEEP_TIME, so that the switch tells again of a flow whose entry ended.
IDLE_SECONDS = 330.0


@dataclass(frozen=True, slots=True)
class FlowProvider:
    """By which provider a flow goes, and whether under another address than inside."""

    prefix: str
    number: int
    is_translated: bool


class EstablishedFlows:
    """Keeps as many as the switch has room for, and counts the others."""

    def __init__(
        self,
        outputs: Outputs,
        remembered: Mapping[str, Json],
        provider_of: Callable[[Flow, Json], FlowProvider | None],
    ) -> None:
        """`provider_of` says of a flow what a provider is by its prefix, if that is still there."""
        self._outputs = outputs
        # Beside each, when it was told of.
        self._flows: dict[Flow, tuple[FlowProvider, float | None]] = {}
        # Of which there was no room.
        self.refused = 0
        self._is_full = False
        for flow, prefix in _remembered(remembered):
            provider = provider_of(flow, prefix)
            if provider is None or len(self._flows) >= ESTABLISHED_FLOWS:
                outputs.remember(_key(flow), None)
            else:
                self._keep(flow, provider, None)

    def __len__(self) -> int:
        return len(self._flows)

    def told(self, flow: Flow, provider: FlowProvider, now: float) -> None:
        """The switch tells of a flow."""
        known = self._flows.get(flow)
        if known is None and len(self._flows) >= ESTABLISHED_FLOWS:
            self.refused += 1
            if not self._is_full:
                self._is_full = True
                text = f"{ESTABLISHED_FLOWS} flows are kept for the next switch; more are lost when it takes over"
                self._outputs.event(now, "nptv6.full", provider.prefix, text, Severity.WARNING)
            return
        self._keep(flow, provider, now)
        if known is None or known[0].prefix != provider.prefix:
            self._outputs.remember(_key(flow), provider.prefix)

    def idle(self, entry: fy.P4TableEntry, now: float) -> None:
        """Nothing of a flow passed for long."""
        flow = borders.flow_of(entry)
        known = self._flows.get(flow)
        if known is None or (known[1] is not None and now - known[1] < IDLE_SECONDS):
            return
        del self._flows[flow]
        self._is_full = False
        self._outputs.desired.remove(entry)
        self._outputs.remember(_key(flow), None)

    def _keep(self, flow: Flow, provider: FlowProvider, told_at: float | None) -> None:
        self._flows[flow] = provider, told_at
        entry = borders.established_flow(flow, provider.number, provider.is_translated, IDLE_SECONDS)
        self._outputs.desired.put(entry)


def _key(flow: Flow) -> str:
    return f"{KIND} {flow.local} {flow.remote} {flow.protocol} {flow.local_port} {flow.remote_port}"


def _remembered(remembered: Mapping[str, Json]) -> Iterator[tuple[Flow, Json]]:
    for key, prefix in remembered.items():
        kind, *parts = key.split(" ")
        if kind == KIND and len(parts) == 5:
            local, remote, *numbers = parts
            yield Flow(IPv6Address(local), IPv6Address(remote), *map(int, numbers)), prefix
