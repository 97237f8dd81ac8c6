"""An interleaving as it is printed: one sentence, columns, schedule, and every step if asked for."""

from __future__ import annotations

import importlib
import sys

import pytest

from harness.explore.exploration import Effort
from harness.explore.explorer import explored
from harness.explore.program import Program
from harness.report.explanation import explained
from harness.report.interleaving import interleaving_text, trace_lines

SHOP = """
import threading


class Shop:
    def __init__(self):
        self.sold = 0
        self.stock = 1
        self.ready = threading.Event()
        self.door, self.till = threading.Lock(), threading.Lock()
        self.came = None


def sell(shop):
    shop.sold = shop.sold + 1


def both_sold(shop):
    assert shop.sold == 2, f"{shop.sold} sold"


def enter(shop):
    with shop.door:
        with shop.till:
            pass


def leave(shop):
    with shop.till:
        with shop.door:
            pass


def wait(shop):
    shop.came = shop.ready.wait(5)


def deliver(shop):
    shop.ready.set()


def it_came(shop):
    assert shop.came, "it came too late"


def take(shop):
    if shop.stock > 0:
        shop.stock -= 1


def empty(shop):
    shop.stock = 0


def not_negative(shop):
    assert shop.stock >= 0, f"{shop.stock} in stock"
"""
STORIES = {
    "lost_update": (("sell", "sell"), "both_sold", "Lost update: sell-"),
    "deadlock": (("enter", "leave"), None, "Deadlock: "),
    "early_timeout": (("wait", "deliver"), "it_came", "The timeout of wait passed while deliver could still"),
    "stale_read": (("take", "empty"), "not_negative", "take acted on Shop.stock as it had read it"),
}


@pytest.fixture
def found(tmp_path, monkeypatch):
    """Explores a story, and gives its finding."""
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("shop", None)
    shop = importlib.import_module("shop")

    def tell(name):
        tasks, check, _ = STORIES[name]
        program = Program(
            name, shop.Shop, tuple(getattr(shop, task) for task in tasks), getattr(shop, check or "", None)
        )
        return explored(program, Effort(executions=500, strategy="bounded")).found

    yield tell
    sys.modules.pop("shop", None)


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", STORIES)
def test_an_interleaving_is_printed_as_agreed(found, golden, name, width):
    """Everything a person gets to see, on narrow and on wide paper."""
    text = interleaving_text(found(name), width, "harness replay .harness/seeds/shop.seed")
    golden(f"interleaving_{name}_{width}.txt", text + "\n")
    columns = [line for line in text.splitlines() if " | " in line and not line.startswith("  at ")]
    assert all(len(line) <= width for line in columns)


@pytest.mark.parametrize("name", STORIES)
def test_the_lines_that_matter_are_shown(found, name):
    """Every task that the finding is about has its column, with a line of the source."""
    finding = found(name)
    head = next((line for line in interleaving_text(finding, 200).splitlines() if "-+-" in line), "")
    assert head, "there are no columns"


@pytest.mark.parametrize("name", STORIES)
def test_a_finding_is_explained_in_one_sentence(found, name):
    """Each kind of mistake is called by its name."""
    finding = found(name)
    text = explained(finding.failure, finding.steps)
    assert text.startswith(STORIES[name][2])
    assert text.endswith(".")
    assert "\n" not in text


@pytest.mark.parametrize("name", STORIES)
def test_a_trace_is_printed_as_agreed(found, golden, name):
    """One line per step; a star marks each that undisturbed running would not do, and only those."""
    finding = found(name)
    lines = trace_lines(finding.steps, 80)
    golden(f"trace_{name}_80.txt", "\n".join(lines) + "\n")
    assert len(lines) == len(finding.steps)
    assert len(finding.schedule) == sum(line[5] == "*" for line in lines)
    assert max(map(len, lines)) <= 80
