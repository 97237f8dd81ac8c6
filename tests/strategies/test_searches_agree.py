"""What the searches reach: complete outcome sets of litmus programs, and brute force on random ones."""

from __future__ import annotations

from itertools import product
from random import Random, SystemRandom

import pytest

from benchmarks import reduction
from benchmarks.programs.tiny import Playground
from benchmarks.reduction import mismatches_in
from harness.strategies.bounded import BoundedSearch
from harness.strategies.dpor import DPOR

SEARCHES = [DPOR, BoundedSearch]
X, Y = 0, 1


def lock(which, *body):
    """`with lock: body`."""
    return ("with", which, body)


def outcome(*logs, x=0, y=0):
    """What each task noted, and the two attributes at the end."""
    return (tuple(logs), (x, y), ())


# Reads of three tasks; the original lost c == 2 && b == 0 (ocaml-multicore/dscheck, issue 18).
DSCHECK_18 = (
    (("write", X, 1),),
    (("write", Y, 1), ("write", Y, 2), ("write", Y, 3), ("write", X, 2)),
    (("read", Y, 0), ("read", X, 0)),
)

LITMUS = {
    "one lock, either order": (
        ((lock(0, ("write", X, 1)),), (lock(0, ("read", X, 0)),)),
        {outcome((), (0,), x=1), outcome((), (1,), x=1)},
    ),
    "two locks in opposite orders": (
        ((lock(0, lock(1, ("add", X, 0))),), (lock(1, lock(0, ("add", X, 0))),)),
        {outcome((), (), x=2), "deadlock"},
    ),
    "two locks in one order": (
        ((lock(0, lock(1, ("add", X, 0))),), (lock(0, lock(1, ("add", X, 0))),)),
        {outcome((), (), x=2)},
    ),
    "a lock for one, none for the other": (
        ((lock(0, ("add", X, 0)),), (("add", X, 0),)),
        {outcome((), (), x=1), outcome((), (), x=2)},
    ),
    "a lock given back in between": (
        ((lock(0, ("write", X, 1)), lock(0, ("write", Y, 1))), (lock(0, ("read", X, 0), ("read", Y, 0)),)),
        {outcome((), seen, x=1, y=1) for seen in [(0, 0), (1, 0), (1, 1)]},
    ),
    "a timeout against a set": (
        ((("timed wait event", 0, 0),), (("set", 0, 0),)),
        {outcome((True,), ()), outcome((False,), ())},
    ),
    "a wait without a timeout": (
        ((("wait event", 0, 0),), (("set", 0, 0),)),
        {outcome((True,), ())},
    ),
    "a timed lock against its holder": (
        ((("timed", 0, (("read", X, 0),)),), (lock(0, ("write", X, 1)),)),
        {outcome((seen,), (), x=1) for seen in (0, 1, "timed out")},
    ),
    "timeouts undo opposite orders": (
        (
            (lock(0, ("timed", 1, (("add", X, 0),))),),
            (lock(1, ("timed", 0, (("add", X, 0),))),),
        ),
        {
            outcome((), (), x=2),
            outcome(("timed out",), (), x=1),
            outcome((), ("timed out",), x=1),
            outcome(("timed out",), ("timed out",)),
        },
    ),
    "a try finds the lock taken or free": (
        ((("try", 0, (("read", X, 0),)),), (lock(0, ("write", X, 1)),)),
        {outcome((seen,), (), x=1) for seen in (0, 1, "taken")},
    ),
    "a notify that nobody waits for yet": (
        ((("timed wait", 0, 0),), (("notify", X, 0),)),
        {outcome((True,), (), x=1), outcome((False,), (), x=1)},
    ),
    "a lost wakeup is none where the state is looked at": (
        ((("wait", X, 0),), (("notify", X, 0),)),
        {outcome(("woken",), (), x=1), outcome((), (), x=1)},
    ),
    "the later deadline passes before the earlier one is set": (
        ((("look at clock", 0, 0), ("sleep", 0, 1)), (("sleep", 0, 2),)),
        {outcome((1000,), ()), outcome((1002,), ())},
    ),
    "a deadlock of one before the other began": (
        ((("timed", 0, (lock(0, ("read", X, 0)),)),), (lock(0, ("timed", 0, (("read", X, 0),))),)),
        {"deadlock", outcome(("timed out",), ("timed out",))},
    ),
    "a get that gives up": (
        ((("get", 0, 0),), (("put", 0, 7),)),
        {outcome((7,), ()), outcome(("empty",), ())},
    ),
}


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.__name__)
@pytest.mark.parametrize("name", LITMUS)
def test_a_litmus_has_exactly_these_outcomes(name, search):
    """An exhaustive search reaches the whole set, written down by hand, and nothing outside of it."""
    program, expected = LITMUS[name]
    assert expected == Playground().outcomes(program, search())


TIMED_OUT = (
    (lock(1, ("write", X, 1)),),
    (("timed", 1, (("read", X, 0),)),),
)


def test_a_timed_wait_gives_up_in_bounded_search():
    """The holder comes first in order of creation: before it, after it, or not at all."""
    expected = {outcome((), (seen,), x=1) for seen in (0, 1, "timed out")}
    assert expected == Playground().outcomes(TIMED_OUT, BoundedSearch())


