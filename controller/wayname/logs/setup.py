"""Log lines on standard error: text for people, or one JSON object a line for programs."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor

from wayname.escape import escaped, escaped_inside
from wayname.logs.rate_limited_lines import RateLimitedLines

TRACEBACK = "exception"
INDENT = "    "


def set_up_logs(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send lines of `level` and above to the stream, as `text` or `json`; colours only where a terminal shows them."""
    out = sys.stderr if stream is None else stream
    first: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        # Python's own form of a traceback: that of the library shows variables, and keys are among them.
        structlog.processors.format_exc_info,
        escape,
    ]
    last: list[Processor]
    if form == "json":
        last = [
            structlog.processors.EventRenamer("text"),
            structlog.processors.JSONRenderer(),
        ]
    else:
        last = [
            without_details,
            structlog.dev.ConsoleRenderer(
                colors=out.isatty(),
                timestamp_key="time",
                pad_event_to=0,
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ]
    least = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*first, *last],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(out),
    )
    take_over_standard_logging(least, [*first, structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last], out)


def escape(_logger: object, _method: str, line: EventDict) -> EventDict:
    """Write all texts so that none looks like a line of its own; the lines of a traceback are indented."""
    traceback = line.pop(TRACEBACK, None)
    # What is no text of ours yet (a library's record, for one) goes on as it is.
    line = {key: escaped_inside(value) for key, value in line.items()}
    if traceback is not None:
        line[TRACEBACK] = "\n".join(INDENT + escaped(each) for each in traceback.split("\n"))
    return line


def without_details(_logger: object, _method: str, line: EventDict) -> EventDict:
    """Leave out what a line's text says already, for people."""
    line.pop("details", None)
    return line


def take_over_standard_logging(least: int, processors: list[Processor], out: TextIO) -> None:
    """Bring the lines of libraries, from warnings on, into the same form."""
    handler = logging.StreamHandler(out)
    handler.addFilter(RateLimitedLines())
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=processors))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(least, logging.WARNING))
