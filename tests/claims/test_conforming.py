"""No claim says anything against a history that a conforming ledger can produce.

A false alarm is our worst bug, so these come in thousands. A failure names the style and the seed:
`simulated(seed, **STYLES[style])` makes the same history again.
"""

from __future__ import annotations

import pytest

from harness.contracts.ledger.values import EMPTY, JobState, Snapshot, Submission, TakenRequest
from harness.contracts.records import Raised
from harness.history import Recorded

HISTORIES = 500  # of each style; six styles make 3000, at some 3 ms each
EVERYTHING = (
    "submit", "transition_running", "finish", "fail", "timeout",
    "take_request", "snapshot", "take_result", "wait", "queue_depth",
)  # fmt: skip
TIES = (0.2, 0.5, 0.9, 0.97)

STYLES = {
    "apart": {},
    "tied": {"rest": TIES},
    "early ids": {"early_ids": True},
    "raising": {"raises": True},
    "open calls": {"open_calls": EVERYTHING},
    "everything": {"rest": TIES, "early_ids": True, "raises": True, "open_calls": EVERYTHING},
}
A = Submission(True, "a")
DONE = Snapshot(JobState.DONE, "", 10, 20)


def did(called, returned, operation, *arguments, gives=None, by="one"):
    """One recorded operation; pending if `returned` is None."""
    return Recorded(by, operation, arguments, gives, called, returned)


SUBMITTED = did(0, 1, "submit", "request", "payload", gives=A)
SLOWLY_SUBMITTED = did(0, 5, "submit", "request", "payload", gives=A)
RUNNING = Snapshot(JobState.RUNNING, "", 10, 0)

