"""Implementations that do what nobody expects: the stage reports them, and is not brought down by them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import harness.stateful.session
from harness.contracts.adapter import Adapter
from harness.contracts.ledger import LEDGER
from harness.contracts.ledger.saboteurs import SABOTEURS
from harness.findings import Kind, UsageError, Verdict
from harness.job import StageJob
from harness.stages import run_stage
from harness.stateful.machine import machine_for
from harness.stateful.progress import Progress
from harness.stateful.session import ContractBroken, Session
from harness.stateful.stage import generated_failures

BOUNDS = {"max_queue": 2, "job_ttl_ms": 80, "max_completed": 1}


def only(report):
    """The findings of a report that is a violation."""
    assert report.verdict is Verdict.VIOLATION
    return report.findings


SHARED = """
    ends = 0

    def finish(self, job_id, result):
        ended = super().finish(job_id, result)
        Made.ends += ended
        return ended and Made.ends != {number}
"""


def test_state_shared_between_tables_is_reported(run, impl):
    """A bug that shows once per process is a finding of the directed programs, unshrunk."""
    [finding, *_] = only(run(impl(SHARED.format(number=3)), examples=5))
    assert finding.clause == "AJT-TERM-ANY"
    compile(finding.program, "program", "exec")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_does_not_show_again_was_seen_all_the_same(surrounded, impl, seed):
    """A generated program that breaks a clause once, and not when Hypothesis tries it again, is kept."""
    surroundings = surrounded(impl(SHARED.format(number=5)))
    [broken] = generated_failures(surroundings, Progress(), "once", 100, seed)
    assert broken.clause == "AJT-TERM-ANY"


def test_a_method_that_exits_is_an_exception_like_another(run, impl):
    """SystemExit out of a call is a finding, not the end of the harness."""
    target = impl("    def take_request(self, job_id):\n        raise SystemExit(7)")
    findings = only(run(target, examples=5))
    assert {Kind.EXCEPTION} == {finding.kind for finding in findings}
    assert "raised SystemExit: 7" in findings[0].message


def test_a_method_that_is_cancelled_is_an_exception_like_another(run, impl):
    """Whatever a call raises, apart from an interrupt by the user, is a finding."""
    target = impl("    def take_request(self, job_id):\n        raise GeneratorExit")
    assert {Kind.EXCEPTION} == {finding.kind for finding in only(run(target, examples=5))}


def test_a_method_that_locks_itself_out_is_a_hang(run, impl):
    """A lock taken twice is seen at once, and named by the operation's clause."""
    body = """
    def finish(self, job_id, result):
        with self._table:
            return super().finish(job_id, result)
"""
    findings = only(run(impl(body), examples=5))
    assert ("AJT-TERM-ANY", Kind.HANG) in {(finding.clause, finding.kind) for finding in findings}


@pytest.mark.parametrize("operation", ["submit(self, request_id, payload)", "snapshot(self, job_id)"])
def test_a_first_call_that_locks_itself_out_is_a_hang(run, impl, operation):
    """The same for the operations that are looked at before the stage begins."""
    call = operation.replace("self, ", "")
    findings = only(
        run(
            impl(f"    def {operation}:\n        with self._table:\n            return super().{call}"),
            examples=5,
        )
    )
    assert Kind.HANG in {finding.kind for finding in findings}


BAD_FIELD = """
    def snapshot(self, job_id):
        seen = super().snapshot(job_id)
        return seen and Lazy(seen)
"""
LAZY = """
class Lazy:
    def __init__(self, seen):
        self.state, self.error, self.submitted_at = seen.state, seen.error, seen.submitted_at

    @property
    def completed_at(self):
        if self.state.terminal:
            raise LookupError("not loaded")
        return 0
"""


def test_a_field_that_raises_is_reported(run, impl):
    """An answer with a property that raises is evidence, not the end of the stage."""
    [finding, *_] = only(run(impl(BAD_FIELD, head=LAZY), examples=5))
    assert "LookupError" in finding.message


STARTS = """
    def {where}:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
        {then}
"""
AT_ONCE = STARTS.format(
    where="__init__(self, max_queue=16, job_ttl_ms=300_000, max_completed=100)",
    then="super().__init__(max_queue, job_ttl_ms, max_completed)",
)


def test_a_thread_in_the_constructor_means_real_time(surrounded, impl):
    """An implementation that starts threads is imported ordinarily, and the missing virtual time is named."""
    surroundings = surrounded(impl(AT_ONCE))
    assert surroundings.clock is None
    assert surroundings.binding.missing == {
        "virtual time": "no virtual time: the implementation starts a thread"
    }
    machine = machine_for(surroundings, Progress(), "Machine")
    assert not hasattr(machine, "advance")
    assert hasattr(machine, "submit_0")
    assert "__module__" in vars(type(surroundings.make(BOUNDS, print).instance))


