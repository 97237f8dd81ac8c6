"""The pytest plugin: clauses of a contract as test items.

    pytest --pyargs scenarios --harness-target mypkg.jobs:Table

The gate runs once per session, also under xdist, where the workers share its outcome; each clause is
an item that passes, fails with its findings, or is skipped with the reason. Importing this module
imports nothing heavy: pytest loads it in every session of every project that has us installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.contracts.records import Contract
    from harness.outcome import GateRequest

__all__ = ["GateOutcome"]

_OURS = {"scenarios", "scenarios.test_contract"}
_NO_TARGET = "no implementation to gate: pass --harness-target"
_CLAUSE, _STAGE = "harness_clause", "harness_stage"
_SEED_KEY = "harness_seed"
_DRAWN = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("harness", "job-harness: gate an implementation against a contract")
    group.addoption(
        "--harness-target", metavar="TARGET", help="package.module:factory or path/to/file.py:factory"
    )
    group.addoption(
        "--harness-contract", metavar="NAME", default="ledger", help="which contract (default: ledger)"
    )
    group.addoption("--harness-adapter", metavar="FILE", help="TOML file that maps foreign names")
    group.addoption(
        "--harness-budget", metavar="BUDGET", default="default", help="quick, default, thorough, 45s, 10m"
    )
    group.addoption(
        "--harness-seed", metavar="SEED", default="0", help="a number, or 'random' (it is printed)"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--harness-target"):
        return
    from harness.findings import UsageError

    try:
        _request(config)
    except UsageError as error:
        raise pytest.UsageError(_told(error)) from None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Tell once, before anything is collected, that there is nothing to gate, or that it cannot be used."""
    config = session.config
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    if not config.getoption("--harness-target"):
        if config.option.pyargs and config.args and set(config.args) <= _OURS:
            raise pytest.UsageError(f"{_NO_TARGET} package.module:factory or path/to/file.py:factory")
        return
    from harness.findings import HarnessError, UsageError
    from harness.gate import look

    try:
        look(_request(config))
    except UsageError as error:
        raise pytest.UsageError(_told(error)) from None
    except HarnessError:  # told by each item, with all that there is to say
        return


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the controller's seed to an xdist worker."""
    if node.config.getoption("--harness-target"):
        node.workerinput[_SEED_KEY] = _seed(node.config)


def pytest_report_header(config: pytest.Config) -> str | None:
    target = config.getoption("--harness-target")
    if not target:
        return None
    contract, budget = config.getoption("--harness-contract"), config.getoption("--harness-budget")
    return f"harness: {target}, contract {contract}, budget {budget}, seed {_seed(config)}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    wanted = {_CLAUSE, _STAGE} & set(metafunc.fixturenames)
    if not wanted:
        return
    contract = _contract(metafunc.config)
    if _CLAUSE in wanted:
        metafunc.parametrize(_CLAUSE, [clause.id for clause in contract.clauses])
    if _STAGE in wanted:
        from harness.job import STAGES

        metafunc.parametrize(_STAGE, list(STAGES))


