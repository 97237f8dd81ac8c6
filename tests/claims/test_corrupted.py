"""A conforming history with one wrong answer in it is reported, wherever clients can tell.

Each corruption picks a place where the answer contradicts the rest, whatever the interleaving was;
what it takes to contradict is worked out here by looking at all operations, slowly.
"""

from __future__ import annotations

import pytest

from harness.contracts.ledger.values import EMPTY, JobState, ResultView, Snapshot, Submission
from harness.history import Recorded

HISTORIES = 150  # in which to look for places
ENOUGH = 15  # of them must have a place
ENDINGS = {"finish": JobState.DONE, "fail": JobState.FAILED, "timeout": JobState.TIMEOUT}


class Places:
    """A history to corrupt: each method yields (operation, wrong answer)."""

    def __init__(self, played):
        self.played = played
        self.submits = [item for item in played.history if item.operation == "submit"]
        self.accepted = {item.response.job_id: item for item in self.submits if item.response.accepted}
        self.known = [
            item for item in played.history if item.arguments and item.arguments[0] in self.accepted
        ]

    def of(self, job_id, *operations):
        return [item for item in self.known if item.arguments[0] == job_id and item.operation in operations]

    def ends(self, job_id):
        return [item for item in self.of(job_id, *ENDINGS) if item.response]

    def in_flight(self, called, returned):
        """At least and at most how many jobs are in flight during an interval."""
        least = most = 0
        for job_id, submit in self.accepted.items():
            ends = self.ends(job_id)
            least += submit.returned < called and not any(end.called <= returned for end in ends)
            most += submit.called <= returned and not any(end.returned < called for end in ends)
        return least, most

    def second_end(self):
        for item in self.known:
            if item.operation in ENDINGS and not item.response and self.ends(item.arguments[0]):
                yield item, True

    def second_start(self):
        for item in self.known:
            refused = item.operation == "transition_running" and not item.response
            if refused and any(other.response for other in self.of(item.arguments[0], "transition_running")):
                yield item, True

    def refused_end(self):
        for item in self.known:
            early = item.operation in ENDINGS and item.response
            if early and not any(
                other is not item and other.called <= item.returned
                for other in self.of(item.arguments[0], *ENDINGS)
            ):
                yield item, False

    def payload_twice(self):
        for item in self.known:
            if item.operation == "take_request" and item.response and item.response.payload is EMPTY:
                yield item, item.response._replace(payload=self.accepted[item.arguments[0]].arguments[1])

    def wrong_request(self):
        for item in self.known:
            if item.operation == "take_request" and item.response:
                yield item, item.response._replace(request_id="request-0")

    def one_too_many(self):
        bound = self.played.configuration["max_queue"]
        for item in self.submits:
            if not item.response.accepted and self.in_flight(item.returned, item.returned)[0] >= bound:
                yield item, Submission(True, "one too many")

    def one_too_few(self):
        bound = self.played.configuration["max_queue"]
        for item in self.submits:
            if item.response.accepted and self.in_flight(item.called, item.returned)[1] - 1 < bound:
                yield item, Submission(False, None)

    def same_id(self):
        first, *others = self.accepted.values() or [None]
        for item in others:
            yield item, first.response

    def regressed(self):
        for item in self.known:
            before = self.of(item.arguments[0], "transition_running", *ENDINGS)
            moved = any(other.response and other.returned < item.called for other in before)
            if item.operation == "snapshot" and item.response and moved:
                yield item, Snapshot(JobState.PENDING, "", item.response.submitted_at, 0)

    def ahead(self):
        for item in self.known:
            ends = self.ends(item.arguments[0])
            if (
                item.operation == "snapshot"
                and item.response
                and all(end.called > item.returned for end in ends)
            ):
                yield item, item.response._replace(state=JobState.DONE, completed_at=10_000)

    def wrong_error(self):
        for item in self.known:
            if item.operation in ("snapshot", "wait") and item.response and item.response.error:
                yield item, item.response._replace(error="another")

    def no_payload(self):
        for item in self.known:
            if item.operation == "snapshot" and item.response and item.response.state.terminal:
                yield item, item.response._replace(completed_at=0)

    def other_times(self):
        for item in self.known:
            if (
                item.operation == "snapshot"
                and item.response
                and len(self.of(item.arguments[0], "snapshot")) > 1
            ):
                others = [
                    other.response for other in self.of(item.arguments[0], "snapshot") if other is not item
                ]
                if any(others):
                    yield item, item.response._replace(submitted_at=item.response.submitted_at - 1)

    def dropped_result(self):
        for item in self.known:
            if item.operation == "take_result" and item.response.status == "READY":
                yield item, ResultView("NOT_DONE", JobState.DONE)

    def wrong_result(self):
        for item in self.known:
            if item.operation == "take_result" and item.response.status == "READY":
                yield item, item.response._replace(result="another")

    def too_deep(self):
        for item in self.played.history:
            if item.operation == "queue_depth":
                yield item, self.in_flight(item.called, item.returned)[1] + 1

    def too_shallow(self):
        for item in self.played.history:
            if item.operation != "queue_depth" or any(
                item.called <= submit.returned <= item.returned for submit in self.accepted.values()
            ):
                continue  # see the test below
            if least := self.in_flight(item.called, item.returned)[0]:
                yield item, least - 1

    def lost(self):
        for item in self.known:
            shown = item.operation in ("snapshot", "wait") and item.response
            submitted = self.accepted[item.arguments[0]].returned < item.called
            ended = any(end.called <= item.returned for end in self.ends(item.arguments[0]))
            if shown and submitted and not ended:
                yield item, None

    def unbounded(self):
        for item in self.known:
            if item.operation == "wait" and item.response and item.arguments[1:] == (JobState.PENDING, 0):
                yield item, Snapshot(JobState.PENDING, "", item.response.submitted_at, 0)


