"""One stage on one target, as plain data that crosses the process boundary as JSON."""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass
from typing import Any, Self

from harness.seeds.store import DEFAULT_FOLDER

__all__ = ["LOOK", "PLAYING", "SOAKING", "STAGES", "StageJob"]

STAGES = ("canary", "sequential", "interleavings", "stress")
"""The stages of a gate, in their order."""
PLAYING = ("interleavings", "stress")
"""The stages that play scenarios."""
SOAKING = ("stress",)
"""Those of them in which a soak takes its seconds: under control it takes a few turns."""
LOOK = "look"
"""What is no stage of a gate: whether a target can be used at all."""


@dataclass(frozen=True, slots=True)
class StageJob:
    """One stage on one target.

    `examples` is the number of generated programs, `executions` that of controlled executions per
    scenario, `seeds` the folder of kept schedules (empty for none), `pace` the factor on
    every scenario's seconds, `scenarios` the names to run (all if empty), `counts` the strands per
    role. `remember` is whether Hypothesis' database is used. `coverage` is a data file to measure the
    implementation into, empty for none. `folder` is from where relative paths are seen, `instrument`
    the packages that are under test beside the target's own. `adapter_file` and `budget` are as the user
    wrote them, for commands that reproduce a finding.
    """

    stage: str
    target: str
    contract: str
    adapter: dict[str, Any]
    seed: int
    examples: int
    pace: float
    stop_at_first: bool = False
    remember: bool = True
    scenarios: tuple[str, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    soak_seconds: float | None = None
    coverage: str = ""
    memory_mb: int = 4096
    adapter_file: str = ""
    budget: str = ""
    executions: int = 150
    seeds: str = ""
    folder: str = ""
    instrument: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON value; `from_json` is its inverse."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Rebuild a job from `to_json`."""
        counts = tuple((name, count) for name, count in value["counts"])
        several = {name: tuple(value[name]) for name in ("scenarios", "instrument")}
        return cls(**{**value, **several, "counts": counts})

    @property
    def reproduce(self) -> str:
        """The command that runs this stage again, alone."""
        options = {"--adapter": self.adapter_file, "--budget": self.budget, "--seed": str(self.seed or "")}
        words = ["harness", "gate", self.target, "--contract", self.contract, "--stage", self.stage]
        words += [word for package in self.instrument for word in ("--instrument", package)]
        words += [word for name, value in options.items() if value for word in (name, value)]
        words += [word for role, count in self.counts for word in ("--count", f"{role}={count}")]
        if self.soak_seconds is not None:
            words += ["--duration", f"{self.soak_seconds:g}"]
        if self.seeds and self.seeds != DEFAULT_FOLDER:
            words += ["--seeds", self.seeds]
        return shlex.join(words)
