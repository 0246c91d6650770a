"""The fourth paper's figure: what encapsulation costs by size."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The small site with its packets, and who starts switches: they are shared with the tests.
sys.path[:0] = [str(ROOT / room) for room in ("ptf-tests", "p4src/tests")]
