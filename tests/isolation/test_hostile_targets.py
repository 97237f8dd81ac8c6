"""Hostile implementations: each ends in a finding with its evidence, never in a hang or a fault of ours."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from harness.findings import Kind, UsageError, Verdict

# What it does, in which operation, and what the finding says: its kind, its message, and where it was.
CRASHES = {
    "a null pointer": ("ctypes.string_at(0)", "finish", "it crashed the process: SIGSEGV", "in finish"),
    "a null pointer at birth": ("ctypes.string_at(0)", "__init__", "SIGSEGV", "in __init__"),
    "abort": ("os.abort()", "finish", "it crashed the process: SIGABRT", "in finish"),
    "a signal": ("print('last words'); os.kill(os.getpid(), 15)", "finish", "SIGTERM", ""),
    "exit with 0": ("os._exit(0)", "finish", "it ended the process with exit code 0", "it printed nothing"),
    "exit with 3": ("os.write(2, b'last words'); os._exit(3)", "finish", "exit code 3", "last words"),
    "exit at birth": ("os._exit(0)", "__init__", "it ended the process with exit code 0", ""),
    "every file closed": ("os.closerange(3, 256)", "finish", "it ended the process with exit code 1", ""),
    "a flood beside progress": ("os.write(1, b'x' * 10**7)", "finish", "it printed more than 64 MB", "xxxx"),
    "a flood of output": ("while True: print('x' * 10_000)", "finish", "it printed more than 64 MB", "xxxx"),
}


@pytest.mark.parametrize(("deed", "where", "said", "shown"), CRASHES.values(), ids=CRASHES)
def test_a_crash_is_a_finding(hostile, isolate, deed, where, said, shown):
    """A process that ends without its report is a crash: how it ended, and what it said last."""
    report = isolate(hostile(deed, where))
    [finding] = report.findings
    assert (Verdict.VIOLATION, Kind.CRASH, "sequential", "") == (
        report.verdict,
        finding.kind,
        finding.stage,
        finding.clause,
    )
    assert said in finding.message
    assert shown in "\n".join(finding.evidence)
    assert finding.evidence
    assert f"--stage {finding.stage}" in finding.reproduce


HANGS = {
    "a loop": "while True: pass",
    "a loop that keeps the lock of the interpreter": "sum(iter(int, 1))",
    "a sleep outside Python": "ctypes.CDLL(None).sleep(1000)",
}


@pytest.mark.stress
@pytest.mark.parametrize("deed", HANGS.values(), ids=HANGS)
def test_a_hang_is_a_finding(hostile, isolate, deed):
    """An operation that never returns is a hang, and the stacks show where it was."""
    report = isolate(hostile(deed), deadline_s=4)
    [finding] = report.findings
    assert (Verdict.VIOLATION, Kind.HANG) == (report.verdict, finding.kind)
    assert "did not end within 4 s" in finding.message
    assert "in finish" in finding.evidence[0]


@pytest.mark.stress
def test_a_constructor_that_hangs_is_a_finding(hostile, isolate):
    """The deadline holds from the beginning, not from the first operation."""
    [finding] = isolate(hostile("while True: pass", "__init__"), deadline_s=4).findings
    assert Kind.HANG is finding.kind
    assert "in __init__" in finding.evidence[0]


BLAMED = {
    "a deadlock": ("lock = threading.Lock(); lock.acquire(); lock.acquire()", Kind.HANG, "never returned"),
    "an exit": ("sys.exit(3)", Kind.EXCEPTION, "raised SystemExit: 3"),
    "no end of calls": ("return self.finish(*given)", Kind.EXCEPTION, "raised RecursionError"),
    "nonsense": ("return 'perhaps'", Kind.MALFORMED_ANSWER, "expected True or False, got 'perhaps'"),
    "unprintable": ("raise ValueError('\\ud800\\0[/x]')", Kind.EXCEPTION, "raised ValueError: \ud800\0[/x]"),
}


@pytest.mark.parametrize(("deed", "kind", "said"), BLAMED.values(), ids=BLAMED)
def test_a_misdeed_within_python_names_its_clause(hostile, isolate, deed, kind, said):
    """What the stage can survive is blamed on the operation's clause, with a program."""
    report = isolate(hostile(deed))
    finding = next(one for one in report.findings if one.clause == "AJT-TERM-ANY")
    assert kind is finding.kind
    assert said in finding.message
    assert "ledger.finish(" in finding.program


