"""Which packages a target is made of.

What is explored is what is imported privately. The target names one package or file; an instance of its
may be of a class, derive from one, or hold objects of one that is installed somewhere else, and whose
races would then not be looked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FunctionType, MethodType
from typing import Any

__all__ = ["Elsewhere", "packages_in", "packages_of"]


class Elsewhere:
    """Packages that turned out to be under test, beside those that were named; found one at a time.

    Not everything can be imported twice: one whose private import failed is left out, and stays shared.
    """

    def __init__(self) -> None:
        self.packages: list[str] = []
        self._left_out: set[str] = set()

    def grows(self, made_of: set[str], known: Iterable[str]) -> bool:
        """Add one of these packages that is not known yet; False if there is none."""
        more = made_of - {*known, *self.packages, *self._left_out}
        if more:
            self.packages.append(min(more))
        return bool(more)

    def gives_in(self) -> bool:
        """Leave out the package that was added last; False if there is none."""
        if self.packages:
            self._left_out.add(self.packages.pop())
            return True
        return False


def packages_of(made: Any) -> set[str]:
    """Top-level packages, outside of Python's own, that a factory or a class and its bases come from."""
    modules = {getattr(kind, "__module__", "") or "" for kind in (made, *getattr(made, "__mro__", ()))}
    tops = {str(module).partition(".")[0] for module in modules}
    return tops - set(sys.stdlib_module_names) - set(sys.builtin_module_names) - {"", "harness"}


def packages_in(instance: Any) -> set[str]:
    """The packages of an instance and of what its attributes hold."""
    held = list(getattr(instance, "__dict__", {}).values())
    for kind in type(instance).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            member = kind.__dict__.get(name)
            try:
                held.append(member.__get__(instance, kind))  # type: ignore[union-attr]
            except AttributeError:  # not set, or a mangled name
                continue
    found = packages_of(type(instance))
    for value in held:
        found |= packages_of(value if isinstance(value, FunctionType | MethodType | type) else type(value))
    return found
