"""What is known of builtin containers: their types, and which of their methods read or write.

Everything is decided by type, once per type; the objects themselves are never asked, because
asking may run code of the user's. Sources: the data model and the library reference of Python 3.11 to 3.13.
"""

from __future__ import annotations

import gc
from array import array
from collections import defaultdict, deque
from types import FunctionType, MappingProxyType, MemberDescriptorType, ModuleType
from typing import Any

from harness.control.task import ANY

__all__ = [
    "KEYED_METHODS",
    "METHODS_THAT_READ",
    "METHODS_THAT_WRITE",
    "Contents",
    "Items",
    "Methods",
    "Steppers",
    "fills",
    "place_of",
    "place_of_attribute",
    "place_of_item",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


METHODS_THAT_WRITE = _words(
    "__delitem__ __iadd__ __ior__ __setitem__ add append appendleft byteswap clear difference_update discard "
    "extend extendleft frombytes fromlist insert intersection_update move_to_end pop popitem popleft remove "
    "reverse rotate setdefault sort subtract symmetric_difference_update update"
)
METHODS_THAT_READ = _words(
    "__contains__ __getitem__ __iter__ __len__ copy count difference elements get index intersection "
    "isdisjoint issubset issuperset most_common symmetric_difference tobytes tolist total union"
)
KEYED_METHODS = _words("__contains__ __delitem__ __getitem__ __setitem__ get pop setdefault")
"""Of a dictionary these concern one key, their first argument."""

_CONTAINERS: tuple[type, ...] = (list, dict, set, deque, bytearray, array)
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()), MappingProxyType)
_OWN, _VIEW, _SUPER = 1, 2, 3
_WHOLE, _KEYED, _FILLING = 1, 2, 3


def _definition(kind: type, name: str) -> Any:
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def _is_overridden(kind: type, name: str) -> bool:
    """Whether a method of the user's own takes the builtin's place; its body announces itself."""
    return isinstance(_definition(kind, name), FunctionType)


class Contents(dict[type, int]):
    """Whether objects of a type are builtin mutable containers, or stand for one; 0 if not."""

    def __missing__(self, kind: type) -> int:
        found = 0
        if issubclass(kind, _CONTAINERS):
            found = _OWN
        elif kind in _VIEWS or issubclass(kind, _VIEWS[:3]):
            found = _VIEW
        elif kind is super:
            found = _SUPER
        self[kind] = found
        return found


class Items(dict[type, int]):
    """Whether subscripting objects of a type reaches into a builtin container, and how; 0 if not."""

    def __init__(self, method: str) -> None:
        self._method = method

    def __missing__(self, kind: type) -> int:
        found = 0
        if issubclass(kind, _CONTAINERS) and not _is_overridden(kind, self._method):
            found = (
                _FILLING if issubclass(kind, defaultdict) else _KEYED if issubclass(kind, dict) else _WHOLE
            )
        self[kind] = found
        return found


class Methods(dict[type, frozenset[str]]):
    """The names found on a type that are methods or computed; those of plain data and slots are not."""

    def __missing__(self, kind: type) -> frozenset[str]:
        names = {name for base in kind.__mro__ for name in vars(base)}
        found = self[kind] = frozenset(name for name in names if _is_method(_definition(kind, name)))
        return found


class Steppers(dict[type, bool]):
    """Whether the iterators of a type are builtin, so that `next` changes them and nobody else tells."""

    def __missing__(self, kind: type) -> bool:
        step = _definition(kind, "__next__")
        found = self[kind] = step is not None and not isinstance(step, FunctionType)
        return found


def _is_method(definition: Any) -> bool:
    return hasattr(type(definition), "__get__") and not isinstance(definition, MemberDescriptorType)


def place_of(owner: Any, kind: int) -> Any:
    """The container itself, of what may be a view of it or `super()` in it."""
    if kind == _OWN:
        return owner
    if kind == _SUPER:
        return owner.__self__
    return next(iter(gc.get_referents(owner)), owner)  # neither views nor proxies tell


def place_of_attribute(owner: Any) -> Any:
    """Attributes of modules are the globals of their functions."""
    return vars(owner) if type(owner) is ModuleType else owner


def place_of_item(kind: int, key: Any) -> Any:
    """An item's key where it names one place for good; positions in lists shift, and hashing may run code."""
    return key if kind >= _KEYED and (type(key) is str or type(key) is int) else ANY


def fills(kind: int, owner: Any, key: Any) -> bool:
    """Whether reading an item may store it."""
    if kind != _FILLING:
        return False
    return place_of_item(kind, key) is ANY or not dict.__contains__(owner, key)
