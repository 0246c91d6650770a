"""A hook of MkDocs: takes pages of the repository's root into the site, and turns links between those and docs/."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# In the repository, and in the site.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CITATION.cff": "CITATION.cff",
    "LICENSE": "LICENSE",
}
OF_ROOT = re.compile(rf"\]\(((?:\.\./)*)\.\./({'|'.join(map(re.escape, PAGES))})")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the root's pages to those of docs/, whose folder is the site's root."""
    for name, there in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, there, content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links from docs/ to the root's pages."""
    return OF_ROOT.sub(lambda found: f"]({found[1]}{PAGES[found[2]]}", markdown)
