"""How our parameters are handed to foreign methods: by position, by name, or not without being told."""

from __future__ import annotations

import pytest

from harness.contracts.adapter import Adapter
from harness.contracts.ledger import LEDGER
from harness.contracts.ledger.values import JobState
from harness.findings import UsageError
from harness.targets.signature import Passing, passing
from harness.targets.subject import Binding
from reference.ledger import Ledger

SUBMIT = ("request_id", "payload")
WAIT = ("job_id", "initial", "timeout_ms")
BY_POSITION = {
    "our names": lambda request_id, payload: 0,
    "their names": lambda ticket, item: 0,
    "ours behind theirs": lambda ticket, payload: 0,
    "theirs behind ours": lambda request_id, item=None: 0,
    "both optional": lambda ticket=None, item=None: 0,
    "more that is optional": lambda ticket, item, priority=0: 0,
    "anything": lambda *given, **named: 0,
    "by place only": lambda ticket, item, /: 0,
}


@pytest.mark.parametrize("method", BY_POSITION.values(), ids=BY_POSITION)
def test_parameters_go_by_position(method):
    """Other names are no obstacle as long as no name of ours stands in another place."""
    assert Passing(SUBMIT) == passing(method, SUBMIT, creates=True)


BY_NAME = {
    "payload first": (lambda payload, priority=0: 0, ("payload",)),
    "payload alone, by keyword": (lambda *, payload: 0, ("payload",)),
    "the other way round": (lambda payload, request_id: 0, ("payload", "request_id")),
    "something optional between": (lambda request_id, priority=0, payload=None: 0, SUBMIT),
    "by keyword only": (lambda *, payload, request_id: 0, ("payload", "request_id")),
    "any keywords": (lambda **fields: 0, SUBMIT),
    "one of them by keyword": (lambda payload, *, request_id="": 0, ("payload", "request_id")),
}


@pytest.mark.parametrize(("method", "order"), BY_NAME.values(), ids=BY_NAME)
def test_parameters_go_by_name(method, order):
    """A name of ours in another place means what it says."""
    assert Passing(order, by_keyword=True) == passing(method, SUBMIT, creates=True)


def test_parameters_without_keywords_go_in_their_order():
    """A method that takes no keywords gets what its names say, by position."""
    assert Passing(("payload", "request_id")) == passing(
        lambda payload, request_id, /: 0, SUBMIT, creates=True
    )


def test_a_creation_with_one_parameter_of_any_name_gets_the_payload():
    """There is nothing else worth submitting."""
    assert Passing(("payload",)) == passing(lambda item: 0, SUBMIT, creates=True)
    assert Passing(("payload",)) == passing(lambda payload: 0, SUBMIT, creates=True)


UNCLEAR = {
    "an optional second": (lambda item, priority=0: 0, SUBMIT, "priority is optional"),
    "a stranger behind ours": (lambda payload, kind: 0, SUBMIT, "kind is none of ours"),
    "a stranger between ours": (lambda request_id, kind, payload: 0, SUBMIT, "kind is none of ours"),
    "no payload": (lambda request_id: 0, SUBMIT, "there is no payload"),
    "no initial state": (lambda job_id, timeout_ms: 0, WAIT, "there is no initial"),
}


@pytest.mark.parametrize(("method", "ours", "said"), UNCLEAR.values(), ids=UNCLEAR)
def test_nothing_is_guessed(method, ours, said):
    """Where neither places nor names settle it, it says what is unclear."""
    assert said in passing(method, ours, creates=ours is SUBMIT).unclear


class Prioritised(Ledger):
    """A ledger that makes its request ids itself, and has priorities instead; time comes before state."""

    def submit(self, payload, priority=0):
        assert priority == 0
        return super().submit("", payload)

    def wait(self, job_id, timeout_ms, initial):
        return super().wait(job_id, initial, timeout_ms)


class Vague(Ledger):
    """A ledger whose submit does not say whether its second parameter is ours."""

    def submit(self, item, priority=0):
        return super().submit("", item)


def bound(factory, adapter=None):
    """A binding that has been examined."""
    binding = Binding(LEDGER, factory, adapter or Adapter())
    binding.examine()
    return binding


def test_a_payload_is_never_a_request_id():
    """By name the payload arrives as the payload; the request id is a missing capability."""
    binding = bound(Prioritised)
    subject = binding.create(LEDGER.configuration)
    job_id = subject.call("submit", ("request-1", "payload-1")).job_id
    assert subject.call("take_request", (job_id,)).payload == "payload-1"
    assert subject.call("wait", (job_id, JobState.RUNNING, 1)).state is JobState.PENDING
    assert binding.missing == {"request_id": "submit takes no request_id"}


def test_what_is_unclear_is_one_sentence_with_the_way_out():
    """The sentence shows the lines to write, and such lines settle it."""
    with pytest.raises(
        UsageError, match="submit does not show how it takes request_id and payload"
    ) as caught:
        bound(Vague)
    assert str(caught.value).endswith('submit = ["request_id", "payload"] under [arguments]')
    assert set(bound(Vague, Adapter(arguments={"submit": ("payload",)})).missing) == {"request_id"}
