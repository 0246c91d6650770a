"""`wayname lab run` takes only times that end."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from wayname_lab.cli import command


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "-5", "0", "soon"])
def test_times_that_never_end_are_refused(seconds: str) -> None:
    result = CliRunner().invoke(command, ["run", "two-sites", "--seconds", seconds])
    assert result.exit_code == 2
    assert "Invalid value for '--seconds'" in result.output
