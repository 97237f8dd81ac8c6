"""Collecting what claims decide about histories, and turning breaches into findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from harness.contracts.records import Contract, Level, described
from harness.findings import Finding, Kind
from harness.history import Recorded

__all__ = ["REAL_THREADS", "StressJudge", "shown"]

REAL_THREADS = "real threads: it may need several runs to show again"
"""What a finding of real threads ends with: the command that shows it again may have to be repeated."""
_MOST_EVIDENCE = 6


class StressJudge:
    """Counts observations per clause and keeps the first breach of each."""

    def __init__(self, contract: Contract, stage: str) -> None:
        self.checked: Counter[str] = Counter()
        self.breaches: Counter[str] = Counter()
        self.reproduce = ""
        self.scenario = ""
        self.keep_latest = False
        self._binding = 0  # breaches of clauses that are no mere advice
        self._contract = contract
        self._stage = stage
        self._first: dict[str, Finding] = {}
        self._notes = (REAL_THREADS,) if stage == "stress" else ()

    def check(self, clause: str, holds: bool, message: str = "", *evidence: Any) -> bool:
        """Count one observation; record a breach with the operations that show it."""
        self.checked[clause] += 1
        if not holds:
            self.record(clause, Kind.BROKEN_CLAUSE, message, _lines(evidence))
        return holds

    def record(self, clause: str, kind: Kind, message: str, evidence: Iterable[str], where: str = "") -> None:
        """Record a breach; only the first of each clause is kept, the others are counted."""
        self.breaches[clause] += 1
        record = self._contract.clause(clause) if clause else None
        advisory = record is not None and record.level is Level.SHOULD
        self._binding += not advisory
        if clause in self._first and not self.keep_latest:
            return
        self._first[clause] = Finding(
            kind=kind,
            clause=clause,
            message=f'{message} (scenario "{self.scenario}")',
            stage=self._stage,
            where=where,
            evidence=(*([record.norm] if record else []), *evidence, *self._notes),
            reproduce=self.reproduce,
            advisory=advisory,
        )

    def judge_round(self, claims: Iterable[Callable[[Any, Any], None]], played: Any) -> None:
        """Let claims judge a round, in order, until one is broken: what follows from it is no news."""
        for claim in claims:
            before = self._binding
            claim(played, self)
            if self._binding > before:
                return

    def latest(self, clause: str) -> Finding:
        """The breach that is kept for a clause."""
        return self._first[clause]

    def findings(self) -> tuple[Finding, ...]:
        """One finding per broken clause, in the contract's order."""
        order = ["", *(clause.id for clause in self._contract.clauses)]
        return tuple(self._first[clause] for clause in order if clause in self._first)


def _lines(evidence: tuple[Any, ...]) -> list[str]:
    recorded = [item for item in evidence if isinstance(item, Recorded)]
    start = min((item.called for item in recorded), default=0)
    lines = [shown(item, start) if isinstance(item, Recorded) else str(item) for item in evidence]
    more = len(lines) - _MOST_EVIDENCE
    return lines[:_MOST_EVIDENCE] + ([f"and {more} more"] if more > 0 else [])


def shown(item: Recorded, start: int) -> str:
    """One operation on one line, times in milliseconds since `start`."""
    began = (item.called - start) / 1e6
    if item.returned is None:
        return f"{call_of(item)} never returned; called at {began:.3f} ms"
    ended = (item.returned - start) / 1e6
    when = f", {began:.3f} to {ended:.3f} ms" if round(ended, 3) else ""  # virtual time need not pass
    return f"{call_of(item)} -> {described(item.response)}{when}"


def call_of(item: Recorded) -> str:
    """Who called what with what."""
    arguments = ", ".join(repr(getattr(value, "value", value)) for value in item.arguments)
    return f"[{item.client}] {item.operation}({arguments})"
