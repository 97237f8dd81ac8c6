"""What people use in their own tests: pasted programs from findings.

    from harness.testing import program

    with program("mypkg.jobs:Table", contract="ledger", max_queue=1) as ledger:
        job1 = ledger.submit("request-1", "payload-1").job_id
        ledger.finish(job1, "result-2")

Each call is held against the contract's model as it returns; a breach raises an AssertionError that
names the clause. The implementation runs in virtual time: `advance` lets time pass.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from harness.contracts import contract_named
from harness.contracts.adapter import Adapter
from harness.findings import UsageError
from harness.stateful.session import ContractBroken, Session
from harness.stateful.surroundings import Surroundings
from harness.targets.agreement import near
from harness.targets.locate import Target

__all__ = ["ContractBroken", "program"]

__tracebackhide__ = True  # pytest shows the line of the program, not ours


class _Program:
    """The session of a `with` block; no generator, whose frames would stand between test and error."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> Session:
        return self._session

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and not self._session.over:
            self._session.last_call()


def program(
    target: str,
    *,
    contract: str = "ledger",
    adapter: Adapter | Path | str | None = None,
    **configuration: int,
) -> AbstractContextManager[Session, None]:
    """A session on a new instance of a target; calls are checked as they are made.

    `configuration` overrides the contract's defaults. When the block ends in peace, a call that
    must not return is tried last, as the generated programs do. Raises UsageError for a target that
    cannot be used and for a bound that the contract does not have.
    """
    known = contract_named(contract)
    for name in configuration:
        if name not in known.configuration:
            there_are = ", ".join(known.configuration)
            raise UsageError(
                f"{contract} has no bound {name!r}; there are: {there_are}{near(name, known.configuration)}"
            )
    if isinstance(adapter, (str, Path)):
        adapter = Adapter.load(Path(adapter))
    surroundings = Surroundings.of(Target.parse(target), known, adapter or Adapter())
    return _Program(Session(surroundings, {**known.configuration, **configuration}))
