"""The standard library's own tests, over instrumented modules: each has the outcome that it has without.

Each module is instrumented under its own name in a child process, over announcements that let
everything pass. Interpreters that come without their tests skip these.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("instrumented_child.py")
FUTURES = "concurrent.futures concurrent.futures._base concurrent.futures.thread queue"

LIBRARY = {
    "heapq": "heapq",
    "collections": "collections",
    "ordered_dict": "collections",
    "argparse": "argparse",
    "json": "json json.decoder json.encoder json.scanner",
    "fractions": "fractions",
    "textwrap": "textwrap",
    "difflib": "difflib",
    "dataclasses": "dataclasses",
    "enum": "enum",
    "functools": "functools",
    "contextlib": "contextlib",
    "configparser": "configparser",
    "graphlib": "graphlib",
}
LANGUAGE = [
    "augassign",
    "decorators",
    "descr",
    "dictviews",
    "except_star",
    "fstring",
    "generators",
    "grammar",
    "iter",
    "keywordonlyarg",
    "list",
    "named_expressions",
    "patma",
    "scope",
    "super",
    "type_params",
    "with",
    "yield_from",
]
THREADED = {
    "queue": "queue",
    "concurrent_futures.test_as_completed": FUTURES,
    "concurrent_futures.test_future": FUTURES,
    "concurrent_futures.test_thread_pool": FUTURES,
}


def outcomes(how, tests, modules, folder):
    """What became of each test, and how many accesses were announced."""
    root = str(CHILD.parents[2])
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", str(CHILD), how, tests, *modules.split()],
        env={**os.environ, "PYTHONPATH": root, "PYTHONHASHSEED": "0"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    return found["outcomes"], found["announced"]


def same(name, modules, folder):
    """Compare the outcomes of a test module with and without access points."""
    tests = f"test.test_{name}"
    try:
        found = importlib.util.find_spec(tests)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"this Python comes without {tests}")
    plain, none = outcomes("plain", tests, modules or tests, folder)
    instrumented, announced = outcomes("instrumented", tests, modules or tests, folder)
    assert plain == instrumented
    assert any("passed" in results for results in plain.values())
    assert none == 0 < announced


@pytest.mark.parametrize("name", LIBRARY)
def test_an_instrumented_library_does_the_same(name, tmp_path):
    """Outcomes of a library module's tests do not depend on whether it announces its accesses."""
    same(name, LIBRARY[name], tmp_path)


@pytest.mark.parametrize("name", LANGUAGE)
def test_the_instrumented_language_is_the_same(name, tmp_path):
    """Outcomes of tests of the language do not depend on whether they announce their own accesses."""
    same(name, "", tmp_path)


@pytest.mark.stress
@pytest.mark.parametrize("name", THREADED)
def test_instrumented_threads_do_the_same(name, tmp_path):
    """Outcomes of tests on real threads do not depend on whether the module announces its accesses."""
    same(name, THREADED[name], tmp_path)
