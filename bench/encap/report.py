"""What was measured, as a table, as figures and against the goals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.encap.candidates import BARE, BMV2, ENDS, KERNEL, PORTS, SWITCH
from bench.encap.goals import (
    LEAST_OF_BMV2S_RATE,
    Cost,
    Goal,
    kernel_goals,
    largest_steps,
    lengths_goal,
    memory_goal,
    ports_goal,
    ratio_goal,
    steps_goal,
)
from bench.encap.measure import InMemory, Lossless, OnRoad
from bench.encap.points import MODES, PLAIN, Mode, Point
from bench.figures import Line, Panel, keep

PANELS = {
    "a": ("Traces", "octets of trace data"),
    "b": ("Segments around packets", "segments"),
    "c": ("Segments around frames", "segments"),
    "d": ("Source routes", "hops"),
}


@dataclass(frozen=True, slots=True)
class Roads:
    """Between veth pairs: floods, and the greatest rates without loss."""

    floods: Mapping[str, Mapping[Point, OnRoad]]
    lossless: Mapping[str, Mapping[Point, Lossless]]


def goals(memory: Mapping[Point, InMemory], roads: Roads | None, *, steps: bool) -> list[Goal]:
    """Every goal that could be measured; those of steps only where neighbouring sizes were."""
    found = [memory_goal({point: seen.rate for point, seen in memory.items()})]
    if steps:
        alone = {point: Cost(seen.octets, seen.ns) for point, seen in memory.items()}
        found.append(steps_goal("in memory", largest_steps(alone, MODES)))
    if roads is None:
        return found
    ours, kernels = roads.floods[SWITCH], roads.floods.get(KERNEL)
    if steps:
        process = {point: Cost(seen.octets, seen.process) for point, seen in ours.items()}
        found.append(steps_goal("of the switch's time between veth pairs", largest_steps(process, MODES)))
    if kernels:
        found.append(lengths_goal(_octets(ours), _octets(kernels)))
        found += kernel_goals(_rates(ours), _rates(kernels))
    plain = Point(None, 0)
    if plain in roads.floods.get(PORTS, {}):
        found.append(ports_goal(ours[plain].processes, roads.floods[PORTS][plain].processes))
    if BMV2 in roads.lossless:
        what = f"{LEAST_OF_BMV2S_RATE:.0f} times BMv2's rate without loss"
        found.append(
            ratio_goal(what, _rates(roads.lossless[SWITCH]), _rates(roads.lossless[BMV2]), LEAST_OF_BMV2S_RATE)
        )
    return found


def _rates(found: Mapping[Point, OnRoad] | Mapping[Point, Lossless]) -> dict[Point, float]:
    return {point: seen.rate for point, seen in found.items()}


def _octets(found: Mapping[Point, OnRoad]) -> dict[Point, int]:
    return {point: seen.octets for point, seen in found.items()}


def table(memory: Mapping[Point, InMemory], roads: Roads | None, *, steps: bool) -> str:
    """A few sizes of each mode, and each mode's largest step where neighbouring sizes were measured.

    Times are of the processor: the pipeline's, the switch's process's, and what the kernel takes beside generator and
    counter. Rates have their 10th and 90th percentile and the worst behind them, in memory times.
    """
    measured = "".join(f" {what:>18} {'10 %, 90 %, worst':>17}" for what in ("in memory", "switch", "kernel"))
    lines = [f"{'':20} {'octets':>6}{measured} {'without loss':>12} {'BMv2':>25}"]
    for mode in (None, *MODES):
        of_mode = [point for point in memory if point.mode is mode]
        shown = {of_mode[0], of_mode[len(of_mode) // 2], of_mode[-1]}
        shown |= {point for point in of_mode if roads and point in roads.lossless[SWITCH]}
        lines += [_row(point, memory[point], roads) for point in of_mode if point in shown]
    if not steps:
        return "\n".join(lines)
    alone = {point: Cost(found.octets, found.ns) for point, found in memory.items()}
    lines += [f"largest step in memory: {step}" for step in largest_steps(alone, MODES)]
    kernels = roads.floods.get(KERNEL) if roads else None
    if kernels:
        costs = {point: Cost(seen.octets, seen.ns) for point, seen in kernels.items()}
        lines += [f"largest step of the kernel: {step}" for step in largest_steps(costs, MODES)]
    return "\n".join(lines)


def _row(point: Point, alone: InMemory, roads: Roads | None) -> str:
    text = f"{point.name:20} {alone.octets:6} {alone.rate / 1e6:6.2f} M/s {alone.ns:5.0f} ns {_spread(alone, 1)}"
    if roads is None:
        return text
    ends = next((seen.ns for seen in roads.floods.get(ENDS, {}).values()), 0.0)
    ours, kernels = roads.floods[SWITCH][point], roads.floods.get(KERNEL, {}).get(point)
    text += f" {ours.rate / 1e3:6.0f} k/s {ours.process:5.0f} ns {_spread(ours, 1e-3)}"
    if kernels:
        text += f" {kernels.rate / 1e3:6.0f} k/s {kernels.ns - ends:5.0f} ns {_spread(kernels, 1e-3)}"
    else:
        text += " " * 37
    for name in (SWITCH, BMV2):
        found = roads.lossless.get(name, {}).get(point)
        text += f" {found.rate / 1e3:7.1f} k/s {_spread(found, 1e-3)}" if found else ""
    return text


def _spread(found: InMemory | OnRoad | Lossless, scale: float) -> str:
    spread = found.spread
    return " ".join(f"{value * scale:5.0f}" for value in (spread.tenth, spread.ninetieth, spread.worst))


def parts(memory: Mapping[Point, InMemory], roads: Roads) -> str:
    """Where the time of a packet goes that is only routed: nanoseconds, and how many processors were busy."""
    lines = [f"{'only routed':32} {'rate':>10} {'in all':>8} {'process':>8} {'processors':>10}"]
    names = {ENDS: "generator and counter alone", PORTS: "ports alone, no pipeline", SWITCH: "switch", KERNEL: "kernel"}
    for name, what in names.items():
        for point, seen in roads.floods.get(name, {}).items():
            if point.mode is None:
                figures = f"{seen.rate / 1e3:6.0f} k/s {seen.ns:5.0f} ns {seen.process:5.0f} ns {seen.cores:10.2f}"
                lines.append(f"{what:32} {figures}")
    pipeline = memory[Point(None, 0)]
    lines.append(f"{'pipeline alone, in memory':32} {pipeline.rate / 1e3:6.0f} k/s {pipeline.ns:17.0f} ns {1:10.2f}")
    return "\n".join(lines)


def draw(memory: Mapping[Point, InMemory], roads: Roads | None, load: str, folder: Path) -> list[Path]:
    """A figure for each panel of the paper's: in memory, and where it was measured between veth pairs."""
    return [_draw(letter, memory, roads, load, folder) for letter in PANELS]