def test_real_time_is_no_reason_for_blame(run, impl):
    """A correct implementation breaks no clause in real time, which the model does not see pass."""
    report = run(impl(AT_ONCE + CLOCKED, head=LEAPING), examples=5)
    assert (report.verdict, report.findings) == (Verdict.OK, ())
    assert "AJT-WAIT-COND" not in {tally.clause for tally in report.tallies}


LEAPING = """
class Leaping:
    now = 1_000
    def now_ms(self):
        Leaping.now += 10
        return Leaping.now
"""
CLOCKED = """
        self._clock = Leaping()
"""


def test_no_long_waits_in_real_time(surrounded, impl):
    """In real time no generated program waits for longer than a moment."""
    body = f"""
    budgets = []
{AT_ONCE}
    def wait(self, job_id, initial, timeout_ms):
        Made.budgets.append(timeout_ms)
        return super().snapshot(job_id)
"""
    surroundings = surrounded(impl(body))
    generated_failures(surroundings, Progress(), "real time", 15, 1)
    assert max(sys.modules["harness_target_made"].Made.budgets, default=0) <= 100


def test_a_thread_that_is_started_late_means_real_time_too(impl):
    """An implementation that starts its first thread at a finish or a wait is run in real time as well."""
    late = STARTS.format(where="finish(self, job_id, result)", then="return super().finish(job_id, result)")
    job = StageJob("sequential", impl(late), "ledger", {}, seed=1, examples=2, pace=1.0, remember=False)
    report = run_stage(job, lambda executions, operations: None)
    assert report.skipped == ("virtual time: no virtual time: the implementation starts a thread",)
    assert (report.verdict, report.findings) == (Verdict.OK, ())


def test_what_could_not_fail_is_not_counted(run, impl):
    """Where time does not pass, or an operation is missing, the clauses about it were not checked."""
    report = run(impl(f"{AT_ONCE}\n    take_result = None"), examples=5)
    missing = {text.partition(":")[0] for text in report.skipped}
    assert {"virtual time", "take_result"} <= missing
    assert any(clause.needs & missing for clause in LEDGER.clauses)
    decided = {tally.clause for tally in report.tallies}
    assert [clause.id for clause in LEDGER.clauses if clause.id in decided and clause.needs & missing] == []
    assert "AJT-RET-LRU" in decided


class Stumbling:
    """A machine on which each call takes two milliseconds."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        """Seconds, two thousandths more at each look."""
        self.now += 0.002
        return self.now


def test_a_slow_machine_does_not_hide_a_wait_that_does_not_wait(surrounded, impl, monkeypatch):
    """A wait that returns at once breaks its clause, however slow the machine is."""
    monkeypatch.setattr(harness.stateful.session, "time", Stumbling())
    body = "    def wait(self, job_id, initial, timeout_ms):\n        return self.snapshot(job_id)"
    session = Session(surrounded(impl(body)), BOUNDS)
    job = session.submit("r", "p").job_id
    with pytest.raises(ContractBroken, match="AJT-WAIT-BUDGET"):
        session.wait(job, "PENDING", 30_000)


POLLING = """
    polls = 0

    def wait(self, job_id, initial, timeout_ms):
        initial = JobState(initial)
        deadline = time.monotonic() + timeout_ms / 1000
        while True:
            seen = self.snapshot(job_id)
            if seen is None or seen.state is not initial or seen.state.terminal:
                return seen
            if 0 < timeout_ms and time.monotonic() >= deadline - 0.001:
                return seen
            Made.polls += 1
            if Made.polls > 200_000:
                raise RuntimeError("nobody stopped the polling")
            time.sleep({seconds})
"""


def test_a_wait_that_polls_is_told(surrounded, impl):
    """A wait that looks again and again breaks the clause on notification; the looks are counted."""
    session = Session(surrounded(impl(POLLING.format(seconds=0.005))), BOUNDS)
    job = session.submit("r", "p").job_id
    with pytest.raises(ContractBroken, match=r"AJT-NOTIFY-INSIDE: wait woke 16 times .* it re-polls"):
        session.wait(job, "PENDING", 80)


@pytest.mark.parametrize("seconds", [0.005, 0])
def test_an_unbounded_wait_that_polls_is_stopped(surrounded, impl, seconds):
    """Polling without a budget is noticed and stopped by the harness, not by the implementation."""
    session = Session(surrounded(impl(POLLING.format(seconds=seconds))), BOUNDS)
    job = session.submit("r", "p").job_id
    with pytest.raises(ContractBroken) as caught:
        session.wait(job, "PENDING", 0)
    assert "nobody stopped the polling" not in caught.value.message


HYBRID = """
import sys
sys.path[:0] = {path!r}
from harness.contracts.adapter import Adapter
from harness.contracts.ledger import LEDGER
from harness.stateful.surroundings import Surroundings
from harness.targets.locate import Target
import original
surroundings = Surroundings.of(Target.parse("shop_front:Made"), LEDGER, Adapter())
made = surroundings.make({bounds!r}, print)
base = type(made.instance).__mro__[1]
print(surroundings.clock is None or sys.modules[base.__module__] is not sys.modules["original"] or
      sys.modules["original"].Ledger is not base)
