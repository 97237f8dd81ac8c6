"""What an adapter maps must be there, on both sides: slips are told, and skipped clauses are not slips."""

from __future__ import annotations

import pytest

from harness.contracts.adapter import Adapter
from harness.contracts.ledger import LEDGER
from harness.findings import UsageError
from harness.targets.subject import Binding
from reference.ledger import Ledger

BOUNDS = {"max_queue": 3, "job_ttl_ms": 1_500, "max_completed": 2}


def bind(factory, adapter):
    """A binding that has been examined."""
    binding = Binding(LEDGER, factory, adapter)
    binding.examine()
    return binding


class Raising(Ledger):
    """A ledger whose snapshot raises: a bug, for the stages to find."""

    def snapshot(self, job_id):
        raise KeyError(job_id)


MISTAKES = {
    "[states]\nCOMPLETED = 'DNOE'": r"\[states\] has no 'DNOE' to map; there are: DONE, FAILED, PENDING",
    "[operations]\nsubmitt = 'submit'": r"\[operations\] has no 'submitt' to map",
    "[operations]\nfail = 'abort'": r"\[operations\] fail = 'abort', and Ledger offers no such operation but",
    "[operations]\nconfigure = 'set_up'": r"\[operations\] configure = 'set_up', and Ledger offers",
    "[arguments]\nsubmit = ['load']": r"submit has no parameter 'load'",
    "[states]\nCOMPLETED = 'DNOE'\n": r"; did you mean DONE\?$",
    "[states]\nDONE = 'completed'": r"; the direction is theirs = ours: COMPLETED = \"DONE\"$",
    "[operations]\nenqueue = 'submit'": r"; the direction is ours = theirs: submit = \"enqueue\"$",
    "[fields]\nleft = 'completed_at'": r"; the direction is ours = theirs: completed_at = \"left\"$",
    "[operations]\nfail = 'fial'": r"; did you mean fail\?$",
    "[configuration]\nmax_queue = 'max_queu'": (
        r"\[configuration\] max_queue = 'max_queu', and neither the factory nor configure takes that "
        r"but clock, job_ttl_ms, max_completed, max_queue; did you mean max_queue\?$"
    ),
    "[fields]\ncompleted_at = 'complete_at'": (
        r"\[fields\] completed_at = 'complete_at', and what snapshot returns has no such field but "
        r"completed_at, error, state, submitted_at; did you mean completed_at\?$"
    ),
    "[fields]\nresult = 'outcome'": r"\[fields\] result = 'outcome', and what take_result returns has no",
    "[fields]\npayload = 'load'": r"\[fields\] payload = 'load', and what take_request returns has no such",
    "[fields]\njob_id = 'number'": r"\[fields\] job_id = 'number', and what submit returns has no such field",
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.items())
def test_a_mistake_that_the_contract_shows_names_the_file(tmp_path, text, said):
    """What only contract and implementation show to be wrong is told like any mistake of the file."""
    path = tmp_path / "adapter.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said) as caught:
        bind(Ledger, Adapter.load(path))
    assert str(caught.value).startswith(f"adapter {path}: ")


class Reticent(Ledger):
    """A ledger whose snapshots are mappings that hold a field only once there is something in it."""

    def snapshot(self, job_id):
        seen = super().snapshot(job_id)
        if seen is None:
            return None
        shown = {"state": seen.state, "why": seen.error, "ended": seen.completed_at}
        return {name: value for name, value in shown.items() if value}


def test_a_field_that_is_shown_later_is_there():
    """A mapped field that only ended or failed jobs show is no mistake."""
    bind(Reticent, Adapter(fields={"error": "why", "completed_at": "ended"}))
    with pytest.raises(UsageError, match=r"no such field but ended, state, why; did you mean ended\?"):
        bind(Reticent, Adapter(fields={"error": "why", "completed_at": "endet"}))


def test_a_slip_in_the_field_that_makes_answers_readable_is_told():
    """Without the state nothing can be read: the sentence is about the slip that hides it."""

    class Phases(Ledger):
        def snapshot(self, job_id):
            return {"phase": super().snapshot(job_id).state}

    bind(Phases, Adapter(fields={"state": "phase"}))
    with pytest.raises(UsageError, match=r"^adapter: \[fields\] state = 'phse', .* did you mean phase\?$"):
        bind(Phases, Adapter(fields={"state": "phse"}))


def test_a_state_that_is_not_mapped_is_told_with_one_hint():
    """The sentence says once what to do about it."""

    class Waiting(Ledger):
        def snapshot(self, job_id):
            return {"state": "WAITING"}

    with pytest.raises(UsageError) as caught:
        bind(Waiting, Adapter())
    assert 1 == str(caught.value).count("adapter")
    assert str(caught.value).endswith("; map it under [states] of an adapter")


def test_a_field_of_a_plain_answer_is_a_mistake():
    """An id alone has no fields, and the sentence says so."""

    class Plain(Ledger):
        def submit(self, request_id, payload):
            return super().submit(request_id, payload).job_id

    with pytest.raises(UsageError, match=r"\[fields\] job_id = 'key', and what submit returns has no fields"):
        bind(Plain, Adapter(fields={"job_id": "key"}))


def test_fields_are_not_judged_where_the_target_is_broken():
    """What keeps an answer from being seen is the stages' to find, and no mistake of the adapter's."""
    bind(Raising, Adapter(fields={"completed_at": "ended"}))


def test_an_empty_name_says_that_there_is_none():
    """A bound or a field that is declared missing is skipped, not looked for, and no mistake."""
    empty = Adapter(configuration={"max_completed": ""}, fields={"completed_at": ""})
    binding = bind(Ledger, empty)
    assert {
        "max_completed": "neither the factory nor configure takes max_completed",
        "snapshot.completed_at": "snapshot shows no completed_at",
    } == binding.missing
    assert binding.create(BOUNDS).instance._max_completed == Ledger()._max_completed


def test_what_is_skipped_names_what_was_looked_for():
    """The reason has the foreign name: that is where the mistake would be."""
    binding = bind(Reticent, Adapter(fields={"error": "why", "completed_at": "ended"}))
    assert binding.missing["snapshot.completed_at"] == "snapshot shows no ended"
