"""Runs a lab with its traffic, and shows it: on one screen of a terminal, or in plain lines."""

import asyncio
import json
import signal
import time
from dataclasses import dataclass

from rich.console import Console
from rich.live import Live

from wayname.cli.keys import Keys, has_screen
from wayname.page.loopback import loopback
from wayname_lab.admin import Octets
from wayname_lab.demonstration import expendable, is_due
from wayname_lab.lab_events import LabEvent
from wayname_lab.load import LabError
from wayname_lab.model import Lab, Link
from wayname_lab.namespaces import Namespaces
from wayname_lab.plan import plan_lab
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.screen import Screen
from wayname_lab.traffic import Part, Traffic, shared_out, summary
from wayname_lab.view import HostView, LinkView, RouterView, View, bits, clock
from wayname_lab.wires import Wires

MEDIA: dict[str, type[Wires] | type[Namespaces]] = {"wires": Wires, "namespaces": Namespaces}
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
REFRESH = 0.5  # seconds
PLAIN_EVERY = 2.0
KEYS = "1-{} cut or restore a link   a automatic cuts   q quit"


async def run_lab(lab: Lab, medium: str, seconds: float | None, *, as_json: bool = False) -> int:
    """Run a lab until Ctrl-C, or for some seconds; return the exit status: 0 if traffic flowed."""
    plan = plan_lab(lab)
    lines = Lines(as_json)
    traffic = Traffic(plan)
    with LabFolder() as folder:
        running = RunningLab(plan, MEDIA[medium](plan, folder), folder, traffic.take, lines.say)
        on_screen = has_screen() and not as_json
        lines.say(f"lab {lab.name} on {medium}: {len(lab.routers)} switches and controllers, {len(lab.hosts)} hosts")
        try:
            with _Ending():
                async with running, loopback(running.page_clients()) as page:
                    api = f"unix:{folder}/NAME.api"
                    lines.say(f"ready after {running.elapsed():.1f} s; controllers answer at {api}")
                    lines.say(f"see it in a browser: {page.address}")
                    show = Show(running, traffic, api, page.address, lines)
                    await show.run(seconds, on_screen=on_screen)
        except asyncio.CancelledError:
            lines.say("asked to end")
    results, flowed = summary(traffic.flows)
    for line in [*results, *shared_out(traffic.flows, plan)]:
        lines.say(line)
    lines.say("traffic flowed" if flowed else "traffic did not flow")
    return 0 if flowed else 1


@dataclass(frozen=True, slots=True)
class Lines:
    """What a lab says without a screen: for people, or an object a line for programs."""

    as_json: bool

    def say(self, text: str) -> None:
        """Tell of the lab as a whole."""
        if self.as_json:
            print(json.dumps({"who": "lab", "text": text}), flush=True)
        else:
            print(f"== {text}", flush=True)

    def event(self, event: LabEvent) -> None:
        """Tell what happened."""
        self.line(event.time, event.who, event.text)

    def line(self, seconds: float, who: str, text: str) -> None:
        """Tell what somebody said at a time."""
        if self.as_json:
            print(json.dumps({"seconds": round(seconds, 3), "who": who, "text": text}), flush=True)
        else:
            print(f"{clock(seconds)} {who:<8} {text}", flush=True)


class _Ending:
    """While entered, Ctrl-C, `kill` and a closed terminal cancel the task once, so that all is ended in order."""

    def __enter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        for number in ENDINGS:
            self._loop.add_signal_handler(number, self._end)

    def __exit__(self, *exception: object) -> None:
        for number in ENDINGS:
            self._loop.remove_signal_handler(number)

    def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None


