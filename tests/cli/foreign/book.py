"""A job ledger of somebody else: other names, seconds, exceptions for full and unknown."""

import copy
import threading
import time


class BookFull(Exception):
    """No room."""


class NoSuchJob(LookupError):
    """Never entered, or forgotten."""


class Entry:
    """A job in the book."""

    def __init__(self, payload):
        self.payload = payload
        self.phase = "QUEUED"
        self.outcome = None
        self.problem = None
        self.entered = time.monotonic()
        self.left = None


class Book:
    """All jobs, behind one lock."""

    def __init__(self, capacity=16, keep_seconds=300.0, keep_count=100):
        self.capacity, self.keep_seconds, self.keep_count = capacity, keep_seconds, keep_count
        self.changed = threading.Condition()
        self.entries = {}
        self.closed = []
        self.last = 0

    @property
    def size(self):
        with self.changed:
            return self._open()

    def _open(self):
        return sum(entry.left is None for entry in self.entries.values())

    def enqueue(self, payload):
        with self.changed:
            if self._open() >= self.capacity:
                raise BookFull
            now = time.monotonic()
            old = [n for n in self.closed if now - self.entries[n].left > self.keep_seconds]
            for number in old:
                self._forget(number)
            while len(self.closed) > self.keep_count:
                self._forget(self.closed[0])
            self.last += 1
            self.entries[self.last] = Entry(payload)
            return self.last

    def _forget(self, number):
        self.closed.remove(number)
        del self.entries[number]

    def _entry(self, number):
        if number not in self.entries:
            raise NoSuchJob(number)
        return self.entries[number]

    def start(self, number):
        with self.changed:
            entry = self._entry(number)
            if entry.phase != "QUEUED":
                return False
            entry.phase = "STARTED"
            self.changed.notify_all()
            return True

    def _close(self, number, phase, outcome, problem):
        with self.changed:
            entry = self._entry(number)
            if entry.left is not None:
                return False
            entry.phase, entry.outcome, entry.problem = phase, outcome, problem
            entry.left = time.monotonic()
            self.closed.append(number)
            self.changed.notify_all()
            return True

    def complete(self, number, outcome):
        return self._close(number, "COMPLETED", copy.deepcopy(outcome), None)

    def abort(self, number, problem):
        return self._close(number, "ABORTED", None, problem)

    def look(self, number):
        with self.changed:
            return self._seen(self._entry(number))

    def _seen(self, entry):
        return {"phase": entry.phase, "problem": entry.problem, "entered": entry.entered, "left": entry.left}

    def watch(self, number, phase, seconds):
        with self.changed:
            entry = self._entry(number)
            self.changed.wait_for(
                lambda: entry.phase != phase or entry.left is not None, seconds if seconds > 0 else None
            )
            return self._seen(entry)

    def outcome(self, number):
        with self.changed:
            entry = self._entry(number)
            if entry.phase != "COMPLETED":
                return {"status": "NOT_DONE", "phase": entry.phase}
            return {"status": "READY", "outcome": copy.deepcopy(entry.outcome)}
