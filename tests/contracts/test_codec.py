"""The ledger's codec: plain answers of any make are read, and what cannot be read is named."""

from __future__ import annotations

import copy
import enum
from collections import namedtuple
from types import SimpleNamespace
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts.adapter import Adapter
from harness.contracts.ledger.codec import LedgerCodec
from harness.contracts.ledger.values import (
    EMPTY,
    MISSING,
    JobState,
    ResultView,
    Snapshot,
    Submission,
    TakenRequest,
)
from harness.contracts.records import Malformed

SOME_UUID = UUID(int=7)


class Colour(enum.Enum):
    """States as somebody else's enum would spell them."""

    pending = 1
    Running = 2
    DONE = 3


class Status(enum.IntEnum):
    """A status that is also a number."""

    ACCEPTED = 0
    QUEUE_FULL = 1
    ready = 2
    NotFound = 3


def codec(**adapter):
    """A codec of an adapter with these fields."""
    return LedgerCodec(Adapter(**adapter))


def read(operation, answer, **adapter):
    """What one answer is read as."""
    return codec(**adapter).decoder(operation)(answer)


def record(token, marks=()):
    """A record as implementations get it."""
    return {"value": token, "marks": list(marks)}


Pair = namedtuple("Pair", "accepted job_id")  # noqa: PYI024 - as old code writes it


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("job-1", Submission(True, "job-1")),
        (0, Submission(True, 0)),
        (17, Submission(True, 17)),
        (SOME_UUID, Submission(True, SOME_UUID)),
        (None, Submission(False, None)),
        ("", Submission(False, None)),
        (False, Submission(False, None)),
        ((True, "job-1"), Submission(True, "job-1")),
        (["accepted", 5], Submission(True, 5)),
        ((Status.QUEUE_FULL, ""), Submission(False, None)),
        (Pair(False, None), Submission(False, None)),
        ({"status": "queue full", "id": None}, Submission(False, None)),
        ({"status": "Pending", "job_id": "a"}, Submission(True, "a")),
        (SimpleNamespace(status=Status.ACCEPTED, id=SOME_UUID), Submission(True, SOME_UUID)),
        (SimpleNamespace(status="SubmitStatus.QUEUE-FULL", job_id=""), Submission(False, None)),
        (SimpleNamespace(accepted=True, job_id=""), Submission(True, None)),
    ],
)
def test_submissions_of_any_make_are_read(answer, expected):
    """Ids alone, records, mappings, tuples and enums of any case say whether a job was admitted."""
    assert expected == read("submit", answer)


@pytest.mark.parametrize("state", ["DONE", "done", "Done", "JobState.DONE", JobState.DONE, Colour.DONE])
@pytest.mark.parametrize("make", [dict, SimpleNamespace, lambda **f: tuple(f.values())])
def test_snapshots_of_any_make_are_read(state, make):
    """Records with the four fields are read alike, whatever holds them and however the state is spelt."""
    answer = make(state=state, error=None, submitted_at=5, completed_at=6.5)
    assert Snapshot(JobState.DONE, "", 5, 6.5) == read("snapshot", answer) == read("wait", answer)


@pytest.mark.parametrize(
    ("spelt", "state"), [(Colour.pending, JobState.PENDING), (Colour.Running, JobState.RUNNING)]
)
def test_enum_states_are_read_by_name(spelt, state):
    """An enum member counts by its name in any case, not by its value; no completion time is 0."""
    assert Snapshot(state, "", 5, 0) == read(
        "snapshot", {"status": spelt, "error": "", "submitted_at": 5, "completed_at": None}
    )


POSITIONS = {
    "submit": (Submission, (True, "job-1")),
    "snapshot": (Snapshot, (JobState.FAILED, "no tea", 5, 6)),
    "take_request": (TakenRequest, ("r", "p")),
    "take_result": (ResultView, ("READY", JobState.DONE, "t", "r")),
}


@pytest.mark.parametrize("operation", POSITIONS)
def test_a_plain_tuple_has_the_order_of_the_record(operation):
    """A tuple in the order of the record's own fields is read as that record, and the order is documented."""
    kind, values = POSITIONS[operation]
    answer = tuple(record(value) if value in ("p", "t") else value for value in values)
    expected = kind(*values)._replace(**({"state": MISSING} if kind is ResultView else {}))
    assert expected == read(operation, answer)
    assert f"({', '.join(kind._fields)})" in kind.__doc__


