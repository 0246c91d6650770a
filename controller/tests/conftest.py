"""What several tests need, and the settings of all."""

from __future__ import annotations

import logging
import resource
from collections.abc import Iterator
from typing import NoReturn

import pytest
import structlog
from finsy import P4Schema
from hypothesis import settings

from wayname.edge.faults import Faults
from wayname.pipeline.program import load_schema

MANY = 2_400

settings.register_profile("wayname", max_examples=40, deadline=None, derandomize=True)
settings.load_profile("wayname")


@pytest.fixture(autouse=True)
def faults_fail(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let mistakes of the program fail its tests, but for those that look how the edge goes on in spite of them."""

    def fail(_faults: Faults, _kind: str, error: Exception, _now: float, _octets: bytes = b"") -> NoReturn:
        raise error

    if "contains_faults" not in request.keywords:
        monkeypatch.setattr(Faults, "note", fail)


@pytest.fixture(scope="session")
def schema() -> P4Schema:
    """The schema of the pipeline."""
    return load_schema()


@pytest.fixture
def restored_logs() -> Iterator[None]:
    """Let lines go to where they went before, after a test that sets up logs."""
    handlers, level = logging.getLogger().handlers, logging.getLogger().level
    yield
    structlog.reset_defaults()
    logging.getLogger().handlers = handlers
    logging.getLogger().setLevel(level)


@pytest.fixture
def enough_descriptors() -> Iterator[None]:
    """Let a test itself have thousands of connections."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    if before[1] < MANY:
        pytest.skip(f"this machine lets a process have {before[1]} descriptors")
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
