"""The ledger's scenarios.

`soak` is the historical stress test: submitters, runners, pollers and waiters on one table; `churn`
the same where little room makes evictions meet jobs in flight. The races each aim at one window.
"""

from __future__ import annotations

from harness.contracts.ledger.claims import CLAIMS, facts_of
from harness.scenario import Role, Round, Scenario, Strand
from scenarios.ledger_moves import ENDINGS, PENDING, RUNNING, bounds, close, end, rejected_once, submit
from scenarios.ledger_races import RACES

__all__ = ["CHURN", "SCENARIOS", "SOAK"]

_WORK_MS = 1
_SHORT_BUDGET_MS = 5
_UNTIL_IT_IS_OVER = 0  # a lost wake-up hangs here; a budget, however long, would excuse it


def _open_table(strand: Strand) -> None:
    strand.shared.jobs = []
    strand.shared.waiting = []
    strand.shared.known = []
    # from the beginning: to a runner that comes first, whoever has not begun must not look like gone
    strand.shared.submitting = set(range(strand.counts.get("submitter", 0)))


def submitter(strand: Strand) -> None:
    """Submit as fast as the table admits; runners stay until the last submitter has left."""
    try:
        while strand.running():
            job_id = submit(strand)
            if job_id is not None:
                strand.shared.waiting.append(job_id)
                strand.shared.known.append(job_id)
            else:
                strand.pause(0.2)
    finally:  # also when an answer could not be read: runners wait for nobody who has gone
        strand.shared.submitting.discard(strand.index)


def runner(strand: Strand) -> None:
    """Take jobs, work on them, end them in one of the three ways; drain after the soak."""
    waiting = strand.shared.waiting
    while strand.running() or waiting or strand.shared.submitting:
        try:
            job_id = waiting.pop()
        except IndexError:
            strand.pause(0.1)
            continue
        if strand.offers("take_request"):
            strand.system.take_request(job_id)
        if strand.offers("transition_running"):
            strand.system.transition_running(job_id)
        strand.pause(_WORK_MS)
        end(strand, job_id, strand.random.choice(ENDINGS))


def poller(strand: Strand) -> None:
    """Look at jobs, mostly at young ones."""
    known = strand.shared.known
    while strand.running():
        if not known:
            strand.pause(0.1)
            continue
        job_id = known[-1 - min(int(strand.random.expovariate(0.1)), len(known) - 1)]
        strand.system.snapshot(job_id)
        if strand.offers("take_result"):
            strand.system.take_result(job_id)
        if strand.offers("queue_depth"):
            strand.system.queue_depth()
        strand.pause(0)


def waiter(strand: Strand) -> None:
    """Wait for young jobs: mostly with short budgets, sometimes until the job is over."""
    known = strand.shared.known
    while strand.running() and strand.offers("wait"):
        if not known:
            strand.pause(0.1)
            continue
        job_id = known[-1 - min(int(strand.random.expovariate(0.5)), len(known) - 1)]
        initial = strand.random.choice((PENDING, RUNNING))
        budget = _UNTIL_IT_IS_OVER if strand.random.random() < 0.3 else _SHORT_BUDGET_MS
        strand.system.wait(job_id, initial, budget)


def _contended(played: Round) -> bool:
    """Two clients were inside the system at the same time."""
    latest, client = 0, ""
    for item in played.history:
        if item.called < latest and item.client != client:
            return True
        if item.returned is not None and item.returned > latest:
            latest, client = item.returned, item.client
    return False


def _waited(played: Round) -> bool:
    """A wait really blocked: the job was seen to change, or the budget ran out."""
    waits = facts_of(played).waits
    return any(item.returned - item.called > 1_000_000 for item in waits) or (
        not waits and "wait" in played.missing
    )


SOAK = Scenario(
    name="soak",
    contract="ledger",
    about="4 submitters, 2 runners, 3 pollers, 2 waiters on one table: the historical stress test",
    roles=(
        Role("submitter", submitter, 4),
        Role("runner", runner, 2),
        Role("poller", poller, 3),
        Role("waiter", waiter, 2),
    ),
    configuration=bounds(max_queue=32, max_completed=500),
    seconds=3.0,
    hang="AJT-NOTIFY-INSIDE",
    setup=_open_table,
    closing=close,
    claims=CLAIMS,
    sometimes={
        "contention was reached": _contended,
        "a submit was rejected": rejected_once,
        "a wait blocked": _waited,
    },
    soak=True,
)

CHURN = Scenario(
    name="churn",
    contract="ledger",
    about="few slots, few completed jobs kept, slow runners: evictions while jobs are in flight",
    roles=(
        Role("submitter", submitter, 3),
        Role("runner", runner, 3),
        Role("poller", poller, 2),
        Role("waiter", waiter, 2),
    ),
    configuration=bounds(max_queue=4, max_completed=3),
    seconds=1.0,
    hang="AJT-LOCK-ORDER",
    setup=_open_table,
    closing=close,
    claims=CLAIMS,
    sometimes={"a submit was rejected": rejected_once},
    soak=True,
    needs=frozenset({"max_queue", "max_completed"}),
)

SCENARIOS = (*RACES, CHURN, SOAK)
