"""Seeds as text and in their folder: nothing is lost, and what is wrong is named."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.control.trace import Arrival
from harness.findings import UsageError
from harness.seeds.schedule import Deviation, Seed
from harness.seeds.store import SeedStore, read_seed

WORDS = st.text(string.ascii_letters + string.digits + "_-/.", min_size=1, max_size=12)
LABELS = st.lists(
    st.text(string.ascii_letters + string.punctuation + "éß漢", min_size=1, max_size=8),
    min_size=1,
    max_size=4,
).map(" ".join)
DEVIATIONS = st.builds(Deviation, st.builds(Arrival, WORDS, LABELS, st.integers(1, 10**6)), WORDS)
NAMES = st.from_regex(r"[a-z][a-z-]{0,9}", fullmatch=True)
SEEDS = st.builds(
    Seed, st.lists(DEVIATIONS, max_size=5).map(tuple), st.dictionaries(NAMES, LABELS, max_size=4)
)
GOOD = "job-harness seed 1\ntest: a.py::b\n\nat first | read A.x in a.py:f | #1 -> second\n"


@given(SEEDS)
def test_a_seed_is_its_text(seed):
    """Read back, a written seed is the same, schedule and fields."""
    assert seed == Seed.from_text(seed.to_text())


def test_white_space_in_a_value_becomes_one_blank():
    """A field is one line, whatever an exception's message was."""
    seed = Seed((), {"message": "two\nlines\tand  more "})
    assert {"message": "two lines and more"} == Seed.from_text(seed.to_text()).fields


def test_comments_and_blank_lines_are_for_people():
    """Lines of a person's own and line ends of another system change nothing."""
    plain = Seed.from_text(GOOD)
    assert plain == Seed.from_text(GOOD.replace("\nat ", "\n# why it fails\n\nat "))
    assert plain == Seed.from_text(GOOD.replace("\n", "\r\n"))


MALFORMED = [
    "at nowhere",
    "at first | read A.x | #one -> second",
    "at first | read A.x | #1 ->",
    "at first | read A.x | #1 second",
    "at first | | #1 -> second",
    "first | read A.x | #1 -> second",
    "test: too late",
    "\x00\x01",
]


@pytest.mark.parametrize("line", MALFORMED)
def test_a_malformed_line_is_one_error_that_names_file_and_line(tmp_path, line):
    """Whatever a line is instead of a step, the message is one line with the file and the number."""
    path = tmp_path / "bad.seed"
    path.write_text(f"{GOOD}{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(f"{path}, line 5: neither a field nor a step")) as raised:
        read_seed(path)
    assert "\n" not in str(raised.value)


@given(st.text())
def test_any_text_is_a_seed_or_a_usage_error(text):
    """Nothing that a file can hold makes reading it fail in another way."""
    for whole in (text, GOOD + text):
        try:
            read = Seed.from_text(whole)
        except UsageError:
            continue
        assert read == Seed.from_text(read.to_text())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "this is no seed"),
        (b"\xff\xfe\x00\x01", "not text"),
        (b"#!/bin/sh\n", "its first line is not 'job-harness seed' and a version"),
        (b"job-harness seed 2\n", "seed version '2' is not known here; this harness reads 1"),
        (b"job-harness seed\n", "seed version '' is not known"),
    ],
)
def test_a_file_that_is_no_seed_is_told(tmp_path, content, said):
    """Empty, binary, something else, or of another version."""
    path = tmp_path / "other.seed"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=re.escape(said)) as raised:
        read_seed(path)
    assert str(raised.value).startswith(str(path))


def test_a_file_that_is_not_there_is_told(tmp_path):
    """A missing file and a folder are told by their names."""
    for path in (tmp_path / "none.seed", tmp_path):
        with pytest.raises(UsageError, match=re.escape(str(path))):
            read_seed(path)


def seed_with(occurrence):
    """A seed that differs from others by its number."""
    return Seed((Deviation(Arrival("first", "read A.x", occurrence), "second"),), {"test": "a::b"})


def test_a_folder_that_is_not_there_has_no_seeds(tmp_path):
    """Nothing is made by looking."""
    assert [] == list(SeedStore(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_seeds_come_by_name_and_a_corrupt_one_stops_no_other(tmp_path):
    """The error takes the place of the seed that cannot be read; other files are nobody's business."""
    store = SeedStore(tmp_path)
    for name, number in (("c", 1), ("a", 2)):
        store.keep(seed_with(number), name)
    (tmp_path / "b.seed").write_bytes(b"\xff")
    (tmp_path / "a.txt").write_text("notes")
    listed = list(store)
    assert ["a", "b", "c"] == [path.name[0] for path, _ in listed]
    assert [Seed, UsageError, Seed] == [type(seed) for _, seed in listed]
    assert seed_with(2) == listed[0][1]


def test_a_seed_keeps_its_file_name(tmp_path):
    """The same schedule of the same target is one file, another one another, whatever its name holds."""
    store = SeedStore(tmp_path / "made" / "here")
    once = store.keep(seed_with(1), "test a[/../b]")
    assert once == store.keep(seed_with(1), "test a[/../b]")
    assert once != store.keep(seed_with(2), "test a[/../b]")
    assert once.parent == tmp_path / "made" / "here"
    assert len(list(store)) == 2


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    """A file in the way is named with the folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=f"cannot keep a seed in {re.escape(str(tmp_path / 'file'))}"):
        SeedStore(tmp_path / "file").keep(seed_with(1), "x")
