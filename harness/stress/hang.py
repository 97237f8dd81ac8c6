"""What is shown of strands that never came back: the calls, what led to them, and where they are.

Seven waiters that hang in the same place are one fact, not seven. What a person looks for is the
last that happened to the job they wait for, and the innermost lines of the implementation.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

from harness.contracts.records import Contract, Raised
from harness.history import Recorded
from harness.stress.judge import shown

__all__ = ["evidence_of", "names_of", "stack_of"]

_MOST_LINES = 6
_OURS = str(Path(__file__).resolve().parents[1])
_INTO_TARGET = str(Path(_OURS, "targets"))


def stack_of(frame: FrameType) -> str:
    """A stack as text: of a strand inside the implementation, what is not ours; else from our frames on."""
    frames = traceback.extract_stack(frame)
    theirs = [one for one in _since(frames, _INTO_TARGET) if not one.filename.startswith(_OURS)]
    return "".join(traceback.format_list(theirs or _since(frames, _OURS) or frames))


def _since(frames: Sequence[traceback.FrameSummary], folder: str) -> Sequence[traceback.FrameSummary]:
    """The frames from the outermost one in a folder on."""
    found = (number for number, one in enumerate(frames) if one.filename.startswith(folder))
    return frames[next(found, len(frames)) :]


def names_of(strands: Iterable[str]) -> str:
    """Names of strands, those of a role that follow one another as first to last."""
    told = []
    numbered = [(name.rpartition("-")[0], int(name.rpartition("-")[2])) for name in strands]
    for _, run in groupby(enumerate(numbered), key=lambda item: (item[1][0], item[1][1] - item[0])):
        members = [f"{role}-{index}" for _, (role, index) in run]
        told += members if len(members) < _FEWEST_IN_A_RUN else [f"{members[0]} to {members[-1]}"]
    return ", ".join(told)


_FEWEST_IN_A_RUN = 3


def evidence_of(
    contract: Contract, stacks: Mapping[str, str], histories: Mapping[str, Sequence[Recorded]]
) -> list[str]:
    """Lines on stuck strands, from their stacks and everybody's operations, by strand."""
    stuck = [histories[name][-1] for name in stacks if histories[name]]
    jobs = {job for item in stuck if (job := _job_of(contract, item)) is not None}
    led = [
        item
        for items in histories.values()
        for item in items
        if item.returned is not None
        and item.operation != contract.probe  # looking changes nothing, and would crowd out what does
        and (not jobs or _job_of(contract, item) in jobs)
    ]
    led = sorted(led, key=lambda item: item.called)[-_MOST_LINES:]
    start = min((item.called for item in (*led, *stuck)), default=0)
    lines = [shown(item, start) for item in stuck[:_MOST_LINES]]
    if len(stuck) > _MOST_LINES:
        lines.append(f"and {len(stuck) - _MOST_LINES} more that never returned")
    if led:
        lines.append(f"the last calls {'on the job' if jobs else 'before'}, which led to it:")
        lines += [shown(item, start) for item in led]
    return lines + _merged(stacks)


def _merged(stacks: Mapping[str, str]) -> list[str]:
    """Each different stack once, with whose it is."""
    owners: dict[str, list[str]] = {}
    for name, stack in stacks.items():
        owners.setdefault(stack, []).append(name)
    return [
        f"{names_of(names)}, same stack:\n{stack}" if len(names) > 1 else f"stack of {names[0]}:\n{stack}"
        for stack, names in owners.items()
    ]


def _job_of(contract: Contract, item: Recorded) -> Any:
    """The job that a call is about, or has made; None if there is none."""
    if item.operation == contract.creates:
        made = item.returned is not None and not isinstance(item.response, Raised)
        return contract.job_of(item.response) if made else None
    for parameter, value in zip(contract.operation(item.operation).parameters, item.arguments, strict=True):
        if parameter.domain.kind == "job":
            return value
    return None
