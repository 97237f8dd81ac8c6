"""What the tests of claims share: a listener for breaches, and conforming histories made to order.

A simulated history drives the reference ledger in one thread. Each virtual client is between two
calls, or inside one whose effect is still to come, or inside one whose effect has come; a seed says
who moves next and whether time passes before. Effects are atomic, so every history is
linearizable by construction, and whatever a claim says against it is a false alarm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from harness.contracts.ledger.claims import CLAIMS
from harness.contracts.ledger.values import EMPTY, JobState
from harness.contracts.records import Raised
from harness.history import Recorded
from harness.scenario import Round
from reference.ledger import Ledger

ENDINGS = ("finish", "fail", "timeout")
READS = ("snapshot", "take_result", "wait")
OPERATIONS = (
    "submit",
    "submit",
    "submit",
    "transition_running",
    *ENDINGS,
    "take_request",
    *READS,
    "queue_depth",
)
MS = 1_000_000  # nanoseconds
_EARLY_MS = 1  # a clock that counts whole milliseconds ends a budget up to one too early


class Listener:
    """A judge that keeps every breach, and what it was shown of it."""

    def __init__(self):
        self.breaches = []
        self.evidence = []
        self.checked = set()

    def check(self, clause, holds, message="", *evidence):
        self.checked.add(clause)
        if not holds:
            self.breaches.append((clause, message))
            self.evidence.append((clause, evidence))
        return holds


@dataclass
class Verdict:
    """What some claims say of one history."""

    breaches: list[tuple[str, str]]
    checked: set[str]
    evidence: list[tuple[str, tuple[Any, ...]]]

    @property
    def clauses(self):
        """The clauses that were broken, each once."""
        return sorted({clause for clause, _ in self.breaches})


def judge(history, claims=CLAIMS, missing=(), **bounds):
    """Hold a history against claims."""
    configuration = {"max_queue": 8, "job_ttl_ms": 300_000, "max_completed": 100, **bounds}
    ordered = tuple(sorted(history, key=lambda item: item.called))
    played = Round(ordered, configuration, frozenset(missing), SimpleNamespace())
    listener = Listener()
    for claim in claims:
        claim(played, listener)
    return Verdict(listener.breaches, listener.checked, listener.evidence)


class SweepsOnRejection(Ledger):
    """Sweeps also when it rejects (A14 allows it)."""

    def submit(self, request_id, payload):
        answer = super().submit(request_id, payload)
        if not answer.accepted:
            with self._table:
                self._sweep()
        return answer


class EvictsBySubmission(Ledger):
    """Takes the oldest submissions for the oldest jobs (A7 allows it)."""

    def _sweep(self):
        order = sorted(self._finished._order, key=lambda pair: int(pair[1].partition("-")[2]))
        for pair in order[: max(len(order) - self._max_completed, 0)]:
            self._finished._order.remove(pair)
            self._evict(pair[1])


LEDGERS = (Ledger, SweepsOnRejection, EvictsBySubmission)


@dataclass
class Style:
    """What sort of history to make."""

    early_ids: bool = False  # clients may name a job before its submit has returned
    rest: tuple[float, ...] = (0.0,)  # how likely the next event comes at the same nanosecond
    open_calls: tuple[str, ...] = ()  # operations that may never return
    raises: bool = False  # a submit may fail without an effect
    steps: int = 120


@dataclass
class Open:
    """A call in progress. `answer` is a tuple of one once the effect has come."""

    operation: str
    arguments: tuple[Any, ...]
    called: int
    answer: tuple[Any, ...] = ()
    job: Any = None  # what a parked wait holds on to
    parked: bool = False
    never: bool = False
    entered: int = 0


@dataclass
class Client:
    """One virtual client."""

    name: str
    call: Open | None = None
    done: list[Recorded] = field(default_factory=list)


class Simulation:
    """One conforming history; `configuration`, `history` and `seed` tell all about it."""

    def __init__(self, seed, style):
        self.seed = seed
        self.random = random = Random(seed)
        self.style = style
        self.now = random.choice((0, 1, 5 * MS))
        self.tick = random.choice((1, 50_000, 400_000, MS))
        self.rest = random.choice(style.rest)
        self.configuration = {
            "max_queue": random.choice((0, 1, 2, 3, 4, 8)),
            "job_ttl_ms": random.choice((300_000, 300_000, 300_000, 0, 2)),
            "max_completed": random.choice((0, 1, 2, 100)),
        }
        self.ledger = random.choice(LEDGERS)(**self.configuration, clock=self)
        self.clients = [Client(f"client-{number}") for number in range(random.choice((2, 3, 4, 6)))]
        self.auditor = Client("audit-0")
        self.ids = []  # that clients may name
        self.fresh = 0
        self._set_up()
        for _ in range(style.steps):
            self._step(random.choice(self.clients))
        self._settle()
        self._close()
        rows = [item for client in (*self.clients, self.auditor) for item in self._rows(client)]
        self.history = tuple(sorted(rows, key=lambda item: item.called))

    # The clock that the ledger reads

    def now_ms(self):
        return 1_000 + self.now // MS

    def wait(self, condition, timeout_ms):
        raise AssertionError("a simulated wait never blocks the ledger")

    # One move

    def _pass(self):
        if self.random.random() >= self.rest:
            self.now += self.tick * self.random.randint(1, 3)

    def _step(self, client):
        self._pass()
        if client.call is None:
            self._begin(client)
        elif not client.call.answer:
            self._affect(client.call)
        elif not client.call.never:
            self._end(client)

    def _begin(self, client):
        operation = self.random.choice(OPERATIONS)
        call = Open(operation, self._arguments(operation), self.now)
        call.never = operation in self.style.open_calls and self.random.random() < 0.05
        client.call = call

    def _token(self, prefix):
        self.fresh += 1
        return f"{prefix}-{self.fresh}"

    def _arguments(self, operation):
        if operation == "queue_depth":
            return ()
        if operation == "submit":
            return self._token("request"), self._token("payload")
        job = (self._some_id(),)
        if operation == "wait":
            initial = self.random.choice(
                (JobState.PENDING, JobState.PENDING, JobState.RUNNING, JobState.DONE)
            )
            return (*job, initial, self.random.choice((0, 1, 5, 60_000)))
        if operation in ENDINGS:
            return (*job, self._token("result" if operation == "finish" else "error"))
        return job

    def _some_id(self):
        ids = [*self.ids[-4:], *self.ids[-2:], *self.random.sample(self.ids, min(len(self.ids), 1))]
        if self.style.early_ids:
            ids += [f"job-{self.fresh_number() + step}" for step in (0, 1)]
        return self.random.choice(ids or ["job-0"])

    def fresh_number(self):
        """The number of the job that the ledger would make next, near enough."""
        return len(self.ids) + 1

    def _affect(self, call):
        """Let the effect come, or stay parked."""
        if call.operation == "wait":
            self._affect_wait(call)
            return
        if call.never and self.random.random() < 0.4:
            return  # perhaps later, perhaps never
        if call.operation == "submit" and self.style.raises and self.random.random() < 0.1:
            call.answer = (Raised("MemoryError", ""),)
            return
        answer = getattr(self.ledger, call.operation)(*call.arguments)
        if call.operation == "take_request" and answer is not None and answer.payload is None:
            answer = answer._replace(payload=EMPTY)
        if call.operation == "submit" and answer.accepted and self.style.early_ids:
            self.ids.append(answer.job_id)
        call.answer = (answer,)

    def _affect_wait(self, call):
        job_id, initial, budget = call.arguments
        if not call.parked:
            call.job = self.ledger._find(job_id)
            call.parked, call.entered = True, self.now
        if call.job is None:
            call.answer = (None,)
            return
        seen = self.ledger._view(call.job)
        expired = budget > 0 and self.now - call.entered >= (budget - _EARLY_MS) * MS
        if expired and budget == 1:
            expired = self.now > call.entered
        if seen.state is not initial or seen.state.terminal or expired:
            call.answer = (seen,)

    def _end(self, client):
        call = client.call
        [answer] = call.answer
        client.done.append(
            Recorded(client.name, call.operation, call.arguments, answer, call.called, self.now)
        )
        client.call = None
        if call.operation == "submit" and getattr(answer, "accepted", False) and not self.style.early_ids:
            self.ids.append(answer.job_id)

    def _rows(self, client):
        call = client.call
        left = (
            [Recorded(client.name, call.operation, call.arguments, None, call.called, None)] if call else []
        )
        return [*client.done, *left]

    # Before and after

    def _alone(self, operation, *arguments):
        """One call of the auditor, at once."""
        self._pass()
        call = self.auditor.call = Open(operation, arguments, self.now)
        while not call.answer:
            self._affect(call)
        self._pass()
        self._end(self.auditor)
        return call.answer[0]

    def _set_up(self):
        self._pass()
        for _ in range(self.random.randrange(3)):
            self._alone("submit", self._token("request"), self._token("payload"))

    def _settle(self):
        """Everybody comes home whose call may return."""
        while homeless := [client for client in self.clients if client.call and not client.call.never]:
            for client in homeless:
                call = client.call
                if call.operation == "wait" and call.parked and not call.answer:
                    self.now += MS
                    if call.job.state.terminal is False and call.arguments[2] in (0, 60_000):
                        self._alone("finish", call.job.id, self._token("result"))
                self._step(client)

    def _close(self):
        for job_id in dict.fromkeys(self.ids):
            seen = self._alone("snapshot", job_id)
            if seen is not None and not seen.state.terminal:
                self._alone(self.random.choice(ENDINGS), job_id, self._token("end"))
        self._alone("queue_depth")
        for job_id in dict.fromkeys(self.ids):
            self._alone("snapshot", job_id)
            self._alone("take_result", job_id)
        self.now += self.tick
        self._alone("submit", self._token("request"), self._token("payload"))
        for job_id in dict.fromkeys(self.ids):
            self._alone("snapshot", job_id)
        self._alone("queue_depth")


@pytest.fixture(scope="session")
def judged():
    """Holds a history against claims: all of them, or those named."""
    return judge


@pytest.fixture(scope="session")
def simulated():
    """Makes the conforming history of a seed, in a style given by keywords."""
    return lambda seed, **style: Simulation(seed, Style(**style))
