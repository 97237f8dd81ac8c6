"""The declarative adapter: what a file says is what the record holds, and mistakes are one sentence."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts.adapter import Adapter
from harness.findings import UsageError

WHOLE = """
[operations]
submit = "enqueue"
take_request = ""
[arguments]
submit = ["payload"]
[configuration]
max_queue = "capacity"
[fields]
completed_at = "finished_at"
[states]
Completed = "done"
[exceptions]
rejected = "QueueFull"
absent = ["KeyError", "Gone"]
[units]
time = "s"
[values]
kind = "text"
"""

NAMES = st.text(st.characters(codec="ascii", categories=("L",)), min_size=1, max_size=6)
MAPPING = st.dictionaries(NAMES, NAMES, max_size=3)
LOUD = NAMES.map(str.upper)
ADAPTERS = st.builds(
    Adapter,
    operations=MAPPING,
    arguments=st.dictionaries(NAMES, st.lists(NAMES, max_size=3).map(tuple), max_size=2),
    configuration=MAPPING,
    fields=MAPPING,
    states=st.dictionaries(LOUD, LOUD, max_size=3),
    rejected=st.lists(NAMES, max_size=2).map(tuple),
    absent=st.lists(NAMES, max_size=2).map(tuple),
    time=st.sampled_from(["ms", "s"]),
    kind=st.sampled_from(["record", "text"]),
)


@pytest.fixture
def written(tmp_path):
    """Writes a text as an adapter file and gives its path."""

    def write(text):
        path = tmp_path / "adapter.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_file_is_read_whole(written):
    """Every table of the module's text ends up in the record; states are compared in upper case."""
    expected = Adapter(
        operations={"submit": "enqueue", "take_request": ""},
        arguments={"submit": ("payload",)},
        configuration={"max_queue": "capacity"},
        fields={"completed_at": "finished_at"},
        states={"COMPLETED": "DONE"},
        rejected=("QueueFull",),
        absent=("KeyError", "Gone"),
        time="s",
        kind="text",
    )
    assert expected == Adapter.load(written(WHOLE))


def test_an_empty_file_changes_nothing(written):
    """What an adapter leaves out keeps the contract's own name."""
    empty = Adapter.load(written(""))
    assert Adapter() == empty
    assert empty.foreign_operation("submit") == "submit"
    assert empty.field_names("job_id", "id") == ("job_id", "id")


def test_names_are_looked_up(written):
    """Their name comes first, then ours; an empty name says that there is none."""
    adapter = Adapter.load(written(WHOLE))
    assert adapter.foreign_operation("submit") == "enqueue"
    assert adapter.foreign_operation("take_request") == ""
    assert adapter.field_names("completed_at", "end") == ("finished_at", "completed_at", "end")


@settings(deadline=None)
@given(adapter=ADAPTERS)
def test_tables_are_the_inverse_of_the_record(adapter):
    """An adapter crosses the process boundary as plain tables."""
    assert adapter == Adapter.from_tables(adapter.to_tables())


def test_the_example_in_the_module_is_an_adapter():
    """The tables shown in the module's own text can be pasted into a file."""
    from harness.contracts import adapter as module

    _, _, rest = module.__doc__.partition("[operations]")
    shown = Adapter.from_tables(tomllib.loads("[operations]" + rest))
    assert shown.foreign_operation("submit") == "enqueue"
    assert shown.time == "s"


MISTAKES = [
    (
        "[operation]\nsubmit = 'x'",
        r"unknown table \[operation\]; the tables are arguments, configuration, exceptions",
    ),
    ("states = 3", r"\[states\] is no table"),
    ("[operations]\nsubmit = 3", "operations.submit is a string, not 3"),
    ("[states]\nA = ['B']", "states.A is a string"),
    ("[arguments]\nsubmit = 'payload'", r"\[arguments\] maps an operation to a list"),
    ("[exceptions]\nrejected = [3]", "exceptions.rejected is a list of class names"),
    ("[exceptions]\nrefused = []", r"\[exceptions\] knows no 'refused'"),
    ("[units]\ntime = 'h'", 'units.time is "ms" or "s", not \'h\''),
    ("[units]\ntime = ['s']", "units.time is"),
    ("[units]\nspace = 'm'", r"\[units\] knows no 'space'"),
    ("[values]\nkind = 1", 'values.kind is "record" or "text", not 1'),
    ("[values", "not TOML"),
    (b"\xff\xfe", "not TOML"),
    pytest.param(
        "[exceptions]\nrejected = 5",
        "exceptions.rejected is a list of class names",
    ),
    pytest.param(
        "[exceptions]\nabsent = {KeyError = 1}",
        "exceptions.absent is a list of class names",
    ),
    pytest.param(
        "[arguments]\nsubmit = [3]",
        r"\[arguments\]",
    ),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES)
def test_a_mistake_is_one_sentence_that_names_the_file(written, text, said):
    """Whatever is wrong with a file is a UsageError of one line: the file first, then the mistake."""
    path = written(text)
    with pytest.raises(UsageError, match=said) as caught:
        Adapter.load(path)
    assert str(caught.value).startswith(f"adapter {path}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    """No file, and a folder in its place, are told like any mistake."""
    with pytest.raises(UsageError, match=r"none\.toml: No such file"):
        Adapter.load(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="directory"):
        Adapter.load(tmp_path)


@pytest.mark.parametrize("spelt", ["in-progress", "in progress"])
def test_a_state_is_found_as_it_is_spelt(written, spelt):
    """A foreign state written in the adapter just as the implementation shows it is recognised."""
    from harness.contracts.ledger.values import word

    adapter = Adapter.load(written(f"[states]\n\"{spelt}\" = 'RUNNING'"))
    assert adapter.states[word(spelt)] == "RUNNING"


def test_a_record_and_a_file_mean_the_same():
    """An adapter built in Python is the one that the same tables give."""
    assert Adapter(states={"completed": "done"}) == Adapter.from_tables({"states": {"completed": "done"}})
