"""Random tiny programs, and the set of outcomes that a search finds for one.

A program is data: per task a tuple of statements. It runs on the runtime directly, its shared accesses
announced by hand, so that what is compared is the searches and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

from harness.control.controlled import ControlledWorld
from harness.control.runtime import Runtime
from harness.explore.group import Group

__all__ = ["Playground", "random_program"]

Statement = tuple[Any, ...]
Program = tuple[tuple[Statement, ...], ...]

_FEATURES = ("plain", "locks", "timed", "conditions", "events")


def random_program(random: Random) -> Program:
    """Two or three tasks of a few statements over two attributes, two items, two locks and a condition."""
    features = [name for name in _FEATURES if random.random() < 0.5] or ["locks"]
    count = 2 if random.random() < 0.7 else 3
    length = 3 if count == 2 else 1
    return tuple(
        tuple(_statement(random, features, 2) for _ in range(1 + random.randrange(length)))
        for _ in range(count)
    )


def _statement(random: Random, features: list[str], depth: int) -> Statement:
    kinds = ["read", "write", "add"]
    if "plain" in features:
        kinds += ["read item", "write item", "clear items"]
    if depth and "locks" in features:
        kinds += ["with", "with", "try", "recursive"]
    if depth and "timed" in features:
        kinds += ["timed", "sleep", "look at clock"]
    if depth == 2 and "conditions" in features:
        kinds += ["wait", "timed wait", "notify", "notify all"]
    if depth == 2 and "events" in features:
        kinds += ["set", "wait event", "timed wait event", "put", "get"]
    kind = kinds[random.randrange(len(kinds))]
    which = random.randrange(2)
    if kind in ("with", "try", "timed", "recursive"):
        body = tuple(_statement(random, features, depth - 1) for _ in range(1 + random.randrange(2)))
        return (kind, which, body)
    return (kind, which, random.randrange(3))


class _Shared:
    """The state of one execution; of the primitives only those that the program uses."""

    def __init__(self, threading: ModuleType, queue: ModuleType, uses: str) -> None:
        self.values = [0, 0]
        self.items: dict[int, int] = {}
        self.locks = [threading.Lock(), threading.Lock()]
        self.recursive = [threading.RLock(), threading.RLock()]
        if "wait" in uses or "notify" in uses:
            self.condition = threading.Condition()
        if "event" in uses or "set" in uses:
            self.event = threading.Event()
        if "put" in uses or "get" in uses:
            self.queue = queue.Queue()
        self.logs: list[list[Any]] = []


class Playground:
    """Runs tiny programs and collects their outcomes."""

    def __init__(self) -> None:
        self.runtime = Runtime(max_steps=5_000)
        world = ControlledWorld(self.runtime)
        self._threading = world.load("threading")
        self._queue = world.load("queue")
        self._time: Any = world.modules["time"]
        self._shared: _Shared
        self.executions = 0

    def outcomes(self, program: Program, strategy: Any, most: int = 1 << 60) -> set[Any] | None:
        """All outcomes that the strategy finds until it is through; None if `most` were not enough."""
        found: set[Any] = set()
        last = None
        count = 0
        while strategy.begin(last):
            if count == most:
                return None
            count += 1
            last = self.runtime.execute(self._main(program), strategy)
            if last.cut:
                raise AssertionError(f"a tiny program ran {last.steps} steps: {program}")
            if not last.pruned:
                failure = last.failure
                found.add(self._outcome() if failure is None else failure.kind.value)
        self.executions += count
        return found

    def _main(self, program: Program) -> Callable[[], None]:
        def main() -> None:
            self._shared = shared = _Shared(self._threading, self._queue, str(program))
            group = Group(self.runtime)
            for place, statements in enumerate(program):
                log: list[Any] = []
                shared.logs.append(log)
                group.spawn(lambda s=statements, log=log: self._run(s, shared, log), f"task-{place}")
            self.runtime.explore(True)
            group.join()
            self.runtime.explore(False)

        return main

    def _outcome(self) -> Any:
        shared = self._shared
        return (
            tuple(tuple(log) for log in shared.logs),
            tuple(shared.values),
            tuple(sorted(shared.items.items())),
        )

    def _run(self, statements: tuple[Statement, ...], shared: _Shared, log: list[Any]) -> None:
        for kind, which, what in statements:
            getattr(self, "_" + kind.replace(" ", "_"))(shared, log, which, what)

    def _announce(self, write: bool, owner: Any, key: Any) -> None:
        runtime = self.runtime
        runtime.left -= 1
        if runtime.left < 0:
            runtime.access(write, owner, key)

    def _read(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        self._announce(False, shared, which)
        log.append(shared.values[which])

    def _write(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        self._announce(True, shared, which)
        shared.values[which] = what + 10 * len(log)

    def _add(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        self._announce(False, shared, which)
        value = shared.values[which]
        self._announce(True, shared, which)
        shared.values[which] = value + what + 1

    def _read_item(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        self._announce(False, shared.items, which)
        log.append(shared.items.get(which))

    def _write_item(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        self._announce(True, shared.items, which)
        shared.items[which] = what

    def _clear_items(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        self._announce(True, shared.items, "*")
        shared.items.clear()

    def _with(self, shared: _Shared, log: list[Any], which: int, body: Any) -> None:
        with shared.locks[which]:
            self._run(body, shared, log)

    def _recursive(self, shared: _Shared, log: list[Any], which: int, body: Any) -> None:
        with shared.recursive[which], shared.recursive[which]:
            self._run(body, shared, log)

    def _try(self, shared: _Shared, log: list[Any], which: int, body: Any) -> None:
        if shared.locks[which].acquire(False):
            self._run(body, shared, log)
            shared.locks[which].release()
        else:
            log.append("taken")

    def _timed(self, shared: _Shared, log: list[Any], which: int, body: Any) -> None:
        if shared.locks[which].acquire(timeout=1 + which):
            self._run(body, shared, log)
            shared.locks[which].release()
        else:
            log.append("timed out")

    def _sleep(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        self._time.sleep(what)

    def _look_at_clock(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        log.append(round(self._time.monotonic()))

    def _wait(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        with shared.condition:
            self._announce(False, shared, which)
            if shared.values[which] == 0:
                shared.condition.wait()
                log.append("woken")

    def _timed_wait(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        with shared.condition:
            log.append(shared.condition.wait(1 + what))

    def _notify(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        with shared.condition:
            self._add(shared, log, which, 0)
            shared.condition.notify()

    def _notify_all(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        with shared.condition:
            self._add(shared, log, which, 0)
            shared.condition.notify_all()

    def _set(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        shared.event.set()

    def _wait_event(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        log.append(shared.event.wait())

    def _timed_wait_event(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        log.append(shared.event.wait(1 + what))

    def _put(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        shared.queue.put(what)

    def _get(self, shared: _Shared, log: list[Any], which: int, what: Any) -> None:
        try:
            log.append(shared.queue.get(timeout=1 + which))
        except self._queue.Empty:
            log.append("empty")
