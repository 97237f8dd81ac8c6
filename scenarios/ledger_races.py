"""The ledger's races: each is aimed at one window and repeated many times.

The first is the one in which the canary's planted race must be found; those that need no luck,
because a parked waiter can be told from a late one, come next.
"""

from __future__ import annotations

from typing import Any

from harness.contracts.ledger.claims import CLAIMS, facts_of
from harness.scenario import Judge, Role, Round, Scenario, Strand
from scenarios.ledger_moves import (
    ENDINGS,
    PENDING,
    RUNNING,
    bounds,
    close,
    end,
    rejected_once,
    state_of,
    submit,
)

__all__ = ["RACES"]

UNBOUNDED = 0


def _one_job(strand: Strand) -> None:
    strand.shared.jobs = [submit(strand)]
    strand.shared.parked = False


def _one_running_job(strand: Strand) -> None:
    _one_job(strand)
    if strand.offers("transition_running"):
        strand.system.transition_running(strand.shared.jobs[0])


def _no_job(strand: Strand) -> None:
    strand.shared.jobs = []


def _end_first(strand: Strand) -> None:
    end(strand, strand.shared.jobs[0])


def _refill(strand: Strand) -> None:
    """With one job in flight and room for two, a submit is accepted; then close as usual."""
    submit(strand)
    close(strand)


def _submit_once(strand: Strand) -> None:
    submit(strand)


def _submit_and_look(strand: Strand) -> None:
    for _ in range(3):
        job_id = submit(strand)
        if strand.offers("queue_depth"):
            strand.system.queue_depth()
        if job_id is not None:
            end(strand, job_id)


def _end_it(strand: Strand) -> None:
    end(strand, strand.shared.jobs[0], ENDINGS[strand.index % 3])


def _finish_it(strand: Strand) -> None:
    end(strand, strand.shared.jobs[0])


def _start_it(strand: Strand) -> None:
    strand.system.transition_running(strand.shared.jobs[0])


def _take_it(strand: Strand) -> None:
    strand.system.take_request(strand.shared.jobs[0])


def _watch_it(strand: Strand) -> None:
    """Look until the end shows, then ask for the slot that must be free."""
    job_id = strand.shared.jobs[0]
    for _ in range(60):
        seen = strand.system.snapshot(job_id)
        if strand.offers("take_result"):
            strand.system.take_result(job_id)
        if seen is None or getattr(state_of(seen), "terminal", True):
            break
    submit(strand)


def _wait_pending(strand: Strand) -> None:
    strand.system.wait(strand.shared.jobs[0], PENDING, UNBOUNDED)


def _wait_running(strand: Strand) -> None:
    strand.system.wait(strand.shared.jobs[0], RUNNING, UNBOUNDED)


def _wait_both(strand: Strand) -> None:
    """Follow a job from state to state, as a client would."""
    job_id = strand.shared.jobs[0]
    seen = strand.system.wait(job_id, PENDING, UNBOUNDED)
    if state_of(seen) is RUNNING:
        strand.system.wait(job_id, RUNNING, UNBOUNDED)


def _start_parked(strand: Strand) -> None:
    strand.shared.parked = strand.await_parked("waiter")
    strand.system.transition_running(strand.shared.jobs[0])


def _finish_parked(strand: Strand) -> None:
    strand.shared.parked = strand.await_parked("waiter")
    end(strand, strand.shared.jobs[0])


def _work_beside_parked(strand: Strand) -> None:
    """With a waiter parked on one job, everything works on another; then the first job ends."""
    strand.shared.parked = strand.await_parked("waiter")
    other = submit(strand)
    if other is not None:
        strand.system.snapshot(other)
        if strand.offers("transition_running"):
            strand.system.transition_running(other)
        end(strand, other)
    end(strand, strand.shared.jobs[0])


def _finish_and_evict(strand: Strand) -> None:
    """End a job that somebody waits for, and push it out at once."""
    strand.shared.parked = strand.await_parked("waiter")
    end(strand, strand.shared.jobs[0])
    submit(strand)


def _evicted_waiter_answers(played: Round, judge: Judge) -> None:
    """A waiter that was parked before the job ended gets its final snapshot (AJT-WAIT-EVICT)."""
    if played.shared.parked:
        for item in facts_of(played).waits:
            final = item.response is not None and item.response.state.terminal
            judge.check("AJT-WAIT-EVICT", final, "a parked waiter did not get the final snapshot", item)


def _crowd_agrees(played: Round, judge: Judge) -> None:
    """All waiters on one job get the same terminal state (AJT-WAIT-MANY)."""
    waits = facts_of(played).waits
    if len(waits) > 1:
        states = {state_of(item.response) for item in waits}
        judge.check("AJT-WAIT-MANY", len(states) == 1, f"waiters saw {len(states)} different states", *waits)


_POKED_BUDGET_MS = 30
_POKES = 300
_POKES_TOO_MANY = 200


def _wait_poked(strand: Strand) -> None:
    strand.shared.done = False
    strand.system.wait(strand.shared.jobs[0], PENDING, _POKED_BUDGET_MS)
    strand.shared.done = True


def _poke(strand: Strand) -> None:
    """Change other jobs, more often than the waiter's budget lasts."""
    strand.shared.parked = strand.await_parked("waiter")
    strand.shared.pokes = 0
    while not strand.shared.done and strand.shared.pokes < _POKES:
        job_id = submit(strand)
        if job_id is not None:
            end(strand, job_id)
        strand.shared.pokes += 1
        strand.pause(_POKED_BUDGET_MS / 5)


