"""Forced switches inside the code under test.

The interpreter switches threads rarely and at the same places. A trace function that gives the
processor away at random lines of the implementation makes the windows between two of its steps wide
enough to be hit; it changes no result.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

__all__ = ["Noise"]

_LONGEST_PAUSE_S = 0.001
_LONG_ONE_IN = 6


class Noise:
    """Makes noise in code below these folders or in these files, with a probability per line."""

    def __init__(self, places: Sequence[Path]) -> None:
        self._places = tuple(f"{place}{os.sep}" if place.is_dir() else str(place) for place in places)
        self._ours: dict[CodeType, bool] = {}

    def install(self, random: Random, probability: float) -> None:
        """Make noise in the calling thread from its next call on."""
        draw, sleep = random.random, time.sleep

        def local(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
            if event == "line" and draw() < probability:
                sleep(_LONGEST_PAUSE_S * draw() if draw() * _LONG_ONE_IN < 1 else 0)
            return local

        def trace(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
            code = frame.f_code
            ours = self._ours.get(code)
            if ours is None:
                ours = self._ours[code] = code.co_filename.startswith(self._places)
            return local if ours else None

        sys.settrace(trace)

    def remove(self) -> None:
        """Stop making noise in the calling thread."""
        sys.settrace(None)
