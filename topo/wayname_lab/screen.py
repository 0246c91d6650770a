"""Draws a lab on a terminal: topology with the state and rate of links, hosts, flows, controllers, what happens."""

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from wayname_lab.view import LinkView, View, bits, clock, milliseconds, octets

WIDE = 110
SEVERITY_STYLES = {"info": "", "warning": "yellow", "error": "bold red"}


class Screen:
    """One screen of a lab, as large as the terminal is."""

    def __init__(self, view: View, keys: str, api: str, page: str) -> None:
        self._view = view
        self._keys = keys
        self._api = api
        self._page = page

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or options.max_height
        wide = options.max_width >= WIDE
        parts: list[RenderableType] = [self._head(), Text(), *self._topology(wide), Text(), self._flows(wide)]
        parts += [Text(), self._routers(), Text(), self._hosts()] if wide else [Text(), *self._in_short()]
        feet = self._feet()
        used = sum(len(console.render_lines(part, options.update(height=None))) for part in [*parts, *feet])
        parts += [Text(), *self._happenings(height - used - 2, options.max_width)]
        yield Group(*parts, *feet)

    def _head(self) -> Text:
        view = self._view
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f" {view.title}", "bold")
        text.append(f" on {view.medium}  {clock(view.elapsed)}")
        return text

    def _feet(self) -> list[Text]:
        """Say where controllers and the page are, whole even on two lines, and the keys."""
        places = (f" api   {self._api}", f" page  {self._page}")
        return [
            *(Text(place, "dim", overflow="fold") for place in places),
            Text(f" keys  {self._keys}", "bold", no_wrap=True, overflow="ellipsis"),
        ]

    def _topology(self, wide: bool) -> list[Text]:
        view = self._view
        edges = [router.name for router in view.routers if router.is_edge]
        left = edges[: (len(edges) + 1) // 2]
        lines = []
        drawn: set[str] = set()
        for provider in (router.name for router in view.routers if not router.is_edge):
            mine = [link for link in view.links if provider in (link.a, link.b)]
            to_left = [link for link in mine if _other(link, provider) in left]
            to_right = [link for link in mine if _other(link, provider) in edges and link not in to_left]
            for row in range(max(len(to_left), len(to_right))):
                line = Text("  ", no_wrap=True, overflow="ellipsis")
                width = 30 if wide else 24
                self._side(line, to_left[row : row + 1], provider, width, reverse=False)
                line.append(f" {provider} ", "bold cyan")
                self._side(line, to_right[row : row + 1], provider, width, reverse=True)
                lines.append(line)
            drawn.update(link.name for link in to_left + to_right)
        for link in view.links:
            if link.name not in drawn:
                line = Text("  ", no_wrap=True, overflow="ellipsis")
                line.append(f"{link.a:>8} ", "bold cyan")
                self._wire(line, link, link.forth, link.back, 30 if wide else 24)
                line.append(f" {link.b}", "bold cyan")
                lines.append(line)
        return lines

    def _side(self, line: Text, links: list[LinkView], provider: str, width: int, *, reverse: bool) -> None:
        """Draw the link between an edge and a provider, or room for one."""
        if not links:
            line.append(" " * (width + 9))
            return
        link = links[0]
        edge = _other(link, provider)
        rightwards, leftwards = (link.forth, link.back) if (link.a == edge) != reverse else (link.back, link.forth)
        if not reverse:
            line.append(f"{edge:>8} ", "bold green")
        self._wire(line, link, rightwards, leftwards, width)
        if reverse:
            line.append(f" {edge:<8}", "bold green")

    def _wire(self, line: Text, link: LinkView, rightwards: float, leftwards: float, width: int) -> None:
        number = next(number for number, other in enumerate(self._view.links, 1) if other is link)
        if link.is_cut:
            line.append(f"{number}" + " cut ".center(width - 1, "x"), "bold red")
            return
        middle = f" {bits(rightwards):>5}→ ←{bits(leftwards):<5} "
        line.append(f"{number}" + middle.center(width - 1, "═"), "green" if rightwards + leftwards > 1000 else "dim")

    def _flows(self, wide: bool) -> Table:
        table = Table(box=None, pad_edge=True, header_style="bold dim", padding=(0, 1))
        table.add_column("flow", min_width=18)
        for heading in ("bit/s", "arrived", "round trip", "lost", "longest gap"):
            table.add_column(heading, justify="right", no_wrap=True)
        if wide:
            table.add_column("state")
        for flow in self._view.flows:
            arrived = octets(flow.total) if flow.total else str(flow.received)
            lost = str(flow.lost) if flow.counted else "-"
            lost += f" ({flow.lost / flow.counted:.1%})" if wide and flow.counted else ""
            rate = bits(flow.rate) if flow.flow.kind != "ping" else "-"
            cells = [flow.name, rate, arrived, milliseconds(flow.rtt), lost, milliseconds(flow.longest_gap)]
            state = flow.state(self._view.now)
            style = "" if state == "flows" else "yellow"
            table.add_row(*cells, *([state] if wide else []), style=style)
        return table

    def _in_short(self) -> list[Text]:
        """Draw controllers and hosts in a line each, where there is no room for tables."""
        routers = Text(" controllers ", "bold dim", no_wrap=True, overflow="ellipsis")
        for router in self._view.routers:
            routers.append(f" {router.name} {router.state}", "green" if router.state == "ready" else "yellow")
        hosts = Text(" hosts       ", "bold dim", no_wrap=True, overflow="ellipsis")
        for host in self._view.hosts:
            hosts.append(f" {host.name}", "bold")
            hosts.append(f" {host.address}", "not bold")
        return [routers, hosts]

    def _routers(self) -> Table:
        table = Table(box=None, pad_edge=True, header_style="bold dim", padding=(0, 1))
        for heading in ("router", "controller", "switch starts", "controller starts"):
            table.add_column(heading)
        for router in self._view.routers:
            kind = "edge" if router.is_edge else "provider"
            name = f"{kind} {router.name}"
            table.add_row(name, router.state, str(router.switch_starts), str(router.controller_starts))
        return table

    def _hosts(self) -> Table:
        table = Table(box=None, pad_edge=True, header_style="bold dim", padding=(0, 1))
        for heading in ("host", "edge", "VLAN", "address"):
            table.add_column(heading)
        for host in self._view.hosts:
            table.add_row(host.name, host.edge, str(host.vlan), host.address)
        return table

    def _happenings(self, lines: int, width: int) -> list[Text]:
        shown = self._view.event_log[-lines:] if lines > 0 else []
        texts = []
        for event in shown:
            text = Text(f" {clock(event.time)} ", no_wrap=True, overflow="ellipsis")
            text.append(f"{event.who:<8} ", "cyan")
            text.append(event.text, SEVERITY_STYLES[event.severity])
            text.truncate(width, overflow="ellipsis")
            texts.append(text)
        return texts


def _other(link: LinkView, router: str) -> str:
    return link.b if router == link.a else link.a
