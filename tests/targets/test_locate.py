"""From a target's text to its factory: both forms, and every mistake as one sentence."""

from __future__ import annotations

import os
import sys

import pytest

from harness.control.world import solo_world
from harness.findings import UsageError
from harness.targets.locate import OrdinaryImporter, Target, innermost_line
from reference.ledger import Ledger


@pytest.fixture(autouse=True)
def _own_path(tmp_path, monkeypatch):
    """Targets are looked for in a fresh folder, and leave no trace."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("harness_target_", "made_")):
            del sys.modules[name]


@pytest.fixture(params=["ordinary", "private"])
def importer(request):
    """Both ways of importing: mistakes read alike in each."""

    def for_target(target):
        return (
            OrdinaryImporter()
            if request.param == "ordinary"
            else solo_world(target.prefixes, target.roots)[0]
        )

    return for_target


def failure(text, importer):
    """The one sentence that a target fails with."""
    with pytest.raises(UsageError) as caught:  # noqa: PT012 - either step may be the one
        target = Target.parse(text)
        target.factory(importer(target))
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith(f"target {text!r}")
    return said


@pytest.mark.parametrize("text", ["", ":", "module", "module:", ":factory", "path/to/file.py"])
def test_a_text_without_both_parts_is_told_the_forms(text):
    """A target names a place and a factory."""
    with pytest.raises(
        UsageError, match=r"has neither of the forms package.module:factory and path/to/file.py:factory"
    ):
        Target.parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("none.py:make", "there is no file none.py"),
        ("some/where:make", "'some/where' is not a module name; a file must end in .py"),
        ("my-module:make", "'my-module' is not a module name"),
        ("a..b:make", "'a..b' is not a module name"),
        ("made_nowhere:make", "no module named 'made_nowhere'; is it installed in this environment"),
        ("made_nowhere.sub:make", "no module named 'made_nowhere'"),
    ],
)
def test_a_place_that_is_not_there_is_said(text, said, importer):
    """A missing file, a missing module and a wrong name are told apart."""
    assert said in failure(text, importer)


FILES = {
    "raises.py": (
        "raise ValueError('not today')",
        "importing it raised ValueError: not today",
        "raises.py:1 in <module>",
    ),
    "syntax.py": ("def (:", "importing it raised SyntaxError", ""),
    "needs.py": (
        "import made_missing",
        "importing it raised ModuleNotFoundError: No module named 'made_missing'",
        "",
    ),
    "half.py": ("from os import nothing_of_the_kind", "importing it raised ImportError", "half.py:1"),
    "relative.py": ("from . import sibling", "importing it raised ImportError", ""),
    "other.py": ("def maker(): pass", "has no make; did you mean maker?", "other.py"),
    "bare.py": ("", "has no make", "bare.py"),
    "number.py": ("make = 3", "make is int, which cannot be called; name a class or a function", ""),
    "nothing.py": ("make = None", "make", ""),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_does_not_give_a_factory_says_why(name, tmp_path, importer):
    """An import that raises is shown with its place, a wrong attribute with what is near."""
    text, said, where = FILES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    sentence = failure(f"{name}:make", importer)
    assert said in sentence
    assert where in sentence


@pytest.mark.parametrize("line", ["import made_missing", "from . import sibling"])
@pytest.mark.parametrize(
    "private",
    [
        False,
        pytest.param(
            True,
        ),
    ],
)
def test_an_import_that_fails_is_placed_in_the_users_code(line, private, tmp_path):
    """The line shown is the one that imports, not one of ours or of importlib."""
    (tmp_path / "mine.py").write_text(line, encoding="utf-8")
    sentence = failure(
        "mine.py:make", lambda _: solo_world((), [tmp_path])[0] if private else OrdinaryImporter()
    )
    assert "mine.py:1 in <module>" in sentence


def test_a_module_that_does_not_give_a_factory_says_why(tmp_path, importer):
    """The same for modules below the working directory."""
    (tmp_path / "made_module.py").write_text("class Table: pass", encoding="utf-8")
    assert failure("made_module:Tabel", importer).endswith("made_module has no Tabel; did you mean Table?")
    assert "no module named 'made_module.sub'" in failure("made_module.sub:Table", importer)
    assert "has no Table.inner" in failure("made_module:Table.inner", importer)


def test_a_script_that_exits_is_a_mistake_too(tmp_path, importer):
    """A file that calls sys.exit when it is imported is told, not obeyed."""
    (tmp_path / "script.py").write_text("import sys\nsys.exit(3)", encoding="utf-8")
    assert "SystemExit" in failure("script.py:make", importer)


def test_a_long_exception_stays_one_sentence(tmp_path, importer):
    """An exception with a text of several lines does not make the message longer than a line."""
    (tmp_path / "lines.py").write_text("raise ValueError('first\\nsecond')", encoding="utf-8")
    assert "first" in failure("lines.py:make", importer)


def test_a_module_gives_its_factory(importer):
    """A dotted module and a class of it."""
    target = Target.parse("reference.ledger:Ledger")
    assert target.prefixes == ("reference",)
    assert target.roots == ()
    assert target.factory(importer(target)).__name__ == Ledger.__name__


@pytest.mark.parametrize("attribute", ["make", "Shop.make"])
def test_a_file_gives_its_factory(attribute, tmp_path, importer):
    """A file's factory may be a function, or lie inside of something."""
    folder = tmp_path / "below"
    folder.mkdir()
    (folder / "my-file.py").write_text(
        "import near\ndef make(): return near.x\nclass Shop: make = staticmethod(make)"
    )
    (folder / "near.py").write_text("x = 4")
    target = Target.parse(f"below/my-file.py:{attribute}")
    try:
        assert target.factory(importer(target))() == 4
    finally:
        sys.modules.pop("near", None)
    assert target.prefixes == ()
    assert target.roots == (folder,)
    assert str(folder) == sys.path[0]
    assert target.places() == [folder]


def test_the_working_directory_comes_first_once(tmp_path):
    """Preparing the path twice adds the folder once."""
    target = Target.parse("reference.ledger:Ledger")
    target.prepare_path()
    target.prepare_path()
    assert sys.path.count(os.fspath(tmp_path)) == 1


def test_the_places_of_a_module_are_its_package():
    """The code under test is the folder of the top-level package; nothing before it is imported."""
    assert [place.name for place in Target.parse("reference.ledger:Ledger").places()] == ["reference"]
    assert Target.parse("made_not_imported:make").places() == []


def test_the_innermost_line_is_where_it_was_raised():
    """An exception says where it comes from; one that was never raised has no line."""
    with pytest.raises(ZeroDivisionError) as caught:
        _divide()
    assert innermost_line(caught.value).endswith(" in _divide")
    assert innermost_line(KeyError()) == "no line of yours"


def _divide():
    return 1 / 0
