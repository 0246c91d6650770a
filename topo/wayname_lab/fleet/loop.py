"""An event loop whose time passes at once, and processes in it that may stand still and have clocks of their own."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVarTuple, Unpack

_Args = TypeVarTuple("_Args")
# Timers of processes are late by as much, so that none finds by a clock of another rate that it is early.
LATE = 1e-6

PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)


class _Jumping(selectors.SelectSelector):
    """Has time pass where a loop would wait."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("everything waits for something that never comes")
        self.now += max(timeout, 0.0)
        return super().select(0)


class Process:
    """What runs on one machine. Its clock runs at a rate of its own, and nothing of it runs while it is stopped."""

    def __init__(self, loop: VirtualLoop, name: str, rate: float = 1.0) -> None:
        self.name, self.rate = name, rate
        self.is_stopped = False
        # Nothing comes from it, and nothing to it.
        self.is_dead = False
        self._loop = loop
        self._held: list[_Callback] = []

    def clock(self) -> float:
        """Return the time of its machine."""
        return self._loop.true_time * self.rate

    def start(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin something in this process."""
        context = copy_context()
        context.run(PROCESS.set, self)
        return self._loop.create_task(coroutine, context=context)

    def stop(self) -> None:
        """Stand still, as by SIGSTOP."""
        self.is_stopped = True

    def go_on(self) -> None:
        """Go on, as by SIGCONT, with all that came meanwhile."""
        self.is_stopped = False
        held, self._held = self._held, []
        for each in held:
            each.schedule()

    def hold(self, callback: _Callback) -> None:
        """Keep a callback for when it goes on."""
        self._held.append(callback)


class _Callback:
    """What a loop calls for a process, now or when that goes on."""

    __slots__ = ("_args", "_call", "_context", "_loop", "_process", "handle")

    def __init__(
        self, loop: VirtualLoop, process: Process, call: Callable[..., object], args: tuple[Any, ...], context: Context
    ) -> None:
        self._loop, self._process, self._call, self._args, self._context = loop, process, call, args, context
        self.handle: asyncio.Handle

    def schedule(self) -> None:
        """Have it called soon, unless it was cancelled."""
        if not self.handle.cancelled():
            self._loop.soon(self)

    def __call__(self) -> None:
        if self._process.is_stopped:
            self._process.hold(self)
        elif not self.handle.cancelled():
            self._context.run(self._call, *self._args)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time passes at once; in a process it is that process's time."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    @property
    def true_time(self) -> float:
        """The virtual time, in seconds, by no process's clock."""
        return self._jumping.now

    def time(self) -> float:
        """The time of the process that asks."""
        process = PROCESS.get()
        return self._jumping.now * (process.rate if process else 1.0)

    def soon(self, callback: Callable[[], object]) -> asyncio.Handle:
        """Call something soon, outside of all processes."""
        return super().call_soon(callback, context=Context())

    def after(self, seconds: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        """Call something after so many seconds, outside of all processes."""
        return super().call_at(self._jumping.now + seconds, callback, context=Context())

    def call_soon(
        self, callback: Callable[[Unpack[_Args]], object], *args: *_Args, context: Context | None = None
    ) -> asyncio.Handle:
        """As of any loop, for the process of the context."""
        context = copy_context() if context is None else context
        process = context.get(PROCESS)
        if process is None:
            return super().call_soon(callback, *args, context=context)
        called = _Callback(self, process, callback, args, context)
        called.handle = self.soon(called)
        return called.handle

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[_Args]], object],
        *args: *_Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As of any loop, by the clock of the context's process."""
        context = copy_context() if context is None else context
        process = context.get(PROCESS)
        if process is None:
            return super().call_at(when, callback, *args, context=context)
        called = _Callback(self, process, callback, args, context)
        handle = super().call_at(when / process.rate + LATE, called, context=Context())
        called.handle = handle
        return handle
