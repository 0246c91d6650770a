"""The documentation site: every page is in it, each link leads somewhere, and nothing comes from elsewhere."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest
from repository import REPOSITORY

from harness.browser import CHROMIUM, DRIVER, MISSING, Browser, chromium

MKDOCS = REPOSITORY / ".venv" / "docs" / "bin" / "mkdocs"
CONFIGURATION = (REPOSITORY / "mkdocs.yml").read_text()
WITHIN = 120

needs_mkdocs = pytest.mark.skipif(not MKDOCS.exists(), reason="MkDocs is not there; `make docs` installs it")


class Links(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.leads_to: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a tag."""
        given = {key: value or "" for key, value in attrs}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.leads_to.append(given["href"])
        elif tag == "link" and given.get("rel") != "canonical" and "href" in given:
            self.loads.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])


def built(folder: Path, configuration: str = "") -> subprocess.CompletedProcess[str]:
    """Build the site into a folder; with another configuration than its own, if it says so."""
    command = [str(MKDOCS), "build", "--strict", "--site-dir", str(folder)]
    if configuration:
        command += ["--config-file", configuration]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=WITHIN, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = built(folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_navigation_once() -> None:
    named = sorted(re.findall(r"^ +- ([\w/-]+\.md)$", CONFIGURATION, re.MULTILINE))
    docs = REPOSITORY / "docs"
    pages = [str(page.relative_to(docs)) for page in docs.rglob("*.md")]
    assert named == sorted([*pages, "index.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"])


@needs_mkdocs
def test_links_and_anchors_lead_somewhere(site: Path) -> None:
    pages = {path: Links(path.read_text()) for path in site.rglob("*.html")}
    assert len(pages) > 50
    assert not list(broken(pages))


def broken(pages: dict[Path, Links]) -> Iterator[tuple[str, str]]:
    """Yield links within the site to what is not there."""
    for page, links in pages.items():
        for link in [*links.leads_to, *links.loads]:
            path, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:", link) or page.name == "404.html":
                continue
            target = (page.parent / path).resolve() if path else page
            target = target / "index.html" if target.is_dir() else target
            known = pages[target].anchors if target in pages else set()
            if not target.exists() or (anchor and anchor != "__skip" and anchor not in known):
                yield page.name, link


@needs_mkdocs
def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not [each for each in Links(page.read_text()).loads if re.match(r"(https?:)?//", each)], page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", style.read_text()), style


@needs_mkdocs
def test_the_search_knows_every_page(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text()
    assert not [page.name for page in site.glob("*.html") if page.name != "404.html" and f'"{page.name}' not in index]


@needs_mkdocs
@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)
def test_the_search_finds_a_page_in_a_browser_without_a_network(site: Path, tmp_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    with chromium(tmp_path) as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            # Whatever is not on this machine is refused at once.
            browser.devtools("Network.enable")
            browser.devtools("Network.setBlockedURLs", urls=["https://*"])
            browser.open(f"http://127.0.0.1:{server.server_port}/index.html")
            browser.run("document.querySelector('#__search').checked = true")
            browser.run("document.querySelector('input.md-search__input').focus()")
            for key in "pinhole":
                browser.key(key)
            browser.until(lambda: "simple-security.html" in found(browser), "the search finds no page")
            assert not browser.console()
        finally:
            server.shutdown()
            server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Keep it to oneself."""


def found(browser: Browser) -> str:
    """Return where the results of the search lead."""
    links = "return [...document.querySelectorAll('a.md-search-result__link')].map(each => each.href).join(' ')"
    return str(browser.run(links))


@needs_mkdocs
def test_a_link_to_a_heading_that_is_not_there_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# One\n\n[two](#two)\n")
    # The same without the pages and the hook that are of this repository.
    own = re.sub(r"^hooks:.*\n", "", CONFIGURATION.partition("\nnav:")[0] + "\n", flags=re.MULTILINE)
    (tmp_path / "mkdocs.yml").write_text(own)
    done = built(tmp_path / "site", str(tmp_path / "mkdocs.yml"))
    assert done.returncode != 0
    assert "no such anchor" in done.stderr or "does not contain an anchor" in done.stderr
