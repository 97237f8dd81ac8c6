"""The ledger's clauses (AJT) and how the ambiguities of their source were settled.

Ids are those of the contract catalogue, sections 5.A to 5.D; resolutions are those of section 7.A.
`checked_by` names the stages that hold implementations against the clause today.
"""

from __future__ import annotations

from harness.contracts.records import Clause, Level, Resolution

__all__ = ["CLAUSES", "RESOLUTIONS"]

SEQUENTIAL = ("sequential",)
STRESS = ("interleavings", "stress")
BOTH = ("sequential", "interleavings", "stress")


def _must(clause_id: str, checked_by: tuple[str, ...], needs: str, norm: str) -> Clause:
    return Clause(clause_id, norm, Level.MUST, checked_by, frozenset(needs.split(", ")) - {""})


_ADMISSION = (
    _must(
        "AJT-STATE-ATOMIC",
        BOTH,
        "",
        "Every observer sees one of the five states, and the states seen of one job never go backwards.",
    ),
    _must(
        "AJT-ATOMIC-PUBLISH",
        BOTH,
        "snapshot.error, snapshot.completed_at",
        "Whoever sees a terminal state through an operation sees its payload with it.",
    ),
    _must(
        "AJT-NOTIFY-INSIDE",
        BOTH,
        "wait",
        "A transition wakes every waiter it satisfies; no window, and no periodic re-poll that hides one.",
    ),
    _must(
        "AJT-ADMIT-CAS",
        BOTH,
        "max_queue",
        "Check and increment are one step: never more than max_queue jobs in flight, no false rejection.",
    ),
    _must(
        "AJT-ADMIT-REJECT",
        BOTH,
        "max_queue",
        "A rejected submit has no effect: no id, depth unchanged, nothing stored.",
    ),
    _must("AJT-ADMIT-ZERO", SEQUENTIAL, "max_queue", "A max_queue of zero or less admits nothing."),
    Clause(
        "AJT-ADMIT-FAILSAFE",
        "If making the record fails after admission, the slot is given back.",
        Level.SHOULD,
        SEQUENTIAL,
        frozenset({"virtual time", "failing allocation"}),
    ),
    _must(
        "AJT-DEPTH-SCOPE",
        BOTH,
        "queue_depth",
        "Depth counts PENDING and RUNNING jobs and nothing else; it is zero once all are terminal.",
    ),
    _must(
        "AJT-DEPTH-ONCE",
        BOTH,
        "queue_depth",
        "A job's terminal transition decrements depth, exactly once, and nothing else does.",
    ),
    _must(
        "AJT-DEPTH-WHEN",
        BOTH,
        "max_queue",
        "The slot is free by the time a read shows the terminal state or the transition returns.",
    ),
    _must(
        "AJT-LOCK-ORDER",
        STRESS,
        "wait",
        "No operation holds the table while it waits: a parked waiter delays nobody, nothing deadlocks.",
    ),
)

_LIFECYCLE = (
    _must(
        "AJT-RUN-FROM-PENDING",
        BOTH,
        "transition_running",
        "transition_running is true from PENDING only, so one runner gets the job.",
    ),
    _must(
        "AJT-TERM-ANY",
        SEQUENTIAL,
        "",
        "finish, fail and timeout are accepted from PENDING and from RUNNING.",
    ),
    _must(
        "AJT-TERM-ABSORB",
        BOTH,
        "",
        "Terminal states absorb: later transitions are false and change nothing; the first result wins.",
    ),
    _must(
        "AJT-TERM-ONCE-STRESS",
        STRESS,
        "",
        "Every accepted job terminates exactly once, whoever races to end it.",
    ),
    _must(
        "AJT-UNKNOWN",
        SEQUENTIAL,
        "",
        "Operations on an unknown or evicted id answer 'absent' and have no effect.",
    ),
    _must(
        "AJT-ID-UNIQUE",
        BOTH,
        "",
        "Ids are never empty and never given twice, also concurrently and after eviction.",
    ),
    _must(
        "AJT-TIMES",
        BOTH,
        "snapshot.submitted_at, snapshot.completed_at",
        "submitted_at > 0; completed_at is 0 until terminal, then not before submitted_at; monotonic.",
    ),
)

