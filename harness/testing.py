"""What people use in their own tests: pasted programs from findings.

    from harness.testing import program

    with program("mypkg.jobs:Table", contract="ledger", max_queue=1) as ledger:
        job1 = ledger.submit("request-1", "payload-1").job_id
        ledger.finish(job1, "result-2")

Each call is held against the contract's model as it returns; a breach raises an AssertionError that
names the clause. The implementation runs in virtual time: `advance` lets time pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.contracts import contract_named
from harness.contracts.adapter import Adapter
from harness.stateful.session import ContractBroken, Session
from harness.stateful.surroundings import Surroundings
from harness.targets.locate import Target

__all__ = ["ContractBroken", "program"]


@contextmanager
def program(
    target: str,
    *,
    contract: str = "ledger",
    adapter: Adapter | Path | str | None = None,
    **configuration: int,
) -> Iterator[Session]:
    """A session on a new instance of a target; calls are checked as they are made.

    `configuration` overrides the contract's defaults. When the block ends in peace, a call that
    must not return is tried last, as the generated programs do. Raises UsageError for a target that
    cannot be used.
    """
    known = contract_named(contract)
    if isinstance(adapter, (str, Path)):
        adapter = Adapter.load(Path(adapter))
    surroundings = Surroundings.of(Target.parse(target), known, adapter or Adapter())
    session = Session(surroundings, {**known.configuration, **configuration})
    yield session
    if not session.over:
        session.last_call()
