"""A job table as one might write it: its own names, a lock, and one race.

Run this file: a thousand ordinary concurrent runs, and how many of them went wrong.
"""

from __future__ import annotations

import copy
import threading
import time
import uuid
from contextlib import suppress


class TableFull(Exception):
    """No room for another job."""


class JobTable:
    """Jobs by id."""

    def __init__(self, capacity: int = 16) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._jobs: dict[str, dict] = {}

    @property
    def active(self) -> int:
        with self._lock:
            return sum(job["status"] in ("NEW", "STARTED") for job in self._jobs.values())

    def enqueue(self, payload: object) -> str:
        job_id = uuid.uuid4().hex
        job = {"status": "NEW", "error": "", "enqueued": time.monotonic(), "ended": None, "value": None}
        if self.active >= self._capacity:  # checked here ...
            raise TableFull
        with self._lock:
            self._jobs[job_id] = job  # ... and acted upon here
        return job_id

    def start(self, job_id: str) -> bool:
        return self._move(job_id, ("NEW",), status="STARTED")

    def complete(self, job_id: str, value: object) -> bool:
        return self._move(
            job_id, ("NEW", "STARTED"), status="COMPLETED", value=copy.deepcopy(value), ended=time.monotonic()
        )

    def crash(self, job_id: str, error: str) -> bool:
        return self._move(job_id, ("NEW", "STARTED"), status="CRASHED", error=error, ended=time.monotonic())

    def look(self, job_id: str) -> dict:
        with self._lock:
            return dict(self._jobs[job_id])

    def _move(self, job_id: str, allowed: tuple[str, ...], **changes: object) -> bool:
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None or job["status"] not in allowed:
                return False
            job.update(changes)
            return True


def ordinary_run() -> bool:
    """Two clients, one slot: whether the bound was kept."""
    table = JobTable(capacity=1)
    accepted = []

    def client() -> None:
        with suppress(TableFull):
            accepted.append(table.enqueue("payload"))

    threads = [threading.Thread(target=client) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(accepted) <= 1


if __name__ == "__main__":
    print(f"{sum(not ordinary_run() for _ in range(1000))} of 1000 ordinary runs went wrong")