"""


def test_a_base_class_from_another_package_is_in_the_same_world(impl, tmp_path):
    """Code of the user's that lies in two packages lives in one world, or in real time altogether."""
    impl("    pass")
    (tmp_path / "shop_front.py").write_text(
        "from original import Ledger\nclass Made(Ledger): pass", encoding="utf-8"
    )
    path = [str(tmp_path), str(Path(__file__).resolve().parents[2])]
    done = subprocess.run(
        [sys.executable, "-c", HYBRID.format(path=path, bounds=BOUNDS)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "True"


def test_a_planted_bug_is_found_around_any_implementation(surrounded):
    """The canary: the sabotaged reference breaks the clause that the saboteur names, the original none."""
    surroundings = surrounded("reference.ledger:Ledger")
    sabotaged = surroundings.sabotaged(SABOTEURS["sequential"])
    [broken] = generated_failures(sabotaged, Progress(), "canary", 40, 1)
    assert broken.clause == "AJT-TERM-ABSORB"
    assert generated_failures(surroundings, Progress(), "sound", 10, 1) == []


def test_refused_bounds_are_noted_and_not_used(run, impl):
    """Bounds that an implementation refuses are left out, and noted with the reason."""
    body = """
    def _bound(self, max_queue, job_ttl_ms, max_completed):
        if max_queue <= 0:
            raise ValueError(f"max_queue is {max_queue}")
        super()._bound(max_queue, job_ttl_ms, max_completed)
"""
    report = run(impl(body), examples=10)
    assert report.verdict is Verdict.OK
    assert [n.partition(":")[0] for n in report.notes] == [
        "configuration max_queue=-1 refused",
        "configuration max_queue=0 refused",
    ]
    assert "AJT-ADMIT-ZERO" not in {tally.clause for tally in report.tallies}


def test_a_smaller_implementation_is_checked_for_what_it_has(run, impl):
    """Missing operations are named as skipped, and the rest is checked."""
    body = "    wait = None\n    take_request = None\n    timeout = None\n"
    report = run(impl(body), examples=10)
    assert (report.verdict, report.findings) == (Verdict.OK, ())
    assert {"wait: no operation wait", "take_request: no operation take_request"} < set(report.skipped)
    assert {"AJT-WAIT-COND", "AJT-TAKE-REQUEST"}.isdisjoint(tally.clause for tally in report.tallies)


def test_integers_are_ids_too(run, impl):
    """An implementation whose ids are integers passes, also where an unknown id is asked for."""
    report = run(impl("    def _next_id(self):\n        return next(self._sequence)"), examples=10)
    assert (report.verdict, report.findings) == (Verdict.OK, ())


def test_an_unreadable_answer_is_reported(run, impl):
    """An answer that cannot be read is a malformed answer under the operation's own clause."""
    [finding] = only(run(impl("    def queue_depth(self):\n        return '0'"), stop_at_first=True))
    assert (finding.kind, finding.clause) == (Kind.MALFORMED_ANSWER, "AJT-DEPTH-SCOPE")
    assert "'0' (str)" in finding.message


def test_a_target_that_cannot_be_used_is_a_mistake(surrounded, impl):
    """What is the user's to mend is told before anything runs."""
    with pytest.raises(UsageError, match="has no submit"):
        surrounded(impl("    submit = None"))
    with pytest.raises(UsageError, match="it has request_id, payload"):
        surrounded(impl("    pass"), Adapter(arguments={"submit": ("load",)}))
    assert LEDGER.creates == "submit"


def test_an_injected_failure_is_not_blamed_for_everything(surrounded, impl):
    """What breaks after a failed allocation, and would break without it, keeps its own clause."""
    session = Session(surrounded(impl(POLLING.format(seconds=0.005))), BOUNDS)
    session.fail_allocation()
    session.submit("r", "p")
    job = session.submit("r", "p").job_id
    with pytest.raises(ContractBroken) as caught:
        session.wait(job, "PENDING", 80)
    assert caught.value.clause == "AJT-NOTIFY-INSIDE"
