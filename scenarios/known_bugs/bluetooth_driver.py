"""CS/bluetooth_driver: a driver that is stopped between a request's look at the flag and its count."""

from __future__ import annotations

from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["BLUETOOTH_DRIVER"]


class Driver:
    """`pending` counts requests, and one more for the driver itself until it is told to stop."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.pending = 1
        self.stopping = False
        self.idle = False
        self.stopped = False


def _leave(driver: Driver) -> None:
    with driver.lock:
        driver.pending -= 1
        last = driver.pending == 0
    if last:
        driver.idle = True


def _work(driver: Driver) -> None:
    assert not driver.stopped, "a request works on a stopped driver"
    _leave(driver)


def add_unsafely(driver: Driver) -> None:
    """A request that looks at the flag first and counts itself afterwards."""
    if driver.stopping:
        return
    with driver.lock:
        driver.pending += 1
    _work(driver)


def add(driver: Driver) -> None:
    """A request that looks and counts in one critical section."""
    with driver.lock:
        if driver.stopping:
            return
        driver.pending += 1
    _work(driver)


def stop_unsafely(driver: Driver) -> None:
    """Tell the driver to stop, without the lock; release its resources if nobody uses them."""
    driver.stopping = True
    _release(driver)


def stop(driver: Driver) -> None:
    """Tell the driver to stop, under the lock; release its resources if nobody uses them."""
    with driver.lock:
        driver.stopping = True
    _release(driver)


def _release(driver: Driver) -> None:
    _leave(driver)
    if driver.idle:
        driver.stopped = True


BLUETOOTH_DRIVER = KnownBug(
    name="bluetooth_driver",
    source="CS",
    about="The driver stops completely between a request's check of the flag and its count.",
    finding="exception",
    message="works on a stopped driver",
    buggy=Program("bluetooth_driver", Driver, (add_unsafely, stop_unsafely)),
    repaired=Program("bluetooth_driver_ok", Driver, (add, stop)),
)
