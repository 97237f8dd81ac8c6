"""How the controlled world compiles: the user's modules in full, the standard ones where they race.

The standard primitives guard their state by locks, whose operations are points already. Only what
they read or write without one is announced: the flag of an event, the state of a barrier, the deque of
a simple queue, the executors' shutdown flag.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import CodeType
from typing import Any

from harness.control.announce import Announced, announcers
from harness.control.instrument import compile_instrumented
from harness.control.stored_names import Mutable, stored_names

__all__ = ["AccessCompiler"]

_STANDARD: dict[str, Mapping[str, str]] = {
    "threading": {"_flag": "read", "_state": "read", "_count": "read"},
    "queue": {"_queue": "write"},
    "concurrent.futures.thread": {"_shutdown": "read"},
}
_UNTOUCHED = frozenset({"threading", "_threading_local", "queue", "sched", "concurrent"})


class AccessCompiler:
    """Compiles with access points. `accesses` off: primitives are the only points.

    `mutable` is what is known of all modules; `outdated` turns true when a module stores a name that one
    compiled before it took for constant, so that the world has to be made again with `seen`.
    """

    def __init__(self, runtime: Announced, mutable: Mutable, accesses: bool = True) -> None:
        self.supplied: Mapping[str, Any] = announcers(runtime)
        self.seen = mutable
        self.outdated = False
        self._mutable = mutable
        self._accesses = accesses
        self._compiled = False

    def compile(self, source: bytes, filename: str, module: str) -> CodeType | None:
        """The code of a module; None to compile it as usual."""
        if module.partition(".")[0] in _UNTOUCHED:
            only = _STANDARD.get(module)
            return compile_instrumented(source, filename, only=only) if only is not None else None
        if not self._accesses:
            return None
        stored = stored_names(ast.parse(source, filename))
        if not self.seen.covers(stored):
            self.seen |= stored
            self.outdated = self.outdated or self._compiled
            if not self._compiled:
                self._mutable = self.seen
        self._compiled = True
        return compile_instrumented(source, filename, self.seen)
