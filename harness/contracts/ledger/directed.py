"""The checks that the clauses' own texts ask for, as sequential programs.

Generated programs find what nobody thought of; these make sure that what somebody did think of is
tried in every gate, and that each clause is exercised at all.

They are written as text: steps between semicolons, `* n` for a step repeated, jobs by the number of
the submit that made them, `=word` for a request id, result or error that is to be just that (`=long` for
a long one, `=` for an empty one). See `Directed` for the pseudo-operations.
"""

from __future__ import annotations

from typing import Any

from harness.contracts.records import Directed, Given

__all__ = ["DIRECTED", "steps_of"]


def steps_of(text: str) -> tuple[tuple[Any, ...], ...]:
    """Parse a program's text; raises ValueError for a count that is no number."""
    steps: list[tuple[Any, ...]] = []
    for written in text.split(";"):
        step, _, count = written.partition("*")
        name, *arguments = step.split()
        parsed = (name.replace("_", " ") if name in _PSEUDO else name, *map(_value, arguments))
        steps += [parsed] * int(count or 1)
    return tuple(steps)


_PSEUDO = ("step_wall_clock", "fail_allocation")


_LONG = "x" * 5_000


def _value(word: str) -> Any:
    if word.startswith("="):
        return Given(_LONG if word == "=long" else word[1:])
    return int(word) if word.lstrip("-").isdigit() else word


def _program(
    clause: str, text: str, max_queue: int = 4, job_ttl_ms: int = 300_000, max_completed: int = 100
) -> Directed:
    bounds = {"max_queue": max_queue, "job_ttl_ms": job_ttl_ms, "max_completed": max_completed}
    return Directed(clause, bounds, steps_of(text))