def test_an_endless_sleep_costs_no_time(hostile, isolate):
    """In virtual time an operation may sleep for thirty years; what that does to its jobs is judged."""
    report = isolate(hostile("time.sleep(1e9)"))
    assert Verdict.VIOLATION is report.verdict
    assert Kind.HANG not in {finding.kind for finding in report.findings}


def test_a_memory_balloon_is_a_finding(hostile, isolate):
    """Memory without end becomes a MemoryError at the limit, and that is the operation's."""
    report = isolate(hostile("hoard = []\nwhile True: hoard.append(bytes(10**7))"), memory_mb=600)
    assert {Kind.EXCEPTION} == {finding.kind for finding in report.findings}
    assert "raised MemoryError" in report.findings[0].message


QUIET = {
    "prints": 'print(\'{"event": "report"}\')',
    "writes to the descriptor of standard output": 'os.write(1, b\'{"event": "usage", "message": "no"}\\n\')',
    "closes standard output and error": """
        for number in (1, 2):
            try:
                os.close(number)
            except OSError:
                pass
    """,
    "closes the streams": "sys.stdout.close(); sys.stderr.close()",
    "takes the streams away": "sys.stdout = sys.stderr = None",
    "closes standard input": """
        try:
            os.close(0)
        except OSError:
            pass
    """,
}


@pytest.mark.parametrize("deed", QUIET.values(), ids=QUIET)
def test_events_arrive_whatever_is_done_to_the_standard_streams(hostile, isolate, deed):
    """A sound ledger with bad manners is sound; the child's report comes on a channel of its own."""
    report = isolate(hostile(deed))
    assert (Verdict.OK, ()) == (report.verdict, report.findings)
    assert report.operations > 100


RAISES = {
    "a plain exception": ("raise RuntimeError('no disk')", "__init__", "raised RuntimeError: no disk"),
    "answers nonsense to submit": ("return 3.5", "submit", "submit answered 3.5 (float)"),
    "answers nonsense to snapshot": ("return 'odd'", "snapshot", "'odd'"),
}


@pytest.mark.parametrize(("deed", "where", "said"), RAISES.values(), ids=RAISES)
def test_what_cannot_be_used_at_all_is_a_usage_error(hostile, isolate, deed, where, said):
    """A factory that raises, or answers that nothing can be made of, are told in one sentence."""
    with pytest.raises(UsageError) as caught:
        isolate(hostile(deed, where))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "class Made(Ledger):\n    def __init__(self, **bounds):\n        sys.exit(3)\n",
        "sys.exit(3)\n",
    ],
    ids=["constructor", "import"],
)
def test_an_exit_before_the_first_operation_names_its_line(hostile, isolate, text):
    """`sys.exit` in a constructor or at the top of a module is the user's to mend: the line is told."""
    with pytest.raises(UsageError, match=r"SystemExit: 3.*hostile\.py:\d+"):
        isolate(hostile("", text=text))


@pytest.mark.parametrize("raised", ["KeyboardInterrupt()", "BaseException('odd')", "GeneratorExit()"])
def test_an_exception_that_is_no_exception_names_its_clause(hostile, isolate, raised):
    """KeyboardInterrupt and its like, raised by an operation, are that operation's misdeed."""
    report = isolate(hostile(f"raise {raised}"))
    assert "AJT-TERM-ANY" in {finding.clause for finding in report.findings}


def test_a_balloon_that_stays_is_a_finding(hostile, isolate):
    """The implementation may hold on to its hoard; it is its fault all the same."""
    text = """
        class Made(Ledger):
            hoard = []

            def finish(self, job_id, result):
                while True:
                    self.hoard.append(bytes(10**4))
    """
    report = isolate(hostile("", text=text), memory_mb=600)
    assert Verdict.VIOLATION is report.verdict


