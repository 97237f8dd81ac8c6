"""What a target leaves behind: threads, children of its own, and a parent that died."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from harness.findings import Kind, Verdict
from harness.isolation import parent

BESIDE = """
class WithThread(Ledger):
    configure = None

    def __init__(self, *bounds, **named):
        super().__init__(*bounds, **named)
        threading.Thread(target=time.sleep, args=(1000,), daemon={daemon}).start()


def Made(max_queue=16, max_completed=100):
    return WithThread(max_queue, 300_000, max_completed)
"""
NO_WAIT = {"operations": {"wait": ""}}


@pytest.mark.parametrize("daemon", [True, False])
def test_a_thread_left_running_holds_nobody_up(hostile, isolate, daemon):
    """The child leaves without waiting for threads, and what needs virtual time is skipped by name."""
    target = hostile("", text=BESIDE.format(daemon=daemon))
    report = isolate(target, adapter=NO_WAIT)
    assert (Verdict.OK, ()) == (report.verdict, report.findings)
    assert ["job_ttl_ms", "virtual time", "wait"] == [line.partition(":")[0] for line in report.skipped]
    assert "starts a thread" in report.skipped[1]


def test_a_thread_started_by_an_operation_is_no_crash(hostile, isolate):
    """A sound ledger may start its thread when the first job ends."""
    report = isolate(hostile("threading.Thread(target=int).start()"), adapter=NO_WAIT)
    assert () == report.findings


@pytest.mark.stress
@pytest.mark.parametrize("where", ["__init__", "submit", "wait"])
def test_a_ledger_with_a_thread_is_sound(hostile, isolate, where):
    """In real time a sound ledger passes within the limit: no long waits, no jobs that expire."""
    report = isolate(hostile("threading.Thread(target=int).start()", where), deadline_s=48, examples=60)
    assert (Verdict.OK, ()) == (report.verdict, report.findings)
    assert any(line.startswith("virtual time: ") for line in report.skipped)


def test_children_of_the_implementation_are_ended_too(hostile, isolate, ends, tmp_path):
    """Nothing that a target started is left when its gate is over."""
    note = tmp_path / "pid"
    deed = f"""
        if not os.path.exists({str(note)!r}):
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            with open({str(note)!r}, "w") as written:
                written.write(str(child.pid))
    """
    isolate(hostile(deed))
    pid = int(note.read_text())
    assert ends(pid)


@pytest.mark.stress
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_does_not_hold_the_gate_up(hostile, isolate, tmp_path, monkeypatch):
    """An implementation that forks and exits has crashed, whatever becomes of its child."""
    monkeypatch.setattr(parent, "_GRACE_S", 0.5)
    outlived = tmp_path / "outlived"
    deed = f"""
        if os.fork() == 0:
            ctypes.CDLL(None).sleep(9)
            open({str(outlived)!r}, "w").close()
        os._exit(0)
    """
    [finding] = isolate(hostile(deed), deadline_s=5).findings
    assert not outlived.exists()
    assert (Kind.CRASH, "it ended the process with exit code 0") == (finding.kind, finding.message)


ORPHAN = """
from harness.isolation.parent import run_isolated
from harness.job import StageJob

run_isolated(StageJob("sequential", {target!r}, "ledger", {{}}, 0, 1, 0.01), 120, lambda *counts: None)
"""


@pytest.mark.stress
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system ends processes in another way")
@pytest.mark.parametrize("deed", ["while True: pass", "ctypes.CDLL(None).sleep(1000)"])
def test_the_child_leaves_when_its_parent_dies(hostile, ends, tmp_path, deed):
    """A gate that was killed leaves nothing running, though its target never returns."""
    note = tmp_path / "pid"
    target = hostile(f"with open({str(note)!r}, 'w') as note:\n    note.write(str(os.getpid()))\n{deed}")
    gate = subprocess.Popen([sys.executable, "-c", ORPHAN.format(target=target)])
    try:
        patience = time.monotonic() + 60
        while not (note.exists() and note.read_text()) and time.monotonic() < patience:
            time.sleep(0.05)
        child = int(note.read_text())
        assert child != gate.pid
    finally:
        gate.send_signal(signal.SIGKILL)
        gate.wait()
    assert ends(child)
