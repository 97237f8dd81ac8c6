"""One sequential program, running: every answer is held against the model as it comes.

A `Session` is what the generated machine, the directed programs and pasted regression tests drive.
It also keeps the program as text, so that whatever breaks can be shown as something a person can
run. Breaking a clause raises `ContractBroken`, an AssertionError.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar
from uuid import UUID

from harness.contracts.records import BLOCKED, Call, Given, Malformed, Operation, Raised, described
from harness.control.virtual import NeedsThreads, WouldBlock
from harness.findings import Kind
from harness.stateful.surroundings import Surroundings
from harness.targets.agreement import near
from harness.targets.subject import NotMade

__all__ = ["ContractBroken", "Session"]

__tracebackhide__ = True  # of a pasted program pytest shows the line that breaks, not how we noticed
_LONGEST = 40  # of a string of one character that is written out
_MOVES_OF_ONE_WAIT = 3  # one timed wait, and a second or third where rounding left a remainder


class ContractBroken(AssertionError):
    """An answer that the contract does not allow. One subclass per clause, so that shrinking keeps it."""

    _by_clause: ClassVar[dict[str, type[ContractBroken]]] = {}

    def __init__(self, clause: str, message: str, kind: Kind, session: Session, where: str = "") -> None:
        super().__init__(f"{clause}: {message}" if clause else message)
        self.clause = clause
        self.message = message
        self.kind = kind
        self.where = where
        self.session = session

    @classmethod
    def of(cls, clause: str) -> type[ContractBroken]:
        """The class for breaches of this clause."""
        if clause not in cls._by_clause:
            cls._by_clause[clause] = type(f"Broken_{clause.replace('-', '_')}", (cls,), {})
        return cls._by_clause[clause]


class Session:
    """A system under test with the model beside it.

    `states` are the model states still possible; `ids` the ids given so far, in order; `lines` and
    `steps` the program so far; `checked` how often each clause was decided.
    """

    def __init__(self, surroundings: Surroundings, configuration: Mapping[str, int]) -> None:
        self._surroundings = surroundings
        self.contract = surroundings.binding.contract
        self._model = self.contract.model
        self.configuration = dict(configuration)
        unset = surroundings.binding.missing
        self.states = self._model.initial(
            {name: None if name in unset else value for name, value in configuration.items()}
        )
        self.ids: list[Any] = []
        self.lines: list[str] = []
        self.steps: list[tuple[Any, ...]] = []  # the same in the form of a directed program
        self.checked: Counter[str] = Counter()
        self.operations = 0
        self.over = False  # a blocked or failed call ends a program
        self.broken: ContractBroken | None = None
        self._names: dict[Any, str] = {}
        self._drawn: set[str] = set()
        self._calling = ""
        self._about_slots = {self.contract.creates} | {
            operation.name for operation in self.contract.operations if not operation.parameters
        }
        self._after_failure = False  # we broke something on purpose: what follows is about recovery
        self._answers: list[Any] = []
        self._stable: list[tuple[Operation, Any, Any, str]] = []
        surroundings.reset()
        try:
            self._subject = surroundings.make(configuration, self._answers.append)
        except NotMade as error:  # no clause is about being made
            self._break("", str(error), error.kind, error.where)

    def __getattr__(self, name: str) -> Any:
        """Operations of the contract by name, so that programs read like programs."""
        if name.startswith("_"):
            raise AttributeError(name)
        operations = [operation.name for operation in self.contract.operations]
        if name not in operations:
            there_are = ", ".join(operations)
            said = f"{self.contract.name} has no operation {name!r}; there are: {there_are}"
            raise AttributeError(said + near(name, operations))
        return lambda *arguments: self.call(name, *arguments)

    def offers(self, operation: str) -> bool:
        """Whether the implementation has this operation."""
        return operation in self._subject.calls

    def unknown_id(self) -> Any:
        """An id of the implementation's own type that it never gave."""
        if not self.ids or isinstance(self.ids[0], str):
            return "never-issued"
        if isinstance(self.ids[0], UUID):
            return UUID(int=0)
        return max(self.ids) + 1_000_000

    def fresh(self, prefix: str) -> str:
        """A value never used before in this program."""
        value = f"{prefix}-{len(self._drawn) + 1}"
        self._drawn.add(value)
        return value

    def call(self, name: str, *arguments: Any) -> Any:
        """Call an operation, judge its answer, and return it; raises ContractBroken."""
        operation = self.contract.operation(name)
        arguments = tuple(
            _from_choices(parameter.domain.values, value)
            for parameter, value in zip(operation.parameters, arguments, strict=True)
        )
        call = Call(name, arguments)
        self._calling = name
        self._write(operation, arguments)
        self.steps.append((name, *self._symbolic(operation, arguments)))
        clock = self._surroundings.clock
        began, moves = (clock.now_ms, clock.moves) if clock else (0, 0)
        if clock:
            clock.begin_call()
        started = time.perf_counter()
        response = self._invoke(call)
        really_ms = (time.perf_counter() - started) * 1000
        elapsed = clock.now_ms - began if clock else None
        self.operations += 1
        failed = self._surroundings.take_failure()
        if failed and (isinstance(response, Raised) or self.contract.job_of(response) is None):
            self._after_failure = True
            self.states = tuple(self._model.failed(state, call) for state in self.states)
            self._note("raised MemoryError, made to fail by the harness")
            return response
        if clock and operation.parks and clock.moves > moves:
            woken = clock.moves - moves
            self.checked[operation.parks] += 1
            if woken > _MOVES_OF_ONE_WAIT:
                self._break(
                    operation.parks, f"{name} woke {woken} times although nothing happened: it re-polls"
                )
        if operation.parks and elapsed == 0 and really_ms >= 1:
            self._suspect_real_time(call, response, really_ms)
        self._judge(call, response, elapsed)
        self._check_stable(call)
        if operation.stable and response is not BLOCKED and self._answers:
            self._stable.append((operation, self._answers[-1], response, self._shown_call(call)))
        self._learn(name, response)
        if elapsed and response is not BLOCKED:
            self.states = tuple(self._model.advance(state, elapsed) for state in self.states)
        return response

    def advance(self, milliseconds: int) -> None:
        """Let virtual time pass."""
        assert self._surroundings.clock is not None
        self.lines.append(f"{self.contract.name}.advance({milliseconds})")
        self.steps.append(("advance", milliseconds))
        self._surroundings.clock.advance_ms(milliseconds)
        self.states = tuple(self._model.advance(state, milliseconds) for state in self.states)

    def step_wall_clock(self, milliseconds: int) -> None:
        """Step the wall clock; nothing in a contract may depend on it."""
        assert self._surroundings.clock is not None
        self.lines.append(f"{self.contract.name}.step_wall_clock({milliseconds})")
        self.steps.append(("step wall clock", milliseconds))
        self._surroundings.clock.step_wall_ms(milliseconds)

    def fail_allocation(self) -> None:
        """Make the next lock allocation inside a call raise MemoryError."""
        self.lines.append(f"{self.contract.name}.fail_allocation()")
        self.steps.append(("fail allocation",))
        self._surroundings.arm_failure()

    def audit(self) -> None:
        """Look at every job ever made."""
        for job_id in tuple(self.ids):
            self.call(self.contract.probe, job_id)

    def last_call(self) -> None:
        """End the program with a call that must not return, if the model knows one."""
        calls = self.contract.last_calls(self.states[0])
        if calls and self.offers(calls[0].operation) and self._surroundings.clock:
            self.call(calls[0].operation, *calls[0].arguments)
            self.over = True

    def _invoke(self, call: Call) -> Any:
        self._answers.clear()
        self._surroundings.enter()
        try:
            return self._subject.call(call.operation, call.arguments)
        except WouldBlock:
            self.over = True
            return BLOCKED
        except Malformed as error:
            self._break(
                self._model.owner(call.operation), f"{call.operation}: {error}", Kind.MALFORMED_ANSWER
            )
        finally:
            self._surroundings.leave()

    def _suspect_real_time(self, call: Call, response: Any, really_ms: float) -> None:
        """Raise NeedsThreads for a wait that would be right, had its budget passed on the clock we move."""
        budgets = [value for value in call.arguments if isinstance(value, int) and 0 < value <= really_ms]
        if any(self._allowed(call, response, 0)) or not budgets:
            return
        if any(any(self._allowed(call, response, budget)) for budget in budgets):
            raise NeedsThreads(f"{call.operation} waits in real time, in code that is not the target's own")

    def _allowed(self, call: Call, response: Any, elapsed_ms: int) -> list[bool]:
        return [bool(self._model.judge(state, call, response, elapsed_ms).states) for state in self.states]

    def _judge(self, call: Call, response: Any, elapsed: int | None) -> None:
        rulings = [self._model.judge(state, call, response, elapsed) for state in self.states]
        states = tuple(dict.fromkeys(after for ruling in rulings for after in ruling.states))
        if states:
            self.states = states
            for ruling in rulings:
                if ruling.states:
                    self.checked.update(dict.fromkeys(ruling.clauses, 1))
                    break
            return
        ruling = rulings[0]
        said = f"{self._shown_call(call)} {_said(response)}; the contract allows {ruling.expected}"
        kind = (
            Kind.EXCEPTION
            if isinstance(response, Raised)
            else Kind.HANG
            if response is BLOCKED
            else Kind.BROKEN_CLAUSE
        )
        self._break(ruling.clauses[0], said, kind, response.where if isinstance(response, Raised) else "")

    def _check_stable(self, call: Call) -> None:
        """Answers returned earlier must read as they did."""
        for operation, answer, response, shown in self._stable:
            now = self._subject_decoder(operation)(answer)
            if now != response:
                self._break(
                    operation.stable,
                    f"what {shown} had returned changed from {described(response)} to {described(now)} "
                    f"during {self._shown_call(call)}",
                )
            self.checked[operation.stable] += 1
        del self._stable[:-4]

    def _subject_decoder(self, operation: Operation) -> Any:
        return self._surroundings.binding.codec.decoder(operation.name)

    def _learn(self, name: str, response: Any) -> None:
        if name != self.contract.creates or isinstance(response, Raised):
            return
        job_id = self.contract.job_of(response)
        if job_id is not None:
            self.ids.append(job_id)
            self._names[job_id] = f"job{len(self.ids)}"
            self.lines[-1] = f"job{len(self.ids)} = {self.lines[-1]}.job_id"

    def _write(self, operation: Operation, arguments: tuple[Any, ...]) -> None:
        self.lines.append(f"{self.contract.name}.{operation.name}({self._shown(operation, arguments)})")

    def _symbolic(self, operation: Operation, arguments: tuple[Any, ...]) -> list[Any]:
        """Arguments as a directed program has them: jobs by number, fresh values left out."""
        symbols: list[Any] = []
        paired = tuple(zip(operation.parameters, arguments, strict=True))
        given = any(p.domain.kind == "fresh" and value not in self._drawn for p, value in paired)
        for parameter, value in paired:
            if parameter.domain.kind == "job":
                symbols.append(self.ids.index(value) if value in self.ids else "unknown")
            elif parameter.domain.kind != "fresh":
                symbols.append(value)
            elif given:
                symbols.append(Given(value))
        return symbols

    def _shown_call(self, call: Call) -> str:
        return f"{call.operation}({self._shown(self.contract.operation(call.operation), call.arguments)})"

    def _shown(self, operation: Operation, arguments: Iterable[Any]) -> str:
        return ", ".join(
            self._names.get(value, f"{self.contract.name}.unknown_id()")
            if parameter.domain.kind == "job"
            else _literal(getattr(value, "value", value))
            for parameter, value in zip(operation.parameters, arguments, strict=True)
        )

    def _note(self, comment: str) -> None:
        self.lines[-1] += f"  # {comment}"

    def _break(self, clause: str, message: str, kind: Kind = Kind.BROKEN_CLAUSE, where: str = "") -> Any:
        self.over = True
        if self._after_failure and self._calling in self._about_slots:
            clause = self.contract.recovery
        if self.lines:
            self._note(f"breaks {clause}")
        self.broken = ContractBroken.of(clause)(clause, message, kind, self, where)
        raise self.broken


def _from_choices(choices: tuple[Any, ...], value: Any) -> Any:
    """An enum member that a plain value names, where a parameter ranges over such members."""
    for choice in choices:
        if value == getattr(choice, "value", choice):
            return choice
    return value


def _literal(value: Any) -> str:
    """A value as Python source, strings in double quotes."""
    if isinstance(value, str) and len(value) > _LONGEST and len(set(value)) == 1:
        return f"{json.dumps(value[0])} * {len(value)}"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _said(response: Any) -> str:
    if isinstance(response, Raised):
        return (
            f"raised {response.type}: {response.message}" if response.message else f"raised {response.type}"
        )
    return "never returned" if response is BLOCKED else f"answered {described(response)}"
