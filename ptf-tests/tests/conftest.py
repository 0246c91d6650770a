"""The harness is no installed package: `run` finds it, and so must these tests."""

import sys
from pathlib import Path

ROOM = Path(__file__).parent.parent
sys.path[:0] = [str(ROOM), str(ROOM.parent / "p4src" / "tests")]
