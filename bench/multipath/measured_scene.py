"""Runs one scene of edges that tell each other what came, and says what came of it."""

from __future__ import annotations

import random
from dataclasses import dataclass

from bench.multipath.quic_certificate import self_signed
from bench.multipath.quic_host import QuicHost
from bench.multipath.scenes import WARM_UP, Scene, Traffic
from bench.multipath.whole_edges import RECEIVER, SENDER, WholeEdges
from wayname_lab.virtual.clock import SECOND

PORT = 5001
QUIC_PORT = 443
# How often programs report, in seconds.
STEP = 0.01
DELAYED_ACK = 0.04  # seconds; the others acknowledge each segment at once
DATAGRAM = 1380
# Octets of a QUIC packet that are no data of its stream (RFC 9000, sections 17.3.1 and 19.8; RFC 9001, section 5.3):
# flags, connection id, packet number, tag; the frame's type, stream, offset and length.
QUIC_HEADERS = 1 + 8 + 2 + 16 + 1 + 1 + 4 + 2
# How much more than a limit a stream has.
ENOUGH = 1.5
# Which part of a packet on a path is no header; of those that want to come in order with number and order, 16 octets.
SHARES = dict.fromkeys(Traffic, 1388 / 1484) | {
    Traffic.UDP: DATAGRAM / (DATAGRAM + 8 + 8 + 8 + 40),
    Traffic.QUIC: (DATAGRAM - QUIC_HEADERS) / (DATAGRAM + 8 + 8 + 16 + 40),
    Traffic.ESP: 1342 / 1472,
}
# Where both edges send, each packet's acknowledgement goes by the paths of the other direction.
ACKNOWLEDGED = 1484 / (1484 + 88)


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of a scene; shares are in percent."""

    goodput: float  # of the limit
    backward: float  # the same of what the receiver sent
    steady: float  # of the limit, after the warm-up
    bits: float  # a second, that the receiving program got
    retransmitted: int
    reordered: int
    silence: float  # milliseconds: the longest since the scene's moment
    numbers: float  # and orders, of all octets
    reports: float
    borne: float  # numbers, orders and reports, of what the sending edge sends


def run(scene: Scene) -> Seen:
    """Let hosts send, and disturb the paths."""
    traffic = scene.traffic
    esp = traffic is Traffic.ESP
    edges = WholeEdges(scene.routes, scene.seed, scene.policy, esp, scene.joined, scene.knows_mtu)
    lab = edges.lab
    edges.begin_to_count()
    begin, limit = lab.now, scene.limit * SHARES[traffic]
    quic: list[QuicHost] = []
    edges.disturb(scene.disturbances)
    if traffic is Traffic.UDP:
        lab.command(RECEIVER, "udp_receive", port=PORT, interval=STEP)
        rate = round(limit / 8 / DATAGRAM)
        lab.command(SENDER, "udp_send", to=edges.address(RECEIVER), port=PORT, rate=rate, size=DATAGRAM)
    elif traffic is Traffic.QUIC:
        quic = quic_hosts(edges, scene.seed)
        octets = round(ENOUGH * scene.limit / 8 * (scene.warm_up + scene.seconds))
        lab.command(RECEIVER, "quic_receive", port=QUIC_PORT)
        lab.command(SENDER, "quic_send", to=edges.address(RECEIVER), port=QUIC_PORT, bytes=octets)
    else:
        _connect(edges, SENDER, RECEIVER, scene)
    if traffic is Traffic.BOTH_SEND:
        limit *= ACKNOWLEDGED
        _connect(edges, RECEIVER, SENDER, scene)
    lab.run_for(scene.warm_up + scene.seconds)
    since = begin + scene.warm_up
    bits = _bits(edges, RECEIVER, since) / scene.seconds
    backward = _bits(edges, SENDER, since) / scene.seconds
    steady_from = begin + max(scene.warm_up, WARM_UP)
    steady = _bits(edges, RECEIVER, steady_from) / (lab.now - steady_from)
    watches = edges.watches.values()
    return Seen(
        100 * bits / limit,
        100 * backward / limit,
        100 * steady / limit,
        bits,
        sum(watch.retransmissions for watch in watches) + sum(host.packets.lost for host in quic),
        sum(watch.reordered for watch in watches) + sum(host.packets.reordered for host in quic),
        0.0 if scene.silence_from is None else _silence(edges, begin + scene.silence_from),
        edges.octets.share_of_numbers,
        edges.octets.share_of_reports,
        edges.octets_sent.share_of_numbers + edges.octets_sent.share_of_reports,
    )


def _connect(edges: WholeEdges, sender: str, receiver: str, scene: Scene) -> None:
    delay = DELAYED_ACK if scene.traffic is Traffic.DELAYED_ACKS else 0.0
    port = PORT if sender == SENDER else PORT + 1
    fields = {"port": port, "interval": STEP, "buffer": scene.window}
    edges.lab.command(receiver, "tcp_serve", ack_delay=delay, **fields)
    edges.lab.command(sender, "tcp_send", to=edges.address(receiver), **fields)


def quic_hosts(edges: WholeEdges, seed: int) -> list[QuicHost]:
    """Let hosts speak QUIC from now on, and nothing else."""
    signed = self_signed(random.Random(seed))
    made = []
    for name in (SENDER, RECEIVER):
        host = edges.lab.hosts[name]
        host.stack = made_of = QuicHost(host.plan, signed, DATAGRAM)
        made.append(made_of)
    return made


def _bits(edges: WholeEdges, host: str, since: float) -> int:
    """Return what a host's programs received since a moment."""
    sinks = _sinks(edges, host)
    rates = edges.lab.events_of(host, "rate")
    octets: int = sum(each["bytes"] for each in rates if each["flow"] in sinks and each["at_ns"] / SECOND > since)
    received = edges.lab.events_of(host, "quic_received")
    octets += sum(each["bytes"] for each in received if each["at_ns"] / SECOND > since)
    # These are of all datagrams since the first.
    reports = edges.lab.events_of(host, "udp_report")
    if reports:
        before: list[int] = [each["bytes"] for each in reports if each["at_ns"] / SECOND <= since]
        octets += reports[-1]["bytes"] - (before[-1] if before else 0)
    return 8 * octets


def _sinks(edges: WholeEdges, host: str) -> set[int]:
    port = f":{PORT if host == RECEIVER else PORT + 1}"
    return {each["flow"] for each in edges.lab.events_of(host, "tcp_connected") if each["local"].endswith(port)}


def _silence(edges: WholeEdges, since: float) -> float:
    rates = edges.lab.events_of(RECEIVER, "rate")
    gaps: list[int] = [each["longest_gap_ns"] for each in rates if each["at_ns"] / SECOND > since]
    return max(gaps) * 1000 / SECOND
