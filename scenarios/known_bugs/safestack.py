"""misc/safestack: a lock-free stack of indexes, whose head may come back while somebody looks at it.

Three tasks pop an index, use its cell and push it back, twice. That two hold the same index takes at
least five preemptions; it is the hardest program of the study. What the original spins on without
end is tried a few times here, so that every execution ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["SAFESTACK"]

TASKS, ROUNDS, TRIES = 3, 2, 3
NOBODY, NOTHING = -1, -1


class Atomic:
    """A number whose changes are single steps."""

    def __init__(self, value: int) -> None:
        self.lock = Lock()
        self.value = value

    def exchange(self, value: int) -> int:
        """Store, and return what was there."""
        with self.lock:
            before = self.value
            self.value = value
            return before

    def replace(self, expected: int, value: int) -> bool:
        """Store if the expected value is there; whether it was."""
        with self.lock:
            if self.value != expected:
                return False
            self.value = value
            return True

    def add(self, change: int) -> None:
        """Add to what is there."""
        with self.lock:
            self.value += change


class Stack:
    """A linked list of the indexes of cells, the last of which is never handed out."""

    def __init__(self) -> None:
        self.head = Atomic(0)
        self.count = Atomic(TASKS)
        self.following = [Atomic(index + 1) for index in range(TASKS - 1)] + [Atomic(NOTHING)]
        self.users = dict.fromkeys(range(TASKS), NOBODY)
        self.whole = Lock()


def pop(stack: Stack) -> int:
    """An index for the caller alone, if all goes well; NOTHING after some vain tries."""
    for _ in range(TRIES):
        if stack.count.value <= 1:
            break
        head = stack.head.value
        following = stack.following[head].exchange(NOTHING)
        if following == NOTHING:
            continue
        if stack.head.replace(head, following):
            stack.count.add(-1)
            return head
        stack.following[head].exchange(following)
    return NOTHING


def push(stack: Stack, index: int) -> None:
    """Give an index back."""
    while True:
        head = stack.head.value
        stack.following[index].exchange(head)
        if stack.head.replace(head, index):
            break
    stack.count.add(1)


def use(stack: Stack, task: int) -> None:
    """Pop, use and push, without more care."""
    for _ in range(ROUNDS):
        index = pop(stack)
        if index != NOTHING:
            _write(stack, index, task)
            push(stack, index)


def use_whole(stack: Stack, task: int) -> None:
    """Pop, use and push, each stack operation under a lock for the whole stack."""
    for _ in range(ROUNDS):
        with stack.whole:
            index = pop(stack)
        if index != NOTHING:
            _write(stack, index, task)
            with stack.whole:
                push(stack, index)


def _write(stack: Stack, index: int, task: int) -> None:
    stack.users[index] = task
    assert stack.users[index] == task, f"index {index} was handed out twice"


def _program(name: str, using: Callable[..., None]) -> Program:
    return Program(
        name,
        Stack,
        tuple(partial(using, task=task) for task in range(TASKS)),
        task_names=tuple(f"user-{task}" for task in range(TASKS)),
    )


SAFESTACK = KnownBug(
    name="safestack",
    source="misc",
    about="The head that a pop saw was popped and pushed back meanwhile, with another follower.",
    finding="exception",
    message="handed out twice",
    buggy=_program("safestack", use),
    repaired=_program("safestack_ok", use_whole),
)
