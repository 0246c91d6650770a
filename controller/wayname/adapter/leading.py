"""Whether this controller is the one that controls its switch: always, or in a fleet for a term."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from wayname.fleet.leadership import Term
from wayname.fleet.member import FleetMember


class Leading:
    """Nobody else controls the switch where there is no `member`.

    Else `take_up` is called for a term before which somebody else may have led; it returns whether it could go on from
    what that one left.
    """

    def __init__(self, member: FleetMember | None, take_up: Callable[[Term], Awaitable[bool]]) -> None:
        self._leadership = member.leadership if member else None
        self._take_up = take_up
        # The term that the edge is of.
        self._taken: Term | None = None

    async def elected(self) -> Term | None:
        """Wait until this controller may control the switch; in a fleet, return its term."""
        if self._leadership is None:
            return None
        term = await self._leadership.elected()
        if term is not self._taken:
            self._taken = term
            if self._leadership.lacks_state and await self._take_up(term):
                self._leadership.took_up(term)
        return term

    @property
    def term(self) -> Term | None:
        """The term of now, if there is one."""
        return self._leadership.term if self._leadership else None

    @property
    def is_overtaken(self) -> bool:
        """Whether the edge is of a term that is over, or of none though one began."""
        return self.term is not self._taken

    @property
    def is_taking_up(self) -> bool:
        """Whether a term has begun, and the edge lacks what somebody else left."""
        leadership = self._leadership
        return leadership is not None and leadership.term is not None and leadership.lacks_state

    @property
    def leads(self) -> bool:
        """Whether the switch is this controller's, and the edge knows all that it has to."""
        return self._leadership is None or (self.term is not None and not self.is_taking_up)

    @property
    def has_led(self) -> bool:
        """Whether it ever was."""
        return self._leadership is None or self._taken is not None

    @property
    def may_write(self) -> bool:
        """Whether this controller may change what is on the switch."""
        return self._leadership is None or (not self.is_taking_up and self._leadership.may_write())

    async def outbid(self, election_id: int) -> None:
        """The switch listens to another controller of this id; in a fleet etcd has forgotten something then."""
        if self._leadership:
            await self._leadership.outbid(election_id)