def test_an_answer_that_raises_when_it_is_read_is_a_finding(hostile, isolate):
    """A property of a returned record may raise; that is the implementation's misdeed."""
    text = """
        class Torn:
            @property
            def state(self):
                raise RuntimeError("torn")


        class Made(Ledger):
            def snapshot(self, job_id):
                seen = super().snapshot(job_id)
                return Torn() if seen and seen.state.value == "DONE" else seen
    """
    report = isolate(hostile("", text=text))
    assert Verdict.VIOLATION is report.verdict
    assert "torn" in report.findings[0].message


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="the system has no real-time signals")
def test_a_signal_without_a_name_is_a_finding(hostile, isolate):
    """Death by signal 40 has a number to show, if no name."""
    [finding] = isolate(hostile("os.kill(os.getpid(), signal.SIGRTMIN + 6)")).findings
    assert Kind.CRASH is finding.kind
    assert str(signal.SIGRTMIN + 6) in finding.message


@pytest.mark.parametrize("line", ["3", "{}", '{"event": "report"}', '{"event": "progress"}', "\xff"])
def test_a_forged_event_is_ignored_or_a_finding(hostile, isolate, line):
    """An implementation that writes to every descriptor disturbs its own gate only."""
    deed = f"""
        for number in range(3, 20):
            try:
                os.write(number, {line.encode("latin-1")!r} + b"\\n")
            except OSError:
                pass
    """
    assert isolate(hostile(deed)).verdict in (Verdict.OK, Verdict.VIOLATION)


@pytest.mark.stress
def test_the_stacks_of_a_hang_survive_a_closed_standard_error(hostile, isolate):
    """The evidence of a hang does not depend on the implementation's manners."""
    [finding] = isolate(hostile("os.closerange(1, 3)\nwhile True: pass"), deadline_s=4).findings
    assert Kind.HANG is finding.kind
    assert "in finish" in finding.evidence[0]


def test_a_constructor_that_fails_later_is_a_finding(hostile, isolate):
    """An implementation that can be made a few dozen times leaks something; the user's command was right."""
    text = """
        class Made(Ledger):
            made = 0

            def __init__(self, **bounds):
                super().__init__(**bounds)
                Made.made += 1
                if Made.made > 60:
                    raise OSError("too many open files")
    """
    report = isolate(hostile("", text=text))
    assert Verdict.VIOLATION is report.verdict
    [finding] = report.findings
    assert (Kind.EXCEPTION, "", "") == (finding.kind, finding.clause, finding.program)
    assert "raised OSError: too many open files" in finding.message
    assert finding.message.endswith("after 60 that were made")
    assert finding.where.endswith("in __init__")
    assert "programs of this stage could not begin" in finding.evidence[0]


def test_a_constructor_that_fails_later_hides_nothing(hostile, isolate):
    """What broke while instances could still be made is reported beside the one that could not."""
    text = """
        class Made(Ledger):
            made = 0

            def __init__(self, **bounds):
                super().__init__(**bounds)
                Made.made += 1
                if Made.made > 60:
                    raise OSError("too many open files")

            def queue_depth(self):
                return super().queue_depth() + 1
    """
    report = isolate(hostile("", text=text))
    assert {"", "AJT-DEPTH-SCOPE"} <= {finding.clause for finding in report.findings}


STARVING = """
import resource
from harness.isolation import child

before = child._starved(400)
hoard = []
resource.setrlimit(resource.RLIMIT_AS, (400 * 1024 * 1024, resource.RLIM_INFINITY))
try:
    while True:
        hoard.append(bytearray(2**20))
except MemoryError:
    pass
print(before, child._starved(400))
"""


def test_any_error_counts_as_memory_when_hardly_any_is_left():
    """With its memory gone an interpreter may fail with any error, so the child looks at its peak."""
    said = subprocess.run(
        [sys.executable, "-c", STARVING], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout.split() == ["False", "True"]
