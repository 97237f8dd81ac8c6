"""What is said twice for different tools is the same in all of them."""

from __future__ import annotations

import configparser
import importlib
import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

SHIPPED = ["harness", "reference", "scenarios"]


@pytest.fixture
def project(root):
    """What pyproject.toml says."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def tox(root):
    """What tox.ini says."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(root / "tox.ini", encoding="utf-8")
    return parser


def pythons(classifiers):
    """The minor versions that the classifiers name, in their order."""
    found = [re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", line) for line in classifiers]
    return [f"3.{match[1]}" for match in found if match]


def test_classifiers_are_the_interpreters_that_tox_runs(project, tox):
    """We claim what we test, and test what we claim."""
    tested = re.findall(r"\bpy3(\d+)\b", tox["tox"]["envlist"])
    assert [f"3.{minor}" for minor in tested] == pythons(project["project"]["classifiers"])


def test_every_environment_is_described_and_runs_by_default(tox):
    """An environment that plain `tox` leaves out is one that nobody runs."""
    named = {section.removeprefix("testenv:") for section in tox.sections() if section.startswith("testenv:")}
    listed = set(re.split(r"[,\s]+", tox["tox"]["envlist"].strip()))
    assert named == {name for name in listed if not re.fullmatch(r"py3\d+", name)}


def test_the_oldest_python_is_the_same_everywhere(project):
    """The lowest interpreter is stated for pip, for readers, for ruff and for mypy."""
    oldest = pythons(project["project"]["classifiers"])[0]
    assert f">={oldest}" == project["project"]["requires-python"]
    assert "py" + oldest.replace(".", "") == project["tool"]["ruff"]["target-version"]
    assert oldest == project["tool"]["mypy"]["python_version"]


def test_the_oldest_environment_pins_the_lower_bounds(project, tox):
    """A lower bound that no environment installs is a guess."""
    promised = {}
    for line in project["project"]["dependencies"]:
        requirement = Requirement(line)
        assert [bound.operator for bound in requirement.specifier] == [">="], line
        promised[requirement.name] = Version(next(iter(requirement.specifier)).version)
    pinned = [line.split("==") for line in tox["testenv:oldest"]["deps"].split()]
    assert promised == {name: Version(version) for name, version in pinned}


def test_versions_agree(project, root, sources):
    """The version is written in pyproject.toml; whoever repeats it repeats the same."""
    version = project["project"]["version"]
    repeated = {
        source.path: found
        for source in sources
        for found in re.findall(r"^__version__\s*=\s*[\"'](.+)[\"']", source.text, re.MULTILINE)
    }
    assert {path: found for path, found in repeated.items() if found != version} == {}
    headings = re.findall(r"^## (\S+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert [heading for heading in headings[1:] if Version(heading) > Version(version)] == []


def test_changes_tell_users_what_breaks(root):
    """The unreleased section has a heading for what is new and one for what breaks."""
    text = (
        (root / "CHANGELOG.md")
        .read_text(encoding="utf-8")
        .partition("## Unreleased")[2]
        .partition("\n## ")[0]
    )
    assert {"Added", "Breaking"} <= set(re.findall(r"^### (\w+)", text, re.MULTILINE))


def test_packages_are_listed_by_name_and_typed(project, root):
    """Tests and benchmarks are never shipped; what is shipped carries its types."""
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == SHIPPED
    assert [name for name in SHIPPED if not (root / name / "py.typed").is_file()] == []
    assert [name for name in SHIPPED if not (root / name / "__init__.py").is_file()] == []
    assert project["tool"]["mypy"]["files"] == SHIPPED
    assert project["tool"]["coverage"]["run"]["source_pkgs"] == SHIPPED


def test_every_entry_point_leads_somewhere(project):
    """A command, plugin, scenario or mutant that is announced can be loaded."""
    groups = [project["project"]["scripts"], *project["project"]["entry-points"].values()]
    dead = []
    for target in (target for group in groups for target in group.values()):
        module, _, name = target.partition(":")
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            dead.append(f"{target}: {error}")
            continue
        if name and not hasattr(found, name):
            dead.append(f"{target}: no {name}")
    assert dead == []
