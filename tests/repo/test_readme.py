"""The README's two commands are the ones that are run: nobody keeps a second copy of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

BLOCK = re.compile(r"^<!-- command: (\w+) -->\n```sh\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(?:sh|bash|shell|console)\b", re.MULTILINE)
MARKER = "<!-- command:"


@pytest.fixture
def readme(root):
    """The README's text."""
    return (root / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def ci(root, tmp_path):
    """Runs a copy of .ci/run next to a README that the test writes."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(root / ".ci" / "run", tmp_path / ".ci" / "run")

    def run(text, *options):
        (tmp_path / "README.md").write_text(text, encoding="utf-8")
        return subprocess.run(
            [tmp_path / ".ci" / "run", *options], capture_output=True, text=True, check=False, timeout=60
        )

    return run


def block(name, *lines):
    """A marked command, as the README holds it."""
    return "\n".join([f"{MARKER} {name} -->", "```sh", *lines, "```", ""])


def test_there_are_exactly_two_commands(readme):
    """One gates, one tests, and there is no third that a newcomer could take for set-up."""
    assert sorted(name for name, _ in BLOCK.findall(readme)) == ["gate", "test"]
    assert readme.count(MARKER) == 2
    assert len(FENCE.findall(readme)) == 2


def test_each_is_one_command_that_does_all_the_set_up(readme):
    """Each makes its venv, installs into it, and stops at the first step that fails."""
    blocks = dict(BLOCK.findall(readme))
    assert blocks
    for command in blocks.values():
        *steps, _ = command.splitlines()
        assert [line for line in steps if not line.rstrip().endswith(("&&", "\\"))] == []
        assert "python3 -m venv" in command
        assert "pip install" in command
    assert "harness gate reference.ledger:Ledger" in blocks["gate"]
    assert "-m pytest" in blocks["test"]


def test_no_test_is_left_out(readme):
    """Whoever deselects the stress tests, to spare the cores, must run them afterwards."""
    command = dict(BLOCK.findall(readme))["test"]
    selected = re.findall(r"-m ['\"]?((?:not )?stress)\b", command)
    assert selected in ([], ["not stress", "stress"])


def test_ci_shows_the_command_of_the_readme(root, readme):
    """The real script finds the real command."""
    shown = subprocess.run(
        [root / ".ci" / "run", "--show"], capture_output=True, text=True, check=True, timeout=60
    )
    assert dict(BLOCK.findall(readme))["test"] == shown.stdout.rstrip("\n")


def test_ci_runs_the_command_and_only_that(ci):
    """The block that is marked is run from the repository's folder, and its last line ends the output."""
    readme = (
        block("gate", "echo gate")
        + "```sh\necho other\n```\n"
        + block("test", "ls README.md &&", "echo last")
    )
    assert ((done := ci(readme)).returncode, done.stdout) == (0, "README.md\nlast\n")


@pytest.mark.parametrize("command", ["exit 7", "(exit 7) && echo unreached", "(exit 7) | cat"])
def test_ci_is_red_when_the_command_is(ci, command):
    """The command's exit code is the script's, also from the middle of a pipe."""
    assert ((done := ci(block("test", command))).returncode, done.stdout) == (7, "")


@pytest.mark.parametrize(
    "readme",
    [
        "",
        block("gate", "echo gate"),
        block("test", "echo one") + block("test", "echo two"),
        block("test", "echo one").replace("```sh", "\n```sh"),
        block("test", "echo one").replace("```sh", "```python"),
        block("test"),
        block("test", "echo unclosed").removesuffix("```\n"),
    ],
    ids=["empty", "no marker", "twice", "apart", "not shell", "nothing in it", "unclosed"],
)
def test_ci_refuses_a_readme_without_one_command(ci, readme):
    """A script that found nothing to run must not be green."""
    done = ci(readme)
    assert (done.returncode, done.stdout) == (2, "")
    assert "exactly one" in done.stderr


def test_the_race_that_the_readme_shows_is_what_the_gate_shows(root, readme, tmp_path):
    """Clause, picture, schedule and seed, line by line; the dots stand for the two operations' ids."""
    shown = readme.partition("    broken clause AJT-ADMIT-CAS\n")[2].partition("**What a pass means.**")[0]
    shutil.copytree(root / "docs" / "examples", tmp_path / "docs" / "examples")
    target = "docs/examples/job_table"
    words = ["gate", f"{target}.py:JobTable", "--adapter", f"{target}.toml"]
    words += ["--stage", "interleavings", "--scenario", "ends"]
    told = subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "120", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    lines = [line.removeprefix("    ") for line in shown.splitlines()]
    said = {line.rstrip() for line in told.splitlines()}
    assert [line for line in lines if line.strip() not in ("", "...") and line.rstrip() not in said] == []
