"""A binding: what an implementation offers is found, named, and called on model values."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from harness.contracts.adapter import Adapter
from harness.contracts.ledger import LEDGER
from harness.contracts.ledger.values import (
    EMPTY,
    MISSING,
    JobState,
    ResultView,
    Snapshot,
    Submission,
    TakenRequest,
)
from harness.contracts.records import Raised
from harness.findings import UsageError
from harness.targets.subject import Binding
from reference.ledger import Ledger

BOUNDS = {"max_queue": 3, "job_ttl_ms": 1_500, "max_completed": 2}


class Full(Exception):
    """What the foreign table raises when it is full."""


class Foreign:
    """A job table of somebody else: other names, seconds, exceptions for answers."""

    def __init__(self, capacity, ttl_seconds):
        self.capacity, self.ttl, self.kept = capacity, ttl_seconds, None
        self.jobs = {}

    def setup(self, keep):
        self.kept = keep

    def enqueue(self, payload):
        if len(self.jobs) >= self.capacity:
            raise Full
        self.jobs[len(self.jobs)] = job = SimpleNamespace(
            load=payload, phase="waiting", begun=1.0, ended=None, out=None
        )
        return len(self.jobs) - 1 if job else None

    def complete(self, output, number):
        job = self.jobs[number]
        job.phase, job.out, job.ended = "completed", output, 2.0
        return True

    def look(self, number):
        return vars(self.jobs[number])

    def sleep_on(self, number, phase, seconds):
        self.slept = phase, seconds
        return vars(self.jobs[number])

    @property
    def depth(self):
        return sum(job.phase != "completed" for job in self.jobs.values())


FOREIGN = Adapter(
    operations={
        "submit": "enqueue", "finish": "complete", "snapshot": "look", "wait": "sleep_on",
        "queue_depth": "depth", "fail": "", "configure": "setup",
    },
    arguments={"finish": ("result", "job_id")},
    configuration={"max_queue": "capacity", "job_ttl_ms": "ttl_seconds", "max_completed": "keep"},
    fields={"state": "phase", "submitted_at": "begun", "completed_at": "ended"},
    states={"WAITING": "PENDING", "COMPLETED": "DONE"},
    rejected=("Full",),
    absent=("KeyError",),
    time="s",
)  # fmt: skip


def bind(factory, adapter=FOREIGN):
    """A binding that has been examined."""
    binding = Binding(LEDGER, factory, adapter)
    binding.examine()
    return binding


@pytest.fixture
def foreign():
    """A foreign table with room for three, bound."""
    return bind(Foreign).create(BOUNDS)


def test_foreign_names_are_called(foreign):
    """Operations, orders of arguments, fields and states are translated both ways."""
    assert Submission(True, 0) == foreign.call("submit", ("request-1", "payload-1"))
    assert Snapshot(JobState.PENDING, MISSING, 1.0, 0) == foreign.call("snapshot", (0,))
    assert foreign.call("finish", (0, "result-1")) is True
    assert foreign.instance.jobs[0].out == {"value": "result-1", "marks": []}
    assert Snapshot(JobState.DONE, MISSING, 1.0, 2.0) == foreign.call("snapshot", (0,))


def test_durations_are_handed_over_in_seconds(foreign):
    """The time to live at construction, and a wait's budget, are seconds; a state is as they show it."""
    foreign.call("submit", ("request-1", "payload-1"))
    assert foreign.instance.ttl == 1.5
    assert foreign.call("wait", (0, JobState.PENDING, 250)).state is JobState.PENDING
    assert foreign.instance.slept == ("waiting", 0.25)


def test_a_property_is_an_operation(foreign):
    """queue_depth may be a property, and is read anew at each call."""
    assert foreign.call("queue_depth", ()) == 0
    foreign.call("submit", ("request-1", "payload-1"))
    assert foreign.call("queue_depth", ()) == 1


def test_configure_takes_what_the_factory_does_not(foreign):
    """Bounds go to the factory where it takes them, and else to `configure`, whatever its name."""
    assert (foreign.instance.capacity, foreign.instance.kept) == (3, 2)


