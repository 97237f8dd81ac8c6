"""The recorder keeps one client's calls, in its order and with its times."""

from __future__ import annotations

import pytest

from harness.history import Recorded, Recorder


def echo(*arguments):
    """Answers with what it was given."""
    return arguments


def refuse(*arguments):
    """Never answers."""
    raise ValueError("no answer")


def test_calls_are_kept_in_the_order_they_were_made():
    """Operation, arguments and answer are those of the call, whichever wrapper made it."""
    recorder = Recorder("client")
    first, second = recorder.wrap("first", echo), recorder.wrap("second", echo)
    assert [("a",), (), ("b", 1)] == [first("a"), second(), first("b", 1)]
    assert [("first", ("a",), ("a",)), ("second", (), ()), ("first", ("b", 1), ("b", 1))] == [
        (item.operation, item.arguments, item.response) for item in recorder.operations()
    ]
    assert {"client"} == {item.client for item in recorder.operations()}


def test_one_clients_intervals_follow_each_other():
    """A call returns no sooner than it was made, and the next is made no sooner than that."""
    recorder = Recorder("client")
    call = recorder.wrap("call", echo)
    for number in range(50):
        call(number)
    times = [time for item in recorder.operations() for time in (item.called, item.returned)]
    assert sorted(times) == times


def test_the_call_in_progress_comes_last_and_is_pending():
    """Looked at from inside of a call, that call has no answer and no return yet."""
    recorder = Recorder("client")
    seen = []
    recorder.wrap("before", echo)()
    recorder.wrap("look", lambda *_: seen.extend(recorder.operations()))("x")
    before, pending = seen
    assert ("before", ()) == (before.operation, before.response)
    assert Recorded("client", "look", ("x",), None, pending.called, None) == pending
    assert before.returned <= pending.called
    assert ["before", "look"] == [item.operation for item in recorder.operations()]
    assert all(item.returned is not None for item in recorder.operations())


def test_the_call_in_progress_can_be_asked_for_alone():
    """It is the last of the operations while it lasts, and none otherwise."""
    recorder = Recorder("client")
    seen = []
    assert recorder.pending() is None
    recorder.wrap("look", lambda: seen.append((recorder.pending(), recorder.operations()[-1])))()
    [(pending, last)] = seen
    assert pending is not None
    assert last == pending
    assert recorder.pending() is None


def test_a_call_that_raises_stays_pending():
    """An exception passes through, and leaves a call that never returned."""
    recorder = Recorder("client")
    recorder.wrap("before", echo)()
    with pytest.raises(ValueError, match="no answer"):
        recorder.wrap("refuse", refuse)(1)
    assert [("before", False), ("refuse", True)] == [
        (item.operation, item.returned is None) for item in recorder.operations()
    ]


def test_counted_calls_leave_no_record():
    """Counting keeps the answer and the number, and nothing else."""
    recorder = Recorder("client")
    counted = recorder.count("call", echo)
    assert [("a",), ("b",)] == [counted("a"), counted("b")]
    assert [] == recorder.operations()
    assert 2 == len(recorder)


def test_the_length_is_what_has_returned():
    """Recorded and counted calls add up; one that has not returned is no progress."""
    recorder = Recorder("client")
    inside = []
    recorder.wrap("one", echo)()
    recorder.count("two", echo)()
    recorder.wrap("three", lambda: inside.append(len(recorder)))()
    for wrap in (recorder.wrap, recorder.count):
        with pytest.raises(ValueError, match="no answer"):
            wrap("refuse", refuse)()
    assert [2] == inside
    assert 3 == len(recorder)
