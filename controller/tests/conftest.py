"""What several tests need."""

from __future__ import annotations

import pytest
from finsy import P4Schema

from wayname.pipeline.program import load_schema


@pytest.fixture(scope="session")
def schema() -> P4Schema:
    """The schema of the pipeline."""
    return load_schema()
