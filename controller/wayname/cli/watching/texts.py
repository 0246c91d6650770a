"""Figures and events as people read them on a terminal."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from wayname.escape import escaped

# Between which hosts a session is: its number says so too.
_HOSTS = re.compile(r"^[0-9a-f:]+ with [^ ]+: ")
_LONG_ADDRESS = re.compile(r"\b((?:[0-9a-f]{1,4}:){4})(?:[0-9a-f]{0,4}:)+([0-9a-f]{1,4})\b")


def event_words(event: dict[str, Any]) -> str:
    """An event in a line of a screen, where room is scarce."""
    return escaped(f"{_clock(event)} {event['kind']:<18} {shortened(_numbered(event))}")


def event_line(event: dict[str, Any]) -> str:
    """An event in a line as long as it needs; its severity stands there as a word."""
    return escaped(f"{_clock(event)} {event['severity']:<8}{event['kind']:<18} {_numbered(event)}")


def _numbered(event: dict[str, Any]) -> str:
    """What an event says, of a session by its number instead of its hosts."""
    text: str = event["text"]
    if event["kind"].startswith(("path.", "session.")) and event["subject"].isdecimal():
        return f"session {event['subject']}: {_HOSTS.sub('', text)}"
    return text


def _clock(event: dict[str, Any]) -> str:
    return datetime.fromtimestamp(event["time"]).astimezone().strftime("%H:%M:%S.%f")[:-3]


def shortened(text: str) -> str:
    """Write long addresses by their network and their last group: a line has room for two."""
    return _LONG_ADDRESS.sub(r"\1…\2", text)


def bits(rate: float) -> str:
    """Write a rate with its unit, as configurations have it."""
    for unit, factor in (("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3)):
        if rate >= factor:
            return f"{rate / factor:.1f}{unit}"
    return f"{rate:.0f}bit"


def milliseconds(seconds: float | None) -> str:
    """Write a time."""
    return "-" if seconds is None else f"{seconds * 1e3:.1f} ms"


def share(part: float | None) -> str:
    """Write a part of a whole."""
    return "-" if part is None else f"{part:.0%}"
