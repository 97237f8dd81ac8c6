"""job-harness: a concurrency verification and stress harness for asynchronous-job systems.

Point it at an implementation, name the contract that it claims to keep, and it answers OK,
VIOLATION or UNKNOWN. Nothing is imported here, so that pytest can load the plugin cheaply:

* `harness.testing` is for people's own tests, `harness.gate` for programs, `harness.cli` for shells;
* `harness.contracts` says what implementations must do, and `harness.targets` reaches them;
* `harness.stateful` and `harness.stress` run them, `harness.control` supplies private worlds,
  `harness.history` keeps what clients saw;
* `harness.stages` are the steps of a gate, each run in a process of its own by `harness.isolation`;
* `harness.findings` is what a run says, `harness.report` how it is shown.

The words, here and in every report:

implementation, target
    what is held against a contract, and how it is reached
contract, clause
    what implementations must do; one numbered norm of it
operation
    a client-visible call, one invocation with its response (or pending)
model
    the executable sequential specification; its *state* is an immutable value
job, worker
    a record of the ledger; a pool thread of an implementation
strand, role
    one line of control of a scenario, and the part that it plays (submitter, runner, poller, waiter)
scenario, round
    setup, roles, claims and budget; one playing of it
claim
    what a scenario asserts: always, or *sometimes* (else its green would mean nothing)
history
    what clients saw: invocations and responses, in real time
program
    a sequence of calls in one strand
finding, verdict
    evidence against a clause; OK, VIOLATION or UNKNOWN
mutant
    an implementation with one planted bug, naming the clause that it breaks
canary
    a bug planted around the user's own implementation, which a gate must find before it may be green
seed, budget
    the number from which choices follow; the limit on effort
"""

from __future__ import annotations

from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    """`harness.explore`, imported when it is first asked for: the plugin must load cheaply."""
    if name == "explore":
        import importlib

        return importlib.import_module("harness.explore")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
