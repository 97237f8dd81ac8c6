"""Which steps of an execution a person has to see: those on what several tasks shared, and who woke whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.control.failures import Failure
from harness.control.trace import Step

__all__ = ["Handover", "by_place", "handovers", "steps_that_matter", "touched"]

_ACCESSES = ("read", "write")
_LOOKS = ("read", "time", "try")
_TAKES = ("acquire", "timed")
_WHOLE = "*"


@dataclass(frozen=True, slots=True)
class Handover:
    """A wait in a primitive of the library, what ended it, and how the waiter went on.

    `began` is the number of the step at which it stood there, in the list of steps.
    """

    began: int
    signal: Step
    woken: Step


def steps_that_matter(failure: Failure, steps: Sequence[Step]) -> list[Step]:
    """The steps on what several tasks touched, of the tasks that the schedule's deviations are about.

    Where tasks are stuck in a cycle, those by which they took what they hold; where a wakeup was lost, the
    last look before the wait at what others changed since, and the notify.
    """
    steps = by_place(steps)
    if failure.waits and all(wait.holder for wait in failure.waits):
        return _held(steps, {wait.task for wait in failure.waits})
    outdated = [step for wait in failure.waits if wait.missed for step in _outdated(steps, wait.task)]
    if outdated:
        return outdated
    about = {name for step in steps if not step.default for name in (step.task, step.at.task)} - {"main"}
    if len(about) > 1:
        about |= _meddlers(steps, failure.task)
        steps = [step for step in steps if step.task in about or step.kind == "fire"]
    signals = {id(step) for handover in handovers(steps) for step in (handover.signal, handover.woken)}
    shared = _shared(steps)
    return [
        step
        for step in steps
        if step.kind == "fire"
        or id(step) in signals
        or (
            step.file
            and step.kind not in ("release", "notify")
            and (touched(step) in shared or step.preempts)
        )
    ]


def handovers(steps: Sequence[Step]) -> list[Handover]:
    """Every time that one task ended another's wait in a primitive of the library, in order."""
    found: list[Handover] = []
    owned = _owned(steps)
    signals: dict[int, Step] = {}
    began: dict[str, int] = {}
    for number, step in enumerate(steps):
        if step.at.task != step.task:
            began[step.at.task] = number
        if not step.file or step.resource in owned:
            continue
        if step.kind == "release":
            signals[step.resource] = step
        elif step.kind in _TAKES and step.resource in signals:
            since = began.get(step.task, number)
            if since < number:
                found.append(Handover(since, signals.pop(step.resource), step))
    return found


def by_place(steps: Sequence[Step]) -> list[Step]:
    """Accesses to a container that is also used as a whole are told as accesses to all of it."""
    whole = {step.resource for step in steps if step.key == _WHOLE}
    return [
        replace(step, key=_WHOLE) if step.resource in whole and step.key != _WHOLE else step for step in steps
    ]


def touched(step: Step) -> tuple[int, str]:
    """What a step is about: the object and its attribute or item."""
    return step.resource, step.key


def _owned(steps: Sequence[Step]) -> set[int]:
    """Locks that are given back by who took them: not those with which the library lets others wait."""
    takers: dict[int, set[str]] = {}
    owned: set[int] = set()
    for step in steps:
        if step.kind in _TAKES:
            takers.setdefault(step.resource, set()).add(step.task)
        elif step.kind == "release" and step.task in takers.get(step.resource, ()):
            owned.add(step.resource)
    return owned


def _shared(steps: Sequence[Step]) -> set[tuple[int, str]]:
    """What several tasks touched and one of them changed; locks only where no data tells the story."""
    users: dict[tuple[int, str], set[str]] = {}
    changed: set[tuple[int, str]] = set()
    for step in steps:
        users.setdefault(touched(step), set()).add(step.task)
        if step.kind not in _LOOKS:
            changed.add(touched(step))
    shared = {what for what, tasks in users.items() if len(tasks) > 1 and what in changed}
    data = {touched(step) for step in steps if step.kind in _ACCESSES} & shared
    return data or shared


def _meddlers(steps: Sequence[Step], victim: str) -> set[str]:
    """Who failed, and who wrote between two accesses of the victim to what was written."""
    meddlers = {victim} if victim and victim != "main" else set()
    since: dict[tuple[int, str], set[str]] = {}
    for step in steps:
        what = touched(step)
        if step.kind not in _ACCESSES:
            continue
        if step.task == victim:
            meddlers |= since.get(what, set())
            since[what] = set()
        elif step.kind == "write" and what in since:
            since[what].add(step.task)
    return meddlers


def _outdated(steps: Sequence[Step], waiter: str) -> list[Step]:
    """The waiter's last look at something that others wrote afterwards, what they wrote, who notified."""
    written: dict[tuple[int, str], list[Step]] = {}
    notified: list[Step] = []
    order = {id(step): number for number, step in enumerate(steps)}
    for step in reversed(steps):
        if step.task != waiter and step.kind == "write":
            written.setdefault(touched(step), []).append(step)
        elif step.task != waiter and step.kind == "notify":
            notified.append(step)
        elif step.task == waiter and step.kind == "read" and touched(step) in written:
            after = [*written[touched(step)], *notified]
            return [step, *sorted(after, key=lambda later: order[id(later)])]
    return []


def _held(steps: Sequence[Step], tasks: set[str]) -> list[Step]:
    """The acquisitions by these tasks that nobody undid, in order."""
    held: dict[tuple[str, int], list[Step]] = {}
    for step in steps:
        if step.kind in _TAKES and step.task in tasks and step.file:
            held.setdefault((step.task, step.resource), []).append(step)
        elif step.kind == "release":
            for key in [key for key in held if key[1] == step.resource]:
                held[key].pop()
                if not held[key]:
                    del held[key]
    kept = {id(step) for taken in held.values() for step in taken}
    return [step for step in steps if id(step) in kept]
