"""The lab `many-paths` whose edge a believes wrong delays, and measures its paths by probes of its own (N3)."""

from __future__ import annotations

from looking import entries

from wayname_lab.load import LABS, parse_lab
from wayname_lab.virtual.lab import VirtualLab

PROVIDERS = {"p": 1, "q": 2, "r": 3}
# Of each of the two links of a path.
DELAY = 0.01
TRUE = dict.fromkeys(PROVIDERS, 2 * DELAY)
BELIEVED = {"p": 0.1, "q": 0.001, "r": 0.06}
NAMESPACE = "[[namespace]]\nid = 1\nnode = {node:#x}\nports = [{ports}]\n"


def segment_of(edge: str, provider: str) -> str:
    """Return the segment of an edge that sends on what came by a provider."""
    return f"2001:db8:{PROVIDERS[provider]}0{' ab'.index(edge)}:5e::1"


def sends_on(edge: str, plain: bool) -> str:
    """Return the segments by which an edge sends probes of the other one back, by the provider that they came by.

    In a tunnel of its own, as where providers look at sources; or plain, as they are.
    """
    text = ""
    here, there = (2, 1) if edge == "b" else (1, 2)
    for name, number in PROVIDERS.items():
        text += f'[[segment]]\nsid = "{segment_of(edge, name)}"\n'
        if plain:
            text += f'behaviour = "end.x"\nvia = "2001:db8:0:{2 * number - 2 + here}::2"\n'
            continue
        text += f'behaviour = "end.b6.encaps"\npolicy = "back-{name}"\n'
        text += f'[[policy]]\nname = "back-{name}"\nsource = "2001:db8:{number}0{here}:10::1"\n'
        text += f'segments = ["2001:db8:{number}0{there}:10::1"]\n'
    return text


def probed(edges: str = "a", plain: bool = False, carried: bool = True, seed: int = 1) -> VirtualLab:
    """Return the lab whose edges, or one of them, measure; providers write into traces, or carry them as they are."""
    text = (LABS / "many-paths.toml").read_text()
    parts = dict(zip(("", "a", "b"), text.split("[edge.")[:3], strict=True))
    rest = parts["b"].partition("[provider.p]")
    parts["b"], tail = rest[0], "[provider.p]" + rest[2]
    for edge, node in (("a", 0xA), ("b", 0xB)):
        peer = "b" if edge == "a" else "a"
        own = NAMESPACE.format(node=node, ports="2, 3, 4") + sends_on(edge, plain)
        if edge in edges:
            parts[edge] = parts[edge].replace('source = "marks"', 'source = "ioam"')
            for name, number in PROVIDERS.items():
                nodes = f"{edge}-{number:x}-{peer}" if carried else f"{edge}-{peer}"
                known = f'provider = "{name}"\n'
                before, at, after = parts[edge].partition(known)
                after = after.replace("delay = 0.02", f"delay = {BELIEVED[name]}", 1)
                parts[edge] = f'{before}{at}trace = "1:{nodes}"\nprobe = "{segment_of(peer, name)}"\n{after}'
        parts[edge] = parts[edge].replace('configuration = """\n', f'configuration = """\n{own}', 1)
    for name, number in PROVIDERS.items() if carried else ():
        writes = NAMESPACE.format(node=number, ports="1, 2")
        tail = tail.replace(f"[provider.{name}]", f'[provider.{name}]\nconfiguration = """\n{writes}"""')
    text = f"{parts['']}[edge.{parts['a']}[edge.{parts['b']}{tail}"
    return VirtualLab(parse_lab(text, "probed", "probed"), seed)


def delays(lab: VirtualLab, edge: str = "a") -> dict[str, float]:
    """Return the delay of each provider's path in the only schedule, in seconds."""
    slots = [entries(lab, edge, f"subflow_slots_{slot}") for slot in range(len(PROVIDERS))]
    return {name: entry["delay"] / 1e6 for name, (entry,) in zip(PROVIDERS, slots, strict=True)}
