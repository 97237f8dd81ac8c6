"""The checks that the clauses' own texts ask for, as sequential programs.

Generated programs find what nobody thought of; these make sure that what somebody did think of is
tried in every gate, and that each clause is exercised at all.
"""

from __future__ import annotations

from typing import Any

from harness.contracts.records import Directed

__all__ = ["DIRECTED"]

_HOUR_MS = 3_600_000


def _program(
    clause: str,
    *steps: tuple[Any, ...],
    max_queue: int = 4,
    job_ttl_ms: int = 300_000,
    max_completed: int = 100,
) -> Directed:
    bounds = {"max_queue": max_queue, "job_ttl_ms": job_ttl_ms, "max_completed": max_completed}
    return Directed(clause, bounds, steps)


SUBMIT, AUDIT, DEPTH = ("submit",), ("audit",), ("queue_depth",)
ENDINGS = ("finish", "fail", "timeout")


def _absorb(first: str, second: str) -> Directed:
    return _program(
        "AJT-TERM-ABSORB",
        SUBMIT,
        (first, 0),
        ("snapshot", 0),
        ("advance", 7),
        (second, 0),
        ("snapshot", 0),
        ("take_result", 0),
        DEPTH,
    )


DIRECTED = (
    _program(
        "AJT-STATE-ATOMIC",
        SUBMIT,
        ("snapshot", 0),
        ("transition_running", 0),
        ("snapshot", 0),
        ("finish", 0),
        ("snapshot", 0),
        ("snapshot", 0),
    ),
    _program(
        "AJT-ATOMIC-PUBLISH",
        *(SUBMIT, SUBMIT, SUBMIT, ("advance", 1), ("finish", 0), ("fail", 1), ("timeout", 2), AUDIT),
        *(("take_result", 0), ("take_result", 1), ("take_result", 2)),
    ),
    _program("AJT-NOTIFY-INSIDE", SUBMIT, ("wait", 0, "PENDING", 30_000)),
    _program(
        "AJT-ADMIT-CAS",
        SUBMIT,
        SUBMIT,
        DEPTH,
        SUBMIT,
        DEPTH,
        ("finish", 0),
        SUBMIT,
        SUBMIT,
        DEPTH,
        max_queue=2,
    ),
    _program(
        "AJT-ADMIT-REJECT", SUBMIT, SUBMIT, SUBMIT, DEPTH, AUDIT, ("finish", 0), SUBMIT, DEPTH, max_queue=1
    ),
    _program("AJT-ADMIT-ZERO", SUBMIT, DEPTH, max_queue=0),
    _program("AJT-ADMIT-ZERO", SUBMIT, DEPTH, max_queue=-1),
    _program("AJT-ADMIT-FAILSAFE", ("fail allocation",), SUBMIT, DEPTH, SUBMIT, DEPTH, max_queue=1),
    _program(
        "AJT-DEPTH-SCOPE",
        *(
            SUBMIT,
            DEPTH,
            SUBMIT,
            ("transition_running", 0),
            DEPTH,
            ("finish", 0),
            DEPTH,
            ("fail", 1),
            DEPTH,
            SUBMIT,
        ),
        DEPTH,
    ),
    _program(
        "AJT-DEPTH-ONCE",
        *(
            SUBMIT,
            SUBMIT,
            SUBMIT,
            ("finish", 0),
            DEPTH,
            ("finish", 0),
            DEPTH,
            ("fail", 0),
            DEPTH,
            ("timeout", 0),
        ),
        DEPTH,
    ),
    _program(
        "AJT-DEPTH-ONCE",
        *(SUBMIT, SUBMIT, ("finish", 0), SUBMIT, DEPTH, AUDIT, ("timeout", 1), DEPTH, SUBMIT, DEPTH),
        max_completed=0,
    ),
    _program(
        "AJT-DEPTH-WHEN",
        SUBMIT,
        ("finish", 0),
        SUBMIT,
        ("fail", 1),
        SUBMIT,
        ("timeout", 2),
        SUBMIT,
        max_queue=1,
    ),
    _program(
        "AJT-RUN-FROM-PENDING",
        *(
            SUBMIT,
            ("transition_running", 0),
            ("transition_running", 0),
            ("finish", 0),
            ("transition_running", 0),
        ),
        *(AUDIT, ("transition_running", "unknown")),
    ),
    _program("AJT-RUN-FROM-PENDING", SUBMIT, ("fail", 0), ("transition_running", 0), AUDIT, DEPTH),
    *(_program("AJT-TERM-ANY", SUBMIT, (ending, 0), AUDIT, DEPTH, max_queue=1) for ending in ENDINGS),
    *(
        _program("AJT-TERM-ANY", SUBMIT, ("transition_running", 0), (ending, 0), AUDIT, DEPTH, max_queue=1)
        for ending in ENDINGS
    ),
    *(_absorb(first, second) for first in ENDINGS for second in ENDINGS),
    _program(
        "AJT-UNKNOWN",
        SUBMIT,
        *(
            (operation, "unknown")
            for operation in ("snapshot", "take_request", "take_result", "transition_running")
        ),
        *((ending, "unknown") for ending in ENDINGS),
        *(("wait", "unknown", "PENDING", 5), DEPTH, ("snapshot", "unknown")),
    ),
    _program(
        "AJT-UNKNOWN",
        *(SUBMIT, ("finish", 0), SUBMIT),
        *(
            (operation, 0)
            for operation in ("snapshot", "take_request", "take_result", "transition_running", *ENDINGS)
        ),
        *(("wait", 0, "PENDING", 5), DEPTH),
        max_completed=0,
    ),
    _program(
        "AJT-ID-UNIQUE",
        *(
            SUBMIT,
            SUBMIT,
            ("finish", 0),
            ("finish", 1),
            SUBMIT,
            ("finish", 2),
            SUBMIT,
            ("advance", 1),
            SUBMIT,
        ),
        max_completed=0,
    ),
    _program(
        "AJT-TIMES",
        SUBMIT,
        ("snapshot", 0),
        ("step wall clock", -_HOUR_MS),
        ("advance", 1),
        ("finish", 0),
        AUDIT,
    ),
    _program(
        "AJT-TIMES",
        *(
            SUBMIT,
            ("finish", 0),
            ("step wall clock", _HOUR_MS),
            SUBMIT,
            AUDIT,
            ("advance", 81),
            SUBMIT,
            AUDIT,
        ),
        job_ttl_ms=80,
    ),
    _program(
        "AJT-TAKE-REQUEST",
        *(SUBMIT, ("take_request", 0), ("take_request", 0), ("transition_running", 0), ("take_request", 0)),
        *(("finish", 0), ("take_request", 0), ("take_result", 0)),
    ),
    _program("AJT-TAKE-REQUEST", SUBMIT, ("finish", 0), ("take_request", 0), ("take_request", 0)),
    _program(
        "AJT-TAKE-RESULT",
        *(SUBMIT, ("take_result", 0), ("transition_running", 0), ("take_result", 0), ("finish", 0)),
        *(("take_result", 0), ("take_result", 0), ("take_result", 0)),
    ),
    _program(
        "AJT-TAKE-RESULT", SUBMIT, SUBMIT, ("fail", 0), ("timeout", 1), ("take_result", 0), ("take_result", 1)
    ),
    _program(
        "AJT-SNAPSHOT",
        SUBMIT,
        ("snapshot", 0),
        ("transition_running", 0),
        ("snapshot", 0),
        ("fail", 0),
        AUDIT,
    ),
    _program(
        "AJT-WAIT-COND",
        *(
            SUBMIT,
            ("wait", 0, "RUNNING", 80),
            ("transition_running", 0),
            ("wait", 0, "PENDING", 80),
            ("finish", 0),
        ),
        *(("wait", 0, state, 80) for state in ("PENDING", "RUNNING", "DONE", "FAILED")),
    ),
    _program("AJT-WAIT-COND", SUBMIT, ("timeout", 0), ("wait", 0, "TIMEOUT", 0)),
    _program(
        "AJT-WAIT-BUDGET", SUBMIT, *(("wait", 0, "PENDING", budget) for budget in (1, 5, 80, 30_000)), AUDIT
    ),
    _program(
        "AJT-WAIT-BUDGET",
        *(
            SUBMIT,
            ("transition_running", 0),
            ("wait", 0, "RUNNING", 5),
            ("snapshot", 0),
            ("finish", 0),
            AUDIT,
        ),
    ),
    _program("AJT-WAIT-BUDGET", SUBMIT),
    _program(
        "AJT-RET-NONTERM",
        *(
            SUBMIT,
            SUBMIT,
            ("transition_running", 1),
            ("advance", 6),
            SUBMIT,
            AUDIT,
            ("advance", 6),
            SUBMIT,
            AUDIT,
        ),
        job_ttl_ms=5,
        max_completed=0,
    ),
    _program(
        "AJT-RET-TTL",
        *(
            SUBMIT,
            SUBMIT,
            ("advance", 30),
            ("finish", 0),
            ("advance", 79),
            SUBMIT,
            AUDIT,
            ("advance", 2),
            SUBMIT,
        ),
        AUDIT,
        job_ttl_ms=80,
    ),
    _program(
        "AJT-RET-TTL",
        SUBMIT,
        ("advance", 81),
        ("finish", 0),
        SUBMIT,
        AUDIT,
        ("advance", 81),
        SUBMIT,
        AUDIT,
        job_ttl_ms=80,
    ),
    _program(
        "AJT-RET-TTL", SUBMIT, ("finish", 0), SUBMIT, AUDIT, ("advance", 1), SUBMIT, AUDIT, job_ttl_ms=0
    ),
    _program(
        "AJT-RET-LAZY",
        *(SUBMIT, SUBMIT, SUBMIT, ("finish", 0), ("fail", 1), AUDIT, ("timeout", 2), AUDIT, AUDIT),
        *(("take_result", 0), ("take_result", 0)),
        max_completed=1,
    ),
    _program(
        "AJT-RET-LRU",
        *(
            SUBMIT,
            ("transition_running", 0),
            *(SUBMIT,) * 10,
            *(("finish", number) for number in range(1, 11)),
        ),
        *(SUBMIT, AUDIT),
        max_queue=16,
        max_completed=5,
    ),
    _program(
        "AJT-RET-LRU",
        *(
            SUBMIT,
            SUBMIT,
            SUBMIT,
            ("finish", 0),
            SUBMIT,
            ("finish", 1),
            SUBMIT,
            ("finish", 2),
            ("finish", 3),
            SUBMIT,
        ),
        *(AUDIT, ("finish", 4), SUBMIT, AUDIT),
        max_queue=8,
        max_completed=1,
    ),
    _program(  # the oldest job is in flight while a sweep passes over it, and ends later
        "AJT-RET-LRU",
        *(
            SUBMIT,
            SUBMIT,
            SUBMIT,
            ("finish", 1),
            ("finish", 2),
            SUBMIT,
            ("finish", 0),
            ("finish", 3),
            SUBMIT,
            AUDIT,
        ),
        *(("finish", 4), SUBMIT, AUDIT),
        max_queue=8,
        max_completed=1,
    ),
    _program(
        "AJT-RET-LRU",
        *(
            SUBMIT,
            SUBMIT,
            SUBMIT,
            ("finish", 0),
            ("finish", 1),
            ("finish", 2),
            ("snapshot", 0),
            ("take_result", 0),
        ),
        *(SUBMIT, ("snapshot", 0), ("snapshot", 1), ("snapshot", 2)),
        max_completed=2,
    ),
    _program(
        "AJT-RET-ORDER-TTL-FIRST",
        *(
            SUBMIT,
            SUBMIT,
            SUBMIT,
            SUBMIT,
            ("finish", 2),
            ("finish", 3),
            ("advance", 81),
            ("finish", 0),
            ("finish", 1),
        ),
        *(SUBMIT, AUDIT),
        max_queue=8,
        job_ttl_ms=80,
        max_completed=2,
    ),
    _program(
        "AJT-RET-SELF",
        *(
            SUBMIT,
            SUBMIT,
            SUBMIT,
            ("finish", 0),
            ("finish", 1),
            ("finish", 2),
            SUBMIT,
            ("snapshot", 3),
            AUDIT,
            DEPTH,
        ),
        max_completed=0,
    ),
)
