"""Which links a lab cuts by itself, and when: only such as the network can do without."""

from wayname_lab.model import Lab, Link

# Seconds: quiet at first, then a cut, then time to see that everything came back.
FIRST_CUT = 6.0
CUT_FOR = 4.0
EVERY = 12.0


def expendable(lab: Lab) -> list[Link]:
    """Return the links between an edge and one of its providers, where it has another."""
    providers = {provider.name for provider in lab.providers}

    def ways(edge: str) -> int:
        return sum(1 for link in lab.links if edge in (link.a, link.b) and providers & {link.a, link.b})

    edges = {edge.name for edge in lab.edges}
    found = []
    for link in lab.links:
        ends = {link.a, link.b}
        if len(ends & providers) == 1 and all(ways(edge) > 1 for edge in ends & edges):
            found.append(link)
    return found


def is_due(elapsed: float) -> bool:
    """Return whether a link is cut at this moment."""
    since = elapsed - FIRST_CUT
    return since >= 0 and since % EVERY < CUT_FOR
