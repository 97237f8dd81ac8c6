"""The parent's side: start a stage's child, watch it, and account for however it ends."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from harness.findings import Finding, HarnessError, Kind, StageReport, UsageError, Verdict
from harness.job import StageJob

__all__ = ["run_isolated"]

_GRACE_S = 5.0
_TICK_S = 0.1
_FLOOD_BYTES = 64 * 1024 * 1024
_TAIL_BYTES = 12_000
_CHUNK_BYTES = 65_536

Progress = Callable[[int, int], None]


def run_isolated(job: StageJob, deadline_s: float, progress: Progress) -> StageReport:
    """Run a stage in a child process and return its report, whatever the implementation does.

    After `deadline_s` the child writes every thread's stack and is ended: that is a finding. Raises
    UsageError for what the user can mend and HarnessError for our own faults.
    """
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = _start(output)
        try:
            ending = _converse(child, job, deadline_s, progress, output)
        finally:
            _end(child)
        late = time.monotonic() - began >= deadline_s
        report = _account(job, ending, child.returncode, deadline_s if late else None, _tail(output))
    return dataclasses.replace(report, seconds=round(time.monotonic() - began, 3))


def _start(output: IO[bytes]) -> subprocess.Popen[bytes]:
    """The child, in a session of its own, so that what it starts can be ended with it."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "harness.isolation.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=output,
        bufsize=0,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and what it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()
    if child.stdin:
        with contextlib.suppress(OSError):
            child.stdin.close()


def _converse(
    child: subprocess.Popen[bytes], job: StageJob, deadline_s: float, progress: Progress, output: IO[bytes]
) -> dict[str, Any]:
    """Hand over the job and listen; the child's last word, or how it fell silent."""
    word = secrets.token_hex(8)  # events carry it, so that nothing the implementation writes can pass for one
    order = json.dumps({"job": job.to_json(), "deadline_s": deadline_s, "word": word}) + "\n"
    events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(child, word, events), daemon=True).start()
    try:
        assert child.stdin
        child.stdin.write(order.encode())
    except OSError:
        return {"event": "gone"}
    last = time.monotonic() + deadline_s + _GRACE_S
    judging = False
    ended: float | None = None
    while time.monotonic() < last:
        if os.fstat(output.fileno()).st_size > _FLOOD_BYTES:
            return {"event": "flood"}
        try:
            event = events.get(timeout=_TICK_S)
        except queue.Empty:
            if child.poll() is not None:
                ended = ended or time.monotonic()
            if ended and time.monotonic() - ended > _GRACE_S and events.empty():
                # all is said that will be: something that it started holds the channel open
                return {"event": "out of time" if judging else "gone"}
            continue
        if event["event"] == "judging":
            judging = event["begins"]
            continue
        if event["event"] == "gone" and judging:
            return {
                "event": "out of time"
            }  # the child's own deadline, while it was not the implementation's turn
        if event["event"] != "progress":
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=_GRACE_S)  # a moment to save coverage and go
            return event
        progress(event["executions"], event["operations"])
    return {"event": "out of time" if judging else "hang"}


def _listen(child: subprocess.Popen[bytes], word: str, events: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Read events until the channel ends; closes it, as nobody else may while this reads."""
    assert child.stdout
    with child.stdout as stream:
        rest = b""
        while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                with contextlib.suppress(ValueError):
                    event = json.loads(line.decode("utf-8", "replace"))
                    if isinstance(event, dict) and event.get("word") == word:
                        events.put(event)
    events.put({"event": "gone"})


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(size - _TAIL_BYTES, 0))
    return output.read().decode("utf-8", "replace").strip()


def _account(
    job: StageJob, ending: dict[str, Any], code: int, overran_s: float | None, tail: str
) -> StageReport:
    event = ending["event"]
    if event == "report":
        return StageReport.from_json(ending["report"])
    if event == "usage":
        raise UsageError(ending["message"])
    if event == "error":
        trace = ending.get("traceback", "")
        raise HarnessError(f"stage {job.stage}: {ending['message']}" + (f"\n{trace}" if trace else ""))
    if event == "out of time" and overran_s is not None and code >= -9:
        note = f"the harness was still judging a history after {overran_s:.0f} s: give it a larger --budget"
        return StageReport(job.stage, Verdict.UNKNOWN, unmet=(note,))
    if event == "memory":
        kind, message = Kind.CRASH, f"it used more than {job.memory_mb} MB of memory"
    elif event == "flood":
        kind, message = Kind.CRASH, f"it printed more than {_FLOOD_BYTES // 1024 // 1024} MB"
    elif overran_s is not None:
        kind, message = (
            Kind.HANG,
            f"the stage did not end within {overran_s:.0f} s; the stacks show where it was",
        )
    elif code < 0:
        kind, message = Kind.CRASH, f"it crashed the process: {_signal_name(-code)}"
    else:
        kind, message = Kind.CRASH, f"it ended the process with exit code {code}"
    evidence = (tail,) if tail else ("it printed nothing",)
    finding = Finding(kind, "", message, job.stage, evidence=evidence, reproduce=job.reproduce)
    return StageReport(job.stage, Verdict.VIOLATION, findings=(finding,))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