def test_what_a_snapshot_does_not_show_is_missing():
    """Fields that are not there are MISSING, and named as missing capabilities."""
    assert Snapshot(JobState.DONE, MISSING, MISSING, MISSING) == read("snapshot", {"state": "DONE"})
    assert read("snapshot", None) is None
    assert codec().missing({"state": "DONE", "error": ""}) == (
        "snapshot.submitted_at",
        "snapshot.completed_at",
    )
    assert codec().missing(None) == ()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, None),
        (("r", record("p")), TakenRequest("r", "p")),
        (("r", None), TakenRequest("r", EMPTY)),
        ({"request_id": "r", "payload": None}, TakenRequest("r", EMPTY)),
        (SimpleNamespace(task_id="r", payload={}), TakenRequest("r", EMPTY)),
        ({"payload": record("p")}, TakenRequest(MISSING, "p")),
    ],
)
def test_requests_are_read(answer, expected):
    """The payload's token comes out of its record; nothing in its place is EMPTY."""
    assert expected == read("take_request", answer)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, ResultView("NOT_FOUND")),
        ({"status": "not-found"}, ResultView("NOT_FOUND")),
        ({"status": "not done", "state": "running"}, ResultView("NOT_DONE", JobState.RUNNING)),
        ({"status": "NOT_DONE"}, ResultView("NOT_DONE")),
        (("READY", record("t"), "r"), ResultView("READY", MISSING, "t", "r")),
        (("READY", record("t")), ResultView("READY", MISSING, "t")),
        (("READY", None, record("t"), "r"), ResultView("READY", MISSING, "t", "r")),
        (["ready", "DONE", record("t"), "r"], ResultView("READY", MISSING, "t", "r")),
        (("NOT_DONE", "FAILED"), ResultView("NOT_DONE", JobState.FAILED)),
        (("NOT_DONE", "RUNNING", None, None), ResultView("NOT_DONE", JobState.RUNNING)),
        (("NOT_FOUND",), ResultView("NOT_FOUND")),
        (("NOT_FOUND", None, None, None), ResultView("NOT_FOUND")),
        (SimpleNamespace(status=Status.ready, value=record("t")), ResultView("READY", MISSING, "t")),
        ({"status": "READY", "result": None}, ResultView("READY")),
    ],
)
def test_results_are_read(answer, expected):
    """A status in any case, with the state or the result that belongs to it."""
    assert expected == read("take_result", answer)


@pytest.mark.parametrize(
    ("operation", "answer", "named"),
    [
        ("submit", True, r"True \(bool\)"),
        ("submit", 3.5, r"3\.5 \(float\)"),
        ("submit", {"job_id": "a"}, r"\{'job_id': 'a'\} \(dict\)"),
        ("submit", ("perhaps", "a"), "'perhaps'"),
        ("submit", (True, 3.5), r"3\.5 \(float\)"),
        ("submit", (True, True), r"True \(bool\)"),
        ("submit", (7, "a"), r"7 \(int\)"),
        ("snapshot", "PENDING", r"'PENDING' \(str\)"),
        ("snapshot", False, r"False \(bool\)"),
        (
            "snapshot",
            {"state": "PAUSED"},
            r"'PAUSED' \(str\) is none of PENDING, RUNNING, DONE, FAILED, TIMEOUT",
        ),
        ("snapshot", {"state": 3}, r"3 \(int\)"),
        ("wait", (), r"\(\) \(tuple\)"),
        ("take_request", "payload", r"'payload' \(str\)"),
        ("take_result", "READY", r"'READY' \(str\)"),
        ("take_result", {"status": "SOON"}, "'SOON' is none of NOT_FOUND, NOT_DONE, READY"),
        ("queue_depth", "3", r"'3' \(str\)"),
        ("queue_depth", True, r"True \(bool\)"),
        ("finish", None, r"None \(NoneType\)"),
        ("transition_running", 1, r"1 \(int\)"),
    ],
)
def test_what_cannot_be_read_is_named(operation, answer, named):
    """A malformed answer raises, and the message shows what was got and its type or its word."""
    with pytest.raises(Malformed, match=named):
        read(operation, answer)


class Mute:
    """Something whose repr fails."""

    def __repr__(self):
        raise RuntimeError("no words")


def test_an_answer_that_cannot_be_shown_is_named_all_the_same():
    """A repr that raises is part of the message, not the end of the harness."""
    with pytest.raises(Malformed, match=r"<repr raised RuntimeError> \(Mute\)"):
        read("finish", Mute())


@pytest.mark.parametrize("operation", ["submit", "snapshot", "take_result"])
def test_a_field_that_cannot_be_shown_is_named_all_the_same(operation):
    """The same for a field of an answer."""
    with pytest.raises(Malformed, match="Mute"):
        read(operation, (Mute(), "a"))


