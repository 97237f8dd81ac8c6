"""A program under control: its private world, its runtime, and how one execution of it runs."""

from __future__ import annotations

import _thread
import gc
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from harness.control.controlled import ControlledWorld
from harness.control.lost_wakeups import notifies_told
from harness.control.runtime import Ended, Runtime, Tracer
from harness.control.stored_names import NOTHING, Mutable
from harness.control.where import shown
from harness.explore.group import Group
from harness.explore.privately import private_program, private_test
from harness.explore.program import Program
from harness.findings import HarnessError, UsageError
from harness.targets.made_of import Elsewhere

__all__ = ["Laboratory", "ProgramLaboratory"]

_COLLECT_EVERY = 256
_PATIENCE = 20


class Laboratory:
    """Runs executions of one program, and nothing of one leaks into the next.

    Subclasses import what they run in `_import`, and run it in `_main`. `steps` bounds one execution;
    without `accesses`, primitives are the only scheduling points. `busy` is the one that runs, if any does,
    and `importing` says whether one imports privately just now.
    """

    busy: ClassVar[Laboratory | None] = None
    importing: ClassVar[bool] = False

    def __init__(
        self,
        *,
        steps: int = 20_000,
        instrument: Sequence[str] = (),
        roots: Sequence[Path] = (),
        accesses: bool = True,
    ) -> None:
        self.executions = 0
        self._steps = steps
        self._prefixes = tuple(instrument)
        self._roots = tuple(roots)
        self._accesses = accesses
        self._elsewhere = Elsewhere()
        self._set_up(NOTHING)

    def run(self, strategy: Any, tracer: Tracer | None = None) -> Ended:
        """One execution; raises HarnessError."""
        self.executions += 1
        if self.executions % _COLLECT_EVERY == 0:
            gc.collect()
        if self.world.compiler.outdated:  # a module was imported while running, by the execution before
            self._set_up(self.world.compiler.seen)
        self.runtime.invariant = None
        self.world.remember()
        threads = _thread._count()  # noqa: SLF001
        Laboratory.busy = self
        try:
            if tracer is None:
                ended = self.runtime.execute(self._main, strategy)
            else:
                with notifies_told(self.runtime, self.world.modules.get("threading")):
                    ended = self.runtime.execute(self._main, strategy, tracer)
        finally:
            Laboratory.busy = None
        if self.runtime.threading_used:
            self.runtime.threading_used = False
            self.world.restore()
        if _more_than(threads):
            self._report_real_threads()
        return ended

    def _report_real_threads(self) -> None:
        names = [
            thread.name
            for thread in threading.enumerate()
            if thread is not threading.main_thread() and thread.name != "harness watchdog"
        ]
        names = list(dict.fromkeys(names))
        told = ", ".join(names[:3]) or "unnamed"
        if len(names) > 3:
            told += f" and {len(names) - 3} more"
        raise HarnessError(
            f"the code under test started a real thread ({told}), which is not "
            "under control: the module that starts it is not imported privately; name its package with "
            "instrument (--instrument)"
        )

    def _set_up(self, mutable: Mutable) -> None:
        """Import everything privately, again if a module changed what is known of those before it."""
        while True:
            self.runtime = Runtime(self._steps)
            self.world = ControlledWorld(
                self.runtime,
                (*self._prefixes, *self._elsewhere.packages),
                self._roots,
                mutable=mutable,
                accesses=self._accesses,
            )
            Laboratory.importing = True
            try:
                self._import()
            except UsageError:
                if not self._elsewhere.gives_in():
                    raise
                continue
            finally:
                Laboratory.importing = False
            grows = self._elsewhere.grows(self._made_of(), {*self._prefixes, *self.world.modules})
            if not grows and not self.world.compiler.outdated:
                return
            mutable = self.world.compiler.seen

    def _import(self) -> None:
        raise NotImplementedError

    def _made_of(self) -> set[str]:
        """Packages that turned out to be under test: what is run derives from classes of theirs."""
        return set()

    def _main(self) -> None:
        raise NotImplementedError


class ProgramLaboratory(Laboratory):
    """For a `Program`, or for a function that is explored as a whole, from its first line.

    With `racing_start` the tasks are spawned one after the other while those before run already, else
    they start together behind a barrier; with `every_step` the invariant is checked after each step.
    """

    def __init__(
        self,
        program: Program | Callable[[], Any],
        *,
        racing_start: bool = False,
        every_step: bool = False,
        **options: Any,
    ) -> None:
        self._source = program
        self._racing_start = racing_start
        self._every_step = every_step
        instrument = {*options.pop("instrument", ()), *_packages(program)}
        super().__init__(instrument=sorted(instrument), **options)

    def _import(self) -> None:
        source = self._source
        if isinstance(source, Program):
            self._program: Program | None = private_program(self.world, source)
        else:
            self._program = None
            self._whole = private_test(self.world, source)

    def _main(self) -> None:
        runtime, program = self.runtime, self._program
        if program is None:
            runtime.explore(True)
            self._whole()
            runtime.explore(False)
            return
        state = program.setup()
        group = Group(runtime)
        if program.invariant is not None and self._every_step:
            runtime.watch(partial(self._claim, "invariant", program.invariant, state))
        if self._racing_start:
            runtime.explore(True)
        for task, name in zip(program.tasks, program.task_names, strict=True):
            if self._racing_start:
                runtime.announce_spawn()
            group.spawn(partial(task, state), name)
        runtime.explore(True)
        group.join()
        runtime.explore(False)
        if program.check is not None:
            self._claim("check", program.check, state)

    def _claim(self, noun: str, claim: Callable[[Any], object], state: Any) -> None:
        """Call a claim: it holds unless it raises or answers False."""
        answer = claim(state)
        if answer is None or answer is True:
            return
        if answer is False:
            raise ClaimBroken(noun, claim)
        self.runtime.abort(
            UsageError(
                f"{noun} answered {type(answer).__name__}, neither True nor False: it has to raise "
                "AssertionError, or answer False, when what it claims does not hold"
            )
        )


class ClaimBroken(AssertionError):
    """A check or an invariant answered False."""

    def __init__(self, noun: str, claim: Callable[[Any], object]) -> None:
        code = getattr(claim, "__code__", None)
        super().__init__(f"{noun} answered False")
        self.place_of_failure = shown(code, code.co_firstlineno) if code is not None else ""


def _more_than(threads: int) -> bool:
    """Whether real threads are left; one that was joined is counted for a moment longer."""
    for _ in range(_PATIENCE):
        if _thread._count() <= threads:  # noqa: SLF001
            return False
        time.sleep(0.005)
    return True


def _packages(program: Program | Callable[[], Any]) -> set[str]:
    """Where the functions come from: what is handed over is under test, installed or not."""
    functions: list[Any] = [program]
    if isinstance(program, Program):
        functions = [program.setup, *program.tasks, program.check, program.invariant]
    modules = {getattr(getattr(function, "func", function), "__module__", None) for function in functions}
    tops = {module.partition(".")[0] for module in modules if module}
    return tops - set(sys.stdlib_module_names) - set(sys.builtin_module_names)
