"""Finding an explored test by its name, `path/to/test_file.py::test_name`."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.findings import HarnessError, UsageError
from harness.targets.locate import told

__all__ = ["called_plainly", "test_named"]


def test_named(identity: str, origin: str) -> Callable[[], Any]:
    """The undecorated test of this name; raises UsageError, beginning with `origin`, if there is none."""
    file, separator, name = identity.partition("::")
    source = Path(file)
    if not separator or not source.is_file():
        raise UsageError(
            f"{origin}: there is no test {identity} below {Path.cwd()}; "
            "name it as FILE::TEST, from the folder in which the tests are run"
        )
    for folder in (str(source.resolve().parent), str(Path.cwd())):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(source.stem, source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[source.stem] = module
    spec.loader.exec_module(module)
    test: Any = module
    for part in name.partition("[")[0].replace("::", ".").split("."):
        test = getattr(test, part, None)
    if test is None:
        raise UsageError(f"{origin}: there is no test {name} in {file}")
    return inspect.unwrap(test)  # type: ignore[no-any-return]


def called_plainly(test: Callable[[], Any], origin: str) -> None:
    """Call a test as what it is; raises UsageError if it takes what only pytest can give, or fails."""
    parameters = inspect.signature(test).parameters
    if parameters:
        raise UsageError(
            f"{origin}: {test.__qualname__} takes {', '.join(parameters)}, which only pytest can give it; "
            "run it with pytest: it replays the kept seeds first"
        )
    try:
        test()
    except HarnessError:
        raise
    except Exception as error:
        raise UsageError(f"{origin}: the test ended with {told(error)}") from error
