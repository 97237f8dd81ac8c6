"""The functions that instrumented code calls: when they ask, and about which place."""

import weakref
from array import array
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from itertools import count
from types import MappingProxyType, ModuleType

import pytest

from harness.control.announce import Direct, announcers
from harness.control.task import ANY


class Recorder:
    """Notes accesses, once the lease of `left` announcements is over."""

    def __init__(self, left=0):
        self.left = left
        self.seen = []

    def access(self, write, owner, key):
        self.left = 0
        self.seen.append((write, owner, key))


class Named:
    """Has attributes."""


class Rude(dict):
    """A container all of whose hooks object to being asked."""

    def __getattribute__(self, name):
        raise AssertionError(name)

    def __len__(self):
        raise AssertionError

    def __eq__(self, other):
        raise AssertionError

    __hash__ = None


@pytest.fixture
def recorder():
    """Notes every access."""
    return Recorder()


@pytest.fixture
def functions(recorder):
    """The functions over that recorder."""
    return announcers(recorder)


def test_names_cannot_be_mangled_and_hide_nothing():
    """Every function's name ends in two underscores, begins with none and is no builtin."""
    names = announcers(Direct())
    assert all(name.endswith("__") and not name.startswith("_") for name in names)


def test_nothing_is_asked_while_the_lease_lasts():
    """The runtime is asked at the announcement after the last that the lease covers."""
    recorder = Recorder(left=3)
    at = announcers(recorder)["at__"]
    owner = Named()
    assert [owner] * 3 == [at(owner, "x") for _ in range(3)]
    assert ([], 0) == (recorder.seen, recorder.left)
    at(owner, "x")
    assert [(False, owner, "x")] == recorder.seen


@pytest.mark.parametrize(
    "container", [[1], {1: 2}, {1}, deque([1]), bytearray(1), array("i", [1]), Counter(), OrderedDict()]
)
def test_containers_are_told_by_type(functions, recorder, container):
    """Builtin mutable containers announce, those derived from them as well, and are given back."""
    derived = type("Derived", (type(container),), {})(*(["i"] if isinstance(container, array) else []))
    assert container is functions["look__"](container)
    assert derived is functions["change__"](derived)
    assert [False, True] == [write for write, _, _ in recorder.seen]
    assert container is recorder.seen[0][1]
    assert derived is recorder.seen[1][1]


@pytest.mark.parametrize(
    "value", [(1,), "ab", b"ab", range(2), frozenset({1}), 5, None, UserDict(), iter([1])]
)
def test_other_objects_are_not(functions, recorder, value):
    """What is immutable, or written in Python, or an iterator, announces nothing as a container."""
    for name in ("look__", "change__", "iter__", "iter_later__"):
        assert value is functions[name](value)
    assert [] == recorder.seen


def test_an_object_is_never_asked(functions, recorder):
    """Whether it is a container shows without running any code of the object's own."""
    rude = Rude()
    for name in ("look__", "change__"):
        functions[name](rude)
    functions["item__"](rude, "k")
    functions["calls__"](rude, "hook")
    assert ["*", "*", "k", "hook"] == [key for _, _, key in recorder.seen]


@pytest.mark.parametrize("key", ["k", 0, 7, -1])
def test_a_dictionary_is_accessed_by_key(functions, recorder, key):
    """Strings and whole numbers say which item of a dictionary it is; never of a list."""
    d = {key: 1}
    functions["item__"](d, key)
    functions["put__"]([1], key)
    assert [key, ANY] == [seen for _, _, seen in recorder.seen]


@pytest.mark.parametrize("key", [True, 1.0, (1,), None, type("Text", (str,), {})("k")])
def test_other_keys_stand_for_the_whole(functions, recorder, key):
    """A key that may equal another of another type, or run code, is not looked at."""
    functions["item__"]({}, key)
    assert [(False, {}, ANY)] == recorder.seen