DIRECTED = (
    _program(
        "AJT-STATE-ATOMIC",
        "submit; snapshot 0; transition_running 0; snapshot 0; finish 0; snapshot 0 * 2",
    ),
    _program(
        "AJT-ATOMIC-PUBLISH",
        "submit * 3; advance 1; finish 0; fail 1; timeout 2; audit; take_result 0; take_result 1; "
        "take_result 2",
    ),
    _program("AJT-NOTIFY-INSIDE", "submit; wait 0 PENDING 30000"),
    _program(
        "AJT-ADMIT-CAS",
        "submit * 2; queue_depth; submit; queue_depth; finish 0; submit * 2; queue_depth",
        max_queue=2,
    ),
    _program(
        "AJT-ADMIT-REJECT",
        "submit * 3; queue_depth; audit; finish 0; submit; queue_depth",
        max_queue=1,
    ),
    _program("AJT-ADMIT-ZERO", "submit; queue_depth", max_queue=0),
    _program("AJT-ADMIT-ZERO", "submit; queue_depth", max_queue=-1),
    _program(
        "AJT-ADMIT-FAILSAFE",
        "fail_allocation; submit; queue_depth; submit; queue_depth",
        max_queue=1,
    ),
    _program(
        "AJT-DEPTH-SCOPE",
        "submit; queue_depth; submit; transition_running 0; queue_depth; finish 0; queue_depth; fail "
        "1; queue_depth; submit; queue_depth",
    ),
    _program(
        "AJT-DEPTH-ONCE",
        "submit * 3; finish 0; queue_depth; finish 0; queue_depth; fail 0; queue_depth; timeout 0; "
        "queue_depth",
    ),
    _program(
        "AJT-DEPTH-ONCE",
        "submit * 2; finish 0; submit; queue_depth; audit; timeout 1; queue_depth; submit; queue_depth",
        max_completed=0,
    ),
    _program(
        "AJT-DEPTH-WHEN",
        "submit; finish 0; submit; fail 1; submit; timeout 2; submit",
        max_queue=1,
    ),
    _program(
        "AJT-RUN-FROM-PENDING",
        "submit; transition_running 0 * 2; finish 0; transition_running 0; audit; transition_running unknown",
    ),
    _program("AJT-RUN-FROM-PENDING", "submit; fail 0; transition_running 0; audit; queue_depth"),
    _program("AJT-TERM-ANY", "submit; finish 0; audit; queue_depth", max_queue=1),
    _program("AJT-TERM-ANY", "submit; fail 0; audit; queue_depth", max_queue=1),
    _program("AJT-TERM-ANY", "submit; timeout 0; audit; queue_depth", max_queue=1),
    _program(
        "AJT-TERM-ANY",
        "submit; transition_running 0; finish 0; audit; queue_depth",
        max_queue=1,
    ),
    _program(
        "AJT-TERM-ANY",
        "submit; transition_running 0; fail 0; audit; queue_depth",
        max_queue=1,
    ),
    _program(
        "AJT-TERM-ANY",
        "submit; transition_running 0; timeout 0; audit; queue_depth",
        max_queue=1,
    ),
    _program(
        "AJT-TERM-ABSORB",
        "submit; finish 0; snapshot 0; advance 7; finish 0; snapshot 0; take_result 0; queue_depth",
    ),
    _program(
        "AJT-TERM-ABSORB",
        "submit; finish 0; snapshot 0; advance 7; fail 0; snapshot 0; take_result 0; queue_depth",
    ),
    _program(
        "AJT-TERM-ABSORB",
        "submit; finish 0; snapshot 0; advance 7; timeout 0; snapshot 0; take_result 0; queue_depth",
    ),
    _program(
        "AJT-TERM-ABSORB",
        "submit; fail 0; snapshot 0; advance 7; finish 0; snapshot 0; take_result 0; queue_depth",
    ),
    _program(
        "AJT-TERM-ABSORB",
        "submit; fail 0; snapshot 0; advance 7; fail 0; snapshot 0; take_result 0; queue_depth",
    ),
    _program(
        "AJT-TERM-ABSORB",
        "submit; fail 0; snapshot 0; advance 7; timeout 0; snapshot 0; take_result 0; queue_depth",
    ),
    _program(
        "AJT-TERM-ABSORB",
        "submit; timeout 0; snapshot 0; advance 7; finish 0; snapshot 0; take_result 0; queue_depth",
    ),
    _program(
        "AJT-TERM-ABSORB",
        "submit; timeout 0; snapshot 0; advance 7; fail 0; snapshot 0; take_result 0; queue_depth",
    ),
    _program(
        "AJT-TERM-ABSORB",
        "submit; timeout 0; snapshot 0; advance 7; timeout 0; snapshot 0; take_result 0; queue_depth",
    ),
    _program(
        "AJT-UNKNOWN",
        "submit; snapshot unknown; take_request unknown; take_result unknown; transition_running "
        "unknown; finish unknown; fail unknown; timeout unknown; wait unknown PENDING 5; queue_depth; "
        "snapshot unknown",
    ),
    _program(
        "AJT-UNKNOWN",
        "submit; finish 0; submit; snapshot 0; take_request 0; take_result 0; transition_running 0; "
        "finish 0; fail 0; timeout 0; wait 0 PENDING 5; queue_depth",
        max_completed=0,
    ),
    _program(
        "AJT-ID-UNIQUE",
        "submit * 2; finish 0; finish 1; submit; finish 2; submit; advance 1; submit",
        max_completed=0,
    ),
    _program(
        "AJT-TIMES",
        "submit; snapshot 0; step_wall_clock -3600000; advance 1; finish 0; audit",
    ),
    _program(
        "AJT-TIMES",
        "submit; finish 0; step_wall_clock 3600000; submit; audit; advance 81; submit; audit",
        job_ttl_ms=80,
    ),
    _program(
        "AJT-TAKE-REQUEST",
        "submit; take_request 0 * 2; transition_running 0; take_request 0; finish 0; take_request 0; "
        "take_result 0",
    ),
    _program("AJT-TAKE-REQUEST", "submit; finish 0; take_request 0 * 2"),
    _program(
        "AJT-TAKE-RESULT",
        "submit; take_result 0; transition_running 0; take_result 0; finish 0; take_result 0 * 3",
    ),
    _program("AJT-TAKE-RESULT", "submit * 2; fail 0; timeout 1; take_result 0; take_result 1"),
    _program("AJT-TAKE-RESULT", "submit; finish 0 =; take_result 0 * 2; snapshot 0; queue_depth"),
    _program("AJT-TAKE-RESULT", "submit =; finish 0; take_result 0; submit =; finish 1; take_result 1"),
    _program("AJT-ATOMIC-PUBLISH", "submit * 2; fail 0 =long; timeout 1 =long; audit"),
    _program(
        "AJT-ID-UNIQUE",
        "submit =same * 2; queue_depth; finish 0; audit; take_request 1; take_result 0; finish 1; audit",
    ),
    _program("AJT-SNAPSHOT", "submit; snapshot 0; transition_running 0; snapshot 0; fail 0; audit"),
    _program(
        "AJT-WAIT-COND",
        "submit; wait 0 RUNNING 80; transition_running 0; wait 0 PENDING 80; finish 0; wait 0 PENDING "
        "80; wait 0 RUNNING 80; wait 0 DONE 80; wait 0 FAILED 80",
    ),
    _program("AJT-WAIT-COND", "submit; timeout 0; wait 0 TIMEOUT 0"),
    _program(
        "AJT-WAIT-BUDGET",
        "submit; wait 0 PENDING 1; wait 0 PENDING 5; wait 0 PENDING 80; wait 0 PENDING 30000; audit",
    ),
    _program(
        "AJT-WAIT-BUDGET",
        "submit; transition_running 0; wait 0 RUNNING 5; snapshot 0; finish 0; audit",
    ),
    _program("AJT-WAIT-BUDGET", "submit"),
    _program("AJT-WAIT-BUDGET", "submit; wait 0 RUNNING -5; finish 0; wait 0 PENDING -5; wait 0 DONE -1"),
    _program("AJT-WAIT-BUDGET", "submit; wait 0 PENDING -5"),
    _program(
        "AJT-WAIT-BUDGET", "submit; wait 0 PENDING 2500; wait 0 PENDING 1001; wait 0 PENDING 999; audit"
    ),
    _program(
        "AJT-RET-NONTERM",
        "submit * 2; transition_running 1; advance 6; submit; audit; advance 6; submit; audit",
        job_ttl_ms=5,
        max_completed=0,
    ),
    _program(
        "AJT-RET-TTL",
        "submit * 2; finish 1; advance 81; submit; audit; transition_running 0; advance 81; submit; audit",
        job_ttl_ms=80,
    ),
    _program(
        "AJT-RET-TTL",
        "submit * 2; advance 30; finish 0; advance 79; submit; audit; advance 2; submit; audit",
        job_ttl_ms=80,
    ),
    _program(
        "AJT-RET-TTL",
        "submit; advance 81; finish 0; submit; audit; advance 81; submit; audit",
        job_ttl_ms=80,
    ),
    _program(
        "AJT-RET-TTL",
        "submit; finish 0; submit; audit; advance 1; submit; audit",
        job_ttl_ms=0,
    ),
    _program(
        "AJT-RET-LAZY",
        "submit * 3; finish 0; fail 1; audit; timeout 2; audit * 2; take_result 0 * 2",
        max_completed=1,
    ),
    _program(
        "AJT-RET-LRU",
        "submit; transition_running 0; submit * 10; finish 1; finish 2; finish 3; finish 4; finish 5; "
        "finish 6; finish 7; finish 8; finish 9; finish 10; submit; audit",
        max_queue=16,
        max_completed=5,
    ),
    _program(
        "AJT-RET-LRU",
        "submit * 3; finish 0; submit; finish 1; submit; finish 2; finish 3; submit; audit; finish 4; "
        "submit; audit",
        max_queue=8,
        max_completed=1,
    ),
    _program(
        "AJT-RET-LRU",
        "submit * 3; finish 1; finish 2; submit; finish 0; finish 3; submit; audit; finish 4; submit; audit",
        max_queue=8,
        max_completed=1,
    ),
    _program(
        "AJT-RET-LRU",
        "submit * 3; finish 0; finish 1; finish 2; snapshot 0; take_result 0; submit; snapshot 0; "
        "snapshot 1; snapshot 2",
        max_completed=2,
    ),
    _program(
        "AJT-RET-ORDER-TTL-FIRST",
        "submit * 4; finish 2; finish 3; advance 81; finish 0; finish 1; submit; audit",
        max_queue=8,
        job_ttl_ms=80,
        max_completed=2,
    ),
    _program(
        "AJT-RET-SELF",
        "submit * 3; finish 0; finish 1; finish 2; submit; snapshot 3; audit; queue_depth",
        max_completed=0,
    ),
)