class GateOutcome:
    """A gate's JSON outcome, and what it means for a test item."""

    def __init__(self, outcome: dict[str, Any]) -> None:
        self._outcome = outcome

    def decide_clause(self, clause: str) -> None:
        """Pass, fail or skip the current item by a clause's verdict."""
        self._stop_on_error()
        row = next(row for row in self._outcome["clauses"] if row["id"] == clause)
        if row["verdict"] == "VIOLATION":
            self._fail([finding for finding in self._outcome["findings"] if finding["clause"] == clause])
        if row["verdict"] == "SKIPPED":
            pytest.skip(_visible(row["reason"]))
        if row["verdict"] == "UNKNOWN":
            if row["level"] == "MUST":
                pytest.fail(f"{clause} is UNKNOWN: {_visible(row['reason'])}", pytrace=False)
            advised = any(finding["clause"] == clause for finding in self._outcome["findings"])
            pytest.skip(
                f"{clause} is {'broken, advice' if advised else 'UNKNOWN'}: {_visible(row['reason'])}"
            )

    def decide_stage(self, stage: str) -> None:
        """Fail the current item if a stage crashed, hung or could not have found anything.

        One that was not run is skipped with the reason.
        """
        self._stop_on_error()
        for report in self._outcome["stages"]:
            if report["stage"] == stage:
                self._fail([finding for finding in report["findings"] if not finding["clause"]])
                if report["unmet"]:
                    pytest.fail(
                        f"{stage} is UNKNOWN; never happened: {'; '.join(report['unmet'])}", pytrace=False
                    )
                if report["verdict"] == "SKIPPED":
                    pytest.skip(_visible("; ".join(report["notes"])))

    def _stop_on_error(self) -> None:
        if "error" in self._outcome:
            pytest.fail(_visible(self._outcome["error"]), pytrace=False)

    def _fail(self, findings: list[dict[str, Any]]) -> None:
        binding = [finding for finding in findings if not finding["advisory"]]
        if not binding:
            return
        from harness.findings import Finding
        from harness.report.files import finding_text

        said = "\n\n".join(finding_text(Finding.from_json(finding)) for finding in binding)
        pytest.fail(_visible(said), pytrace=False)


def _told(error: Exception) -> str:
    """A usage error in the words of pytest's command line."""
    return _visible(str(error)).replace(" --adapter", " --harness-adapter")


def _visible(text: str) -> str:
    from harness.report.visible import visible

    return visible(text)


@pytest.fixture(scope="session")
def harness_gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> GateOutcome:
    """The outcome of gating `--harness-target`, run once for all workers; skips without a target."""
    if not request.config.getoption("--harness-target"):
        pytest.skip(_NO_TARGET)
    if not hasattr(request.config, "workerinput"):
        return GateOutcome(_gate(request.config))
    from filelock import FileLock

    shared = tmp_path_factory.getbasetemp().parent / "harness-gate.json"
    with FileLock(f"{shared}.lock"):
        return GateOutcome(_once(shared, lambda: _gate(request.config)))


def _once(path: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    if not path.exists():
        path.write_text(json.dumps(make()), encoding="utf-8")
    outcome: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return outcome


def _gate(config: pytest.Config) -> dict[str, Any]:
    from harness.findings import HarnessError
    from harness.gate import run_gate
    from harness.report.files import gate_json

    try:
        return gate_json(run_gate(_request(config)))
    except HarnessError as error:
        return {"error": _told(error)}


def _contract(config: pytest.Config) -> Contract:
    from harness.contracts import contract_named
    from harness.findings import UsageError

    try:
        return contract_named(config.getoption("--harness-contract"))
    except UsageError as error:
        raise pytest.UsageError(_told(error)) from None


def _seed(config: pytest.Config) -> int:
    """The session's seed: the controller's under xdist, drawn once if random."""
    given = getattr(config, "workerinput", {}).get(_SEED_KEY)
    if given is not None:
        return int(given)
    if _DRAWN not in config.stash:
        from harness.outcome import parse_seed

        config.stash[_DRAWN] = parse_seed(config.getoption("--harness-seed"))
    return config.stash[_DRAWN]


def _request(config: pytest.Config) -> GateRequest:
    from harness.contracts.adapter import Adapter
    from harness.outcome import GateRequest, parse_budget
    from harness.targets.locate import Target

    adapter = config.getoption("--harness-adapter")
    target = config.getoption("--harness-target")
    Target.parse(target)
    return GateRequest(
        target=target,
        contract=_contract(config).name,
        adapter=Adapter.load(Path(adapter)) if adapter else Adapter(),
        budget=parse_budget(config.getoption("--harness-budget")),
        seed=_seed(config),
        adapter_file=adapter or "",
        budget_text=config.getoption("--harness-budget"),
    )
