"""The private twin of a function: the same code in the controlled world.

A test or a program is imported by others in the ordinary way; what is explored is its twin in a
private import, where `threading` is ours and accesses are announced. Functions at module or class
level are found by name; nested ones and lambdas by their code, with the closure they have.
"""

from __future__ import annotations

import inspect
import sys
import unittest
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from harness.control.world import World
from harness.explore.program import Program
from harness.findings import UsageError

__all__ = ["private_function", "private_program", "private_test"]


def private_program(world: World, program: Program) -> Program:
    """The program with all its functions replaced by their twins; raises UsageError."""
    return replace(
        program,
        setup=private_function(world, program.setup),
        tasks=tuple(private_function(world, task) for task in program.tasks),
        check=private_function(world, program.check) if program.check else None,
        invariant=private_function(world, program.invariant) if program.invariant else None,
        task_names=tuple(program.name_of(place) for place in range(len(program.tasks))),
    )


def private_test(world: World, test: Callable[..., Any]) -> Callable[[], Any]:
    """The twin of a test; a method's is called with a new instance of its class. Raises UsageError."""
    twin = private_function(world, test)
    function = getattr(test, "func", test)
    parameters = [*inspect.signature(function).parameters]
    given = getattr(test, "keywords", {})
    lacking = [name for name in parameters if name not in given]
    if not lacking:
        return twin
    path, _, _ = function.__qualname__.rpartition(".")
    owner: Any = private_module(world, function.__module__)
    for part in path.split(".") if path else ():
        owner = getattr(owner, part, None)
    if lacking != ["self"] or not isinstance(owner, type):
        raise UsageError(
            f"{function.__qualname__} takes {', '.join(lacking)}: an explored test makes what it needs "
            "itself, anew in every execution; fixtures would be shared between executions"
        )
    if issubclass(owner, unittest.TestCase) or hasattr(owner, "setup_method"):
        raise UsageError(
            f"{path} prepares its tests with setUp or setup_method, which an explored test does not call; "
            "let the test make what it needs, anew in every execution"
        )
    return lambda: twin(owner())


def private_function(world: World, function: Any) -> Callable[..., Any]:
    """The twin of a function, bound method of a module's object, partial or class; raises UsageError."""
    if isinstance(function, partial):
        return partial(private_function(world, function.func), *function.args, **function.keywords)
    if isinstance(function, MethodType) and isinstance(function.__self__, type):
        owner: Any = private_function(world, function.__self__)
        return getattr(owner, function.__name__)  # type: ignore[no-any-return]
    name, path = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if name is None or not path or isinstance(function, MethodType):
        raise UsageError(
            f"{function!r} is no plain function or class, so its code cannot be put under control"
        )
    module = private_module(world, name)
    if module is None:
        return function  # type: ignore[no-any-return]
    if "<" not in path:
        twin: Any = module
        for part in path.split("."):
            twin = getattr(twin, part, None)
        if twin is not None:
            return getattr(twin, "__wrapped__", twin)  # type: ignore[no-any-return]
    if isinstance(function, type):
        raise UsageError(f"class {path} is local to a function; move it to the top of its module")
    return _rebuilt(world, module, function)


def private_module(world: World, name: str) -> ModuleType | None:
    """The twin of an imported module; None if the module is not the user's own code.

    That of a script has the name of its file: what a script does as a script, it does once.
    """
    source = getattr(sys.modules.get(name), "__file__", None)
    if name == "__main__" and source is not None:
        name = Path(source).stem
    if name in world.modules:
        return world.modules[name]
    if source is None or not world.is_own(name, Path(source)):
        return None
    return world.load_as(name, Path(source))


def _rebuilt(world: World, module: ModuleType, function: FunctionType) -> FunctionType:
    """A nested function with the code of the private import and its own closure, itself made private."""
    wanted = function.__code__
    for code in _codes(world.codes[module.__name__]):
        if code.co_qualname == wanted.co_qualname and code.co_firstlineno == wanted.co_firstlineno:
            cells = dict(zip(wanted.co_freevars, function.__closure__ or (), strict=True))
            closure = tuple(_private_cell(world, cells[name]) for name in code.co_freevars)
            twin = FunctionType(code, module.__dict__, function.__name__, function.__defaults__, closure)
            twin.__kwdefaults__ = function.__kwdefaults__
            twin.__qualname__ = function.__qualname__
            return twin
    raise UsageError(
        f"the source of {wanted.co_qualname} in {Path(wanted.co_filename).name} is not what was imported; "
        "save the file and run again"
    )


def _private_cell(world: World, cell: CellType) -> CellType:
    try:
        content = cell.cell_contents
    except ValueError:
        return cell
    is_global_class = isinstance(content, type) and "<" not in content.__qualname__
    if is_global_class or isinstance(content, FunctionType):
        return CellType(private_function(world, content))
    return cell


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
