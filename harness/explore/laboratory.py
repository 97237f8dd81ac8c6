"""One program under control: its private world, its runtime, and how one execution of it runs."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from harness.control.runtime import Ended, Runtime, Tracer
from harness.control.stored_names import NOTHING, Mutable
from harness.control.controlled import ControlledWorld
from harness.explore.group import Group
from harness.explore.privately import private_function, private_program
from harness.explore.program import Program

__all__ = ["Laboratory"]

_COLLECT_EVERY = 256


class Laboratory:
    """Runs executions of one program; everything in it is private, nothing leaks into the next.

    `steps` bounds one execution. With `racing_start` the tasks are spawned one after the other while
    those before run already, else they start together behind a barrier.
    """

    def __init__(
        self,
        program: Program | Callable[[], Any],
        *,
        steps: int = 20_000,
        racing_start: bool = False,
        instrument: tuple[str, ...] = (),
        accesses: bool = True,
        every_step: bool = False,
    ) -> None:
        self.executions = 0
        self._source = program
        self._steps = steps
        self._racing_start = racing_start
        self._instrument = instrument
        self._accesses = accesses
        self._every_step = every_step
        self._main: Callable[[], None]
        self._watch: Callable[[Any], None] | None = None
        self._set_up(NOTHING)

    def _set_up(self, mutable: Mutable) -> None:
        """Import everything privately, again if a module changed what is known of those before it."""
        while True:
            self.runtime = Runtime(self._steps)
            self.world = ControlledWorld(
                self.runtime, self._instrument, mutable=mutable, accesses=self._accesses
            )
            source = self._source
            if isinstance(source, Program):
                self._program = private_program(self.world, source)
                self._main = self._run_program
                self._watch = self._program.invariant if self._every_step else None
            else:
                self._whole = private_function(self.world, source)
                self._main = self._run_whole
            if not self.world.compiler.outdated:
                return
            mutable = self.world.compiler.seen

    def run(self, strategy: Any, tracer: Tracer | None = None) -> Ended:
        """One execution; raises HarnessError."""
        self.executions += 1
        if self.executions % _COLLECT_EVERY == 0:
            gc.collect()
        if self.world.compiler.outdated:  # a module was imported while running, by the execution before
            self._set_up(self.world.compiler.seen)
        self.runtime.invariant = None
        self.world.remember()
        ended = self.runtime.execute(self._main, strategy, tracer)
        self.world.restore()
        return ended

    def _run_whole(self) -> None:
        self.runtime.explore(True)
        self._whole()
        self.runtime.explore(False)

    def _run_program(self) -> None:
        runtime, program = self.runtime, self._program
        state = program.setup()
        group = Group(runtime)
        if self._watch is not None:
            watch = self._watch
            runtime.watch(lambda: watch(state))
        if self._racing_start:
            runtime.explore(True)
        for task, name in zip(program.tasks, program.task_names, strict=True):
            if self._racing_start:
                runtime.announce_spawn()
            group.spawn(lambda task=task: task(state), name)
        runtime.explore(True)
        group.join()
        runtime.explore(False)
        if program.check is not None:
            program.check(state)