def test_exceptions_stand_for_answers(foreign):
    """Declared exceptions are rejections and absence; others come back as what was raised, and where."""
    for _ in range(3):
        assert foreign.call("submit", ("r", "p")).accepted
    assert Submission(False, None) == foreign.call("submit", ("r", "p"))
    assert foreign.call("snapshot", (99,)) is None
    assert foreign.call("finish", (99, "x")) is False
    foreign.instance.jobs = None
    raised = foreign.call("snapshot", (0,))
    assert raised[:2] == ("TypeError", "'NoneType' object is not subscriptable")
    assert raised.where.endswith("in look")


def test_what_a_foreign_table_lacks_is_named():
    """Missing operations, fields and the request id are named, with why."""
    missing = bind(Foreign).missing
    assert missing["fail"] == "no operation fail"
    assert {
        "transition_running",
        "timeout",
        "take_request",
        "take_result",
        "request_id",
        "snapshot.error",
    } < set(missing)
    assert missing["request_id"] == "submit takes no request_id"
    assert missing["snapshot.error"] == "snapshot shows no error"
    assert {"submit", "finish", "snapshot", "wait", "queue_depth", "max_queue", "job_ttl_ms"}.isdisjoint(
        missing
    )


class Unbounded(Ledger):
    """A ledger whose factory takes no bounds, and that cannot be configured later."""

    configure = None

    def __init__(self):
        super().__init__()


class Positive(Ledger):
    """A ledger that refuses a bound of zero or less."""

    def __init__(self, max_queue=1, **others):
        if max_queue <= 0:
            raise ValueError(f"max_queue {max_queue} is too small")
        super().__init__(max_queue, **others)


def test_a_factory_without_bounds_lacks_them():
    """Bounds that nobody takes are missing capabilities, and are not handed over."""
    binding = bind(Unbounded, Adapter())
    assert {name: "neither the factory nor configure takes " + name for name in BOUNDS} == binding.missing
    assert binding.create(BOUNDS).call("queue_depth", ()) == 0


def test_bounds_may_all_go_to_configure():
    """A factory without keywords and a `configure` with them is as good."""

    class Later(Ledger):
        def __init__(self):
            super().__init__()

    binding = bind(Later, Adapter())
    assert binding.missing == {}
    subject = binding.create({**BOUNDS, "max_queue": 0})
    assert Submission(False, None) == subject.call("submit", ("r", "p"))


def test_a_factory_of_any_keywords_takes_the_bounds():
    """A factory with **kwargs takes all bounds itself."""

    def make(**bounds):
        return Ledger(**bounds)

    assert bind(make, Adapter()).create(BOUNDS).instance._max_completed == 2


def test_refused_values_are_kept_with_their_reason():
    """A configuration value that the implementation does not accept is known, and why."""
    binding = bind(Positive, Adapter())
    assert {("max_queue", 0), ("max_queue", -1)} == set(binding.refused)
    assert "raised ValueError: max_queue 0 is too small" in binding.refused[("max_queue", 0)]
    with pytest.raises(UsageError, match=r"making an implementation with max_queue=-1, .* raised ValueError"):
        binding.create({**BOUNDS, "max_queue": -1})


def test_a_factory_that_raises_is_a_mistake():
    """A factory that cannot make anything is told in one sentence, with the place."""

    def broken(**_):
        raise RuntimeError("no database")

    with pytest.raises(UsageError, match=r"raised RuntimeError: no database \(.*in broken\)$"):
        bind(broken, Adapter())


def test_required_operations_must_be_there():
    """Without submit, finish or snapshot nothing can be checked; the sentence tells what can be called."""

    class Queue:
        def enqueue(self, item): ...

        def finish(self, job_id, result): ...

        snapshot = "none"

    with pytest.raises(UsageError) as caught:
        bind(Queue, Adapter())
    assert str(caught.value).startswith("Queue has no submit and no snapshot (it offers enqueue, finish)")
    assert str(caught.value).endswith(
        "map their names under [operations] of an adapter file and pass it with --adapter"
    )


class Unreadable(Ledger):
    """A ledger whose snapshots nobody can read."""

    def snapshot(self, job_id):
        return "it is fine"


class Raising(Ledger):
    """A ledger whose snapshot raises: a bug, for the stages to find."""

    def snapshot(self, job_id):
        raise KeyError(job_id)


