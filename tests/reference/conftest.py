"""A clock that tests move, for the reference ledger on real threads."""

from __future__ import annotations

import threading

import pytest


class FakeClock:
    """Time stands still until a test moves it; a waiter sleeps until the clock or a notification wakes it.

    `parked` is released once by every waiter that goes to sleep: it then holds no lock. Waits are
    never timed for real, so a lost wake-up hangs and is ended by the test's own timeout.
    """

    def __init__(self, now=1_000):
        self.now = now
        self.parked = threading.Semaphore(0)
        self.asked = []  # the budgets that were waited with
        self.gate = threading.Event()  # woken waiters go on once it is set
        self.gate.set()
        self._sleeping = []

    def now_ms(self):
        """Milliseconds, as set."""
        return self.now

    def wait(self, condition, timeout_ms):
        """Sleep on a held condition until somebody notifies it."""
        self.asked.append(timeout_ms)
        self._sleeping.append(condition)
        self.parked.release()
        condition.wait()
        self.gate.wait()

    def pass_ms(self, milliseconds):
        """Let time pass and wake every waiter, to see for itself whether its budget is over."""
        self.now += milliseconds
        for condition in tuple(self._sleeping):
            with condition:
                condition.notify_all()


class Strand(threading.Thread):
    """A call on a thread of its own; `result` joins it and gives the answer."""

    def __init__(self, call, *arguments):
        super().__init__(daemon=True)
        self._call, self._arguments = call, arguments
        self._answer = self._error = None
        self.start()

    def run(self):
        """Make the call."""
        try:
            self._answer = self._call(*self._arguments)
        except Exception as error:
            self._error = error

    def result(self):
        """The answer, once it is there; raises what the call raised."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._answer


@pytest.fixture
def clock():
    """A clock of one test's own."""
    return FakeClock()


@pytest.fixture(scope="session")
def strand():
    """Starts a call on another thread."""
    return Strand