def _draw(letter: str, memory: Mapping[Point, InMemory], roads: Roads | None, load: str, folder: Path) -> Path:
    title, x = PANELS[letter]
    modes = [mode for mode in MODES if mode.panel == letter]
    y = "million packets/s"
    alone = [_line(mode.name, mode, {point: seen.rate for point, seen in memory.items()}) for mode in modes]
    panels = [Panel(f"{title}, in memory, one core", x, y, alone)]
    data: dict[str, object] = {"load": load, "memory": _figures_of(memory, letter)}
    if roads:
        between = [
            _line(f"{mode.name}, {name}", mode, _rates(found))
            for name, found in roads.floods.items()
            for mode in modes
            if name not in BARE
        ]
        slow = [
            _line(f"{mode.name}, {BMV2} without loss", mode, _rates(roads.lossless[BMV2]))
            for mode in modes
            if BMV2 in roads.lossless
        ]
        panels.append(Panel(f"{title}, between veth pairs", x, y, [line for line in (*between, *slow) if line.points]))
        data["floods"] = {name: _figures_of(found, letter) for name, found in roads.floods.items()}
        data["lossless"] = {name: _figures_of(found, letter) for name, found in roads.lossless.items()}
    return keep(f"encap-figure-6{letter}", data, panels, folder)


def _line(name: str, mode: Mode, rates: Mapping[Point, float]) -> Line:
    points = [(float(point.size), rate / 1e6) for point, rate in rates.items() if point.mode is mode]
    return Line(name, points, marks=len(points) < 10)


def _figures_of(found: Mapping[Point, InMemory | OnRoad | Lossless], letter: str) -> dict[str, object]:
    """What a figure keeps of its data: its own points and the plain one."""
    return {
        point.name: _data_of(seen)
        for point, seen in found.items()
        if point.name == PLAIN or (point.mode and point.mode.panel == letter)
    }


def _data_of(seen: InMemory | OnRoad | Lossless) -> dict[str, object]:
    """Return what is kept of a point: of processor times the median."""
    data = asdict(seen)
    if isinstance(seen, OnRoad):
        del data["processes"]
        data["process"] = seen.process
    return data
