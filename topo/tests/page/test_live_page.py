"""The live page of a running lab in a real Chromium: a cut, a controller that begins anew, sizes, schemes, keys.

Pictures for docs are made here: `make test-page PICTURES=docs/figures`.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from harness.browser import CHROMIUM, DRIVER, MISSING, Browser, chromium
from wayname.page.loopback import loopback
from wayname_lab.load import LabError, find_lab
from wayname_lab.plan import plan_lab
from wayname_lab.programs import program
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.traffic import Traffic
from wayname_lab.wires import Wires

T = TypeVar("T")
PATIENCE = 120.0
PICTURES = os.environ.get("PICTURES")
SIZES = {"wide": (1400, 1150), "phone": (390, 1500)}
TAB = "\ue004"
# Notes how long after an event its row is there; rows have their time in milliseconds, and both are on one machine.
NOTE_EVENTS = """
window.seen = [];
const noted = new Set([...document.querySelectorAll('#events tbody tr')].map((row) => row.dataset.key));
new MutationObserver(() => {
  for (const row of document.querySelectorAll('#events tbody tr')) {
    if (noted.has(row.dataset.key)) continue;
    noted.add(row.dataset.key);
    const [hours, minutes, seconds] = row.children[0].innerText.split(':').map(Number);
    const now = new Date();
    const since = ((now.getHours() - hours) * 60 + now.getMinutes() - minutes) * 60 + now.getSeconds() - seconds;
    window.seen.push(since + now.getMilliseconds() / 1000);
  }
}).observe(document.getElementById('events'), {childList: true, subtree: true});
"""
# Of each text the contrast to what is behind it (WCAG 2, 1.4.3).
CONTRASTS = """
const parse = (color) => color.match(/[0-9.]+/g).map(Number);
const light = ([r, g, b]) => {
  const part = (value) => { value /= 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
};
const behind = (element) => {
  for (; element; element = element.parentElement) {
    const color = parse(getComputedStyle(element).backgroundColor);
    if (color.length === 3 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
return [...document.querySelectorAll('h1, h2, h3, th, td, p, figcaption, #summary b, #summary span, #state, nav a')]
  .filter((element) => element.innerText.trim())
  .map((element) => {
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), element.innerText.slice(0, 30)];
  })
  .sort((one, other) => one[0] - other[0])[0];
"""


def lacking() -> str:
    """Say why no page can be shown here."""
    try:
        program("wayname-switch"), program("wayname-host")
    except LabError as error:
        return str(error)
    return "" if CHROMIUM and DRIVER else MISSING


pytestmark = pytest.mark.skipif(bool(lacking()), reason=lacking() or "nothing is missing")


class Shown:
    """A lab, and the page of one of its edges in a browser."""

    def __init__(self, running: RunningLab, browser: Browser) -> None:
        self.running = running
        self.browser = browser

    async def does(self, call: Callable[..., T], *arguments: Any) -> T:
        """Have the browser do something while the lab goes on."""
        return await asyncio.to_thread(call, *arguments)

    async def shows(self, selector: str, text: str) -> None:
        """Wait until an element shows a text."""
        browser = self.browser
        await self.does(browser.until, lambda: text in browser.text(selector), f"{selector} shows no {text!r}")

    async def cut(self, name: str, cut: bool) -> None:
        """Cut a link, or restore it."""
        link = next(link for link in self.running.plan.lab.links if link.name == name)
        await self.running.set_cut(link, cut)


@asynccontextmanager
async def shown(size: str = "wide") -> AsyncIterator[Shown]:
    plan = plan_lab(find_lab("two-sites"))
    traffic = Traffic(plan)
    with LabFolder() as folder, tempfile.TemporaryDirectory() as profile:
        async with RunningLab(plan, Wires(plan, folder), folder, traffic.take) as running:
            for part in traffic.parts:
                traffic.started(part, await running.hosts[part.host].start(part.command))
            window = chromium(Path(profile))
            async with loopback(running.page_clients()) as page:
                browser = await asyncio.to_thread(window.__enter__)
                try:
                    lab = Shown(running, browser)
                    await lab.does(browser.resize, *SIZES[size])
                    await lab.does(browser.open, page.address)
                    await lab.shows("#state", "live")
                    await lab.shows("#sessions", "works")
                    yield lab
                    assert await lab.does(browser.console) == []
                finally:
                    await asyncio.to_thread(window.__exit__, None, None, None)


async def test_a_cut_is_seen_and_so_are_the_sessions_that_move() -> None:
    async with shown() as lab:
        browser = lab.browser
        # The token is in no address that the browser remembers.
        assert "token" not in str(await lab.does(browser.run, "return location.href"))
        await lab.shows("#topology", "p")
        await lab.shows("#figures", "p to 2001:db8:102::/48")
        await lab.does(browser.run, NOTE_EVENTS)
        if PICTURES:
            # So that curves are seen.
            await asyncio.sleep(40)
        await lab.cut("a-p", True)
        await lab.shows("#events", "session.moved")
        await lab.shows("#incidents", "does not answer")
        await lab.shows("#summary", "1 of 2")
        await lab.shows("#sessions", "moved")
        down = "return document.querySelectorAll('.link.down').length"
        await lab.does(browser.until, lambda: browser.run(down) >= 3, "no link is drawn as down")
        await lab.does(browser.until, lambda: browser.run(moved_to("q")), "no session is drawn by q")
        await picture(lab, "cut")
        seen = await lab.does(browser.run, "return window.seen")
        await lab.cut("a-p", False)
        await lab.shows("#summary", "2 of 2")
        await lab.does(browser.until, lambda: browser.run(moved_to("p")), "no session went back to p")
    # How long it took is told and not judged: a machine that is busy shows it later.
    print("seconds until seen:", ", ".join(f"{each:.2f}" for each in seen))


def moved_to(provider: str) -> str:
    """A script that tells whether the link to a provider is drawn with sessions."""
    return (
        "return [...document.querySelectorAll('.hit')].some((link) => link.ariaLabel.startsWith("
        f"'this edge to provider {provider};') && / [1-9][0-9]* sessions/.test(link.ariaLabel))"
    )


async def picture(lab: Shown, name: str) -> None:
    """Write a picture for docs, if that is asked for."""
    if PICTURES:
        for scheme in ("light", "dark"):
            await lab.does(lab.browser.prefer, scheme)
            # Colours and widths change slowly.
            await asyncio.sleep(1)
            await lab.does(lab.browser.picture, Path(PICTURES) / f"page-{name}-{scheme}.png")


async def test_it_goes_on_when_the_controller_was_started_again() -> None:
    async with shown() as lab:
        lab.running.kill_controller("a")
        await lab.shows("#incidents", "the controller began anew")
        await lab.shows("#state", "live")
        await lab.shows("#sessions", "works")
        await lab.shows("#summary", "2 of 2")


async def test_a_packet_of_a_session_is_followed() -> None:
    async with shown() as lab:
        await lab.does(lab.browser.run, "document.querySelector('#sessions button').click()")
        await lab.shows("#way", "it left by")
        # The session was found by the addresses of its hosts.
        await lab.shows("#lookups", "identities")


async def test_it_fits_each_width_and_is_read_in_both_schemes() -> None:
    async with shown("phone") as lab:
        browser = lab.browser
        over = "return document.documentElement.scrollWidth - innerWidth"
        for width in (320, 390, 800, 1400):
            await lab.does(browser.resize, width, 900)
            await lab.does(browser.until, lambda: browser.run(over) <= 0, f"it is wider than {width} points")
        for scheme in ("light", "dark"):
            await lab.does(browser.prefer, scheme)
            least, text = await lab.does(browser.run, CONTRASTS)
            assert least >= 4.5, (scheme, text, least)
        # Whoever sees no colours sees dashes.
        dashes = (
            "return ['good', 'fair', 'bad', 'down', 'unknown'].map((kind) => "
            "getComputedStyle(document.querySelector(`#legend .link.${kind}`)).strokeDasharray)"
        )
        assert len(set(await lab.does(browser.run, dashes))) == 5
        await lab.does(browser.resize, *SIZES["phone"])
        if PICTURES:
            await asyncio.sleep(20)
        await picture(lab, "phone")


async def test_keys_reach_links_and_other_edges() -> None:
    async with shown() as lab:
        browser = lab.browser

        def tab_until(holds: str) -> bool:
            for _ in range(60):
                browser.key(TAB)
                if browser.run(f"return {holds}"):
                    return True
            return False

        assert await lab.does(tab_until, "document.activeElement.classList.contains('hit')")
        await lab.shows("#detail", "this edge to provider")
        assert await lab.does(tab_until, "document.activeElement.id === 'least'")
        await lab.does(browser.run, "document.querySelectorAll('nav a')[1].click()")
        await lab.shows("#name", "b")
        await lab.shows("#state", "live")
