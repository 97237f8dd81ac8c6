"""What a foreign callable takes, and how our parameters go in without being mistaken for others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

__all__ = ["Passing", "keywords", "passing"]


class Passing(NamedTuple):
    """Which of our parameters a callable gets, in which order, and whether by keyword.

    `unclear` says why this cannot be known; empty if it can.
    """

    order: tuple[str, ...]
    by_keyword: bool = False
    unclear: str = ""


class _Any(frozenset[str]):
    """The keywords of a callable that takes any."""

    def __contains__(self, item: object) -> bool:
        return True


def keywords(function: Callable[..., Any] | None) -> frozenset[str]:
    """Names that may be passed by keyword; all of them for a `**kwargs`, none if unknowable."""
    parameters = _parameters(function) if function is not None else None
    if parameters is None:
        return frozenset()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return _Any()
    return frozenset(
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    )


def passing(function: Callable[..., Any], ours: Sequence[str], creates: bool) -> Passing:
    """How to hand over our parameters where no adapter says it.

    By position, whatever the names are, unless a name of ours stands in another place: then names
    decide. An operation that `creates` may take our last parameters only. Where neither position nor
    name settles it, nothing is guessed: a request id in a payload's place would not be noticed.
    """
    parameters = _parameters(function)
    if parameters is None or any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return Passing(tuple(ours))
    theirs = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    if parameters and all(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return Passing(tuple(ours), by_keyword=True)
    room = min(len(theirs), len(ours)) if creates else len(ours)
    order = tuple(ours[len(ours) - room :])
    places = {parameter.name: place for place, parameter in enumerate(theirs)}
    named = [parameter.name for parameter in parameters if parameter.name in ours]
    if any(name not in order or places.get(name, -1) != order.index(name) for name in named):
        return _by_name(parameters, ours, named, creates)
    needed = sum(parameter.default is parameter.empty for parameter in theirs)
    if creates and 0 < needed < room and not named:
        return Passing(order, unclear=f"{theirs[needed].name} is optional, and no name is one of ours")
    return Passing(order)


def _by_name(
    parameters: Sequence[inspect.Parameter], ours: Sequence[str], named: Sequence[str], creates: bool
) -> Passing:
    """Our parameters by their names; unclear if one that must be passed is not ours, or has no place."""
    order = tuple(named)
    others = [
        parameter.name
        for parameter in parameters
        if parameter.name not in ours
        and parameter.default is parameter.empty
        and parameter.kind is not parameter.VAR_KEYWORD
    ]
    left_out = [name for name in ours if name not in named]
    if others:
        return Passing(order, unclear=f"{others[0]} is none of ours")
    if left_out and (not creates or left_out != [ours[0]]):
        return Passing(order, unclear=f"there is no {left_out[-1]}")
    by_keyword = all(parameter.kind is not parameter.POSITIONAL_ONLY for parameter in parameters)
    return Passing(order, by_keyword)


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters of a callable; None if they cannot be known.

    Those of methods are remembered: explorers bind new instances of one class thousands of times.
    """
    plain = getattr(function, "__func__", None)
    if inspect.isfunction(plain) and plain is not function and inspect.ismethod(function):
        known = _parameters_of_method(plain)
        return None if known is None else list(known)
    return _signature(function)


@lru_cache(maxsize=256)
def _parameters_of_method(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...] | None:
    found = _signature(function)
    if not found:
        return None
    takes_self = found[0].kind is not inspect.Parameter.VAR_POSITIONAL
    return tuple(found[1:] if takes_self else found)


def _signature(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
