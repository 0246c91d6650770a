"""The numbers of many edges for one scrape: each sample says by `edge` whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from wayname.metrics.exposition import Scrape, text_of


class EdgesScrape(Collector):
    """One scrape's numbers of all edges of a process."""

    def __init__(
        self, scrapes: Mapping[str, Scrape], names: Sequence[str], restarts: Mapping[tuple[str, str], int]
    ) -> None:
        self._scrapes, self._names, self._restarts = scrapes, names, restarts

    def collect(self) -> Iterable[Metric]:
        """Return all of them; a name is there once, with the samples of all edges."""
        yield from self._process()
        families: dict[str, Metric] = {}
        for edge, scrape in self._scrapes.items():
            for each in scrape.collect():
                family = families.setdefault(each.name, Metric(each.name, each.documentation, each.type))
                family.samples += [sample._replace(labels={"edge": edge, **sample.labels}) for sample in each.samples]
        yield from families.values()

    def _process(self) -> Iterator[Metric]:
        runs = GaugeMetricFamily("wayname_edge_runs", "Whether an edge of this process runs.", labels=["edge"])
        for name in self._names:
            runs.add_metric([name], float(name in self._scrapes))
        yield runs
        restarts = CounterMetricFamily(
            "wayname_edge_restarts", "Times that an edge failed and began anew.", labels=["edge", "reason"]
        )
        for (name, reason), count in sorted(self._restarts.items()):
            restarts.add_metric([name, reason], count)
        yield restarts


def edges_exposition(
    scrapes: Mapping[str, Scrape], names: Sequence[str], restarts: Mapping[tuple[str, str], int]
) -> bytes:
    """Write the numbers of all edges in Prometheus's text format."""
    return text_of(EdgesScrape(scrapes, names, restarts))
