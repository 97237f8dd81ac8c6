"""What the strategy tests share: hand-announced programs, run for a number of executions."""

from __future__ import annotations

import pytest

from harness.control.controlled import ControlledWorld
from harness.control.runtime import Runtime
from harness.explore.group import Group


class Strands:
    """Runs functions of `access` as tasks; each call of it is one scheduling point."""

    def __init__(self):
        self.runtime = Runtime(max_steps=5_000)
        world = ControlledWorld(self.runtime)
        self.threading = world.load("threading")

    def access(self, write, owner, key):
        """One announced access."""
        self.runtime.left -= 1
        if self.runtime.left < 0:
            self.runtime.access(write, owner, key)

    def run(self, tasks, strategy):
        """One execution behind a start barrier."""
        runtime = self.runtime

        def main():
            group = Group(runtime)
            for place, task in enumerate(tasks):
                group.spawn(task, f"task-{place}")
            runtime.explore(True)
            group.join()
            runtime.explore(False)

        return runtime.execute(main, strategy)


@pytest.fixture
def strands():
    """A runtime of one's own."""
    return Strands()


@pytest.fixture(scope="session")
def played():
    """How each of `executions` of a laboratory's program went under a strategy."""

    def play(laboratory, strategy, executions):
        endings = []
        last = None
        while len(endings) < executions and strategy.begin(last):
            last = laboratory.run(strategy)
            endings.append(last)
        return endings

    return play
