"""One sentence on why an interleaving fails."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.control.failures import Failure, FailureKind
from harness.control.trace import Step
from harness.report.relevance import by_place, handovers, touched

__all__ = ["explained", "place_of"]


def explained(failure: Failure, steps: Sequence[Step]) -> str:
    """What went wrong, in one sentence."""
    steps = by_place(steps)
    if failure.kind in (FailureKind.DEADLOCK, FailureKind.LOST_WAKEUP):
        return _stuck(failure)
    return (
        _woken_too_late(failure, steps)
        or _lost_update(steps)
        or _stale_read(steps)
        or _early_timeout(steps)
        or _interfered(steps)
    )


def place_of(step: Step) -> str:
    """A step's file and line."""
    return f"{Path(step.file).name}:{step.line}" if step.file else step.label


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


def _woken_too_late(failure: Failure, steps: Sequence[Step]) -> str:
    """Who failed had waited, was woken, and somebody else was faster."""
    order = {id(step): number for number, step in enumerate(steps)}
    for handover in reversed(handovers(steps)):
        signal, woken = handover.signal, handover.woken
        if woken.task != failure.task:
            continue
        later = [step for step in steps[order[id(woken)] :] if step.task == woken.task]
        wanted = {touched(step) for step in later if step.kind in ("read", "write")}
        for step in steps[order[id(signal)] : order[id(woken)]]:
            stranger = step.task not in (woken.task, signal.task)
            if stranger and step.kind == "write" and touched(step) in wanted:
                return (
                    f"{woken.task} was woken by {signal.task} ({place_of(signal)}), but before it went on "
                    f"{step.task} had changed {_noun(step)} ({place_of(step)})."
                )
        return ""
    return ""


def _lost_update(steps: Sequence[Step]) -> str:
    """Two tasks read a place before either wrote it back."""
    reads: dict[tuple[int, str], dict[str, int]] = {}
    writes: dict[tuple[int, str], list[tuple[int, str]]] = {}
    for number, step in enumerate(steps):
        what = touched(step)
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
            touched(before): before
            for before in steps[:number]
            if before.task == left and before.kind == "read"
        }
        for later in steps[number:]:
            if later.task == left:
                break
            if later.kind == "write" and touched(later) in seen:
                read = seen[touched(later)]
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
    return "It happens undisturbed: each task goes on until it waits or ends, in the order of their creation."
