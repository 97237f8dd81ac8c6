"""What is shown of strands that never came back."""

from __future__ import annotations

import sys

import pytest

from harness.stress.hang import names_of, stack_of

NAMES = {
    "one": (["waiter-0"], "waiter-0"),
    "two": (["waiter-0", "waiter-1"], "waiter-0, waiter-1"),
    "a run": (["waiter-3", "waiter-4", "waiter-5"], "waiter-3 to waiter-5"),
    "a gap": (["waiter-0", "waiter-2", "waiter-3", "waiter-4"], "waiter-0, waiter-2 to waiter-4"),
    "two roles": (
        ["job-runner-0", "job-runner-1", "job-runner-2", "waiter-3"],
        "job-runner-0 to job-runner-2, waiter-3",
    ),
    "a role that goes on where another ends": (["a-0", "a-1", "b-2", "b-3"], "a-0, a-1, b-2, b-3"),
}


@pytest.mark.parametrize(("names", "said"), NAMES.values(), ids=NAMES)
def test_strands_of_a_role_that_follow_one_another_are_named_as_a_run(names, said):
    """From three on: two names are as short."""
    assert said == names_of(names)


def test_a_stack_outside_the_implementation_is_whole():
    """Where no line of the implementation is in it, nothing is left out that might tell."""
    assert f"in {sys._getframe().f_code.co_name}" in stack_of(sys._getframe())
