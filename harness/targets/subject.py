"""An implementation bound to a contract: calls on model values, and what it is capable of.

A `Binding` knows the factory, the adapter and the contract; it makes `Subject`s, one implementation
instance each, whose `calls` take and return model values. What a target cannot do is found here
once, and named, so that clauses are skipped visibly and never passed by silence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from harness.contracts.adapter import Adapter
from harness.contracts.records import Codec, Contract, Malformed, Operation, Raised
from harness.control.task import TaskKilled
from harness.control.virtual import NeedsThreads, WouldBlock
from harness.findings import Kind, UsageError
from harness.targets.agreement import check_fields, check_ours, mapped_in_vain, near, no_such_bound
from harness.targets.locate import innermost_line, told
from harness.targets.made_of import packages_in, packages_of
from harness.targets.signature import Passing, keywords, passing

__all__ = ["Binding", "NotMade", "Subject"]

__tracebackhide__ = True  # what is wrong with a target is said in one sentence

CONFIGURE = "configure"


class NotMade(Exception):
    """An implementation that could be made before, and now cannot: evidence against it, no usage error.

    `kind` is what sort of evidence it is, `where` the innermost line that raised.
    """

    def __init__(self, message: str, error: BaseException) -> None:
        super().__init__(message)
        self.kind = Kind.HANG if isinstance(error, WouldBlock) else Kind.EXCEPTION
        self.where = innermost_line(error)


class Subject:
    """One implementation instance. `calls` maps an operation to a callable on model values."""

    def __init__(self, instance: Any, calls: dict[str, Callable[..., Any]]) -> None:
        self.instance = instance
        self.calls = calls

    def call(self, operation: str, arguments: tuple[Any, ...]) -> Any:
        """Call an operation; an exception comes back as `Raised`. Raises Malformed."""
        return self.calls[operation](*arguments)


class Binding:
    """Binds a factory to a contract through an adapter.

    `missing` maps the capabilities that the target lacks to why (operations, configuration names,
    fields); `refused` the configuration values that it does not accept. `examine` fills both. `packages`
    are those that the factory and what it makes come from.
    """

    def __init__(
        self,
        contract: Contract,
        factory: Callable[..., Any],
        adapter: Adapter,
        record: Callable[[dict[str, Any]], Any] = dict,
    ) -> None:
        self.contract = contract
        self.adapter = adapter
        self.codec: Codec = contract.codec(adapter, record)
        self.missing: dict[str, str] = {}
        self.refused: dict[tuple[str, int], str] = {}
        self.packages = packages_of(factory)
        self._factory = factory
        self._keywords = keywords(factory)
        self._examined = False
        self._count = 0
        self._made: set[frozenset[tuple[str, int]]] = set()

    def create(self, configuration: Mapping[str, int], keep: Callable[[Any], None] | None = None) -> Subject:
        """A new instance with these bounds; `keep` is handed every raw answer before it is read.

        If the factory or its `configure` raises: UsageError while examining and for bounds that were
        never accepted, NotMade if they were accepted before.
        """
        try:
            instance = self._instance(configuration)
        except (Exception, SystemExit, WouldBlock) as error:
            shown = ", ".join(f"{name}={value}" for name, value in self._wanted(configuration).items())
            ended = "never returned" if isinstance(error, WouldBlock) else f"raised {told(error)}"
            said = f"making an implementation with {shown} {ended}"
            if self._examined and not self._refuses(configuration):
                raise NotMade(f"{said}, after {self._count} that were made", error) from error
            raise UsageError(said) from error
        return Subject(instance, self._bind(instance, keep))

    def _wanted(self, configuration: Mapping[str, int]) -> dict[str, Any]:
        """The bounds by their foreign names, in the implementation's units."""
        return {
            self.adapter.configuration.get(name, name): self.codec.encode(name, value)
            for name, value in configuration.items()
            if self.adapter.configuration.get(name, name)
        }

    def _instance(self, configuration: Mapping[str, int]) -> Any:
        wanted = self._wanted(configuration)
        now = {name: value for name, value in wanted.items() if name in self._keywords}
        instance = self._factory(**now)
        if not self._examined:
            self.packages |= packages_in(instance)
        configure = self._configure(instance)
        later = {name: value for name, value in wanted.items() if name in keywords(configure)}
        if configure is not None and set(later) - set(now):
            configure(**later)  # also what the factory took: defaults would take its place
        self._count += 1
        self._made.add(frozenset(configuration.items()))
        return instance

    def _refuses(self, configuration: Mapping[str, int]) -> bool:
        """Whether it is these bounds that cannot be had: never yet, not now, and others can."""
        if frozenset(configuration.items()) in self._made:
            return False
        try:
            self._instance({name: self.contract.configuration[name] for name in configuration})
        except (Exception, SystemExit, WouldBlock):
            return False
        try:
            self._instance(configuration)
        except (Exception, SystemExit, WouldBlock):
            return True
        return False

    def examine(self) -> None:
        """Make the first instances and look at what they offer.

        Raises UsageError when none can be made, required operations are absent, or answers cannot be
        read at all.
        """
        check_ours(self.contract, self.codec, self.adapter, CONFIGURE)
        answers: list[Any] = []
        subject = self.create(self.contract.configuration, answers.append)
        self._check_required(subject)
        for operation in self.contract.operations:
            if operation.name not in subject.calls:
                self.missing[operation.name] = f"no operation {operation.name}"
        self._examine_configuration(subject)
        self._examine_answers(subject, answers)
        check_fields(
            self.contract,
            self.codec,
            self.adapter,
            lambda keep: self.create(self.contract.configuration, keep),
        )
        if self.refused:
            self.create(
                self.contract.configuration
            )  # refused for their own sake, or is it the last one made?
        self._examined = True

    def _check_required(self, subject: Subject) -> None:
        """What is mapped must be there, and what the contract cannot do without; raises UsageError."""
        offered = ", ".join(_public_calls(subject.instance)) or "nothing"
        kind = type(subject.instance).__name__
        there = {*subject.calls, *([CONFIGURE] if self._configure(subject.instance) else [])}
        for name, theirs in self.adapter.operations.items():
            if theirs and name not in there:
                raise self.adapter.mistake(
                    f"[operations] {name} = {theirs!r}, and {kind} offers no such operation but {offered}"
                    f"{near(theirs, dir(subject.instance))}"
                )
        absent = [op.name for op in self.contract.operations if op.required and op.name not in subject.calls]
        if absent:
            raise UsageError(
                f"{kind} has no {' and no '.join(absent)} (it offers {offered}); "
                "map their names under [operations] of an adapter file and pass it with --adapter"
            )

    def _configure(self, instance: Any) -> Callable[..., Any] | None:
        configure = getattr(instance, self.adapter.foreign_operation(CONFIGURE) or CONFIGURE, None)
        return configure if callable(configure) else None

    def _examine_configuration(self, subject: Subject) -> None:
        later = keywords(self._configure(subject.instance))
        for name, values in self.contract.configuration_domains.items():
            foreign = self.adapter.configuration.get(name, name)
            if not foreign or (foreign not in self._keywords and foreign not in later):
                if self.adapter.configuration.get(name):
                    raise no_such_bound(self.adapter, name, self._keywords | later, CONFIGURE)
                self.missing[name] = f"neither the factory nor {CONFIGURE} takes {foreign or name}"
                continue
            for value in values:
                try:
                    self.create({**self.contract.configuration, name: value})
                except UsageError as error:
                    self.refused[(name, value)] = str(error)

    def _examine_answers(self, subject: Subject, answers: list[Any]) -> None:
        """Read one answer of each kind. Exceptions are left to the stages: they may be the bug."""
        creation = self.contract.operation(self.contract.creates)
        asked = creation.name
        try:
            created = subject.call(creation.name, tuple(f"{p.domain.prefix}-0" for p in creation.parameters))
            job_id = None if isinstance(created, Raised) else self.contract.job_of(created)
            asked = self.contract.probe
            answers.clear()
            seen = None if job_id is None else subject.call(self.contract.probe, (job_id,))
        except Malformed as error:
            slip = mapped_in_vain(self.codec, self.adapter, asked, answers[-1])
            if slip and not error.advice:
                raise self.adapter.mistake(slip) from error
            raise UsageError(str(error)) from error
        except WouldBlock:
            return
        if answers and seen is not None and not isinstance(seen, Raised):
            for capability in self.codec.missing(answers[-1]):
                name = capability.rpartition(".")[2]
                theirs = self.adapter.fields.get(name) or name
                self.missing[capability] = f"{self.contract.probe} shows no {theirs}"

    def _bind(self, instance: Any, keep: Callable[[Any], None] | None) -> dict[str, Callable[..., Any]]:
        calls = {}
        for operation in self.contract.operations:
            method = self._method(instance, operation)
            if method is not None:
                calls[operation.name] = self._bound(operation, method, keep)
        return calls

    def _method(self, instance: Any, operation: Operation) -> Callable[..., Any] | None:
        foreign = self.adapter.foreign_operation(operation.name)
        if not foreign or not hasattr(instance, foreign):
            return None
        if not operation.parameters and not callable(getattr(instance, foreign)):
            return lambda: getattr(instance, foreign)  # a property or plain attribute
        method = getattr(instance, foreign)
        return method if callable(method) else None

    def _bound(
        self, operation: Operation, method: Callable[..., Any], keep: Callable[[Any], None] | None
    ) -> Callable[..., Any]:
        names = [parameter.name for parameter in operation.parameters]
        order, by_keyword, _ = self._passing(operation, method, names)
        encode, decode = self.codec.encode, self.codec.decoder(operation.name)
        plain = (
            names == ["job_id"] and order == ("job_id",) and not by_keyword
        )  # ids go through as they are: the most frequent calls
        picks = [(names.index(name), name) for name in order]

        def call(*arguments: Any) -> Any:
            try:
                if plain:
                    answer = method(arguments[0])
                elif by_keyword:
                    answer = method(**{name: encode(name, arguments[index]) for index, name in picks})
                else:
                    answer = method(*[encode(name, arguments[index]) for index, name in picks])
            except _PASSING:
                raise
            except BaseException as error:
                spoken = self.codec.exceptional(operation.name, error)
                return spoken[0] if spoken else _raised(error)
            if keep is not None:
                keep(answer)
            return _read(decode, answer)

        return call

    def _passing(self, operation: Operation, method: Callable[..., Any], names: list[str]) -> Passing:
        """Which of our parameters the method takes, and how."""
        creates = operation.name == self.contract.creates
        declared = self.adapter.arguments.get(operation.name)
        for name in declared or ():
            if name not in names:
                there_are = ", ".join(names)
                raise self.adapter.mistake(f"{operation.name} has no parameter {name!r}; it has {there_are}")
        found = Passing(declared) if declared is not None else passing(method, names, creates)
        if found.unclear:
            raise UsageError(
                f"{self.adapter.foreign_operation(operation.name)} does not show how it takes "
                f"{' and '.join(names)}: {found.unclear}; an adapter says which it takes, in its order: "
                f"{operation.name} = {json.dumps(names)} under [arguments]"
            )
        if creates and names[0] not in found.order:
            self.missing[names[0]] = f"{operation.name} takes no {names[0]}"
            self.codec.silence(names[0])
        return found


def _public_calls(instance: Any) -> list[str]:
    """What an instance offers to be called; looking at it may run its code, which may do anything."""
    names = []
    for name in dir(instance):
        if not name.startswith("_"):
            with suppress(Exception):
                names += [name] * callable(getattr(instance, name))
    return names


_PASSING = (WouldBlock, NeedsThreads, TaskKilled)
"""What says nothing about the call: it is for whoever runs it."""


def _raised(error: BaseException) -> Raised:
    kind, _, rest = told(error).partition(": ")
    text, _, _ = rest.rpartition(" (")
    return Raised(kind, text, innermost_line(error))


def _read(decode: Callable[[Any], Any], answer: Any) -> Any:
    """Read an answer; its attributes and comparisons are the implementation's code, and may do anything."""
    try:
        return decode(answer)
    except (Malformed, *_PASSING):
        raise
    except BaseException as error:
        raise Malformed(f"reading the answer raised {told(error)}") from error
