"""The searches run exactly the executions that there are, no fewer and no more."""

from __future__ import annotations

from math import comb, factorial, prod

import pytest

from benchmarks.programs.tiny import Playground
from harness.strategies.bounded import BoundedSearch
from harness.strategies.dpor import DPOR

NO_BOUND = 1 << 20
SIZES = [(0, 0), (1, 0), (1, 1), (2, 1), (3, 1), (2, 2), (3, 2)]


def reads(*counts):
    """One task per count, with so many reads of one place."""
    return tuple((("read", 0, 0),) * count for count in counts)


def executions_of(program, search):
    """How many executions a search needs for a program."""
    playground = Playground()
    playground.outcomes(program, search)
    return playground.executions


def steps(points):
    """A task's steps: one ends at each of its points, and there is one before its start and its end."""
    return points + 2


def interleavings(first, second, preemptions):
    """Interleavings of two tasks with so many steps in which a task is left so often before its end.

    The last change of tasks comes when one has finished and is free, so there are two blocks more than
    preemptions. Cutting n steps into k blocks can be done in comb(n - 1, k - 1) ways.
    """
    blocks = preemptions + 2
    more, fewer = (blocks + 1) // 2, blocks // 2
    one_way = comb(first - 1, more - 1) * comb(second - 1, fewer - 1)
    return one_way + comb(second - 1, more - 1) * comb(first - 1, fewer - 1)


@pytest.mark.parametrize(("first", "second"), SIZES)
def test_two_tasks_have_binomially_many_interleavings(first, second):
    """Without a bound, every order of the steps of both is run once."""
    steps_of_both = steps(first) + steps(second)
    expected = comb(steps_of_both, steps(first))
    assert expected == executions_of(reads(first, second), BoundedSearch(bound=NO_BOUND))


def test_three_tasks_have_multinomially_many_interleavings():
    """Three tasks of two steps each have 6!/2!^3 = 90 orders."""
    expected = factorial(6) // prod(factorial(steps(0)) for _ in range(3))
    assert expected == 90
    assert expected == executions_of(reads(0, 0, 0), BoundedSearch(bound=NO_BOUND))


@pytest.mark.parametrize("bound", [0, 1, 2, 3])
@pytest.mark.parametrize(("first", "second"), SIZES)
def test_a_bound_allows_exactly_so_many_preemptions(first, second, bound):
    """Under one bound, the executions are all those with at most so many preemptions."""
    expected = sum(interleavings(steps(first), steps(second), spent) for spent in range(bound + 1))
    search = BoundedSearch(bound=bound, last_bound=bound)
    assert expected == executions_of(reads(first, second), search)
    everything = comb(steps(first) + steps(second), steps(first))
    assert search.complete == (expected == everything)


def test_fewer_preemptions_come_first(strands):
    """Deepening reaches every number of preemptions in its turn, and ends when there are no more."""
    tasks = [lambda: strands.access(False, strands, "x")] * 2
    search, last, spent = BoundedSearch(), None, []
    while search.begin(last):
        last = strands.run(tasks, search)
        spent.append((search.bound, sum(mark % 2 == 0 for mark, _ in last.decisions)))
    assert search.complete
    assert all(preemptions <= bound for bound, preemptions in spent)
    # three steps each: with three preemptions AAB.. no longer fits, with four ABABAB does
    assert [2, 4, 8, 4, 2] == [interleavings(3, 3, preemptions) for preemptions in range(5)]
    assert {(bound, bound) for bound in range(5)} <= set(spent)
    assert max(bound for bound, _ in spent) == 4


def test_leaving_a_blocked_task_is_free():
    """Two tasks that take one lock: without preemptions one goes in after the other, in either order."""
    program = ((("with", 0, (("read", 0, 0),)),), (("with", 0, (("write", 0, 1),)),))
    playground = Playground()
    outcomes = playground.outcomes(program, BoundedSearch(bound=0, last_bound=0))
    assert {(((0,), ()), (1, 0), ()), (((1,), ()), (1, 0), ())} == outcomes
    assert playground.executions == 2


CLASSES = [
    ("independent tasks", ((("write", 0, 1),), (("write", 1, 1),)), 1),
    ("reads only", reads(3, 3), 1),
    ("two writes of one place", ((("write", 0, 1),), (("write", 0, 2),)), 2),
    ("a write and two reads", ((("write", 0, 1),), (("read", 0, 0), ("read", 0, 0))), 3),
    ("one item and another", ((("write item", 0, 1),), (("write item", 1, 1),)), 1),
    ("an item and all of them", ((("write item", 0, 1),), (("clear items", 0, 0),)), 2),
    ("three writes of one place", tuple((("write", 0, value),) for value in range(3)), 6),
    ("one lock", ((("with", 0, ()),), (("with", 0, ()),)), 2),
    ("two locks", ((("with", 0, ()),), (("with", 1, ()),)), 1),
]


@pytest.mark.parametrize(("name", "program", "classes"), CLASSES, ids=[name for name, _, _ in CLASSES])
def test_dpor_runs_one_execution_per_class(name, program, classes):
    """Executions that differ in the order of independent operations only are run once."""
    search, playground, last, kept = DPOR(), Playground(), None, 0
    while search.begin(last):
        last = playground.runtime.execute(playground._main(program), search)
        kept += not last.pruned
    assert search.complete
    assert classes == kept
