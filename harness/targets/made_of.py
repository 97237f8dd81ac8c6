"""Which packages a target is made of.

What is explored is what is imported privately. The target names one package or file; an instance of its
may be of a class, derive from one, or hold objects of one that is installed somewhere else, and whose
races would then not be looked for.
"""

from __future__ import annotations

import sys
from types import FunctionType, MethodType
from typing import Any

__all__ = ["packages_in", "packages_of"]


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
