"""Members of etcd on the virtual clock, which answer gRPC by one store: they die, part, and elect who leads them.

A write is carried out where a majority is together. A member that is apart answers nothing for a while, then that there
is no leader; its watchers hear nothing until it is back, or are sent away.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import grpc
from aetcd import rpc

from wayname_lab.fleet.etcd_store import Changed, EtcdStore, is_within, told_of
from wayname_lab.fleet.loop import Process, VirtualLoop
from wayname_lab.fleet.network import GONE, Network, Refused, Stream

# How often etcd looks for leases that have ended.
LOOKS_EVERY = 0.5
# As tuned in docs/fleet.md: half a second, and up to as much again.
ELECTS_WITHIN = (0.5, 1.1)
# A watcher that wants a leader is sent away after three election timeouts without one.
SENDS_AWAY = 1.5
NO_LEADER = Refused(grpc.StatusCode.UNAVAILABLE, "etcdserver: no leader")
WATCH, KEEP_ALIVE = "/etcdserverpb.Watch/Watch", "/etcdserverpb.Lease/LeaseKeepAlive"
TXN = "/etcdserverpb.KV/Txn"


@dataclass(eq=False, slots=True)
class _Watcher:
    stream: Stream
    key: bytes
    end: bytes
    next: int


@dataclass(eq=False, slots=True)
class Member:
    """A server: `is_up`, and with a majority or apart from it since some time."""

    etcd: EtcdMembers
    address: str
    is_up: bool = True
    is_apart: bool = False
    # Since when it has had no leader.
    alone_since: float | None = None
    streams: set[Stream] = field(default_factory=set)
    watchers: list[_Watcher] = field(default_factory=list)

    def ask(self, process: Process, method: str, request: Any, answer: Callable[[Any], None]) -> None:
        """As of `Server`."""
        if self.alone_since is None:
            answer(self.etcd.carry_out(process, method, request))
        elif self.etcd.now >= self.alone_since + ELECTS_WITHIN[0]:
            answer(NO_LEADER)

    def open(self, stream: Stream) -> None:
        """As of `Server`."""
        self.streams.add(stream)

        def closed() -> None:
            self.streams.discard(stream)
            self.watchers = [each for each in self.watchers if each.stream is not stream]

        stream.closed = closed
        if stream.method == WATCH:
            stream.heard = lambda message: self._watch(stream, message.create_request)
        else:
            stream.heard = lambda message: self.ask(
                stream.process, stream.method, message, lambda answer: _give(stream, answer)
            )

    def _watch(self, stream: Stream, wish: Any) -> None:
        store = self.etcd.store
        header = rpc.ResponseHeader(revision=store.revision)
        stream.send(rpc.WatchResponse(header=header, created=True))
        if 0 < wish.start_revision < store.compacted:
            stream.send(rpc.WatchResponse(header=header, canceled=True, compact_revision=store.compacted))
            return
        self.watchers.append(_Watcher(stream, wish.key, wish.range_end, wish.start_revision or store.revision + 1))
        self.tell()

    def tell(self) -> None:
        """Tell watchers what they have not heard, if it is known here."""
        if not self.is_up or self.alone_since is not None:
            return
        store = self.etcd.store
        for each in list(self.watchers):
            header = rpc.ResponseHeader(revision=store.revision)
            if each.next < store.compacted:
                self.watchers.remove(each)
                each.stream.send(rpc.WatchResponse(header=header, canceled=True, compact_revision=store.compacted))
                continue
            events = [told_event(some) for some in store.since(each.next) if is_within(some.key, each.key, each.end)]
            each.next = max(each.next, store.revision + 1)
            if events:
                each.stream.send(rpc.WatchResponse(header=header, events=events))

    def lose_streams(self, why: Refused) -> None:
        """End all streams."""
        streams, self.streams, self.watchers = self.streams, set(), []
        for stream in streams:
            stream.end(why)


class EtcdMembers:
    """Members at addresses of a network, who have one truth."""

    def __init__(self, loop: VirtualLoop, network: Network, rng: random.Random, addresses: list[str]) -> None:
        self.store = EtcdStore(lambda: loop.true_time)
        self.members = [Member(self, each) for each in addresses]
        # Looks at each transaction before it is carried out.
        self.looked_at: Callable[[Process, Any], None] = lambda _process, _request: None
        self._leader: Member | None = self.members[0]
        self._loop, self._rng = loop, rng
        self._elections = 0
        network.servers |= {each.address: each for each in self.members}
        loop.after(LOOKS_EVERY, self._look)

    @property
    def now(self) -> float:
        """The time, by no member's clock."""
        return self._loop.true_time

    @property
    def leader(self) -> Member | None:
        """Who leads the others, unless they are electing."""
        return self._leader

    def carry_out(self, process: Process, method: str, request: Any) -> Any:
        """Return what comes of a request."""
        store = self.store
        before = store.revision
        try:
            match method.rpartition("/")[2]:
                case "Range":
                    return store.range(request)
                case "Txn":
                    self.looked_at(process, request)
                    return store.transact(request)
                case "LeaseGrant":
                    return store.grant(request)
                case "LeaseKeepAlive":
                    return store.keep_alive(request)
                case "LeaseRevoke":
                    return store.revoke(request)
                case "Compact":
                    return store.compact(request)
        except Refused as refused:
            return refused
        finally:
            if store.revision != before:
                self.tell()
        return Refused(grpc.StatusCode.UNIMPLEMENTED, f"unknown method {method}")

    def tell(self) -> None:
        """Tell all watchers."""
        for each in self.members:
            each.tell()

    def kill(self, member: Member) -> None:
        """Have a member die, with its connections."""
        member.is_up = False
        member.lose_streams(GONE)
        self._reconsider()

    def start(self, member: Member) -> None:
        """Have it come back with its data."""
        member.is_up = True
        self._reconsider()

    def part(self, member: Member) -> None:
        """Cut a member off from the others, and not from clients."""
        member.is_apart = True
        self._reconsider()

    def mend(self, member: Member) -> None:
        """Put it and the others together again."""
        member.is_apart = False
        self._reconsider()

    def _together(self) -> list[Member]:
        """Return the members of a majority, if there is one."""
        together = [each for each in self.members if each.is_up and not each.is_apart]
        return together if 2 * len(together) > len(self.members) else []

    def _reconsider(self) -> None:
        """After a change of who is there: the leader may be gone, and members with it or away from it."""
        together = self._together()
        if self._leader not in together:
            self._leader = None
            self._elections += 1
            number = self._elections
            if together:
                self._loop.after(self._rng.uniform(*ELECTS_WITHIN), lambda: self._elect(number))
        for each in self.members:
            if self._leader is not None and each in together:
                each.alone_since = None
            elif each.alone_since is None:
                each.alone_since = self.now
                self._loop.after(SENDS_AWAY, partial(self._send_away, each, self.now))
        self.tell()

    def _elect(self, number: int) -> None:
        if number == self._elections and (together := self._together()):
            self._leader = self._rng.choice(together)
            self.store.give_leases_anew()
            self._reconsider()

    def _send_away(self, member: Member, since: float) -> None:
        if member.alone_since == since and member.is_up:
            member.lose_streams(NO_LEADER)

    def _look(self) -> None:
        if self._leader is not None:
            before = self.store.revision
            self.store.end_leases()
            if self.store.revision != before:
                self.tell()
        self._loop.after(LOOKS_EVERY, self._look)


def told_event(changed: Changed) -> Any:
    """Return a change as watchers hear of it."""
    if changed.value is None:
        return rpc.Event(type=rpc.Event.DELETE, kv=rpc.KeyValue(key=changed.key, mod_revision=changed.revision))
    return rpc.Event(type=rpc.Event.PUT, kv=told_of(changed.value))


def _give(stream: Stream, answer: Any) -> None:
    if isinstance(answer, Refused):
        stream.end(answer)
    else:
        stream.send(answer)
