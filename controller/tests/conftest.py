"""What several tests need, and the settings of all."""

from __future__ import annotations

import pytest
from finsy import P4Schema
from hypothesis import settings

from wayname.pipeline.program import load_schema

settings.register_profile("wayname", max_examples=40, deadline=None, derandomize=True)
settings.load_profile("wayname")


@pytest.fixture(scope="session")
def schema() -> P4Schema:
    """The schema of the pipeline."""
    return load_schema()
