"""CS/circular_buffer, queue and stack: a consumer that counts its turns instead of what it got.

In all three each turn is atomic, so no access races; what is wrong is what the consumer
believes about the turns of the producer.
"""

from __future__ import annotations

from threading import Lock

from harness.explore.program import Program
from scenarios.known_bugs.records import KnownBug

__all__ = ["CIRCULAR_BUFFER", "QUEUE", "STACK"]

LOG_TURNS, LOG_SIZE = 7, 10
QUEUE_SIZE = 20
STACK_SIZE = 10


class Channel:
    """Numbers that one task sends and another receives, in turn; `sendable` says whose turn it is."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.items: list[int] = []
        self.sendable = True
        self.sent: dict[int, int] = {}
        self.received = 0


def log_numbers(channel: Channel) -> None:
    """Send the number of each turn that there is room in; the other turns are lost."""
    for turn in range(LOG_TURNS):
        with channel.lock:
            if channel.sendable:
                assert len(channel.items) < LOG_SIZE, "the log is full"
                channel.items.append(turn)
                channel.sent[len(channel.sent)] = turn
                channel.sendable = False


def read_by_turns(channel: Channel) -> None:
    """Expect the number of one's own turn."""
    for turn in range(LOG_TURNS):
        with channel.lock:
            if not channel.sendable:
                number = channel.items.pop(0)
                assert number == turn, f"read {number} in turn {turn}"
                channel.sendable = True


def read_in_order(channel: Channel) -> None:
    """Expect what was sent, in its order."""
    for _ in range(LOG_TURNS):
        with channel.lock:
            if not channel.sendable:
                number = channel.items.pop(0)
                expected = channel.sent[channel.received]
                assert number == expected, f"read {number} instead of {expected}"
                channel.received += 1
                channel.sendable = True


def enqueue_by_turns(channel: Channel) -> None:
    """Enqueue whenever it is one's turn, noting each number at the place of the turn."""
    _enqueue_first(channel)
    value = 0
    for turn in range(1, QUEUE_SIZE):
        with channel.lock:
            if channel.sendable:
                value += 1
                channel.items.append(value)
                channel.sent[turn] = value
                channel.sendable = False


def enqueue_in_order(channel: Channel) -> None:
    """Enqueue whenever it is one's turn, noting each number at the next place."""
    _enqueue_first(channel)
    value = 0
    for _ in range(1, QUEUE_SIZE):
        with channel.lock:
            if channel.sendable:
                value += 1
                channel.items.append(value)
                channel.sent[value] = value
                channel.sendable = False


def _enqueue_first(channel: Channel) -> None:
    with channel.lock:
        channel.items.append(0)
        channel.sent[0] = 0


def dequeue_by_turns(channel: Channel) -> None:
    """Expect what was noted at the place of one's own turn."""
    for turn in range(QUEUE_SIZE):
        with channel.lock:
            if not channel.sendable:
                number = channel.items.pop(0)
                assert number == channel.sent.get(turn, 0), f"dequeued {number} in turn {turn}"
                channel.sendable = True


def dequeue_in_order(channel: Channel) -> None:
    """Expect what was noted at the next place."""
    for _ in range(QUEUE_SIZE):
        with channel.lock:
            if not channel.sendable:
                number = channel.items.pop(0)
                assert number == channel.sent[channel.received], f"dequeued {number} out of order"
                channel.received += 1
                channel.sendable = True


class Stack:
    """A stack of limited size; `used` says that something was pushed once."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.items = [0] * STACK_SIZE
        self.top = 0
        self.used = False


def push_all(stack: Stack) -> None:
    """Push as many numbers as there is room for."""
    for number in range(STACK_SIZE):
        with stack.lock:
            assert stack.top < STACK_SIZE, "the stack overflows"
            stack.items[stack.top] = number
            stack.top += 1
            stack.used = True


def pop_if_used(stack: Stack) -> None:
    """Pop once anything was ever pushed."""
    for _ in range(STACK_SIZE):
        with stack.lock:
            if stack.used:
                assert stack.top > 0, "the stack underflows"
                stack.top -= 1


def pop_if_any(stack: Stack) -> None:
    """Pop if there is something now."""
    for _ in range(STACK_SIZE):
        with stack.lock:
            if stack.top > 0:
                stack.top -= 1


CIRCULAR_BUFFER = KnownBug(
    name="circular_buffer",
    source="CS",
    about="The reader takes its own turns for the writer's, and reads a number of another turn.",
    finding="exception",
    message="in turn",
    buggy=Program("circular_buffer", Channel, (log_numbers, read_by_turns)),
    repaired=Program("circular_buffer_ok", Channel, (log_numbers, read_in_order)),
)

QUEUE = KnownBug(
    name="queue",
    source="CS",
    about="What was enqueued is looked up by turns, and the turns of the two tasks drift apart.",
    finding="exception",
    message="in turn",
    buggy=Program("queue", Channel, (enqueue_by_turns, dequeue_by_turns)),
    repaired=Program("queue_ok", Channel, (enqueue_in_order, dequeue_in_order)),
)

STACK = KnownBug(
    name="stack",
    source="CS",
    about="That something was pushed once is taken for there being something to pop.",
    finding="exception",
    message="the stack underflows",
    buggy=Program("stack", Stack, (push_all, pop_if_used)),
    repaired=Program("stack_ok", Stack, (push_all, pop_if_any)),
)