class Show:
    """The traffic of a running lab, the cuts that it makes by itself, and what is seen of it."""

    def __init__(self, running: RunningLab, traffic: Traffic, api: str, page: str, lines: Lines) -> None:
        self._running = running
        self._api = api
        self._page = page
        self._lines = lines
        self._traffic = traffic
        self._lab = running.plan.lab
        traffic.on_resumed = lambda flow, seconds: running.event_log.tell(
            "traffic", f"{flow} flows again after {seconds:.1f} s"
        )
        traffic.on_lost = self._begin_anew
        self._links: list[LinkView] = []
        self._before: dict[str, tuple[float, Octets]] = {}
        self._expendable = expendable(self._lab)
        self._automatic = bool(self._expendable)
        self._to_advertise = list(running.plan.advertisers.values())
        self._to_withdraw = list(running.plan.advertisers.values())
        self._to_renumber = list(running.plan.delegators.values())
        self._began = running.elapsed()
        self._end = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, seconds: float | None, *, on_screen: bool) -> None:
        """Show the lab until its time is over."""
        for part in self._traffic.parts:
            await self._start_part(part)
        self._began = self._running.elapsed()
        if not on_screen:
            await self._plain(seconds)
            return
        with (
            Keys(self._pressed),
            Live(console=Console(markup=False, emoji=False), screen=True, auto_refresh=False) as live,
        ):
            while not self._is_over(seconds):
                await self._step()
                keys = KEYS.format(len(self._lab.links))
                live.update(Screen(self._view(), keys, self._api, self._page), refresh=True)
                await self._pause()

    def _begin_anew(self, part: Part, outcome: str) -> None:
        """A connection is lost; its sender makes another one, as programs do."""
        words = {"reset": "reset by its peer", "timed_out": "given up by its sender"}.get(outcome, outcome)
        name = part.flow.name
        self._running.event_log.tell("traffic", f"{name} was lost, {words}; it begins anew", "warning")
        task = asyncio.create_task(self._start_part(part))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start_part(self, part: Part) -> None:
        number = await self._running.hosts[part.host].start(part.command)
        self._traffic.started(part, number)

    async def _plain(self, seconds: float | None) -> None:
        for event in self._running.event_log.last:
            self._lines.event(event)
        self._running.event_log.listeners.append(self._lines.event)
        due = 0.0
        while not self._is_over(seconds):
            await self._step()
            if self._running.elapsed() >= due:
                due = self._running.elapsed() + PLAIN_EVERY
                self._print_rates()
            await self._pause()

    def _is_over(self, seconds: float | None) -> bool:
        running = self._running
        if running.supervisor.failed.is_set():
            raise LabError(running.supervisor.failure)
        return self._end.is_set() or (seconds is not None and running.elapsed() - self._began >= seconds)

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._end.wait(), REFRESH)
        except TimeoutError:
            return

    async def _step(self) -> None:
        """Measure the links, and cut or restore what is due."""
        await self._advertise_what_is_due()
        await self._renumber_what_is_due()
        if self._automatic:
            await self._cut_by_itself()
        self._links = [await self._measure(number) for number in range(len(self._lab.links))]

    async def _advertise_what_is_due(self) -> None:
        elapsed = (self._running.elapsed() - self._began) * 1e9
        for plan in list(self._to_advertise):
            if elapsed >= plan.said.begin:
                self._to_advertise.remove(plan)
                await self._running.advertise(plan)
        for plan in list(self._to_withdraw):
            if plan.said.end is not None and elapsed >= plan.said.end:
                self._to_withdraw.remove(plan)
                await self._running.withdraw(plan)

    async def _renumber_what_is_due(self) -> None:
        elapsed = (self._running.elapsed() - self._began) * 1e9
        for plan in list(self._to_renumber):
            if plan.said.change is not None and elapsed >= plan.said.change:
                self._to_renumber.remove(plan)
                await self._running.renumber(plan)

    async def _cut_by_itself(self) -> None:
        is_cut = self._running.cut_links
        due = is_due(self._running.elapsed() - self._began)
        if due and not is_cut:
            rates = {link.name: link.forth + link.back for link in self._links}
            busiest = max(self._expendable, key=lambda link: rates[link.name])
            await self._running.set_cut(busiest, True)
        elif not due:
            for link in self._expendable:
                if link.name in is_cut:
                    await self._running.set_cut(link, False)

    async def _measure(self, number: int) -> LinkView:
        link = self._lab.links[number]
        now, counted = self._running.elapsed(), await self._running.link_octets(link)
        then, before = self._before.get(link.name, (now, counted))
        self._before[link.name] = (now, counted)
        period = max(now - then, 1e-3)
        forth, back = counted.sent - before.sent, counted.received - before.received
        is_cut = link.name in self._running.cut_links
        # A switch that started again counts from 0.
        return LinkView(link.name, link.a, link.b, is_cut, max(forth, 0) * 8 / period, max(back, 0) * 8 / period)

    def _pressed(self, key: str) -> None:
        if key == "q":
            self._end.set()
        elif key == "a":
            if self._automatic:
                self._stop_cutting()
            else:
                self._automatic = bool(self._expendable)
            self._running.event_log.tell("lab", f"automatic cuts are {'on' if self._automatic else 'off'}")
        elif key.isdigit() and 1 <= int(key) <= len(self._lab.links):
            link = self._lab.links[int(key) - 1]
            self._stop_cutting(other_than=link)
            self._set_cut(link, link.name not in self._running.cut_links)

    def _stop_cutting(self, other_than: Link | None = None) -> None:
        """Cut nothing by itself from now on, and restore what it has cut."""
        for link in self._expendable if self._automatic else ():
            if link.name in self._running.cut_links and link is not other_than:
                self._set_cut(link, False)
        self._automatic = False

    def _set_cut(self, link: Link, cut: bool) -> None:
        task = asyncio.create_task(self._running.set_cut(link, cut))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _view(self) -> View:
        running = self._running
        processes = running.supervisor.processes
        routers = [
            RouterView(
                router.name,
                router.is_edge,
                running.controllers[router.name].state,
                processes[f"{router.name}-switch"].starts,
                processes[f"{router.name}-controller"].starts,
            )
            for router in self._lab.routers
        ]
        plans = running.plan.hosts.values()
        hosts = [HostView(host.name, host.edge, host.vlan, str(host.address.ip)) for host in plans]
        return View(
            self._lab.title,
            running.medium.name,
            running.elapsed(),
            time.monotonic_ns(),
            self._links,
            routers,
            hosts,
            self._traffic.flows,
            list(running.event_log.last),
        )

    def _print_rates(self) -> None:
        links = " ".join(
            f"{link.name} {'cut' if link.is_cut else f'{bits(link.forth)}/{bits(link.back)}'}" for link in self._links
        )
        flows = ", ".join(
            f"{flow.name} " + (f"{flow.received} answers" if flow.flow.kind == "ping" else f"{bits(flow.rate)}bit/s")
            for flow in self._traffic.flows
        )
        self._lines.line(self._running.elapsed(), "links", links)
        self._lines.line(self._running.elapsed(), "flows", flows)
