"""Commands whose questions are answered by the test."""

from __future__ import annotations

from typing import Any

import pytest

from wayname.cli.options import Asking
from wayname.client import Client
from wayname.client.transport import Parameters


class Told(Client):
    """A client that gets the test's answer, whatever it asks."""

    def __init__(self, told: Any) -> None:
        super().__init__()
        self.told = told

    def get(self, path: str, parameters: Parameters | None = None) -> Any:
        return self.told


class Answered(Asking):
    """What a command gets for its question."""

    def __init__(self, told: Any) -> None:
        super().__init__()
        self.told = told

    def client(self, seconds: float = 30.0) -> Client:
        return Told(self.told)


def shown(command: Any, told: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a command writes about an answer."""
    command.main([], obj=Answered(told), standalone_mode=False)
    return " ".join(capsys.readouterr().out.split())
