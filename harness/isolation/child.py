"""The child process: runs one stage and tells what it found, one JSON object per line.

Started as `python -m harness.isolation.child`; the job is the first line of standard input. What
the implementation prints goes to standard error. When the parent dies, standard input ends and the
child leaves at once.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from harness.findings import HarnessError, UsageError
from harness.job import StageJob
from harness.stages import run_stage

__all__ = ["main"]

_PROGRESS_S = 0.1
_NEARLY_ALL = 0.95


class Speaker:
    """Writes events for the parent; progress is thinned out."""

    def __init__(self, stream: IO[str], word: str) -> None:
        self._stream = stream
        self._word = word
        self._next = 0.0

    def say(self, event: str, **content: Any) -> None:
        """Write one event."""
        self._stream.write(json.dumps({"event": event, "word": self._word, **content}) + "\n")
        self._stream.flush()

    def progress(self, executions: int, operations: int) -> None:
        """Tell how far the stage is, now and then."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PROGRESS_S
            self.say("progress", executions=executions, operations=operations)


def main() -> None:
    """Run the job on standard input and leave without waiting for stuck threads."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the implementation prints must not mix with events
    stacks = os.fdopen(os.dup(2), "w")  # descriptor 2 is the implementation's to close
    order = json.loads(sys.stdin.readline())
    speaker = Speaker(stream, order["word"])
    job = StageJob.from_json(order["job"])
    faulthandler.enable(stacks)
    faulthandler.dump_traceback_later(order["deadline_s"], exit=True, file=stacks)
    _limit_memory(job.memory_mb)
    threading.Thread(target=_leave_with_parent, name="parent watch", daemon=True).start()
    measured = _start_coverage(job)
    try:
        report = run_stage(job, speaker.progress, lambda begins: speaker.say("judging", begins=begins))
        speaker.say("report", report=report.to_json())
    except UsageError as error:
        speaker.say("usage", message=str(error))
    except MemoryError:
        speaker.say("memory")
    except Exception as error:
        if _starved(job.memory_mb):
            speaker.say("memory")
        elif isinstance(error, HarnessError):
            speaker.say("error", message=str(error))
        else:
            speaker.say("error", message=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())
    if measured is not None:
        measured.stop()
        measured.save()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(0)


def _leave_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


def _limit_memory(megabytes: int) -> None:
    """Turn a memory balloon into a MemoryError, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        resource = importlib.import_module("resource")
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1024 * 1024, hard))


def _starved(megabytes: int) -> bool:
    """Whether memory was so short, at any time, that an interpreter may fail with any error."""
    with suppress(OSError, ValueError, IndexError):
        peak_kb = int(Path("/proc/self/status").read_text("ascii").partition("VmPeak:")[2].split()[0])
        return peak_kb > megabytes * 1024 * _NEARLY_ALL
    return False


def _start_coverage(job: StageJob) -> Any:
    if not job.coverage:
        return None
    import coverage

    from harness.coverage_report import included

    measured = coverage.Coverage(
        data_file=job.coverage, branch=True, include=included(job.target), config_file=False
    )
    measured.start()
    return measured


if __name__ == "__main__":
    main()
