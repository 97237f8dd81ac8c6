"""Random histories: legal ones by construction, some of them with one response changed."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.history.automaton import BLOCKED
from harness.history.models import MODELS
from harness.history.recorder import Recorded

__all__ = ["concurrent_history", "drawn", "random_history"]

_VALUES = (0, False, 1, True, 1.0, None)

_OPERATIONS: dict[str, tuple[tuple[str, int], ...]] = {
    "register": (("read", 0), ("write", 1)),
    "cas-register": (("read", 0), ("write", 1), ("cas", 2)),
    "kv": (("get", 0), ("put", 1), ("append", 1)),
    "queue": (("put", 1), ("get", 0), ("poll", 0)),
    "bounded-queue": (("put", 1), ("offer", 1), ("get", 0), ("poll", 0)),
    "lock": (("acquire", 0), ("try_acquire", 0), ("release", 0)),
    "counter": (("increment", 0), ("read", 0)),
}


def drawn(random: Random, name: str) -> tuple[str, tuple[Any, ...]]:
    """An operation of a model with arguments."""
    operation, count = random.choice(_OPERATIONS[name])
    if name == "kv":
        values = tuple(random.choice(("", "a", "b")) for _ in range(count))
        return operation, (random.choice("xy"), *values)
    return operation, tuple(random.choice(_VALUES[:5]) for _ in range(count))


def random_history(random: Random, name: str, operations: int) -> list[Recorded]:
    """Operations of a few clients with small times, so that intervals often touch.

    Responses are guesses: those of a sequential run in call order, or anything; some are missing, some
    operations are blocked for ever.
    """
    model = MODELS[name]()
    clients = random.randint(2, 4)
    busy = [0] * clients
    states: dict[Any, Any] = {}
    history: list[Recorded] = []
    gone: set[int] = set()
    for _ in range(operations):
        here = [client for client in range(clients) if client not in gone]
        if not here:
            break
        client = random.choice(here)
        called = busy[client] + random.randint(0, 2)
        returned: int | None = called + random.randint(0, 4)
        busy[client] = (returned or 0) + random.randint(0, 1)
        operation, arguments = drawn(random, name)
        part = model.partition(operation, arguments)
        state = states.get(part, model.initial()[0])
        response = _guess(random, model, state, operation, arguments)
        after = model.step(state, operation, arguments, response)
        if after:
            states[part] = after[0]
        if random.random() < 0.12:
            returned, response = None, BLOCKED if random.random() < 0.4 else None
            gone.add(client)
        history.append(Recorded(f"c{client}", operation, arguments, response, called, returned))
    random.shuffle(history)
    return history


def _guess(random: Random, model: Any, state: Any, operation: str, arguments: tuple[Any, ...]) -> Any:
    choices: list[Any] = [*_VALUES, 2, "", "a", "b", "ab"]
    legal = [value for value in choices if model.step(state, operation, arguments, value)]
    if legal and random.random() < 0.85:
        return random.choice(legal)
    return random.choice(choices)


def concurrent_history(
    random: Random, clients: int, operations: int, keys: int = 1, writes: float = 0.5
) -> list[Recorded]:
    """A legal history of a key-value store: at each tick one client calls, takes effect or returns."""
    values: dict[str, Any] = {}
    idle, called, done = list(range(clients)), dict[int, Any](), dict[int, Any]()
    history: list[Recorded] = []
    begun, now, written = 0, 0, 0
    while len(history) < operations:
        now += 1
        turn = random.randrange(3)
        if turn == 0 and idle and begun < operations:
            begun += 1
            key = f"k{random.randrange(keys)}"
            if random.random() < writes:
                written += 1
                what: tuple[str, tuple[Any, ...]] = ("put", (key, written))
            else:
                what = ("get", (key,))
            called[idle.pop(random.randrange(len(idle)))] = (now, *what)
        elif turn == 1 and called:
            client = random.choice(list(called))
            since, operation, arguments = called.pop(client)
            response = None
            if operation == "put":
                values[arguments[0]] = arguments[1]
            else:
                response = values.get(arguments[0], "")
            done[client] = (operation, arguments, response, since)
        elif done:
            client = random.choice(list(done))
            history.append(Recorded(f"c{client}", *done.pop(client), now))
            idle.append(client)
    return history
