"""A schedule as a person can read it: the few decisions that differ from undisturbed running.

Without interference a task goes on until it cannot, and then the first runnable one in order of
creation takes over. A `Deviation` names a point by meaning (task, what it was about to do, for the
how-many-th time) and who went on there instead. A schedule is the list of its deviations, in order; no
count of instructions or lines is in it, so it survives edits that leave those points alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.control.trace import Arrival, Step
from harness.findings import UsageError

__all__ = ["Deviation", "Schedule", "Seed", "deviations_of"]

_HEADER = "job-harness seed"
_VERSION = 1
_LINE = re.compile(r"^at (?P<task>\S+) \| (?P<label>.+) \| #(?P<count>\d+) -> (?P<to>\S+)$")
_FIELD = re.compile(r"^(?P<name>[a-z][a-z -]*): ?(?P<value>.*)$")


@dataclass(frozen=True, slots=True)
class Deviation:
    """At this point, this task goes on instead of the one that would have."""

    at: Arrival
    to: str

    def __str__(self) -> str:
        return f"at {self.at.task} | {self.at.label} | #{self.at.occurrence} -> {self.to}"


Schedule = tuple[Deviation, ...]


def deviations_of(steps: Iterable[Step]) -> Schedule:
    """The schedule of a traced execution."""
    return tuple(Deviation(step.at, step.task) for step in steps if not step.default)


@dataclass(frozen=True)
class Seed:
    """A schedule with what it is for.

    `fields` say how to run it again (`target`, `contract`, `scenario`, `test`...) and what it showed
    (`finding`, `message`); values are single lines.
    """

    schedule: Schedule
    fields: dict[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        """The file's text; `from_text` is its inverse."""
        head = [f"{_HEADER} {_VERSION}"]
        head += [f"{name}: {_one_line(value)}" for name, value in self.fields.items() if value]
        return "\n".join([*head, "", *(str(deviation) for deviation in self.schedule)]) + "\n"

    @classmethod
    def from_text(cls, text: str, name: str = "seed") -> Seed:
        """Read a file's text; raises UsageError that says which line is wrong."""
        lines = text.splitlines()
        head = lines[0].strip() if lines else ""
        if not head.startswith(_HEADER):
            raise UsageError(f"{name}: this is no seed: its first line is not {_HEADER!r} and a version")
        version = head.removeprefix(_HEADER).strip()
        if version != str(_VERSION):
            raise UsageError(
                f"{name}: seed version {version!r} is not known here; this harness reads {_VERSION}"
            )
        fields: dict[str, str] = {}
        schedule: list[Deviation] = []
        for number, line in enumerate(lines[1:], start=2):
            if not line.strip() or line.startswith("#"):
                continue
            step, entry = _LINE.match(line), _FIELD.match(line)
            if step is not None:
                at = Arrival(step["task"], step["label"], int(step["count"]))
                schedule.append(Deviation(at, step["to"]))
            elif entry is not None and not schedule:
                fields[entry["name"]] = entry["value"]
            else:
                raise UsageError(f"{name}, line {number}: neither a field nor a step: {line[:60]!r}")
        return cls(tuple(schedule), fields)


def _one_line(text: str) -> str:
    return " ".join(text.split())
