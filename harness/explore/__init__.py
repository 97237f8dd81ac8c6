"""Many controlled executions of one program, and the entry that people use in their own tests.

The package itself can be called, so that `harness.explore` is what it reads like:

    @harness.explore
    def test_nothing_is_lost():
        counter = Counter()
        threads = [threading.Thread(target=counter.increment) for _ in range(2)]
        ...

    harness.explore(Counter, [increment, increment], check=nothing_lost)
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__ = ["explore"]


def explore(*arguments: Any, **options: Any) -> Any:
    """See `harness.explore.entry.explore`."""
    __tracebackhide__ = True
    from harness.explore.entry import explore as entry

    return entry(*arguments, **options)


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        return explore(*arguments, **options)


sys.modules[__name__].__class__ = _CallablePackage
