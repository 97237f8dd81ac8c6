"""The known bugs and the ledger variants on plain threads: twins pass, and what tells the bug can fail.

No engine is involved. That an interleaving leads to each bug is shown where the engine is tested; here a
bad state is made by hand, or an order of the tasks is played that fails already.
"""

from __future__ import annotations

import sys
import threading

import pytest

from scenarios.known_bugs import KNOWN_BUGS
from scenarios.known_bugs.safestack import NOTHING

try:
    from benchmarks.programs.ledger_variants import VARIANTS, check_all_closed, check_books
except ModuleNotFoundError:  # an installed wheel has no benchmarks
    VARIANTS = ()

BUGS = {bug.name: bug for bug in KNOWN_BUGS}
TWINS = [bug.repaired for bug in KNOWN_BUGS]
for variant in VARIANTS:
    TWINS += [variant.natural_repaired, variant.generic_repaired]
PATIENCE = 60


def name_of(item):
    """What parametrized tests are called by."""
    return item.name


def play(program, order=None):
    """Set up, run the tasks one after the other in this order, check; the state."""
    state = program.setup()
    for place in range(len(program.tasks)) if order is None else order:
        program.tasks[place](state)
    if program.check is not None:
        program.check(state)
    return state


def play_on_threads(program):
    """Set up, run every task on a thread of its own, check; raises what the first failing task raised."""
    state = program.setup()
    barrier = threading.Barrier(len(program.tasks))
    errors = []

    def run(task):
        barrier.wait(PATIENCE)
        try:
            task(state)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,), daemon=True) for task in program.tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), f"{program.name} hangs"
    if errors:
        raise errors[0]
    if program.check is not None:
        program.check(state)


def with_fields(bug, **fields):
    """The bug's fresh state with some fields changed."""
    state = BUGS[bug].buggy.setup()
    for name, value in fields.items():
        setattr(state, name, value)
    return state


class Jumping:
    """A value that somebody else increments too, between any two looks."""

    def __init__(self):
        self.looks = 0

    def __get__(self, owner, kind=None):
        self.looks += 1
        return self.looks

    def __set__(self, owner, value):
        self.looks += 1


class Overwritten(dict):
    """A table whose entries somebody else overwrites at once."""

    def __setitem__(self, key, value):
        super().__setitem__(key, NOTHING)


def jumping_data(bug):
    """The state of a wrong lock whose value jumps."""
    state = BUGS[bug].buggy.setup()
    state.__class__ = type("JumpingData", (type(state),), {"value": Jumping()})
    return state


def erased_source():
    """Two buffers, the source of which forgets its text when asked for its length."""
    state = BUGS["stringbuffer"].buggy.setup()
    length = state.source.length

    def last_length():
        answer = length()
        state.source.erase(answer)
        return answer

    state.source.length = last_length
    return state


def looked_at_slot():
    """A buffer whose condition wakes up a waiter for nothing."""
    state = BUGS["bounded_buffer_if"].buggy.setup()
    state.changed.wait = lambda: True
    return state


def half_done_work(bug):
    """Work of which one item was done twice and one never."""
    state = BUGS[bug].buggy.setup()
    state.items[0].done = 2
    return state


# Task (or "check"), and the state in which it must fail.
BAD_STATES = {
    "bluetooth_driver": (0, lambda: with_fields("bluetooth_driver", stopped=True)),
    "circular_buffer": (1, lambda: with_fields("circular_buffer", sendable=False, items=[5])),
    "queue": (1, lambda: with_fields("queue", sendable=False, items=[5])),
    "stack": (1, lambda: with_fields("stack", used=True)),
    "lazy01": (2, lambda: with_fields("lazy01", value=3)),
    "twostage": (-1, lambda: with_fields("twostage", first=1)),
    "twostage_100": (-1, lambda: with_fields("twostage_100", first=1)),
    "stringbuffer": (0, erased_source),
    "bounded_buffer_if": (-1, looked_at_slot),
    "safestack": (0, lambda: with_fields("safestack", users=Overwritten())),
    **{f"reorder_{size}": (-1, lambda: with_fields("reorder_3", a=1)) for size in (3, 4, 5, 10, 20, 100)},
    **{
        name: (0, lambda name=name: jumping_data(name))
        for name in ("wronglock", "wronglock_1", "wronglock_3")
    },
    **{
        name: ("check", lambda name=name: half_done_work(name))
        for name in ("wsq", "iwsq", "swsq", "iwsq_with_state")
    },
}

# Orders in which the tasks fail one after the other, on a single thread.
BAD_ORDERS = {
    "account": (1, 2, 0),
    "fsbench": tuple(range(27)),
    "lazy01": (0, 1, 2),
    "token_ring": (2, 1, 0, 3),
    "stack": (0, 1, 1),
}

