"""Many controlled executions of one program, and the entry that people use in their own tests.

The package itself can be called, so that `harness.explore` is what it reads like:

    @harness.explore
    def test_nothing_is_lost():
        counter = Counter()
        threads = [threading.Thread(target=counter.increment) for _ in range(2)]
        ...

    harness.explore(Counter, [increment, increment], check=nothing_lost)

What it raises and warns of is `harness.explore.Violated`, `Undecided` and `SeedWarning`; parameters and
budgets are described at `harness.explore.entry.explore`, how it is used in docs/exploring.md.
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


def __getattr__(name: str) -> Any:
    """`Violated`, `Undecided` and `SeedWarning`, imported when they are first asked for."""
    if name in ("SeedWarning", "Undecided", "Violated"):
        from harness.explore import entry

        return getattr(entry, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        return explore(*arguments, **options)


sys.modules[__name__].__class__ = _CallablePackage
