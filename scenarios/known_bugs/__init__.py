"""Programs with a known bug and their repaired twins, ported from SCTBench to Python's threads.

The bugs are those of the originals (C programs of `mc-imperial/sctbench`, some read in the Java ports of
`cmu-pasta/fray-benchmark`), the code is not. Where C's main starts the threads, the tasks start together.
Shared state is attributes, items and locks, as an application would have them: an unsynchronised load or
store of the original is an attribute access here, and an atomic step is a critical section.

A known bug must lead to its finding, by kind and message; its twin, explored as hard, to none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenarios.known_bugs.catalogue import KNOWN_BUGS

__all__ = ["KNOWN_BUGS"]


def __getattr__(name: str) -> Any:
    """Import the catalogue when it is asked for: a private import of one program must not bring all."""
    if name != "KNOWN_BUGS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scenarios.known_bugs.catalogue import KNOWN_BUGS

    return KNOWN_BUGS
