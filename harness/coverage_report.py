"""Which lines and branches of the implementation a gate never reached."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.findings import UsageError
from harness.targets.locate import Target

__all__ = ["available", "included", "unreached"]


def available() -> None:
    """Raise UsageError unless coverage is installed."""
    if importlib.util.find_spec("coverage") is None:
        raise UsageError("--cov needs the package coverage: pip install 'job-harness[cov]'")


def included(target: str) -> list[str]:
    """Patterns of the files that belong to a target."""
    parsed = Target.parse(target)
    if parsed.path:
        return [str(parsed.path.parent / "*")]
    parsed.prepare_path()
    top = importlib.util.find_spec(parsed.module.partition(".")[0])
    if top is None:
        return []
    if top.submodule_search_locations:
        return [str(Path(folder) / "*") for folder in top.submodule_search_locations]
    return [top.origin] if top.origin else []


def unreached(files: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Combine data files: per source file the percentage, the missing lines and the missing branches."""
    import coverage
    from coverage.exceptions import NoDataError

    with tempfile.TemporaryDirectory() as folder:
        combined = coverage.Coverage(data_file=str(Path(folder) / "combined"), branch=True, config_file=False)
        try:
            combined.combine([name for name in files if Path(name).exists()], keep=True)
            target = Path(folder) / "report.json"
            combined.json_report(outfile=str(target))
        except NoDataError:
            return {}
        import json

        report = json.loads(target.read_text(encoding="utf-8"))
    return {
        name: {
            "percent": round(content["summary"]["percent_covered"], 1),
            "lines": content["missing_lines"],
            "branches": content["missing_branches"],
        }
        for name, content in sorted(report["files"].items())
    }
