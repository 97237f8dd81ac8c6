"""How the plugin behaves in everybody's sessions: light, silent, and clear when it is asked wrongly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness import pytest_plugin
from harness.outcome import BUDGETS

SOUND = "reference.ledger:Ledger"
WRONG = {
    "target": (["nowhere"], "target 'nowhere' has neither of the forms"),
    "file": (["no/such.py:Ledger"], "there is no file no/such.py"),
    "contract": ([SOUND, "--harness-contract", "teapot"], "teapot"),
    "budget": ([SOUND, "--harness-budget", "plenty"], "budget 'plenty' is none of quick"),
    "seed": ([SOUND, "--harness-seed", "lucky"], "seed 'lucky' is neither a number nor 'random'"),
    "adapter": ([SOUND, "--harness-adapter", "none.toml"], "adapter none.toml: No such file or directory"),
}


@pytest.fixture
def config_for(monkeypatch, tmp_path):
    """What the plugin's hooks see of a command line."""
    monkeypatch.chdir(tmp_path)

    def make(*words):
        parser = pytest.Parser(_ispytest=True)
        pytest_plugin.pytest_addoption(parser)
        options = vars(parser.parse(["--harness-target", *words]))
        return SimpleNamespace(
            stash=pytest.Stash(), getoption=lambda name: options[name.removeprefix("--").replace("-", "_")]
        )

    return make


@pytest.mark.parametrize(("words", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_told_when_the_session_begins(config_for, words, said):
    """Before anything is collected, as a usage error of pytest's, in one sentence."""
    with pytest.raises(pytest.UsageError) as caught:
        pytest_plugin.pytest_configure(config_for(*words))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_reach_the_gate(config_for, tmp_path):
    """Target, contract, adapter, budget and seed are those of the command line."""
    (tmp_path / "book.toml").write_text("[operations]\nsubmit = 'enqueue'\n")
    words = ("--harness-adapter", "book.toml", "--harness-budget", "quick", "--harness-seed", "7")
    request = pytest_plugin._request(config_for(SOUND, *words))
    assert (SOUND, "ledger", 7, BUDGETS["quick"]) == (
        request.target,
        request.contract,
        request.seed,
        request.budget,
    )
    assert {"submit": "enqueue"} == request.adapter.operations


def test_options_reach_the_command_that_reproduces(config_for, tmp_path):
    """What was written on pytest's command line is repeated in the findings."""
    (tmp_path / "book.toml").write_text("[operations]\nsubmit = 'enqueue'\n")
    words = ("--harness-adapter", "book.toml", "--harness-budget", "quick")
    request = pytest_plugin._request(config_for(SOUND, *words))
    assert ("book.toml", "quick") == (request.adapter_file, request.budget_text)


def test_a_wrong_option_is_a_usage_error(scenarios_on):
    """Exit code 4 of pytest, and one sentence."""
    session = scenarios_on(SOUND, "--harness-budget", "plenty")
    assert 4 == session.code
    assert ["ERROR: budget 'plenty' is none of quick"] == [
        line[:39] for line in session.err.splitlines() if line
    ]
    assert "INTERNALERROR" not in session.out


def test_a_wrong_option_is_a_usage_error_with_workers_too(scenarios_on):
    """The controller tells it, before there are workers."""
    session = scenarios_on(SOUND, "-n", "1", "--harness-budget", "plenty")
    assert (4, 1) == (session.code, session.err.count("budget 'plenty'"))


def test_a_wrong_seed_without_a_target_is_no_internal_error(run_pytest, tmp_path):
    """An option that is not used may be ignored or told; it is no fault of pytest."""
    (tmp_path / "test_fine.py").write_text("def test_fine():\n    pass\n")
    session = run_pytest("test_fine.py", "-n", "1", "--harness-seed", "lucky")
    assert session.code in (0, 4)


def test_the_plugin_is_light():
    """Every session of every project imports it: it brings nothing but pytest."""
    text = (
        "import sys, pytest\n"
        "before = set(sys.modules)\n"
        "import harness.pytest_plugin\n"
        "print(*sorted({name for name in set(sys.modules) - before if '.' not in name}))\n"
        "print(*sorted(name for name in sys.modules if name.startswith('harness')))\n"
    )
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    others, ours = told.stdout.splitlines()
    assert ["harness", "harness.pytest_plugin"] == ours.split()
    assert not {"hypothesis", "rich", "click", "greenlet", "coverage", "filelock"} & set(others.split())


LOOKS = """
import sys


def test_modules():
    assert ["harness.pytest_plugin"] == [name for name in sys.modules if name.startswith("harness.")]
"""


@pytest.mark.parametrize(
    "words",
    [
        (),
        pytest.param(
            ("-n", "1"),
        ),
    ],
    ids=["alone", "with a worker"],
)
def test_a_session_without_a_target_imports_nothing_of_ours(run_pytest, tmp_path, words):
    """Neither a plain session nor a controller of workers pays for what it does not use."""
    (tmp_path / "test_looks.py").write_text(LOOKS)
    (tmp_path / "conftest.py").write_text(
        "import sys\n\n\ndef pytest_unconfigure(config):\n"
        "    print('ours:', *(name for name in sys.modules if name.startswith('harness.')))\n"
    )
    session = run_pytest("test_looks.py", "-p", "no:hypothesispytest", *words)
    assert 0 == session.code
    assert ["ours: harness.pytest_plugin"] == [
        line for line in session.out.splitlines() if line.startswith("ours:")
    ][-1:]


def test_options_are_in_a_group_of_their_own(run_pytest):
    """`pytest --help` lists all five together."""
    told = run_pytest("--help").out
    group = told[told.index("job-harness: gate an implementation") :]
    options = [
        "--harness-target",
        "--harness-contract",
        "--harness-adapter",
        "--harness-budget",
        "--harness-seed",
    ]
    places = [group.index(option) for option in options]
    assert sorted(places) == places


SLOW = """
import os
from pathlib import Path

(Path(__file__).parent / "pid.txt").write_text(str(os.getpid()))


def make():
    while True:
        pass
"""


@pytest.mark.stress
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system has no alarms")
@pytest.mark.parametrize(
    "words", [("--timeout-method=signal",), ("--timeout-method=thread",)], ids=["signal", "thread"]
)
def test_a_timeout_shorter_than_the_gate_fails_the_item_and_leaves_no_child(scenarios_on, tmp_path, words):
    """pytest-timeout is obeyed, and what the gate had started is gone."""
    (tmp_path / "slow.py").write_text(SLOW)
    session = scenarios_on("slow.py:make", "--timeout", "6", "-k", "AJT-TIMES", *words)
    assert 1 == session.code
    assert "Timeout" in session.out + session.err
    child = int((tmp_path / "pid.txt").read_text())
    patience = time.monotonic() + 20
    while alive(child) and time.monotonic() < patience:
        time.sleep(0.05)
    assert not alive(child)


def alive(pid):
    """Whether a process runs; one that has ended and is not collected does not."""
    if Path("/proc/self/stat").exists():
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
