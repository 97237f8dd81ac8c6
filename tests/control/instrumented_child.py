"""Run in a child process: tests of the standard library, over instrumented modules under their own names.

Arguments: "plain" or "instrumented", the test module, the modules to instrument. Prints {test: outcome}.
"""

import builtins
import importlib
import importlib.machinery
import importlib.util
import json
import re
import sys
import unittest

from harness.control.announce import Direct, announcers
from harness.control.instrument import compile_instrumented


def _text(error):
    return re.sub("0x[0-9a-f]+", "0x", str(error))[:300]


class Loader(importlib.machinery.SourceFileLoader):
    """Loads from code that was instrumented before: what it takes to instrument is being replaced."""

    def __init__(self, name, path):
        super().__init__(name, path)
        self._code = compile_instrumented(self.get_data(path), path)

    def get_code(self, fullname):
        return self._code


class Finder:
    """Finds the modules to instrument, and no others."""

    def __init__(self, names):
        self._specs = {name: importlib.util.find_spec(name) for name in names}
        for name, spec in self._specs.items():
            spec.loader = Loader(name, spec.origin)

    def find_spec(self, name, path=None, target=None):
        return self._specs.get(name)


class Outcomes(unittest.TestResult):
    """What became of each test and subtest."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def _note(self, test, outcome):
        self.found.setdefault(test.id(), []).append(outcome)

    def addSuccess(self, test):  # noqa: N802
        self._note(test, "passed")

    def addError(self, test, err):  # noqa: N802
        self._note(test, f"error {err[0].__name__}: {_text(err[1])}")

    def addFailure(self, test, err):  # noqa: N802
        self._note(test, f"failed: {_text(err[1])}")

    def addSkip(self, test, reason):  # noqa: N802
        self._note(test, "skipped")

    def addExpectedFailure(self, test, err):  # noqa: N802
        self._note(test, "expected failure")

    def addUnexpectedSuccess(self, test):  # noqa: N802
        self._note(test, "unexpected success")

    def addSubTest(self, test, subtest, err):  # noqa: N802
        if err is not None:
            self._note(subtest, f"failed {err[0].__name__}: {_text(err[1])}")


def main(how, tests, *names):
    """Run the tests; the modules are imported anew in any case."""
    runtime = Direct()
    if how == "instrumented":
        vars(builtins).update(announcers(runtime))
        sys.meta_path.insert(0, Finder(names))
    for name in names:
        sys.modules.pop(name, None)
    for name in names:
        module = importlib.import_module(name)
        parts = [part for part in sys.modules if part.rpartition(".")[0] == name]
        vars(module).update({part.rpartition(".")[2]: sys.modules[part] for part in parts})
    sys.argv = [tests]
    suite = unittest.defaultTestLoader.loadTestsFromName(tests)
    outcomes = Outcomes()
    suite.run(outcomes)
    print("\n" + json.dumps({"outcomes": outcomes.found, "announced": Direct().left - runtime.left}))  # noqa: T201  read by the parent


if __name__ == "__main__":  # spawned processes of a pool import this file
    main(*sys.argv[1:])