ON_THREADS = {"arithmetic_prog"}
BLOCKING = {"arithmetic_prog_ok", "bounded_buffer_ok", "sync02_ok"}
DEADLOCKS = {bug.name for bug in KNOWN_BUGS if bug.finding == "deadlock"}
ERRORS = {"fsbench": IndexError}


@pytest.mark.parametrize("twin", TWINS, ids=name_of)
def test_a_twin_passes(twin):
    """A repaired twin's tasks end, one by one unless they wait for each other, and its check passes."""
    if twin.name in BLOCKING:
        play_on_threads(twin)
    else:
        play(twin)


@pytest.mark.stress
@pytest.mark.parametrize("twin", TWINS, ids=name_of)
def test_a_twin_passes_again_and_again(twin):
    """Fifty runs on threads that are switched as often as can be show nothing in a repaired twin."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            play_on_threads(twin)
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("name", BAD_STATES)
def test_a_bad_state_is_told(name):
    """Where the bug has left its traces, the program says so in the words of the record."""
    bug = BUGS[name]
    place, make = BAD_STATES[name]
    state = make()
    with pytest.raises(AssertionError) as raised:
        (bug.buggy.check if place == "check" else bug.buggy.tasks[place])(state)
    assert bug.message in str(raised.value)


@pytest.mark.parametrize("name", BAD_ORDERS)
def test_a_bad_order_is_told(name):
    """Some bugs need no interleaving, only an order of the tasks."""
    bug = BUGS[name]
    with pytest.raises(ERRORS.get(name, AssertionError)) as raised:
        play(bug.buggy, BAD_ORDERS[name])
    assert bug.message in f"{type(raised.value).__name__}: {raised.value}"


@pytest.mark.parametrize("name", sorted(BAD_ORDERS.keys() - {"token_ring"}))
def test_the_twin_survives_the_bad_order(name):
    """What showed the bug shows nothing in the twin (the ring's twin would wait for a better order)."""
    play(BUGS[name].repaired, BAD_ORDERS[name])


def test_a_control_fails_in_a_single_run():
    """A control's claim is wrong in every run, on plain threads too."""
    with pytest.raises(AssertionError, match=BUGS["arithmetic_prog"].message):
        play_on_threads(BUGS["arithmetic_prog"].buggy)


@pytest.mark.parametrize("name", sorted(DEADLOCKS - {"phase01", "sync01", "sync02", "bounded_buffer"}))
def test_tasks_that_may_deadlock_pass_one_by_one(name):
    """A deadlock that needs an interleaving leaves the tasks in peace when they run one after the other."""
    play(BUGS[name].buggy)


def test_each_known_bug_is_shown_to_fail():
    """Every known bug is in one of the tables above, or is a deadlock, which only the engine can tell."""
    assert BUGS.keys() == BAD_STATES.keys() | BAD_ORDERS.keys() | DEADLOCKS | ON_THREADS
    assert len(BUGS) == len(KNOWN_BUGS)


def test_records_name_findings_that_exist():
    """A record's finding is a known kind, and only a deadlock goes without a message."""
    assert {bug.finding for bug in KNOWN_BUGS} <= {"invariant", "exception", "deadlock"}
    assert {bug.name for bug in KNOWN_BUGS if not bug.message} == DEADLOCKS


@pytest.mark.parametrize("variant", VARIANTS, ids=name_of)
@pytest.mark.parametrize("form", ["natural", "natural_repaired", "generic_repaired"])
def test_a_variant_passes_one_by_one(variant, form):
    """A ledger with one bug answers as the correct one does while nobody is in its way."""
    play(getattr(variant, form))


BAD_BOOKS = {
    "D1": [("wait", 1, ("done", None))],
    "D2": [("peak", None, 9)],
    "M5": [("finish", 1, True), ("time out", 1, True)],
    "M6": [("submit", None, 1)],
    "M7": [("evict", 1, None)],
    "M8": [("take", 1, "payload"), ("take", 1, "payload")],
}


@pytest.mark.parametrize("variant", [each for each in VARIANTS if each.name in BAD_BOOKS], ids=name_of)
def test_bad_books_are_told(variant):
    """What only the bug can answer, or leave in the books, fails the check with its message."""
    program = variant.natural_repaired
    desk = program.setup()
    if not desk.told["before"]:
        desk.told["first"] = [("submit", None, desk.ledger.submit())]
    check_books(desk)
    desk.told["second"] = BAD_BOOKS[variant.name]
    desk.ledger.peak = 9 if variant.name == "D2" else desk.ledger.peak
    if variant.name == "M7":
        desk.ledger.jobs.clear()
    with pytest.raises(AssertionError, match=variant.message):
        check_books(desk)


@pytest.mark.parametrize("variant", [each for each in VARIANTS if each.finding == "invariant"], ids=name_of)
def test_a_job_that_nobody_closes_is_told(variant):
    """The generic programs close every job, and say so when they did not."""
    with pytest.raises(AssertionError, match="never closed"):
        check_all_closed(variant.generic.setup())
