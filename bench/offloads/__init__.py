"""Rates of hosts that leave segmentation and checksums to their cards, through the switch and through Linux."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Who starts switches and runs commands: the PTF suites do too.
sys.path[:0] = [str(ROOT / room) for room in ("ptf-tests", "p4src/tests")]
