"""Linux beside the switch, in namespaces: what it forwards, and what reaches it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Who starts commands, and says what this machine lacks for them: that is shared with the tests.
sys.path[:0] = [str(ROOT / room) for room in ("ptf-tests", "p4src/tests")]