def test_a_mapping_of_its_own_is_no_container(functions, recorder):
    """A class that has its own `__getitem__` announces what its body does, not the call."""
    own = type("Own", (dict,), {"__getitem__": lambda self, key: key})()
    functions["item__"](own, "k")
    assert [] == recorder.seen
    functions["put__"](own, "k")
    assert [(True, own, "k")] == recorder.seen


def test_reading_a_default_dictionary_may_store(functions, recorder):
    """A missing key is stored by reading it; one that is there is only read."""
    d = defaultdict(list, here=[1])
    functions["item__"](d, "here")
    functions["item__"](d, "missing")
    functions["item__"](d, (1, 2))
    assert [False, True, True] == [write for write, _, _ in recorder.seen]


@pytest.mark.parametrize("view", [dict.keys, dict.values, dict.items, MappingProxyType, OrderedDict.items])
def test_a_view_stands_for_its_dictionary(functions, recorder, view):
    """Whoever looks at a view reads the dictionary behind it."""
    d = OrderedDict(a=1)
    functions["look__"](view(d))
    assert d is recorder.seen[0][1]


def test_attributes_of_a_module_are_its_globals(functions, recorder):
    """What functions announce as a global and others as an attribute is one place."""
    module = ModuleType("m")
    functions["to__"](module, "x")
    assert vars(module) is recorder.seen[0][1]


def test_an_iteration_ends_as_it_would(functions, recorder):
    """A container that changes size under an iteration is told with Python's own words."""
    d = {1: 2}
    steps = functions["iter__"](d)
    assert 1 == next(steps)
    d[3] = 4
    with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
        next(steps)


def test_an_iteration_holds_no_item(functions):
    """An item that was handed out is not kept by the iterator."""
    items = [Named()]
    steps = functions["iter__"](items)
    seen = weakref.ref(next(steps))
    items.clear()
    assert seen() is None


def test_a_step_is_announced_before_it_is_made():
    """At the point before a step of an iteration, the step has not been made."""
    items = [1]

    class Growing:
        left = 0

        def access(self, write, owner, key):
            self.left = 0
            if len(owner) < 3:
                owner.append(len(owner) + 1)

    assert [1, 2, 3] == list(announcers(Growing())["iter__"](items))


def test_arguments_come_before_the_access(recorder):
    """A method whose arguments come to points is announced when it is called."""
    functions = announcers(recorder)
    items = [1]
    append = functions["then_changes__"](items, "append")
    assert [] == recorder.seen
    append(2)
    assert [(True, [1, 2], ANY)] == recorder.seen
    assert functions["then_looks__"]("text", "index")("x") == 2
    assert 1 == len(recorder.seen)


def test_a_key_is_known_when_the_method_is_called(functions, recorder):
    """`get`, `pop` and `setdefault` of a dictionary concern one key."""
    d = {"k": 1}
    assert 1 == functions["then_looks__"](d, "get")("k")
    assert 1 == functions["then_changes__"](d, "pop")("k")
    assert ["k", "k"] == [key for _, _, key in recorder.seen]


def test_a_missing_method_is_missing_at_once(functions):
    """The attribute is looked up before the arguments are evaluated, as Python does."""
    with pytest.raises(AttributeError, match="'int' object has no attribute 'append'"):
        functions["then_changes__"](5, "append")


def test_advancing_a_shared_counter_is_a_write(functions, recorder):
    """`next` on an iterator of the interpreter's changes it; generators and classes announce themselves."""
    counter, generator = count(), (v for v in ())
    assert counter is functions["step__"](counter)
    assert generator is functions["step__"](generator)
    own = type("Own", (), {"__next__": lambda self: 1})()
    functions["step__"](own)
    assert [counter, generator] == [owner for _, owner, _ in recorder.seen]


def test_direct_lets_everything_pass():
    """The stand-in never asks, and counts."""
    direct = Direct()
    before = direct.left
    announcers(direct)["at__"](Named(), "x")
    assert 1 == before - direct.left
