"""Run by `tox -e package`: proves that what is imported is the wheel, and that all of it is there.

Takes the folder of the sources, which must not be where anything comes from.
"""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import distribution
from pathlib import Path

SHIPPED = ("harness", "reference", "scenarios")


def complaints(sources: Path) -> list[str]:
    """What is wrong with the installation, in words."""
    installed = distribution("job-harness")
    purelib = Path(str(installed.locate_file(""))).resolve()
    files = [str(path) for path in installed.files or ()]
    wrong = [f"{path} is on sys.path" for path in sys.path if path and Path(path).resolve() == sources]
    for name in SHIPPED:
        origin = Path(importlib.import_module(name).__file__ or "").resolve()
        print(f"{name} is {origin}")  # noqa: T201
        if not origin.is_relative_to(purelib) or "site-packages" not in origin.parts:
            wrong.append(f"{name} does not come from site-packages")
        if f"{name}/py.typed" not in files:
            wrong.append(f"{name} is shipped without its types")
    for path in files:
        top = path.partition("/")[0]
        if top not in {*SHIPPED, ".."} and not top.endswith(".dist-info"):
            wrong.append(f"{path} must not be shipped")
    if not any(path.endswith("licenses/LICENSE") for path in files):
        wrong.append("the licence is missing")
    if installed.metadata["License-Expression"] != "Apache-2.0":
        wrong.append("the licence expression is missing")
    for point in installed.entry_points:
        try:
            point.load()
        except (ImportError, AttributeError) as error:
            wrong.append(f"entry point {point.group} {point.name}: {error}")
    return wrong


if __name__ == "__main__":
    sys.exit("\n".join(complaints(Path(sys.argv[1]).resolve())) or 0)
