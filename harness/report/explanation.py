"""One sentence on why an interleaving fails, and the steps of it that matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.control.failures import Failure, FailureKind
from harness.control.trace import Step

__all__ = ["explained", "place_of", "steps_that_matter"]

_ACCESSES = ("read", "write")
ANY = "*"


def explained(failure: Failure, steps: Sequence[Step]) -> str:
    """What went wrong, in one sentence."""
    steps = _by_place(steps)
    if failure.kind in (FailureKind.DEADLOCK, FailureKind.LOST_WAKEUP):
        return _stuck(failure)
    return _lost_update(steps) or _stale_read(steps) or _early_timeout(steps) or _interfered(steps)


def place_of(step: Step) -> str:
    """A step's file and line."""
    return f"{Path(step.file).name}:{step.line}" if step.file else step.label


def steps_that_matter(failure: Failure, steps: Sequence[Step]) -> list[Step]:
    """The steps on what several tasks touched, of the tasks that the schedule's deviations are about.

    Where tasks are stuck in a cycle, those by which they took what they hold; where a wakeup was lost, the
    last look before the wait at what others changed since.
    """
    if failure.waits and all(wait.holder for wait in failure.waits):
        return _held(steps, {wait.task for wait in failure.waits})
    outdated = [
        step for wait in failure.waits if wait.missed for step in _outdated(_by_place(steps), wait.task)
    ]
    if outdated:
        return outdated
    about = {name for step in steps if not step.default for name in (step.task, step.at.task)} - {"main"}
    if len(about) > 1:
        steps = [step for step in steps if step.task in about or step.kind == "fire"]
    steps = _by_place(steps)
    users: dict[tuple[int, str], set[str]] = {}
    writers: set[tuple[int, str]] = set()
    for step in steps:
        users.setdefault(_what(step), set()).add(step.task)
        if step.kind not in ("read", "time", "try"):
            writers.add(_what(step))
    shared = {what for what, tasks in users.items() if len(tasks) > 1 and what in writers}
    data = {_what(step) for step in steps if step.kind in _ACCESSES} & shared
    shared = data or shared  # locks are shown where no data tells the story
    return [
        step
        for step in steps
        if step.kind == "fire"
        or (step.file and step.kind != "release" and (_what(step) in shared or step.preempts))
    ]


def _outdated(steps: Sequence[Step], waiter: str) -> list[Step]:
    """The waiter's last look at something that others wrote afterwards, and what they wrote."""
    written: dict[tuple[int, str], list[Step]] = {}
    for step in reversed(steps):
        if step.task != waiter and step.kind == "write":
            written.setdefault(_what(step), []).append(step)
        elif step.task == waiter and step.kind == "read" and _what(step) in written:
            return [step, *reversed(written[_what(step)])]
    return []


def _held(steps: Sequence[Step], tasks: set[str]) -> list[Step]:
    """The acquisitions by these tasks that nobody undid, in order."""
    held: dict[tuple[str, int], list[Step]] = {}
    for step in steps:
        if step.kind in ("acquire", "timed") and step.task in tasks and step.file:
            held.setdefault((step.task, step.resource), []).append(step)
        elif step.kind == "release":
            for key in [key for key in held if key[1] == step.resource]:
                held[key].pop()
                if not held[key]:
                    del held[key]
    kept = {id(step) for taken in held.values() for step in taken}
    return [step for step in steps if id(step) in kept]


def _by_place(steps: Sequence[Step]) -> list[Step]:
    """Accesses to a container that is also used as a whole are told as accesses to all of it."""
    whole = {step.resource for step in steps if step.key == ANY}
    return [replace(step, key=ANY) if step.resource in whole else step for step in steps]


def _what(step: Step) -> tuple[int, str]:
    return step.resource, step.key


def _noun(step: Step) -> str:
    return step.label.removeprefix(f"{step.kind} ").partition(" in ")[0]


def _stuck(failure: Failure) -> str:
    if len(failure.waits) > 1 and all(wait.holder for wait in failure.waits):
        circle = ", and ".join(f"{wait.task} waits for what {wait.holder} holds" for wait in failure.waits)
        return f"Deadlock: {circle}."
    for wait in failure.waits:
        if wait.missed:
            return f"Lost wakeup: {wait.missed}; {wait.task} waits in {wait.noun} for the next one, for ever."
    if len(failure.waits) == 1:
        wait = failure.waits[0]
        return f"{wait.task} waits in {wait.noun} for something that nobody will do any more."
    return f"{len(failure.waits)} tasks wait for something that nobody will do any more."


def _lost_update(steps: Sequence[Step]) -> str:
    """Two tasks read a place before either wrote it back."""
    reads: dict[tuple[int, str], dict[str, int]] = {}
    writes: dict[tuple[int, str], list[tuple[int, str]]] = {}
    for number, step in enumerate(steps):
        what = _what(step)
        if step.kind == "read":
            reads.setdefault(what, {})[step.task] = number
        elif step.kind == "write":
            read = reads.get(what, {}).get(step.task)
            for at, other in writes.get(what, ()):
                if read is not None and other != step.task and at > read:
                    theirs = reads.get(what, {}).get(other)
                    if theirs is not None and theirs < at:
                        return (
                            f"Lost update: {other} and {step.task} both read {_noun(step)} "
                            f"before either wrote it back."
                        )
                    return (
                        f"Lost update: {step.task} read {_noun(step)} ({place_of(steps[read])}), "
                        f"{other} wrote it ({place_of(steps[at])}), "
                        f"and {step.task} wrote over it ({place_of(step)})."
                    )
            writes.setdefault(what, []).append((number, step.task))
    return ""


def _stale_read(steps: Sequence[Step]) -> str:
    """A task was left after reading what another changed before it went on."""
    for number, step in enumerate(steps):
        if not step.preempts:
            continue
        left = step.at.task
        seen = {
            _what(before): before
            for before in steps[:number]
            if before.task == left and before.kind == "read"
        }
        for later in steps[number:]:
            if later.task == left:
                break
            if later.kind == "write" and _what(later) in seen:
                read = seen[_what(later)]
                return (
                    f"{left} acted on {_noun(read)} as it had read it ({place_of(read)}), "
                    f"after {later.task} had changed it ({place_of(later)})."
                )
    return ""


def _early_timeout(steps: Sequence[Step]) -> str:
    for step in steps:
        if step.kind == "fire" and not step.default:
            others = [task for task in step.runnable if task != step.task]
            waiter = step.label.removeprefix("time out ")
            return f"The timeout of {waiter} passed while {' and '.join(others)} could still go on."
    return ""


def _interfered(steps: Sequence[Step]) -> str:
    for step in steps:
        if step.preempts:
            return f"{step.task} went on while {step.at.task} was about to {step.at.label}."
    for step in steps:
        if not step.default:
            return f"{step.task} went first."
    return "It happens without any interference."
