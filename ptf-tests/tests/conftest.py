"""The harness is no installed package: `run` finds it, and so must these tests."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOM = Path(__file__).parent.parent
sys.path[:0] = [str(ROOM), str(ROOM.parent / "p4src" / "tests")]


@pytest.fixture(autouse=True)
def _ends_as_before() -> Iterator[None]:
    """What a test for ptf does about SIGTERM is not for ours."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)