MINIMAL = {
    "the depth was read at the instant the submit returned, before it": (
        "admission.py Flight.at_least: a submit that returned when the depth was called may follow it",
        [SLOWLY_SUBMITTED, did(5, 6, "queue_depth", gives=0, by="two")],
        {},
    ),
    "an open start took effect, and the next start is refused": (
        "facts.py drops open transition_running calls, starts_once does not know them",
        [
            SUBMITTED,
            did(2, None, "transition_running", "a"),
            did(3, 4, "transition_running", "a", gives=False, by="two"),
        ],
        {},
    ),
    "an open start took effect, and a snapshot shows it": (
        "facts.py drops open transition_running calls, states_are_monotone does not know them",
        [
            SUBMITTED,
            did(2, None, "transition_running", "a"),
            did(3, 4, "snapshot", "a", gives=RUNNING, by="two"),
        ],
        {},
    ),
    "a start that raised took effect, and a snapshot shows it": (
        "facts.py drops transition_running calls that raised",
        [
            SUBMITTED,
            did(2, 3, "transition_running", "a", gives=Raised("OSError", "disk full")),
            did(4, 5, "snapshot", "a", gives=RUNNING, by="two"),
        ],
        {},
    ),
    "an open take got the payload, and the next one does not": (
        "facts.py drops open take_request calls, payload_leaves_once does not know them",
        [
            SUBMITTED,
            did(2, None, "take_request", "a"),
            did(3, 4, "take_request", "a", gives=TakenRequest("request", EMPTY), by="two"),
        ],
        {},
    ),
    "a job was named too early, and nobody ends it afterwards": (
        "lifecycle.py ends_once: 'was never ended' forgets calls that came too early",
        [SLOWLY_SUBMITTED, did(1, 2, "finish", "a", "result", gives=False, by="two")],
        {},
    ),
    "an ending came at the instant the submit returned, before its effect": (
        "lifecycle.py _reused: a call at the instant of the return may precede the submit's effect",
        [
            SLOWLY_SUBMITTED,
            did(5, 6, "fail", "a", "error", gives=False, by="two"),
            did(7, 8, "finish", "a", "result", gives=True),
        ],
        {},
    ),
    "a snapshot came at the instant the submit returned, before its effect": (
        "lifecycle.py nothing_is_lost: a call at the instant of the return may precede the submit's effect",
        [SLOWLY_SUBMITTED, did(5, 6, "snapshot", "a", by="two")],
        {},
    ),
    "a take came at the instant the submit returned, before its effect": (
        "data.py _absent_too_early: a call at the instant of the return may precede the submit's effect",
        [SLOWLY_SUBMITTED, did(5, 6, "take_request", "a", by="two")],
        {},
    ),
    "the closing submit failed, so nothing was swept": (
        "lifecycle.py retention_is_bounded: the auditor's last accepted submit may be that of the setup",
        [
            SUBMITTED._replace(client="audit-0"),
            did(2, 3, "finish", "a", "result", gives=True),
            did(4, 5, "submit", "r", "p", gives=Raised("MemoryError", ""), by="audit-0"),
            did(6, 7, "snapshot", "a", gives=DONE, by="audit-0"),
        ],
        {"max_completed": 0},
    ),
    "an open ending took effect after the closing submit": (
        "lifecycle.py retention_is_bounded: jobs that were not ended before the sweep are not its business",
        [
            SUBMITTED,
            did(2, None, "finish", "a", "result"),
            did(3, 4, "submit", "r", "p", gives=Submission(True, "b"), by="audit-0"),
            did(5, 6, "snapshot", "a", gives=DONE, by="audit-0"),
        ],
        {"max_completed": 0},
    ),
    "the auditor looked twice at one job": (
        "lifecycle.py retention_is_bounded counts looks, not jobs",
        [
            SUBMITTED,
            did(2, 3, "finish", "a", "result", gives=True),
            did(4, 5, "submit", "r", "p", gives=Submission(True, "b"), by="audit-0"),
            did(6, 7, "snapshot", "a", gives=DONE, by="audit-0"),
            did(8, 9, "snapshot", "a", gives=DONE, by="audit-0"),
        ],
        {"max_completed": 1},
    ),
    "a read honours the time to live without a sweep": (
        "lifecycle.py nothing_is_lost: A13 allows it, and the claim does not look at job_ttl_ms",
        [
            SUBMITTED,
            did(2, 3, "finish", "a", "result", gives=True),
            did(9_000_000, 9_000_001, "snapshot", "a"),
        ],
        {"job_ttl_ms": 5},
    ),
    "a ledger with a time to live of its own honours it without a sweep": (
        "lifecycle.py nothing_is_lost: without job_ttl_ms nobody knows how long jobs must be kept",
        [
            SUBMITTED,
            did(2, 3, "finish", "a", "result", gives=True),
            did(9_000_000, 9_000_001, "snapshot", "a"),
        ],
        {"missing": ("job_ttl_ms",)},
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_conforming_histories_break_nothing(simulated, judged, style):
    """Whatever overlaps, fails, stays open or comes too early, a correct ledger breaks no clause."""
    for seed in range(HISTORIES):
        played = simulated(seed, **STYLES[style])
        breaches = judged(played.history, **played.configuration).breaches
        shown = "\n".join(map(str, played.history))
        assert [] == breaches, f"style {style!r}, seed {seed}, {played.configuration}:\n{shown}"


@pytest.mark.parametrize("name", MINIMAL)
def test_minimal_conforming_histories_break_nothing(judged, name):
    """The smallest histories that once raised a false alarm raise none."""
    _, history, others = MINIMAL[name]
    assert [] == judged(history, **others).breaches


def test_the_simulation_reaches_what_it_is_for(simulated, judged):
    """Without this variety the silence of the claims would mean nothing."""
    seen, checked = set(), set()
    for seed in range(60):
        played = simulated(seed, **STYLES["everything"])
        checked |= judged(played.history, **played.configuration).checked
        for item in played.history:
            state = getattr(item.response, "state", None)
            kind = "open" if item.returned is None else getattr(state, "value", type(item.response).__name__)
            seen.add((item.operation, kind if item.operation != "submit" else str(item.response)[:25]))
    assert {(operation, "open") for operation in EVERYTHING if operation != "submit"} <= seen
    assert {("wait", kind) for kind in ("PENDING", "RUNNING", "DONE", "NoneType")} <= seen
    assert {
        ("submit", text) for text in ("None", "Submission(accepted=False,", "Raised(type='MemoryError'")
    } & seen
    assert {
        "AJT-ADMIT-CAS", "AJT-ADMIT-REJECT", "AJT-ATOMIC-PUBLISH", "AJT-DEPTH-ONCE", "AJT-DEPTH-SCOPE",
        "AJT-DEPTH-WHEN", "AJT-ID-UNIQUE", "AJT-RET-LAZY", "AJT-RET-LRU", "AJT-RET-NONTERM",
        "AJT-RUN-FROM-PENDING", "AJT-STATE-ATOMIC", "AJT-TAKE-REQUEST", "AJT-TAKE-RESULT", "AJT-TERM-ABSORB",
        "AJT-TERM-ANY", "AJT-TERM-ONCE-STRESS", "AJT-TIMES", "AJT-WAIT-COND",
    } == checked  # fmt: skip


def test_the_same_seed_makes_the_same_history(simulated):
    """A seed in a failure's message is enough to see the history again."""
    first, again = (simulated(7, **STYLES["everything"]) for _ in range(2))
    assert first.history == again.history
    assert first.history != simulated(8, **STYLES["everything"]).history
