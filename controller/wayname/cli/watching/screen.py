"""Draws an edge on a terminal of 80 columns and more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from wayname.cli.watching.frames import Watched
from wayname.cli.watching.texts import bits, event_words, milliseconds, share, shortened
from wayname.escape import escaped

VIEWS = {"e": "events", "s": "sessions", "d": "drops", "t": "tables"}
KEYS = "   ".join(f"{key} {view}" for key, view in VIEWS.items()) + "   q quit"
STYLES = {"warning": "yellow", "error": "bold red"}
MOST_WAYS = 6
Cell = str | tuple[str, str]


class Screen:
    """One screen of an edge, as large as the terminal is."""

    def __init__(self, watched: Watched, view: str) -> None:
        self._watched = watched
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or options.max_height
        parts: list[RenderableType] = [self._head(), Text(), self._providers(), Text(), self._ways(), Text()]
        used = sum(len(console.render_lines(part, options.update(height=None))) for part in parts)
        room = max(1, height - used - 2)
        below = self._below(room)
        filled = len(console.render_lines(below, options.update(height=None)))
        keys = Text(f" keys  {KEYS}", "bold", no_wrap=True, overflow="ellipsis")
        yield Group(*parts, below, *[Text()] * (room - filled), keys)

    def _head(self) -> Text:
        sections = self._watched.sections
        text = Text(" ", no_wrap=True, overflow="ellipsis")
        if (edge := sections.get("edge")) is None:
            return text.append(self._watched.trouble or "waiting for the controller", "yellow")
        text.append(escaped(edge["name"]), "bold")
        state = self._watched.trouble or (edge["waits_for"][0] if edge["waits_for"] else edge["state"])
        text.append(f"  {escaped(state)}", "green" if state == "ready" else "bold red")
        text.append(f"  {in_figures(self._watched)}")
        return text

    def _providers(self) -> Table:
        rows = []
        for provider in self._watched.sections.get("providers") or []:
            rates = [self._watched.rates[port] for port in provider["ports"] if port in self._watched.rates]
            down, up = (bits(sum(rate[way] for rate in rates)) if rates else "-" for way in (0, 1))
            state = ("used", "green") if provider["used"] else (shortened(provider["why"]) or "not used", "bold red")
            delay, loss = milliseconds(provider["delay"]), share(provider["loss"])
            rows.append([provider["name"], str(provider["sessions"]), up, down, delay, loss, state])
        return grid(("provider", "sessions>", "up>", "down>", "delay>", "loss>", "state"), rows)

    def _ways(self) -> Table:
        sites = (self._watched.sections.get("sites") or {}).get("sites", [])
        ways = [(path, site) for site in sites for path in site["paths"]]
        ways.sort(key=lambda way: -way[0]["sessions"])
        rows: list[list[Cell]] = []
        for path, site in ways[:MOST_WAYS]:
            silent = path["known"] and path["silent"] == path["known"]
            used = ("does not answer", "bold red") if silent else ("in use" if path["sessions"] else "backup", "")
            trip = milliseconds(path["round_trip"])
            rows.append([site["prefix"], path["provider"], path["to"], str(path["sessions"]), trip, used])
        return grid(("site", "by", "to", "sessions>", "round trip>", ""), rows)

    def _below(self, room: int) -> RenderableType:
        match self._view:
            case "sessions":
                return self._sessions(room - 1)
            case "drops":
                return self._drops(room - 1)
            case "tables":
                return self._tables(room - 1)
        lines = [event_line(event) for event in list(self._watched.events)[-room:]]
        return Group(*lines)

    def _sessions(self, room: int) -> Table:
        shown = (self._watched.sections.get("sessions") or {}).get("shown", [])[:room]
        rows = [
            [
                str(each["number"]),
                shortened(each["local"]),
                shortened(each["peer"]),
                each["provider"] or "-",
                str(each["path"]),
                each["health"],
            ]
            for each in shown
        ]
        return grid(("no.>", "host", "peer", "by", "path>", "state"), rows)

    def _drops(self, room: int) -> Table:
        drops = (self._watched.sections.get("drops") or [])[:room]
        rows = [
            [each["name"], "yes" if each["is_loss"] else "no", each["where"], str(each["packets"])] for each in drops
        ]
        return grid(("reason", "loss", "where", "packets>"), rows)

    def _tables(self, room: int) -> Table:
        tables = self._watched.sections.get("tables") or []
        fullest = sorted(tables, key=lambda each: -each["entries"] / each["size"])[:room]
        rows = [
            [each["name"], f"{each['entries']}", f"{each['size']}", share(each["entries"] / each["size"])]
            for each in fullest
        ]
        return grid(("table", "entries>", "size>", "fill>"), rows)


def in_figures(watched: Watched) -> str:
    """An edge in short."""
    sections = watched.sections
    providers = sections.get("providers") or []
    used = sum(provider["used"] for provider in providers)
    sessions = (sections.get("sessions") or {"total": 0})["total"]
    return f"{sessions} sessions  {used} of {len(providers)} providers  {watched.events_a_second:.0f} events/s"


def event_line(event: dict[str, Any]) -> Text:
    """An event in a line that ends where the terminal does."""
    return Text(
        f" {shortened(event_words(event))}", STYLES.get(event["severity"], ""), no_wrap=True, overflow="ellipsis"
    )


def grid(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    """Rows under their heads, as wide as the terminal at most; heads that end with > are of numbers."""
    table = Table(box=None, pad_edge=True, header_style="bold dim", padding=(0, 1))
    for head in heads:
        right = head.endswith(">")
        table.add_column(head.rstrip(">"), justify="right" if right else "left", no_wrap=True, overflow="ellipsis")
    for row in rows:
        cells = [cell if isinstance(cell, tuple) else (cell, "") for cell in row]
        table.add_row(*(Text(escaped(text), style) for text, style in cells))
    return table