def test_a_timed_wait_gives_up_in_dpor():
    """The reduction lets the waiter arrive while the lock is held, and its timeout pass."""
    expected = {outcome((), (seen,), x=1) for seen in (0, 1, "timed out")}
    assert expected == Playground().outcomes(TIMED_OUT, DPOR())


def orders(lengths):
    """All interleavings of tasks with so many statements, as tuples of task numbers."""
    if not any(lengths):
        yield ()
    for task, left in enumerate(lengths):
        if left:
            shorter = (*lengths[:task], left - 1, *lengths[task + 1 :])
            for rest in orders(shorter):
                yield (task, *rest)


def outcomes_by_hand(program):
    """Outcomes of a program of reads and writes, without any of the harness: just every order."""
    found = set()
    for order in orders(tuple(map(len, program))):
        values, logs, places = [0, 0], [[] for _ in program], [0] * len(program)
        for task in order:
            kind, which, value = program[task][places[task]]
            places[task] += 1
            if kind == "read":
                logs[task].append(values[which])
            else:
                values[which] = value + 10 * len(logs[task])
        found.add((tuple(map(tuple, logs)), tuple(values), ()))
    return found


def test_the_program_that_a_reduction_lost_is_whole():
    """Seeing the second of three writes and none of another task's is reached, as is all the rest."""
    expected = outcomes_by_hand(DSCHECK_18)
    assert any(logs[2] == (2, 0) for logs, _, _ in expected)
    assert expected == Playground().outcomes(DSCHECK_18, DPOR())


def straight_line(random, *lengths):
    """A program of so many reads and writes per task."""
    return tuple(
        tuple(
            (("read", "write")[random.randrange(2)], random.randrange(2), 1 + random.randrange(3))
            for _ in range(length)
        )
        for length in lengths
    )


def test_two_tasks_come_to_what_every_order_comes_to():
    """On programs from a fresh seed the searches agree with an enumeration that shares no code with them."""
    seed = SystemRandom().randrange(1_000_000)
    random, playground = Random(seed), Playground()
    for _ in range(15):
        program = straight_line(random, 3, 2)
        for search in SEARCHES:
            assert outcomes_by_hand(program) == playground.outcomes(program, search()), f"seed {seed}"


BETWEEN = ((("write", X, 1),), (("read", X, 0),), (("read", X, 0),))


def test_a_write_comes_between_two_reads_in_bounded_search():
    """One writes and two read: each of the four pairs of answers is reached, by brute force."""
    expected = {outcome((), (one,), (other,), x=1) for one in (0, 1) for other in (0, 1)}
    assert expected == outcomes_by_hand(BETWEEN) == Playground().outcomes(BETWEEN, BoundedSearch())


def test_a_write_comes_between_two_reads_in_dpor():
    """One writes and two read: the reduction reaches each of the four pairs of answers, too."""
    assert outcomes_by_hand(BETWEEN) == Playground().outcomes(BETWEEN, DPOR())


def test_three_tasks_come_to_what_every_order_comes_to():
    """On three tasks the reduction agrees with the enumeration, from a fresh seed and on a known program."""
    seed = SystemRandom().randrange(1_000_000)
    random, playground = Random(seed), Playground()
    for program in [BETWEEN, *(straight_line(random, 2, 2, 1 + turn % 2) for turn in range(60))]:
        assert outcomes_by_hand(program) == playground.outcomes(program, DPOR()), f"seed {seed}: {program}"


def test_the_enumeration_is_complete():
    """What the searches are compared with has every order of two tasks of two statements, each once."""
    every = list(orders((2, 2)))
    assert len(every) == len(set(every)) == 6
    assert set(every) == {order for order in product((0, 1), repeat=4) if sum(order) == 2}


def test_reductions_lose_nothing_on_random_programs():
    """Bounded search and DPOR reach what brute force reaches, over every feature, from a fresh seed."""
    seed = SystemRandom().randrange(1_000_000)
    counts = mismatches_in(30, seed)
    assert counts["programs"] == 30
    assert counts["mismatches"] == 0, f"seed {seed}"
    assert counts["dpor_executions"] < counts["brute_executions"]


class BlindToLocks(DPOR):
    """A reduction that never reverses the order in which a lock is taken."""

    def _race(self, path, stamps, by_owner, task, operation, clock):
        if operation[0] != "acquire":
            super()._race(path, stamps, by_owner, task, operation, clock)


def test_a_reduction_that_loses_something_is_a_mismatch(monkeypatch, capsys):
    """The comparison can fail: a reduction with a planted blind spot is counted and told."""
    program, expected = LITMUS["one lock, either order"]
    assert Playground().outcomes(program, BlindToLocks()) < expected
    monkeypatch.setattr(reduction, "DPOR", BlindToLocks)
    monkeypatch.setattr(reduction, "random_program", lambda random: program)
    assert mismatches_in(1, 0)["mismatches"] == 1
    assert "mismatch: dpor on program 0 of seed 0" in capsys.readouterr().out