@settings(deadline=None)
@given(
    operation=st.sampled_from(
        ["submit", "snapshot", "wait", "take_request", "take_result", "queue_depth", "finish"]
    ),
    answer=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(max_size=2),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.tuples(inner, inner)
            | st.dictionaries(st.sampled_from(["state", "status", "job_id", "payload", "result"]), inner)
        ),
        max_leaves=6,
    ),
)
def test_no_answer_breaks_the_codec(operation, answer):
    """Whatever comes back is read or Malformed, and a shown message is one short line."""
    try:
        read(operation, copy.deepcopy(answer))
    except Malformed as error:
        assert len(str(error)) < 300  # noqa: PT017 - most answers can be read


def test_a_spoilt_result_is_noticed_when_it_is_shared():
    """The copy that a read gave us is spoilt; a store that hands out its own object shows it next time."""
    shared = codec()
    stored = shared.encode("result", "t")
    first, second = (shared.decoder("take_result")(("READY", stored, "r")) for _ in range(2))
    assert first.result == "t"
    assert second.result == "t, changed after an earlier read"


@pytest.mark.parametrize(("duplicate", "kept"), [(copy.deepcopy, True), (copy.copy, False)])
def test_only_a_deep_copy_protects_a_result(duplicate, kept):
    """A deep copy hides the spoiling, a shallow one shares the marks."""
    stored = codec().encode("result", "t")
    decode = codec().decoder("take_result")
    decode(("READY", duplicate(stored), "r"))
    assert kept == (decode(("READY", duplicate(stored), "r")).result == "t")


def test_other_things_in_place_of_a_record_are_shown():
    """A payload that is not the record we gave reads as something else, never as its token."""
    assert read("take_request", ("r", "p")).payload == "something else: 'p' (str)"


def test_text_values_go_through():
    """With kind text tokens are handed over and read as they are."""
    assert codec(kind="text").encode("payload", "p") == "p"
    assert TakenRequest("r", "p") == read("take_request", ("r", "p"), kind="text")


@pytest.mark.parametrize(
    ("parameter", "value", "in_ms", "in_s"),
    [
        ("timeout_ms", 5, 5, 0.005),
        ("job_ttl_ms", 300_000, 300_000, 300.0),
        ("max_queue", 3, 3, 3),
        ("job_id", "a", "a", "a"),
    ],
)
def test_durations_are_given_in_the_declared_unit(parameter, value, in_ms, in_s):
    """Durations become seconds where the adapter says so; counts and ids never do."""
    assert in_ms == codec().encode(parameter, value)
    assert in_s == codec(time="s").encode(parameter, value)


def test_states_are_mapped_both_ways():
    """A foreign word is read as ours, and ours is handed over as theirs."""
    assert read("snapshot", {"state": "completed"}, states={"COMPLETED": "DONE"}).state is JobState.DONE
    assert codec(states={"COMPLETED": "DONE"}).encode("initial", JobState.DONE) == "COMPLETED"
    assert codec(states={"COMPLETED": "DONE"}).encode("initial", JobState.PENDING) == "PENDING"


@pytest.mark.parametrize("theirs", ["pending", Colour.pending])
def test_a_state_is_handed_over_as_it_was_shown(theirs):
    """An implementation gets a state back in its own vocabulary."""
    foreign = codec()
    foreign.decoder("snapshot")({"state": theirs})
    assert theirs == foreign.encode("initial", JobState.PENDING)


@pytest.mark.parametrize(
    ("operation", "error", "expected"),
    [
        ("submit", OverflowError(), (Submission(False, None),)),
        ("snapshot", KeyError(), (None,)),
        ("wait", KeyError(), (None,)),
        ("take_request", KeyError(), (None,)),
        ("take_result", KeyError(), (ResultView("NOT_FOUND"),)),
        ("finish", KeyError(), (False,)),
        ("finish", OverflowError(), ()),
        ("snapshot", RuntimeError(), ()),
    ],
)
def test_declared_exceptions_stand_for_answers(operation, error, expected):
    """A class named in the adapter, or a base of the one raised, stands for rejection or absence."""
    assert expected == codec(rejected=("ArithmeticError",), absent=("LookupError",)).exceptional(
        operation, error
    )


@pytest.mark.parametrize("operation", ["submit", "queue_depth"])
def test_absence_means_nothing_where_no_job_is_named(operation):
    """An exception that stands for an absent job is just an exception in a call that names none."""
    assert codec(absent=("KeyError",)).exceptional(operation, KeyError()) == ()
