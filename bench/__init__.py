"""Measurements and experiments; each is one make target."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Who starts switches and makes namespaces, and the small site with its packets: they are shared with the tests.
sys.path[:0] = [str(ROOT / room) for room in ("ptf-tests", "p4src/tests")]
