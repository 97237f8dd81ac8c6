"""Payloads that widen windows: copying or comparing one gives the processor away."""

from __future__ import annotations

import time
from typing import Any, Self

__all__ = ["SlowRecord"]


class SlowRecord(dict[str, Any]):
    """A mapping whose copies yield, so that whatever is half done while copying can be seen."""

    def __copy__(self) -> Self:
        time.sleep(0)
        return type(self)(self)

    copy = __copy__

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        time.sleep(0)
        return type(self)(
            (key, list(value) if isinstance(value, list) else value) for key, value in self.items()
        )