def _open_poked(strand: Strand) -> None:
    _one_job(strand)
    strand.shared.done = False
    strand.shared.pokes = 0


def _pokes_do_not_prolong(played: Round, judge: Judge) -> None:
    """Wake-ups meant for others do not restart a budget (AJT-WAIT-BUDGET)."""
    if played.shared.parked:
        late = played.shared.pokes > _POKES_TOO_MANY
        text = f"a wait of {_POKED_BUDGET_MS} ms outlasted {played.shared.pokes} changes to other jobs"
        judge.check("AJT-WAIT-BUDGET", not late, text, *facts_of(played).waits)


def _race(
    name: str, about: str, hang: str, *roles: Role, seconds: float = 0.5, noise: float = 0.2, **others: Any
) -> Scenario:
    others.setdefault("configuration", bounds())
    others.setdefault("setup", _one_job)
    claims = CLAIMS + tuple(others.pop("claims", ()))
    needs = frozenset(others.pop("needs", ()))
    others.setdefault("closing", close)
    return Scenario(
        name,
        "ledger",
        about,
        roles,
        seconds=seconds,
        hang=hang,
        claims=claims,
        noise=noise,
        needs=needs,
        **others,
    )


RACES = (
    _race(
        "ends",
        "three endings race for one job, two observers ask for the slot",
        "AJT-LOCK-ORDER",
        Role("ender", _end_it, 3),
        Role("observer", _watch_it, 2),
        configuration=bounds(max_queue=1),
        setup=_one_running_job,
    ),
    _race(
        "bystanders",
        "a waiter parked on one job delays nobody on another",
        "AJT-LOCK-ORDER",
        Role("waiter", _wait_pending, 1),
        Role("worker", _work_beside_parked),
        needs=("wait",),
        seconds=0.2,
    ),
    _race(
        "start heard",
        "every parked waiter hears that its job was started",
        "AJT-NOTIFY-INSIDE",
        Role("waiter", _wait_pending, 2),
        Role("runner", _start_parked),
        needs=("wait", "transition_running"),
        seconds=0.2,
    ),
    _race(
        "crowd",
        "eight parked waiters on one job all hear of its end",
        "AJT-WAIT-MANY",
        Role("waiter", _wait_pending, 8),
        Role("ender", _finish_parked),
        needs=("wait",),
        claims=(_crowd_agrees,),
        seconds=0.3,
    ),
    _race(
        "evicted",
        "a job is ended and evicted under a parked waiter",
        "AJT-WAIT-EVICT",
        Role("waiter", _wait_pending, 2),
        Role("evicter", _finish_and_evict),
        configuration=bounds(max_completed=0),
        needs=("wait", "max_completed"),
        claims=(_evicted_waiter_answers,),
        seconds=0.3,
    ),
    _race(
        "poked",
        "changes to other jobs neither end nor prolong a bounded wait",
        "AJT-WAIT-BUDGET",
        Role("waiter", _wait_poked, 1),
        Role("poker", _poke),
        setup=_open_poked,
        needs=("wait",),
        claims=(_pokes_do_not_prolong,),
        seconds=0.2,
        fair=True,
        noise=0.0,
    ),
    _race(
        "burst",
        "16 submitters, 8 slots, one start",
        "AJT-LOCK-ORDER",
        Role("submitter", _submit_once, 16),
        setup=_no_job,
        needs=("max_queue",),
        sometimes={"a submit was rejected": rejected_once},
    ),
    _race(
        "turnover",
        "submitters and endings fight for two slots",
        "AJT-LOCK-ORDER",
        Role("submitter", _submit_and_look, 4),
        configuration=bounds(max_queue=2, max_completed=1),
        setup=_no_job,
        needs=("max_queue",),
    ),
    _race(
        "refill",
        "a job ends while another is admitted: one of two slots is free afterwards",
        "AJT-LOCK-ORDER",
        Role("submitter", _submit_once, 1),
        Role("ender", _end_first, 1),
        configuration=bounds(max_queue=2),
        closing=_refill,
        needs=("max_queue",),
        seconds=0.2,
    ),
    _race(
        "starts",
        "four runners race for one job",
        "AJT-LOCK-ORDER",
        Role("runner", _start_it, 4),
        Role("observer", _watch_it, 1),
        Role("ender", _finish_it, 1),
        needs=("transition_running",),
    ),
    _race(
        "takers",
        "four takers race for one payload",
        "AJT-LOCK-ORDER",
        Role("taker", _take_it, 4),
        needs=("take_request",),
        seconds=0.3,
    ),
    _race(
        "handoff",
        "a job is started and ended while somebody begins to wait for it",
        "AJT-NOTIFY-INSIDE",
        Role("waiter", _wait_both, 2),
        Role("runner", _start_it),
        Role("ender", _finish_it),
        needs=("wait", "transition_running"),
    ),
    _race(
        "finale",
        "a job is ended while somebody begins to wait for it",
        "AJT-NOTIFY-INSIDE",
        Role("waiter", _wait_running, 2),
        Role("ender", _finish_it),
        setup=_one_running_job,
        needs=("wait", "transition_running"),
    ),
)
