"""Forced switches happen in the code under test, change nothing in it, and end when told to."""

from __future__ import annotations

import sys
import threading
from random import Random
from types import SimpleNamespace

import pytest

from harness.stress import noise as noise_module
from harness.stress.noise import Noise

SOURCE = """
def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result

def fails():
    raise ValueError("as before")
"""


class Sleeps(list):
    """Stands for the time module: keeps how long somebody slept."""

    def sleep(self, seconds):
        self.append(seconds)


@pytest.fixture
def sleeps(monkeypatch):
    """The sleeps that noise makes; nobody really sleeps."""
    made = Sleeps()
    monkeypatch.setattr(noise_module, "time", SimpleNamespace(sleep=made.sleep))
    return made


@pytest.fixture
def code(tmp_path):
    """Makes the functions of SOURCE as if they were in a file below the test's folder."""

    def load(place):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE, encoding="utf-8")
        names = {}
        exec(compile(SOURCE, str(path), "exec"), names)  # noqa: S102 - the code under test of these tests
        return SimpleNamespace(**names)

    return load


def in_a_thread(body):
    """What the body returns in a thread of its own, so that nobody else's trace function is touched."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(body()))
    thread.start()
    thread.join()
    return answers[0]


def noisily(noise, body, probability=1.0):
    """Run the body amid noise."""

    def run():
        noise.install(Random(1), probability)
        try:
            return body()
        finally:
            noise.remove()

    return in_a_thread(run)


@pytest.mark.parametrize(
    ("place", "touched"),
    [
        ("package/module.py", True),
        ("package/deep/module.py", True),
        ("single.py", True),
        ("other/module.py", False),
        ("package_of_others/module.py", False),
    ],
)
def test_noise_is_made_below_its_places_only(tmp_path, sleeps, code, place, touched):
    """A folder means what is in it, a file itself, and nothing else is touched."""
    loaded = code(place)
    (tmp_path / "package").mkdir(exist_ok=True)
    noise = Noise([tmp_path / "package", tmp_path / "single.py"])
    assert 6 == noisily(noise, lambda: loaded.total([1, 2, 3]))
    assert touched == bool(sleeps)


def test_noise_changes_no_result(tmp_path, sleeps, code):
    """Answers and exceptions are those of the quiet run."""
    loaded = code("package/module.py")
    noise = Noise([tmp_path / "package"])

    def error():
        with pytest.raises(ValueError, match="as before") as caught:
            loaded.fails()
        return str(caught.value)

    assert loaded.total(range(100)) == noisily(noise, lambda: loaded.total(range(100)))
    assert error() == noisily(noise, error)
    assert len(sleeps) > 200


def test_noise_can_be_removed(tmp_path, sleeps, code):
    """After the removal the thread has no trace function, and nobody sleeps."""
    loaded = code("package/module.py")
    noise = Noise([tmp_path / "package"])

    def body():
        noise.install(Random(1), 1.0)
        noise.remove()
        loaded.total([1, 2, 3])
        return sys.gettrace()

    assert in_a_thread(body) is None
    assert [] == sleeps


def test_noise_stays_in_its_thread(tmp_path, sleeps, code):
    """Another thread runs the same code undisturbed."""
    loaded = code("package/module.py")
    noise = Noise([tmp_path / "package"])
    noisily(noise, lambda: in_a_thread(lambda: loaded.total([1, 2, 3])))
    assert [] == sleeps


def test_most_switches_are_short(tmp_path, sleeps, code):
    """Without a probability there are none; of the others about one in six is a pause, of at most 1 ms."""
    loaded = code("package/module.py")
    noise = Noise([tmp_path / "package"])
    noisily(noise, lambda: loaded.total([1, 2, 3]), probability=0.0)
    assert [] == sleeps
    noisily(noise, lambda: loaded.total(range(1000)))
    long = [seconds for seconds in sleeps if seconds]
    assert 0 < max(long) <= 0.001
    assert len(sleeps) / 9 < len(long) < len(sleeps) / 4
