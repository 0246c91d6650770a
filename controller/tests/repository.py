"""Where the repository is: for tests of files that no package has."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
