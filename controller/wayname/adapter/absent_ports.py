"""A multicast group that names a port which the switch was started without: the group's other ports go on.

P4Runtime refuses the whole group, and with it a VLAN's flooding: its hosts and next hops would find nobody.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence

import finsy as fy
from finsy import GRPCStatusCode

from wayname.edge.boundary import Update, UpdateKind, WriteFailed

Write = Callable[[Update], Awaitable[Sequence[WriteFailed]]]


async def written_without(failed: WriteFailed, write: Write) -> WriteFailed:
    """Write a refused group port by port; return what is still to be told of it."""
    kind, group = failed.update
    if not isinstance(group, fy.P4MulticastGroupEntry) or failed.code != GRPCStatusCode.INVALID_ARGUMENT:
        return failed
    there = list(group.replicas[:0])
    absent: list[str] = []
    for replica in group.replicas:
        some = dataclasses.replace(group, replicas=(*there, replica))
        if await write((kind, some)):
            absent.append(str(replica))
        else:
            there.append(replica)
            kind = UpdateKind.MODIFY
    if not there:
        return failed
    text = f"the switch has no port {', '.join(absent)}, and the group goes on without; start the switch with it"
    # The group is there: what the switch holds under this key changes by MODIFY from now on.
    return WriteFailed((UpdateKind.MODIFY, group), failed.code, text)
