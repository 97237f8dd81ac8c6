"""What a gate of the reference takes, whole, as a user starts it."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

__all__ = ["measure"]


def measure(quick: bool) -> dict[str, float]:
    """Seconds of `harness gate reference.ledger:Ledger` by budget, and how many were not OK."""
    figures: dict[str, float] = {}
    failed = 0
    budgets = ("quick",) if quick else ("quick", "default")
    for budget in budgets:
        seconds = []
        for _ in range(1 if quick else 5):
            began = time.perf_counter()
            command = [sys.executable, "-m", "harness", "gate", "reference.ledger:Ledger", "--budget", budget]
            failed += subprocess.run(command, capture_output=True, check=False).returncode != 0
            seconds.append(time.perf_counter() - began)
        figures[f"{budget}_seconds"] = median(seconds)
    figures["not_ok"] = failed
    return figures
