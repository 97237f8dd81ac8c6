"""A thread that nobody released is parked; one that runs, or sleeps a little at a time, is not."""

from __future__ import annotations

import threading
import time

import pytest

from harness.stress.parking import are_parked, parking_is_visible

pytestmark = [
    pytest.mark.stress,
    pytest.mark.skipif(not parking_is_visible(), reason="this system does not show the states of threads"),
]
LOOKS = 50
PATIENCE = 2_000  # ten milliseconds each: reached only if a thread never parks


@pytest.fixture
def running():
    """Starts threads that get an event telling them to stop, and gives their native ids."""
    stop = threading.Event()
    threads = []

    def start(body):
        begun = threading.Event()
        thread = threading.Thread(target=lambda: (begun.set(), body(stop)), daemon=True)
        thread.start()
        begun.wait()
        threads.append(thread)
        return thread.native_id

    yield start
    stop.set()
    for thread in threads:
        thread.join()


def spin(stop):
    """Never sleeps."""
    while not stop.is_set():
        pass


def nap(stop):
    """Sleeps, a little at a time."""
    while not stop.is_set():
        time.sleep(0.0005)


def seen_parked(native_ids):
    """Whether one of many looks finds them all parked; between them a thread may get to where it parks."""
    for _ in range(PATIENCE):
        if are_parked(native_ids):
            return True
        time.sleep(0.01)
    return False


def test_a_thread_that_waits_for_a_lock_is_parked(running):
    """Sooner or later, and from then on at every look."""
    lock = threading.Lock()
    lock.acquire()
    native_id = running(lambda stop: lock.acquire())
    try:
        assert seen_parked([native_id])
        assert [True] * LOOKS == [are_parked([native_id]) for _ in range(LOOKS)]
    finally:
        lock.release()


@pytest.mark.parametrize("body", [spin, nap])
def test_a_thread_that_gets_on_is_not_parked(running, body):
    """However often one looks."""
    native_id = running(body)
    assert [False] * LOOKS == [are_parked([native_id]) for _ in range(LOOKS)]


def test_one_that_gets_on_is_enough(running):
    """Several threads are parked when each of them is."""
    waiting, second = running(lambda stop: stop.wait()), running(lambda stop: stop.wait())
    assert seen_parked([waiting, second])
    third = running(nap)
    assert not any(are_parked([waiting, second, third]) for _ in range(LOOKS))


def test_a_thread_that_is_gone_is_not_parked():
    """What is not shown cannot be known."""
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    assert not are_parked([thread.native_id])
