"""An exploration over several processes, with the findings of one.

Every worker is a fork with the laboratory as it is, and runs every n-th batch. A batch depends on the seed
and its number only, so what is reported, the failure of the lowest batch and the executions up to it, is
what a single process would have reported.
"""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.findings import HarnessError

if TYPE_CHECKING:
    from harness.explore.explorer import Batch

__all__ = ["batches_by_processes", "can_fork"]

_POLL_S = 0.1


def can_fork() -> bool:
    """Whether this system has processes that begin as copies."""
    return hasattr(os, "fork")


def batches_by_processes(
    run: Callable[[int, float | None], Batch],
    batches: int,
    jobs: int,
    seconds: float | None,
    heard: Callable[[int, Batch], None],
) -> dict[int, Batch]:
    """Run batches 0, 1, ... in `jobs` processes until one fails; batches by number.

    Of a failing exploration all batches below the failing one are there. `heard` is told of each batch
    as it comes. Raises HarnessError if a worker does.
    """
    context = multiprocessing.get_context("fork")
    results: Any = context.SimpleQueue()
    lowest_failed = context.Value("q", batches)
    ends = None if seconds is None else time.monotonic() + seconds
    workers = [
        context.Process(
            target=_work, args=(run, range(first, batches, jobs), ends, lowest_failed, results), daemon=True
        )
        for first in range(min(jobs, batches))
    ]
    for worker in workers:
        worker.start()
    done: dict[int, Batch] = {}
    busy = len(workers)
    try:
        while busy:
            number, batch, error = _next(results, workers)
            if error:
                raise HarnessError(error)
            if batch is None:
                busy -= 1
                continue
            done[number] = batch
            heard(number, batch)
    finally:
        for worker in workers:
            worker.kill() if worker.is_alive() and busy else None
            worker.join()
    failed = [number for number, batch in done.items() if batch.failed is not None]
    last = min(failed, default=batches)
    return {number: done[number] for number in sorted(done) if number <= last}


def _work(
    run: Callable[[int, float | None], Batch], numbers: range, ends: float | None, lowest: Any, results: Any
) -> None:
    try:
        for number in numbers:
            left = None if ends is None else ends - time.monotonic()
            if number > lowest.value or (left is not None and left <= 0):
                break
            batch = run(number, left)
            if batch.failed is not None:
                with lowest.get_lock():
                    lowest.value = min(lowest.value, number)
            results.put((number, batch, ""))
        results.put((-1, None, ""))
    except HarnessError as error:
        results.put((-1, None, str(error)))
    except BaseException:
        results.put((-1, None, f"a worker of the exploration failed: {traceback.format_exc()}"))


def _next(results: Any, workers: list[Any]) -> tuple[int, Any, str]:
    while results.empty():
        if not any(worker.is_alive() for worker in workers) and results.empty():
            raise HarnessError("the workers of the exploration died without a word")
        time.sleep(_POLL_S)
    found: tuple[int, Any, str] = results.get()
    return found