def test_answers_that_cannot_be_read_at_all_are_a_mistake():
    """If the first snapshot cannot be read an adapter is missing, and the sentence says which tables."""
    with pytest.raises(
        UsageError, match=r"'it is fine' \(str\); an adapter maps \[fields\], \[states\] and \[exceptions\]"
    ):
        bind(Unreadable, Adapter())


def test_exceptions_at_the_first_look_are_left_to_the_stages():
    """An operation that raises may be the bug that is looked for; examining goes on."""
    assert bind(Raising, Adapter()).missing == {}


def test_a_declared_exception_at_the_first_look_is_left_to_the_stages():
    """The same when the exception stands for an absent job."""
    assert bind(Raising, Adapter(absent=("KeyError",))).missing == {}


def test_a_parameter_that_there_is_none_of_is_a_mistake():
    """An adapter's order of arguments may only name the operation's parameters."""
    with pytest.raises(
        UsageError, match=r"adapter: submit has no parameter 'load'; it has request_id, payload$"
    ):
        bind(Ledger, Adapter(arguments={"submit": ("load",)}))


@pytest.mark.parametrize(
    "adapter",
    [
        Adapter(operations={"submitt": "submit"}),
        Adapter(configuration={"max_que": "bound"}),
        Adapter(fields={"eror": "text"}),
    ],
    ids=["operations", "configuration", "fields"],
)
def test_a_misspelt_name_of_ours_is_a_mistake(adapter):
    """A name on our side of an adapter that the contract does not have is told."""
    with pytest.raises(UsageError):
        bind(Ledger, adapter)


def test_a_submit_of_a_payload_alone_gets_the_payload():
    """A submit with one parameter gets the payload; the request id is a missing capability."""

    class Short(Ledger):
        def submit(self, payload):
            return super().submit("", payload)

    binding = bind(Short, Adapter())
    subject = binding.create(BOUNDS)
    job_id = subject.call("submit", ("request-1", "payload-1")).job_id
    assert subject.call("take_request", (job_id,)).payload == "payload-1"
    assert set(binding.missing) == {"request_id"}


def test_a_request_id_that_was_never_given_is_not_asked_for():
    """What an implementation shows as request id, without having got one, is no answer to judge."""
    from harness.contracts.records import Call

    class Short(Ledger):
        def submit(self, payload):
            return super().submit(None, payload)

    subject = bind(Short, Adapter()).create(BOUNDS)
    state = LEDGER.model.initial(BOUNDS)[0]
    call = Call("submit", ("request-1", "payload-1"))
    submission = subject.call(*call)
    [state] = LEDGER.model.judge(state, call, submission).states
    call = Call("take_request", (submission.job_id,))
    assert LEDGER.model.judge(state, call, subject.call(*call)).states


def test_raw_answers_can_be_kept():
    """Whoever asks is handed every answer before it is read, and no exception."""
    kept = []
    subject = bind(Ledger, Adapter()).create(BOUNDS, kept.append)
    job_id = subject.call("submit", ("r", "p")).job_id
    assert isinstance(subject.call("fail", (job_id, "")), Raised)
    assert TakenRequest("r", "p") == subject.call("take_request", (job_id,))
    assert [type(answer) for answer in kept] == [Submission, TakenRequest]
    assert kept[-1].payload == {"value": "p", "marks": []}


def test_an_exception_comes_back_as_what_was_raised():
    """Exceptions of the implementation are values here, also the one that would end the interpreter."""

    class Exits(Ledger):
        def take_result(self, job_id):
            raise SystemExit(3)

        def take_request(self, job_id):
            raise LookupError

    subject = bind(Exits, Adapter()).create(BOUNDS)
    assert subject.call("take_result", ("x",))[:2] == ("SystemExit", "3")
    assert subject.call("take_request", ("x",))[:2] == ("LookupError", "")


def test_the_reference_lacks_nothing():
    """The reference ledger, with an empty adapter, offers the whole contract."""
    binding = bind(Ledger, Adapter())
    assert (binding.missing, binding.refused) == ({}, {})
    subject = binding.create(BOUNDS)
    job_id = subject.call("submit", ("r", "p")).job_id
    subject.call("finish", (job_id, "result"))
    assert ResultView("READY", MISSING, "result", "r") == subject.call("take_result", (job_id,))
    assert TakenRequest("r", "p") == subject.call("take_request", (job_id,))
    assert TakenRequest("r", EMPTY) == subject.call("take_request", (job_id,))