_DATA = (
    _must(
        "AJT-TAKE-REQUEST",
        BOTH,
        "take_request",
        "The payload leaves the ledger once; later takes give the same request id and no payload.",
    ),
    _must(
        "AJT-TAKE-RESULT",
        BOTH,
        "take_result",
        "READY only for DONE, else NOT_DONE with the state or NOT_FOUND; repeatable, never an alias.",
    ),
    _must(
        "AJT-SNAPSHOT",
        SEQUENTIAL,
        "",
        "A snapshot is one instant: it never changes after it was returned.",
    ),
    _must(
        "AJT-WAIT-COND",
        BOTH,
        "wait",
        "wait returns once the state differs from `initial` or is terminal, at once if it already does.",
    ),
    _must(
        "AJT-WAIT-BUDGET",
        BOTH,
        "wait",
        "A positive budget bounds the wait and answers with the current state; zero or less is unbounded.",
    ),
    _must(
        "AJT-WAIT-MANY",
        STRESS,
        "wait",
        "Any number of waiters on one job all wake, with the same terminal state.",
    ),
    _must(
        "AJT-WAIT-EVICT",
        STRESS,
        "wait, max_completed",
        "A job evicted while waited for still answers that waiter with its final snapshot.",
    ),
)

_RETENTION = (
    _must("AJT-RET-NONTERM", BOTH, "", "PENDING and RUNNING jobs are never evicted."),
    _must(
        "AJT-RET-TTL",
        SEQUENTIAL,
        "job_ttl_ms, virtual time",
        "A terminal job older than job_ttl_ms since completion is gone after the next accepted submit.",
    ),
    _must(
        "AJT-RET-LAZY",
        SEQUENTIAL,
        "",
        "Nothing but a submit evicts a job that is younger than its time to live.",
    ),
    _must(
        "AJT-RET-LRU",
        BOTH,
        "max_completed",
        "After every accepted submit at most max_completed terminal jobs remain; the oldest go first.",
    ),
    _must(
        "AJT-RET-ORDER-TTL-FIRST",
        SEQUENTIAL,
        "job_ttl_ms, max_completed, virtual time",
        "Expired jobs are removed before the bound is applied, so they push out no fresh ones.",
    ),
    _must(
        "AJT-RET-SELF",
        SEQUENTIAL,
        "max_completed",
        "The job being submitted is never removed by its own sweep.",
    ),
)

CLAUSES = _ADMISSION + _LIFECYCLE + _DATA + _RETENTION

RESOLUTIONS = (
    Resolution("A1", "What does a rejected submit return?", "A rejection value with no id, no exception."),
    Resolution("A2", "Does depth count RUNNING?", "Yes: pending and running."),
    Resolution("A3", "When is depth decremented?", "Before any locked read can show the terminal state."),
    Resolution("A4", "Snapshot of an evicted id?", "Absent, as for an unknown id; ids are never reused."),
    Resolution("A5", "Is take_result repeatable?", "Yes, and what it returns is independent of the store."),
    Resolution("A6", "take_result of FAILED or TIMEOUT?", "NOT_DONE with that state."),
    Resolution(
        "A7",
        "Oldest by completion, submission or access?",
        "Completion order, or submission order; refreshing on read is refused.",
    ),
    Resolution(
        "A8", "Jobs in flight during a sweep?", "The bound holds after every accepted submit all the same."
    ),
    Resolution("A9", "Terminal calls on PENDING?", "Accepted."),
    Resolution("A10", "Does timeout start a timer?", "No, it is bookkeeping only."),
    Resolution("A11", "Second take_request?", "Succeeds: the request id, no payload; may say 'taken'."),
    Resolution("A12", "take_request on a terminal job?", "Allowed, same rule."),
    Resolution(
        "A13",
        "Do reads honour the time to live before a sweep?",
        "Either: readable for at least the TTL, gone after the TTL and an accepted submit.",
    ),
    Resolution("A14", "Does a rejected submit sweep?", "Either."),
    Resolution(
        "A15",
        "The TTL boundary; TTL 0 or less?",
        "Age must exceed the TTL; at it, either; TTL 0 keeps age 0; a negative one is an error.",
    ),
    Resolution("A16", "max_completed 0?", "All terminal jobs go at the next sweep."),
    Resolution("A17", "wait budget of zero or less?", "Unbounded."),
    Resolution("A18", "Does wait wake on PENDING to RUNNING?", "Yes at the table; the HTTP wait does not."),
    Resolution("A19", "wait on a job evicted meanwhile?", "Its final snapshot, never a hang."),
    Resolution("A20", "configure after use?", "The reference raises once jobs exist; not checked elsewhere."),
    Resolution("A21", "finish without a result?", "DONE needs a result; we never generate an empty one."),
    Resolution("A24", "elapsed time after completion?", "Not checked; the reference has none."),
    Resolution("A25", "May the error text be empty?", "The reference refuses it; we never generate it."),
)
