"""What happens in a lab, in one list: told by the lab itself, by its controllers and its hosts."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wayname.escape import escaped
from wayname_lab.names import Names

Severity = Literal["info", "warning", "error"]
HISTORY = 500


@dataclass(frozen=True, slots=True)
class LabEvent:
    """Something that happened, in the lab's time in seconds."""

    time: float
    who: str
    text: str
    severity: Severity = "info"


class LabEvents:
    """The last events; each listener gets every new one."""

    def __init__(self, clock: Callable[[], float], names: Names) -> None:
        self._clock = clock
        self._names = names
        self.last: deque[LabEvent] = deque(maxlen=HISTORY)
        self.listeners: list[Callable[[LabEvent], None]] = []

    def tell(self, who: str, text: str, severity: Severity = "info") -> None:
        """Note something that happens now."""
        event = LabEvent(self._clock(), who, escaped(self._names.put_into(text)), severity)
        self.last.append(event)
        for listener in self.listeners:
            listener(event)
