"""What the tests of the controlled runtime share: a controlled world to run programs in, and the real one."""

from __future__ import annotations

import _thread
import concurrent.futures
import queue
import threading
import time
from types import SimpleNamespace

import pytest

from harness.control.controlled import ControlledWorld
from harness.control.runtime import Runtime
from harness.strategies.random_walk import RandomWalk
from harness.strategies.undisturbed import Undisturbed

REAL = SimpleNamespace(
    threading=threading, queue=queue, futures=concurrent.futures, time=time, _thread=_thread
)


def tried(action, *arguments, **keywords):
    """An action's value, or the exception that it raised, as something to compare."""
    try:
        return "returned", action(*arguments, **keywords)
    except Exception as error:
        return "raised", type(error).__name__


class Controlled:
    """A controlled world, for programs that are functions of its modules."""

    real = REAL

    def __init__(self):
        self.runtime = Runtime()
        self.world = ControlledWorld(self.runtime)
        self.modules = SimpleNamespace(
            threading=self.world.load("threading"),
            queue=self.world.load("queue"),
            futures=self.world.load("concurrent.futures"),
            time=self.world.load("time"),
            _thread=self.world.load("_thread"),
        )
        self.modules.futures.ThreadPoolExecutor  # noqa: B018  a lazy import, made before it is remembered

    def execute(self, program, *arguments, strategy=None):
        """One execution whose first task calls `program(modules, *arguments)`: its end and its value."""
        told = []

        def main():
            self.runtime.explore(True)
            told.append(program(self.modules, *arguments))
            self.runtime.explore(False)

        self.world.remember()
        ended = self.runtime.execute(main, strategy or Undisturbed())
        self.world.restore()
        return ended, told[0] if told else None

    def run(self, program, *arguments, strategy=None):
        """The value of a program that nothing goes wrong in."""
        ended, told = self.execute(program, *arguments, strategy=strategy)
        assert ended.failure is None, ended.failure.message
        assert not ended.cut
        return told

    def run_often(self, program, seeds=20):
        """The values of a program, undisturbed and under random walks, where they differ."""
        told = [self.run(program)]
        for seed in range(seeds):
            strategy = RandomWalk(seed)
            strategy.begin(None)
            value = self.run(program, strategy=strategy)
            if value not in told:
                told.append(value)
        return told


@pytest.fixture(scope="module")
def controlled():
    """A controlled world, the same for all programs of a module."""
    return Controlled()


@pytest.fixture(scope="session")
def outcome_of():
    """Calls an action: its value or exception, as something to compare."""
    return tried
