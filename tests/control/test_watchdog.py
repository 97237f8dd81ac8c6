"""What blocks outside of the controlled world is told with its place, soon, and is never a finding."""

from __future__ import annotations

import multiprocessing.pool
import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
import threading

import pytest

from harness.control.runtime import Runtime
from harness.control.watchdog import Watchdog
from harness.explore.exploration import Effort
from harness.explore.explorer import explored
from harness.findings import HarnessError, Verdict
from harness.strategies.undisturbed import Undisturbed

SOON_S = 30
"""Only a bound on hanging: what is asserted is what was told, not when."""


def test_only_executions_are_watched():
    """Between executions a thread may block as long as it likes; the signal's handler is put back."""
    before = signal.getsignal(signal.SIGURG)
    with Watchdog(Runtime()):
        assert signal.getsignal(signal.SIGURG) is not before
    assert signal.getsignal(signal.SIGURG) is before


def test_the_watchdogs_thread_ends_with_its_block():
    """No real thread is left when the exploration is over."""
    before = threading.active_count()
    with Watchdog(Runtime()):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_an_interrupt_ends_the_execution_with_the_error():
    """The error is raised by `execute`, which leaves the runtime ready for the next execution."""
    runtime, error = Runtime(), HarnessError("enough")
    with pytest.raises(HarnessError, match="enough"):
        runtime.execute(lambda: runtime.interrupt(error), Undisturbed())
    assert not runtime.executing
    assert runtime.execute(lambda: None, Undisturbed()).failure is None


def select_for_ever():
    """Waits for a pipe that nobody writes to."""
    ends = os.pipe()
    threading.Thread(target=list).start()
    try:
        select.select([ends[0]], [], [])
    finally:
        for end in ends:
            os.close(end)


def socket_for_ever():
    """Waits for a peer that says nothing, in a thread."""
    here, there = socket.socketpair()
    with here, there:
        thread = threading.Thread(target=lambda: there.recv(1))
        thread.start()
        thread.join()


def compute_for_ever():
    """Never comes to a point."""
    threading.Thread(target=list).start()
    number = 1
    while number:
        number += 1


BLOCKED = [(select_for_ever, "main"), (socket_for_ever, "main/1")]


@pytest.mark.stress
@pytest.mark.parametrize(("program", "task"), BLOCKED, ids=["select", "socket"])
def test_a_blocking_call_is_told_with_its_line(program, task):
    """A call into the system that does not come back ends the exploration, and names the task and the line."""  # noqa: E501
    with pytest.raises(HarnessError) as told:
        explored(program, Effort(executions=5))
    text = str(told.value)
    assert text.startswith(f"task {task} is blocked outside of the controlled world, at test_watchdog.py:")
    assert f" in {program.__qualname__}" in text
    assert "select.select([ends[0]], [], [])" in text or "there.recv(1)" in text
    assert "--instrument" in text


@pytest.mark.stress
def test_an_endless_computation_is_told_with_its_line(monkeypatch):
    """A loop without scheduling points ends the exploration; here after a second instead of twenty."""
    monkeypatch.setattr("harness.control.watchdog._BUSY_LOOKS", 5)
    with pytest.raises(HarnessError) as told:
        explored(compute_for_ever, Effort(executions=5))
    assert str(told.value).startswith("task main computes for 1 s without reaching a scheduling point")
    assert " in compute_for_ever: " in str(told.value)


LIBRARY = """
import threading

LOCK = threading.Lock()


def hold(then):
    with LOCK:
        then()
"""
STARTER = """
import threading


def hold(then):
    threading.Thread(target=threading.Event().wait, name="left behind", daemon=True).start()
    then()
"""
USER = """
import threading

import library
from harness.explore.exploration import Effort
from harness.explore.explorer import explored
from harness.findings import HarnessError


def contend():
    gate = threading.Event()
    threads = [threading.Thread(target=library.hold, args=(gate.wait,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    import user

    try:
        print(explored(user.contend, Effort(executions=50)).verdict)
    except HarnessError as error:
        print("told:", error)
"""


@pytest.fixture
def told_by(tmp_path):
    """Runs a program beside a library that is installed, so that it is not under control."""

    def run(library, user):
        installed = tmp_path / "site-packages"
        installed.mkdir()
        (installed / "library.py").write_text(textwrap.dedent(library), encoding="utf-8")
        (tmp_path / "user.py").write_text(textwrap.dedent(user), encoding="utf-8")
        path = os.pathsep.join([str(installed), *filter(None, sys.path)])
        return subprocess.run(
            [sys.executable, "user.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
            timeout=SOON_S,
        ).stdout

    return run


@pytest.mark.stress
def test_a_real_lock_of_another_task_is_told(told_by):
    """A lock of a library out of control that a suspended task holds is named with the line that waits."""
    text = told_by(LIBRARY, USER)
    assert text.startswith("told: task main/")
    assert "is blocked outside of the controlled world, at library.py:8 in hold: with LOCK:" in text
    assert "(--instrument library)" in text


def real_threads():
    """Has a pool of real threads do something."""
    with multiprocessing.pool.ThreadPool(1) as pool:
        return pool.apply(abs, (-1,))


@pytest.mark.stress
def test_a_real_thread_that_is_left_is_told(told_by):
    """A thread that somebody out of control starts is no task, and is named."""
    text = told_by(STARTER, USER)
    assert text.startswith(
        "told: the code under test started a real thread (left behind), which is not under"
    )
    assert "--instrument" in text


@pytest.mark.stress
def test_real_threads_that_ended_are_no_pass():
    """A program whose only concurrency is out of control was not explored, and the verdict says so."""
    outcome = explored(real_threads, Effort(executions=5))
    assert outcome.verdict is Verdict.UNKNOWN
    assert "no concurrency was exercised" in outcome.reasons[0]


def heavy():
    """Computes for longer than the watchdog lets anything block."""
    thread = threading.Thread(target=list)
    thread.start()
    sum(range(60_000_000))
    thread.join()


@pytest.mark.stress
def test_heavy_work_is_not_taken_for_being_stuck():
    """Whoever uses the processor between two points is left alone for much longer than who does not."""
    outcome = explored(heavy, Effort(executions=2))
    assert outcome.found is None
    assert outcome.executions == 2
