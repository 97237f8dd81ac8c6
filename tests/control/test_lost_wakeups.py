"""Lost wakeups: a wait that began after the notify it needed is told apart from other waits for ever."""

from __future__ import annotations

import queue
import threading

import pytest

from harness.control.failures import FailureKind
from harness.explore.exploration import Effort
from harness.explore.explorer import explored


def found(program, seed):
    """The failure that an exploration ends with."""
    return explored(program, Effort(executions=300, seed=seed)).found.failure


class Flagged:
    """A flag, looked at under one lock or under another one, and a condition to wait for it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.changed = threading.Condition()
        self.flag = self.other = False

    def raise_flag(self):
        with self.lock:
            self.flag = True
        with self.changed:
            self.changed.notify_all()

    def raise_other(self):
        with self.changed:
            self.other = True
            self.changed.notify_all()

    def await_flag(self):
        """Wrong: between the look and the wait the flag may be raised, and the notify lost."""
        with self.lock:
            raised = self.flag
        if not raised:
            with self.changed:
                self.changed.wait()

    def await_under_the_lock(self):
        """Right, but for a flag that nobody raises."""
        with self.changed:
            while not self.flag:
                self.changed.wait()


def together(*jobs):
    """Runs each in a thread of its own."""
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def look_then_wait():
    """The notify may come between the look and the wait."""
    flagged = Flagged()
    together(flagged.await_flag, flagged.raise_flag)


def waits_for_what_nobody_does():
    """Whoever notifies does so for something else, before or during the wait."""
    flagged = Flagged()
    together(flagged.raise_other, flagged.await_under_the_lock)


def starved_consumer():
    """The queue's only item was announced to nobody, and taken; there will not be a second one."""
    items = queue.Queue()
    items.put(1)
    taker = threading.Thread(target=lambda: (items.get(), items.get()))
    taker.start()
    taker.join()


@pytest.mark.parametrize("seed", range(5))
def test_a_notify_before_the_wait_is_a_lost_wakeup(seed):
    """Who looked, and waits after the notify that told of what it looked at, is told which one that was."""
    failure = found(look_then_wait, seed=seed)
    assert failure.kind is FailureKind.LOST_WAKEUP
    [waits] = [wait for wait in failure.waits if wait.missed]
    assert "main/1" == waits.task
    line = Flagged.raise_flag.__code__.co_firstlineno + 4
    assert waits.missed.startswith(f"main/2 notified at test_lost_wakeups.py:{line} in ")
    assert waits.missed.endswith("raise_flag, when nobody waited")


@pytest.mark.parametrize("program", [waits_for_what_nobody_does, starved_consumer])
@pytest.mark.parametrize("seed", range(5))
def test_a_notify_that_was_seen_is_no_lost_wakeup(program, seed):
    """Who looks after the notify, under the lock, waits for something else: a deadlock like any other."""
    assert found(program, seed=seed).kind is FailureKind.DEADLOCK