CORRUPTIONS = {
    "second_end": "AJT-TERM-ONCE-STRESS",
    "second_start": "AJT-RUN-FROM-PENDING",
    "refused_end": "AJT-TERM-ANY",
    "payload_twice": "AJT-TAKE-REQUEST",
    "wrong_request": "AJT-TAKE-REQUEST",
    "one_too_many": "AJT-ADMIT-CAS",
    "one_too_few": "AJT-ADMIT-CAS",
    "same_id": "AJT-ID-UNIQUE",
    "regressed": "AJT-STATE-ATOMIC",
    "ahead": "AJT-STATE-ATOMIC",
    "wrong_error": "AJT-ATOMIC-PUBLISH",
    "no_payload": "AJT-ATOMIC-PUBLISH",
    "other_times": "AJT-ATOMIC-PUBLISH",
    "dropped_result": "AJT-TAKE-RESULT",
    "wrong_result": "AJT-TAKE-RESULT",
    "too_deep": "AJT-DEPTH-SCOPE",
    "too_shallow": "AJT-DEPTH-ONCE",
    "lost": "AJT-RET-NONTERM",
    "unbounded": "AJT-WAIT-BUDGET",
}


@pytest.fixture(scope="module")
def places(simulated):
    """Conforming histories without ties, so that what returned before is known to be before."""
    return [Places(simulated(seed, steps=70)) for seed in range(HISTORIES)]


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_an_observable_corruption_is_reported(places, judged, corruption):
    """One wrong answer that contradicts the rest is blamed on the clause it breaks."""
    found = 0
    for place in places:
        for item, wrong in list(getattr(place, corruption)())[:2]:
            history = [
                other._replace(response=wrong) if other is item else other for other in place.played.history
            ]
            verdict = judged(history, **place.played.configuration)
            assert CORRUPTIONS[corruption] in verdict.clauses, f"seed {place.played.seed}: {item} -> {wrong}"
            found += 1
    assert found >= ENOUGH, f"only {found} places for {corruption}"


def test_a_depth_is_too_low_although_another_job_came_and_went(judged):
    """A job that comes and goes during a read does not excuse a depth that lacks another job."""
    history = [
        Recorded("one", "submit", ("r1", "p1"), Submission(True, "a"), 0, 1),
        Recorded("one", "submit", ("r2", "p2"), Submission(True, "b"), 3, 4),
        Recorded("one", "finish", ("b", "result"), True, 5, 6),
        Recorded("two", "queue_depth", (), 0, 2, 7),
    ]
    assert ["AJT-DEPTH-ONCE"] == judged(history).clauses
    assert [] == judged([*history[:3], history[3]._replace(response=1)]).clauses
