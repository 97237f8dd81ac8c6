"""Linearizability: an order of the operations, within their intervals, that the model allows.

Herlihy and Wing (TOPLAS 1990).
Just-in-time search over the history's responses (Lowe, Testing for linearizability, 2017): an operation is
ordered only when its response, or that of one that needs it before, comes up. A configuration is a state and
a mask of the open operations that were ordered already; the bits are slots that are used again after the
response. Depth first: a legal history is followed, not enumerated.

Operations without a response are optional: they may take effect at any time after their call, or never.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from harness.findings import Verdict
from harness.history.automaton import BLOCKED, Automaton
from harness.history.models import Model
from harness.history.recorder import Recorded

__all__ = ["Budget", "Checked", "check_linearizable"]

_QUANTUM = 2_000


@dataclass(frozen=True, slots=True)
class Budget:
    """What a check may cost: configurations looked at, over all parts, and seconds.

    A configuration takes about 200 bytes.
    """

    nodes: int = 5_000_000
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer to one check.

    `order` is a linearization for OK, and the longest one of a prefix of the responses for VIOLATION and
    UNKNOWN; `stuck` the first response that no order explains (VIOLATION), in the part `part`.
    """

    verdict: Verdict
    order: tuple[Recorded, ...] = ()
    stuck: Recorded | None = None
    part: Any = None
    nodes: int = 0
    reason: str = ""


def check_linearizable(history: Iterable[Recorded], model: Model, budget: Budget | None = None) -> Checked:
    """Decide a history; UNKNOWN if the budget did not suffice.

    Parts (`model.partition`) are searched in turns, so that one that is hopeless does not keep one that fails
    at once from being told.
    """
    budget = budget or Budget()
    parts: dict[Any, list[Recorded]] = {}
    for item in history:
        parts.setdefault(model.partition(item.operation, item.arguments), []).append(item)
    automaton = Automaton(model)
    searches = [(part, _Search(items, automaton)) for part, items in parts.items()]
    deadline = time.perf_counter() + budget.seconds
    orders: list[list[Recorded]] = []
    nodes = 0
    while searches:
        left: list[tuple[Any, _Search]] = []
        for part, search in searches:
            before = search.nodes
            verdict = search.advance(min(_QUANTUM, budget.nodes - nodes))
            nodes += search.nodes - before
            if verdict is Verdict.VIOLATION:
                return Checked(verdict, tuple(search.order()), search.stuck(), part, nodes)
            if verdict is Verdict.OK:
                orders.append(search.order())
            else:
                left.append((part, search))
            spent = nodes >= budget.nodes or time.perf_counter() > deadline
            if spent and verdict is None:
                reason = f"undecided after {nodes} configurations: raise the budget"
                return Checked(Verdict.UNKNOWN, tuple(search.order()), None, part, nodes, reason)
        searches = left
    return Checked(Verdict.OK, _merged(orders), nodes=nodes)


def _merged(orders: Sequence[Sequence[Recorded]]) -> tuple[Recorded, ...]:
    """One order of all parts: each operation at the earliest moment that its part's order allows."""
    moments: list[tuple[int, Recorded]] = []
    for order in orders:
        moment = 0
        for item in order:
            moment = max(moment, item.called)
            moments.append((moment, item))
    moments.sort(key=itemgetter(0))  # stable: within a part the order stays
    return tuple(item for _, item in moments)


