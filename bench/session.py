"""Records `wayname lab run two-sites` on a terminal: `make session` draws docs/figures/session.svg, which moves.

It shows what the command wrote to its terminal at moments that follow from it: before the cut, at the cut, when flows
go on, when the link is restored, and at the end. Where nothing moves (some viewers, and who wants less motion) it shows
how flows go on.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from bench.figures import FIGURES

COLUMNS, LINES = 112, 34
SECONDS = 14
# Seconds for which each moment stands.
STANDS = 3.5
# Which of them stands where nothing moves.
STILL = 2
COMMAND = ("-m", "wayname", "lab", "run", "two-sites", "--seconds", str(SECONDS))
SHOWN = "$ make run SECONDS=14"
# How the screen is drawn anew.
HOME = "\x1b[H"
CONTROL = re.compile(r"\x1b\[\?[0-9]+[hl]|\x1b\[[0-9;]*[HJK]|\r")
CUT = "x cut x"
# It opens nothing any more, and is no part of what happened.
TOKEN = re.compile(r"token=[\w-]+")

MOMENT = """<svg class="moment" id="{unique_id}" style="animation-delay: DELAYs">
<defs>{lines}</defs><style>{styles}</style>
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></svg>
"""
PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img"
    aria-label="{label}">
<style>
text {{ font: 20px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d9d9d9; white-space: pre }}
.moment {{ visibility: hidden; animation: stand {whole}s steps(1) infinite }}
#m{still} {{ visibility: visible }}
@keyframes stand {{ 0% {{ visibility: visible }} {share:.3f}% {{ visibility: hidden }} 100% {{ visibility: hidden }} }}
@media (prefers-reduced-motion: reduce) {{ .moment {{ animation: none }} }}
</style>
<rect width="100%" height="100%" rx="8" fill="#1a1b1e"/>
<svg x="{margin}" y="{margin}">
{moments}</svg>
</svg>
"""
MARGIN = 14
CHARACTER, LINE = 12.2, 24.4


def recorded() -> str:
    """Run the lab on a terminal of its own; return all that it wrote there."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    written = b""
    with subprocess.Popen([sys.executable, *COMMAND], stdin=its, stdout=its, stderr=its, env=environment) as lab:
        os.close(its)
        while some := _read(ours):
            written += some
    os.close(ours)
    if lab.returncode != 0:
        sys.exit(f"the lab ended with status {lab.returncode}:\n{written.decode(errors='replace')[-2000:]}")
    return written.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


def moments(written: str) -> list[str]:
    """Return what stood on the terminal at the moments that are shown."""
    start, *screens = written.split(HOME)
    *screens, last = screens
    # The last screen is followed by what is said when the screen is gone.
    last, _, end = last.rpartition("\x1b[?1049l")
    shown = [screen for screen in [*screens, last] if " keys  " in plain(screen)]
    is_cut = [CUT in plain(screen) for screen in shown]
    if True not in is_cut or False not in is_cut[is_cut.index(True) :]:
        raise click.ClickException("no link was cut and restored while the lab ran; try again when the machine is idle")
    cut = is_cut.index(True)
    whole = is_cut.index(False, cut)
    said = f"{SHOWN}\n{start}{end}"
    return [*(shown[number] for number in (cut - 1, cut, cut + 3, whole, len(shown) - 1)), said]


def plain(screen: str) -> str:
    """Return the text of a screen without colours."""
    return Text.from_ansi(CONTROL.sub("", screen)).plain


def picture(shown: Sequence[str]) -> str:
    """Return the moments as one picture that moves."""
    parts = []
    for number, screen in enumerate(shown):
        console = Console(record=True, width=COLUMNS, height=LINES, file=io.StringIO(), force_terminal=True)
        console.print(Text.from_ansi(TOKEN.sub("token=...", CONTROL.sub("", screen)).rstrip()), no_wrap=True)
        drawn = console.export_svg(title="", code_format=MOMENT, unique_id=f"m{number}")
        parts.append(drawn.replace("DELAY", f"{(number - len(shown)) * STANDS:g}"))
    return PICTURE.format(
        width=COLUMNS * CHARACTER + 2 * MARGIN,
        height=LINES * LINE + 2 * MARGIN,
        label="Two sites with two providers each: a provider's link is cut, and connections go on over the other one",
        whole=f"{len(shown) * STANDS:g}",
        share=100 / len(shown),
        margin=MARGIN,
        still=STILL,
        moments="".join(parts),
    )


@click.command()
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=FIGURES / "session.svg")
def main(out: Path) -> None:
    """Record a session and draw it."""
    text = picture(moments(recorded()))
    out.write_text("".join(f"{line.rstrip()}\n" for line in text.splitlines()), encoding="utf-8")
    click.echo(f"drawn: {out}")


if __name__ == "__main__":
    main()
