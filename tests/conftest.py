"""Where the tests find the benchmarks' programs: beside them, and behind whatever is installed."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[1])
if ROOT not in sys.path:
    sys.path.append(ROOT)
