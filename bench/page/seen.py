"""What a browser saw of the page while it was open."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from harness.browser import Browser

# Tasks of the main thread that took 50 ms and more, frames by the clock of both, and how old the newest event row is.
WATCH = """
window.long = [];
new PerformanceObserver((list) => list.getEntries().forEach((each) => window.long.push(each.duration)))
  .observe({type: 'longtask', buffered: true});
window.ages = [];
let newest = 0;
new MutationObserver(() => {
  const row = document.querySelector('#events tbody tr');
  if (!row || Number(row.dataset.key.split(' ')[1]) <= newest) return;
  newest = Number(row.dataset.key.split(' ')[1]);
  const [hours, minutes, seconds] = row.children[0].innerText.split(':').map(Number);
  const now = new Date();
  window.ages.push(((now.getHours() - hours) * 60 + now.getMinutes() - minutes) * 60 + now.getSeconds() - seconds
    + now.getMilliseconds() / 1000);
}).observe(document.getElementById('events'), {childList: true, subtree: true});
"""
EACH = 10.0


@dataclass(slots=True)
class Seen:
    """What was seen; sizes are of after a collection of garbage."""

    long_tasks: list[float] = field(default_factory=list)  # milliseconds
    ages: list[float] = field(default_factory=list)  # seconds from an event to its row
    heap: list[int] = field(default_factory=list)  # octets
    nodes: list[int] = field(default_factory=list)
    links: int = 0
    sessions: str = ""


def watch(browser: Browser, address: str, seconds: float) -> Seen:
    """Open the page and look at it for so long."""
    seen = Seen()
    browser.devtools("Performance.enable")
    browser.open(address)
    browser.until(lambda: "live" in browser.text("#state"), "the page is not live")
    browser.until(lambda: browser.run("return document.querySelectorAll('.hit').length") > 2, "no links are drawn")
    browser.run(WATCH)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(min(EACH, max(0.1, end - time.monotonic())))
        browser.devtools("HeapProfiler.collectGarbage")
        metrics = {each["name"]: each["value"] for each in browser.devtools("Performance.getMetrics")["metrics"]}
        seen.heap.append(int(metrics["JSHeapUsedSize"]))
        seen.nodes.append(int(metrics["Nodes"]))
    seen.long_tasks = browser.run("return window.long")
    seen.ages = browser.run("return window.ages")
    seen.links = browser.run("return document.querySelectorAll('.hit').length")
    seen.sessions = browser.run("return document.querySelector('#summary b').innerText")
    return seen
