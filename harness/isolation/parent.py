"""The parent's side: start a stage's child, watch it, and account for however it ends."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from harness.findings import Finding, HarnessError, Kind, StageReport, UsageError, Verdict
from harness.stages import StageJob

__all__ = ["run_isolated"]

_GRACE_S = 5.0
_TICK_S = 0.1
_FLOOD_BYTES = 64 * 1024 * 1024
_TAIL_BYTES = 12_000

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
            child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout):
                if stream:
                    stream.close()
        late = time.monotonic() - began >= deadline_s
        report = _account(job, ending, child.returncode, deadline_s if late else None, _tail(output))
    return dataclasses.replace(report, seconds=round(time.monotonic() - began, 3))


def _start(output: IO[bytes]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "harness.isolation.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=output,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )


def _converse(
    child: subprocess.Popen[str], job: StageJob, deadline_s: float, progress: Progress, output: IO[bytes]
) -> dict[str, Any]:
    """Hand over the job and listen; the child's last word, or how it fell silent."""
    assert child.stdin
    assert child.stdout
    try:
        child.stdin.write(json.dumps({"job": job.to_json(), "deadline_s": deadline_s}) + "\n")
        child.stdin.flush()
    except BrokenPipeError:
        return {"event": "gone"}
    events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(child.stdout, events), daemon=True).start()
    last = time.monotonic() + deadline_s + _GRACE_S
    while time.monotonic() < last:
        try:
            event = events.get(timeout=_TICK_S)
        except queue.Empty:
            if os.fstat(output.fileno()).st_size > _FLOOD_BYTES:
                return {"event": "flood"}
            continue
        if event["event"] != "progress":
            return _let_finish(child, event)
        progress(event["executions"], event["operations"])
    return {"event": "hang"}


def _let_finish(child: subprocess.Popen[str], event: dict[str, Any]) -> dict[str, Any]:
    """Give the child a moment to save coverage and go."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=_GRACE_S)
    return event


def _listen(stream: IO[str], events: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in stream:
        try:
            events.put(json.loads(line))
        except ValueError:
            continue
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
    if event == "flood":
        kind, message = Kind.CRASH, f"it printed more than {_FLOOD_BYTES // 1024 // 1024} MB"
    elif overran_s is not None:
        kind, message = (
            Kind.HANG,
            f"the stage did not end within {overran_s:.0f} s; the stacks show where it was",
        )
    elif code < 0:
        kind, message = Kind.CRASH, f"it crashed the process: {signal.Signals(-code).name}"
    else:
        kind, message = Kind.CRASH, f"it ended the process with exit code {code}"
    finding = Finding(
        kind,
        "",
        message,
        job.stage,
        evidence=(tail,) if tail else ("it printed nothing",),
        reproduce=job.reproduce,
    )
    return StageReport(job.stage, Verdict.VIOLATION, findings=(finding,))
