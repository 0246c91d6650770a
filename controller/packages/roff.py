"""Texts as manual pages: the macros of man(7), of plain lines and of the Markdown that docs are written in."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

BLOCK = re.compile(r"(?P<fence>```)|(?P<heading>#+) (?P<title>.*)|(?P<row>\|.*\|)$|- (?P<item>.*)")


# What roff reads as something else than itself.
SPECIAL = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"})


def escaped(text: str) -> str:
    """Return text that stands for itself."""
    text = (
        text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    )
    return text.replace("~", "\\(ti")


def page(name: str, section: int, date: str, version: str, lines: Iterable[str]) -> str:
    """Return a whole page."""
    whole = [f'.TH {name.upper()} {section} {date} "Wayname {version}" Wayname']
    for line in lines:
        # A heading begins a paragraph by itself.
        if not (line == ".PP" and whole[-1].startswith((".SH", ".SS"))):
            whole.append(line)
    return "\n".join(whole) + "\n"


def styled(text: str) -> str:
    """Return a line with what stands in backticks or asterisks bold, and links as their texts."""
    text = re.sub(r"\[((?:`[^`]*`|[^\]`])+)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*)", text)
    return "".join(
        f"\\fB{escaped(part.strip('`*'))}\\fR" if part[:1] in ("`", "*") and part[1:] else escaped(part)
        for part in parts
    )


def filled(lines: Iterable[str]) -> Iterator[str]:
    """Yield running text, in lines that are not too long to look at."""
    text = styled(" ".join(line.strip() for line in lines if line.strip()))
    yield from map(_no_request, textwrap.wrap(text, 79, break_long_words=False, break_on_hyphens=False))


def _no_request(line: str) -> str:
    return f"\\&{line}" if line.startswith((".", "'")) else line


def paragraph(lines: Iterable[str]) -> Iterator[str]:
    """Yield a paragraph."""
    yield ".PP"
    yield from filled(lines)


def literal(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines as they stand."""
    yield from (".PP", ".RS 4", ".nf")
    yield from (_no_request(escaped(line)) for line in lines)
    yield from (".fi", ".RE")


def tagged(tag: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield what belongs to a bold word."""
    yield ".TP"
    yield tag
    yield from tuple(filled(lines)) or (".br",)


def of_markdown(text: str, depth: int = 2) -> Iterator[str]:
    """Yield a page of Markdown: headings of `depth` are sections."""
    lines = iter(text.splitlines())
    pending: list[str] = []
    rows = 0
    for line in lines:
        found = BLOCK.match(line)
        if (found or not line) and pending:
            yield from paragraph(pending)
            pending = []
        if found is None or found["row"] is None:
            rows = 0
        if found is None:
            pending += [line] if line else []
        elif found["fence"]:
            yield from literal(iter(lines.__next__, "```"))
        elif found["heading"]:
            macro = ".SH" if len(found["heading"]) <= depth else ".SS"
            yield f'{macro} "{styled(found["title"])}"'
        elif found["item"]:
            yield ".IP \\(bu 2"
            yield from filled((found["item"],))
        else:
            rows += 1
            # The first two are the table's head.
            if rows > 2:
                yield from _row(found["row"])
    if pending:
        yield from paragraph(pending)


def _row(row: str) -> Iterator[str]:
    key, default, about = (cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip("|"), maxsplit=2))
    said = f"(default: {default})" if default else ""
    yield from tagged(styled(key), (said, about.replace("\\|", "|")))
