"""Wires of a switch whose other ends are in this process, which listens for them."""

import socket
from contextlib import ExitStack
from pathlib import Path

PATIENCE = 60.0


class Wires:
    """The wires of ports 1, 2 and so on, until the stack ends."""

    def __init__(self, folder: Path, stack: ExitStack, ports: int = 2) -> None:
        self._stack = stack
        self._listeners: list[socket.socket] = []
        # What a switch is told to have these ports.
        self.options: list[str] = []
        for port in range(1, ports + 1):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            listener.bind(str(folder / f"wire{port}"))
            listener.listen()
            listener.settimeout(PATIENCE)
            self._listeners.append(listener)
            self.options += ["-i", f"{port}@wire:{folder}/wire{port}"]

    def ends(self) -> list[socket.socket]:
        """The ends on this side, by port, once a switch has been started."""
        return [self._stack.enter_context(listener.accept()[0]) for listener in self._listeners]
