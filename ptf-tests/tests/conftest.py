"""The settings of all tests of the harness."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _ends_as_before() -> Iterator[None]:
    """What a test for ptf does about SIGTERM is not for ours."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)
