"""The file format: written and read back, and a precise error for what is malformed or contradicts itself."""

from __future__ import annotations

import io
from random import Random, SystemRandom

import pytest

from benchmarks.programs.histories import random_history
from harness.findings import UsageError
from harness.history.automaton import BLOCKED
from harness.history.files import Failed, read_history, write_history
from harness.history.recorder import Recorded

GOOD = '{"client": "a", "operation": "read", "called": 1, "returned": 2}'


def test_what_is_written_is_read_back(tmp_path):
    """Results, errors, missing responses and blocked operations, as they were."""
    history = [
        Recorded("a", "write", (1, "x", None, [2.5, True]), None, 1, 4),
        Recorded("b", "read", (), {"k": [1]}, 2, 9),
        Recorded("c", "read", (), Failed("KeyError: 'k'"), 2, 3),
        Recorded("d", "get", (), BLOCKED, 5, None),
        Recorded("e", "put", ("ü",), None, 6, None),
    ]
    path = tmp_path / "history.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        assert 5 == write_history(stream, history)
    assert history == list(read_history(path))


def test_random_histories_survive_a_file(tmp_path):
    """From a fresh seed: what the fuzzer draws, which has every kind of value that JSON has."""
    seed = SystemRandom().randrange(1_000_000)
    history = sorted(random_history(Random(seed), "register", 6), key=lambda item: item.called)
    path = tmp_path / "history.jsonl"
    stream = io.StringIO()
    write_history(stream, history)
    path.write_text("# a comment\n\n" + stream.getvalue(), encoding="utf-8")
    back = list(read_history(path))
    assert history == back, f"seed {seed}"
    assert [type(item.response) for item in history] == [type(item.response) for item in back]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "2: not JSON (Expecting value at column 1)"),
        ('{"client": "a", "ope', "the file ends in the middle of a line; was its writer cut off?"),
        ("[1]", "2: a line is one object"),
        ('{"client": "b", "called": 1, "returned": 2}', "2: no 'operation'"),
        (GOOD.replace("}", ', "colour": 1}'), "2: unknown 'colour'; known are arguments, blocked"),
        ('{"client": "b", "operation": "r", "called": 1.5, "returned": 2}', "2: 'called' is an integer"),
        ('{"client": "b", "operation": "r", "called": true, "returned": 2}', "2: 'called' is an integer"),
        ('{"client": "b", "operation": "r", "called": 3, "returned": 2}', "2: it returns at 2, before it"),
        (
            '{"client": "a", "operation": "r", "called": 1, "returned": 3}',
            "2: client a calls at 1, and its operation of line 1 returns at 2",
        ),
        (
            '{"client": "b", "operation": "r", "called": 1, "returned": null, "result": 3}',
            "2: it has a response, and did not return",
        ),
        (
            '{"client": "b", "operation": "r", "called": 1, "returned": 2, "blocked": true}',
            "2: it is blocked, and returned",
        ),
        (
            '{"client": "b", "operation": "r", "called": 1, "returned": 2, "result": 1, "error": "x"}',
            "2: it has a result and an error",
        ),
        ('{"client": "b", "operation": "r", "arguments": 3, "called": 1, "returned": 2}', "is a list"),
    ],
)
def test_a_bad_line_is_told_with_its_number(tmp_path, line, said):
    """The operations before it are read, and the error names the file, the line and the reason."""
    path = tmp_path / "history.jsonl"
    path.write_text(f"{GOOD}\n{line}", encoding="utf-8")
    items = read_history(path)
    assert "read" == next(items).operation
    with pytest.raises(UsageError) as told:
        list(items)
    assert said in str(told.value)
    assert str(told.value).startswith(f"{path}:2: ")


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    """No such file, and one that is no text."""
    with pytest.raises(UsageError, match="No such file"):
        list(read_history(tmp_path / "absent"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8 at byte 0"):
        list(read_history(tmp_path / "binary"))