@dataclass(slots=True)
class _Level:
    """One response: the slot and class of its operation, and everything that is open when it comes."""

    bit: int
    number: int
    item: Recorded
    changes: tuple[tuple[int, int], ...]
    looks: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Search:
    """The search in one part; can be continued.

    A configuration is one number: the state's, shifted by the number of slots, and the mask.
    """

    items: Sequence[Recorded]
    automaton: Automaton
    nodes: int = 0
    _levels: list[_Level] = field(default_factory=list)
    _tail: list[tuple[int, int, bool]] = field(default_factory=list)
    _calls: list[tuple[int, int, Recorded]] = field(default_factory=list)  # before which level, slot, what
    _width: int = 0
    _path: list[int] = field(default_factory=list)
    _sources: list[Iterator[int]] = field(default_factory=list)
    _seen: list[set[int]] = field(default_factory=list)
    _expanded: list[set[int]] = field(default_factory=list)
    _deepest: list[int] = field(default_factory=list)
    _verdict: Verdict | None = None

    def __post_init__(self) -> None:
        self._lay_out()
        self._seen = [set() for _ in range(len(self._levels) + 1)]
        self._expanded = [set() for _ in self._levels]
        self._sources = [iter([state << self._width for state in self.automaton.initial])]

    # ------------------------------------------------------------------ the history as levels

    def _lay_out(self) -> None:
        events: list[tuple[int, int, int]] = []
        for place, item in enumerate(self.items):
            events.append((item.called, 0, place))
            if item.returned is not None:
                events.append((item.returned, 1, place))
        events.sort()
        free: list[int] = []
        slots = 0
        changes: dict[int, tuple[int, int]] = {}  # what is open, by place: slot and class
        looks: dict[int, tuple[int, int]] = {}
        for _, is_response, place in events:
            item = self.items[place]
            if not is_response:
                if free:
                    slot = free.pop()
                else:
                    slot, slots = slots, slots + 1
                bit, number = 1 << slot, self.automaton.class_of(item)
                (looks if number in self.automaton.looks else changes)[place] = bit, number
                self._calls.append((len(self._levels), bit, item))
                continue
            open_looks = tuple(looks.values())
            bit, number = looks.pop(place) if place in looks else changes.pop(place)
            self._levels.append(_Level(bit, number, item, tuple(changes.values()), open_looks))
            free.append(bit.bit_length() - 1)
        for place, (bit, number) in changes.items():  # a look without a response would change nothing
            self._tail.append((bit, number, self.items[place].response is BLOCKED))
        self._width = slots

    # ------------------------------------------------------------------ the search

    def advance(self, quantum: int) -> Verdict | None:
        """Look at so many more configurations; None while undecided."""
        limit = self.nodes + quantum
        path, sources, levels, seen = self._path, self._sources, self._levels, self._seen
        last = len(levels)
        while self.nodes < limit and self._verdict is None:
            config = next(sources[-1], None)
            depth = len(path)
            if config is None:
                if depth >= len(self._deepest):
                    self._deepest = path.copy()
                sources.pop()
                if not path:
                    self._verdict = Verdict.VIOLATION
                    break
                path.pop()
            elif config not in seen[depth]:
                self.nodes += 1
                seen[depth].add(config)
                path.append(config)
                if depth < last:
                    sources.append(self._after(depth, config))
                elif self._ends(config):
                    self._deepest = path.copy()
                    self._verdict = Verdict.OK
                else:
                    sources.append(iter(()))
        return self._verdict

    def _after(self, depth: int, config: int) -> Iterator[int]:
        """The configurations after a response, those that order the fewest others for it first."""
        level, width, expanded = self._levels[depth], self._width, self._expanded[depth]
        bit, number, looks, after = level.bit, level.number, level.looks, self.automaton.after
        if looks:
            config = self._with_looks(looks, config)
        if config & bit:
            yield config ^ bit
            return
        if config in expanded:
            return
        expanded.add(config)
        todo = [config]
        for config in todo:  # grows while it is walked
            state, mask = config >> width, config & ((1 << width) - 1)
            for then in after(number, state):
                reached = then << width | mask
                yield (self._with_looks(looks, reached) if looks else reached) & ~bit
            for other, kind in level.changes:
                if not mask & other:
                    for then in after(kind, state):
                        reached = then << width | mask | other
                        if looks:
                            reached = self._with_looks(looks, reached)
                        if reached not in expanded:
                            expanded.add(reached)
                            self.nodes += 1
                            if reached & bit:
                                yield reached ^ bit
                            else:
                                todo.append(reached)

    def _with_looks(self, looks: tuple[tuple[int, int], ...], config: int) -> int:
        """The open operations that only look, and may look now, are over: it never pays to wait."""
        state, after = config >> self._width, self.automaton.after
        for bit, number in looks:
            if not config & bit and after(number, state):
                config |= bit
        return config

    def _ends(self, config: int) -> bool:
        """Whether what is blocked for ever may be: in a state that the other open ones can lead to."""
        blocked = [(bit, number) for bit, number, stuck in self._tail if stuck]
        if not blocked:
            return True
        width, after = self._width, self.automaton.after
        seen, todo = {config}, [config]
        while todo:
            config = todo.pop()
            state = config >> width
            idle = not any(config & bit for bit, _ in blocked)
            if idle and all(self.automaton.blocks(number, state) for _, number in blocked):
                return True
            for bit, number, stuck in self._tail:
                if not stuck and not config & bit:
                    for then in after(number, state):
                        reached = then << width | (config & ((1 << width) - 1)) | bit
                        if reached not in seen:
                            seen.add(reached)
                            todo.append(reached)
        return False

    # ------------------------------------------------------------------ what to show

    def stuck(self) -> Recorded | None:
        """The response at which the longest prefix ends."""
        depth = len(self._deepest) - 1
        return self._levels[depth].item if 0 <= depth < len(self._levels) else None

    def order(self) -> list[Recorded]:
        """The operations of the longest prefix in an order that the model allows."""
        if self._verdict is None and len(self._path) > len(self._deepest):
            self._deepest = self._path.copy()
        found: list[Recorded] = []
        slots: dict[int, Recorded] = {}
        calls = iter(self._calls)
        call = next(calls, None)
        for depth in range(len(self._deepest) - 1):
            while call is not None and call[0] <= depth:
                slots[call[1]] = call[2]
                call = next(calls, None)
            before, after = self._deepest[depth : depth + 2]
            found += [slots[bit] for bit in self._between(self._levels[depth], before, after)]
        return found

    def _between(self, level: _Level, before: int, target: int) -> list[int]:
        """The slots of what was ordered for one response, found again."""
        width, after, own, looks = self._width, self.automaton.after, level.bit, level.looks
        full = (1 << width) - 1
        first = self._with_looks(looks, before)
        came = {first: (before, _bits((first ^ before) & full))}
        todo = [first]
        for config in todo:  # grows while it is walked
            if config & own:
                if config ^ own == target:
                    return _traced(came, config, before, [])
                continue
            state, mask = config >> width, config & full
            for then in after(level.number, state):
                reached = self._with_looks(looks, then << width | mask)
                if reached & ~own == target:
                    return _traced(came, config, before, [own, *_bits((reached & full) & ~mask)])
            for bit, number in level.changes:
                if not mask & bit:
                    for then in after(number, state):
                        reached = self._with_looks(looks, then << width | mask | bit)
                        if reached not in came:
                            came[reached] = config, [bit, *_bits((reached & full) & ~mask & ~bit)]
                            todo.append(reached)
        raise AssertionError("the search went a way that is not there")


def _traced(came: dict[int, tuple[int, list[int]]], config: int, origin: int, tail: list[int]) -> list[int]:
    parts = [tail]
    while True:
        config, bits = came[config]
        parts.append(bits)
        if config == origin:
            return [bit for part in reversed(parts) for bit in part]


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low)
        mask ^= low
    return found
