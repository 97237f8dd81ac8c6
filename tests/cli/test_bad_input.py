"""Bad input: one clear sentence on standard error, exit code 2, and no traceback."""

from __future__ import annotations

import pytest

from harness.findings import Verdict

SOUND = "reference.ledger:Ledger"

FILES = {
    "raises.py": "raise RuntimeError('no licence')\n",
    "syntax.py": "def made(:\n",
    "imports.py": "import nothing_of_this_name\n",
    "plain.py": "limit = 16\nclass Ledger:\n    pass\ndef broken(**bounds):\n    raise OSError('no disk')\n",
    "table.toml": "[opperations]\nsubmit = 'enqueue'\n",
    "key.toml": "[units]\nhours = 1\n",
    "value.toml": "[units]\ntime = 'hours'\n",
    "string.toml": "[operations]\nsubmit = 3\n",
    "flat.toml": "operations = 'enqueue'\n",
    "order.toml": "[arguments]\nsubmit = ['ticket']\n",
    "not.toml": "not a table\n",
}
SAID = {
    "no colon": (
        ["reference.ledger"],
        "has neither of the forms package.module:factory and path/to/file.py:factory",
    ),
    "no attribute": (["reference.ledger:"], "has neither of the forms"),
    "no name": (["not-a-name:Ledger"], "'not-a-name' is not a module name"),
    "no file": (["no/such/file.py:Ledger"], "there is no file no/such/file.py"),
    "no module": (["nothing_of_this_name:Ledger"], "no module named 'nothing_of_this_name'; is it installed"),
    "no submodule": (["reference.nothing:Ledger"], "no module named 'reference.nothing'"),
    "import raises": (["raises.py:Ledger"], "importing it raised RuntimeError: no licence ("),
    "import imports": (
        ["imports.py:Ledger"],
        "importing it raised ModuleNotFoundError: No module named 'nothing_of_this_name' (",
    ),
    "not Python": (["syntax.py:Ledger"], "importing it raised SyntaxError"),
    "missing attribute": (["reference.ledger:Legder"], "has no Legder; did you mean Ledger?"),
    "not callable": (["plain.py:limit"], "limit is int, which cannot be called"),
    "no operations": (["plain.py:Ledger"], "Ledger has no submit and no finish and no snapshot"),
    "factory raises": (["plain.py:broken"], "raised OSError: no disk ("),
    "contract": ([SOUND, "--contract", "teapot"], "teapot"),
    "budget": ([SOUND, "--budget", "plenty"], "budget 'plenty' is none of quick, default, thorough"),
    "seed": ([SOUND, "--seed", "lucky"], "seed 'lucky' is neither a number nor 'random'"),
    "stage": (
        [SOUND, "--stage", "smoke"],
        "there is no stage 'smoke'; the stages are: canary, sequential, interleavings, stress",
    ),
    "scenario": (
        [SOUND, "--stage", "stress", "--scenario", "tea"],
        "there is no scenario 'tea' for ledger; there are: ",
    ),
    "role": (
        [SOUND, "--scenario", "soak", "--count", "cook=2"],
        "no chosen scenario has a role 'cook'; there are: poller",
    ),
    "count": ([SOUND, "--count", "submitter"], "--count 'submitter' is not ROLE=NUMBER"),
    "count of none": ([SOUND, "--count", "submitter=0"], "with a number from 1 to 500"),
    "no adapter": ([SOUND, "--adapter", "none.toml"], "adapter none.toml: No such file or directory"),
    "adapter is a folder": ([SOUND, "--adapter", "."], "adapter .: "),
    "adapter is no TOML": ([SOUND, "--adapter", "not.toml"], "adapter not.toml: not TOML: "),
    "adapter's table": (
        [SOUND, "--adapter", "table.toml"],
        "adapter table.toml: unknown table [opperations]; the tables",
    ),
    "adapter's key": ([SOUND, "--adapter", "key.toml"], "adapter key.toml: [units] knows no 'hours'"),
    "adapter's value": ([SOUND, "--adapter", "value.toml"], 'units.time is "ms" or "s", not \'hours\''),
    "adapter's string": ([SOUND, "--adapter", "string.toml"], "operations.submit is a string, not 3"),
    "adapter's form": ([SOUND, "--adapter", "flat.toml"], "[operations] is no table"),
    "adapter's order": ([SOUND, "--adapter", "order.toml"], "submit has no parameter 'ticket'"),
}


@pytest.fixture
def files(folder):
    """The working directory, with everything that can be wrong in it."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def told(ending):
    """The one sentence of a usage error."""
    assert 2 == ending.code
    [line] = ending.err.splitlines()
    assert line.startswith("harness: ")
    assert "Traceback" not in ending.out
    return line.removeprefix("harness: ")


@pytest.mark.parametrize(("words", "said"), SAID.values(), ids=SAID)
@pytest.mark.usefixtures("files")
def test_bad_input_of_a_gate_is_told(harness, words, said):
    """What is wrong, where, and what there is instead."""
    small = [] if {"--stage", "--scenario"} & set(words) else ["--stage", "sequential"]
    small += [] if "--budget" in words else ["--budget", "0.1s"]
    assert said in told(harness("gate", *words, *small))


NONSENSE = {
    "submit": "submit answered 3.5 (float); expected an id, or a status with an id",
    "snapshot": "3.5 (float)",
}


@pytest.mark.parametrize(("operation", "said"), NONSENSE.items())
def test_an_answer_that_cannot_be_read_is_told(gate, folder, operation, said):
    """Where nothing at all can be made of answers, the sentence names the adapter that may help."""
    text = "from reference.ledger import Ledger\n\n\nclass Odd(Ledger):\n"
    (folder / "odd.py").write_text(f"{text}    def {operation}(self, *given):\n        return 3.5\n")
    sentence = told(gate("odd.py:Odd"))
    assert said in sentence
    assert "an adapter maps [fields], [states] and [exceptions]" in sentence


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["contracts", "teapot"], "teapot"),
        (["scenarios", "--contract", "teapot"], "teapot"),
        (["certify", "--contract", "teapot"], "teapot"),
        (
            ["certify", "--mutant", "Teapot"],
            "there is no mutant 'Teapot' of ledger; harness certify --list shows them",
        ),
        (["certify", "--mutant", "LateEndIsTrue", "--budget", "plenty"], "budget 'plenty'"),
        (["certify", "--mutant", "LateEndIsTrue", "--seed", "lucky"], "seed 'lucky'"),
    ],
)
def test_bad_input_of_other_commands_is_told(harness, words, said):
    """The same manners everywhere."""
    assert said in told(harness(*words))


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["gate"],
        ["gate", SOUND, "--duration", "soon"],
        ["gate", SOUND, "--loud"],
        ["brew"],
        ["certify", "--jobs", "0"],
    ],
)
def test_a_wrong_command_line_exits_2(harness, words):
    """What the command line itself does not know is told with its usage."""
    ending = harness(*words)
    assert 2 == ending.code
    assert "Traceback" not in ending.err


@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_a_file_that_cannot_be_written_is_told_before_any_stage(gate, option):
    """A report that has nowhere to go costs no gate."""
    ending = gate(SOUND, option, "no/such/folder/out")
    assert "cannot write no/such/folder/out: No such file or directory" == told(ending)
    assert (2, "") == (ending.code, ending.out)


def test_a_message_of_the_target_does_not_steer_the_terminal(gate, folder):
    """What a target says when it cannot be imported is shown with its control characters as escapes."""
    (folder / "loud.py").write_text('raise OSError("\\x1b[2J\\x1b[32mOK")\n')
    assert r"raised OSError: \x1b[2J\x1b[32mOK (" in told(gate("loud.py:Ledger"))


WRONG = {
    "a list where a string belongs": "[exceptions]\nrejected = 3\n",
    "a list of numbers": "[arguments]\nsubmit = [1]\n",
    "a table in a table": "[exceptions.rejected]\nname = 'Full'\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_value_of_the_wrong_form_is_told(gate, folder, text):
    """An adapter's values are checked one by one, before anything runs."""
    (folder / "wrong.toml").write_text(text)
    assert "adapter wrong.toml: " in told(gate(SOUND, "--adapter", "wrong.toml"))


UNKNOWN = {
    "operations": ("submitt = 'enqueue'", "'submitt'"),
    "arguments": ("submitt = ['payload']", "'submitt'"),
    "configuration": ("max_queu = 'capacity'", "'max_queu'"),
    "fields": ("finished = 'completed_at'", "'finished'"),
    "states": ("COMPLETED = 'COMPLETE'", "'COMPLETE'"),
}


@pytest.mark.parametrize(("table", "line", "name"), [(table, *slip) for table, slip in UNKNOWN.items()])
def test_a_name_that_the_contract_does_not_have_is_told(gate, folder, table, line, name):
    """A slip in an adapter is the user's to mend, not a skipped clause."""
    (folder / "slip.toml").write_text(f"[{table}]\n{line}\n")
    sentence = told(gate(SOUND, "--adapter", "slip.toml"))
    assert f"[{table}]" in sentence
    assert name in sentence


THEIRS = {
    "configuration": ("max_queue = 'capacty'", "did you mean capacity?"),
    "fields": ("completed_at = 'lefft'", "did you mean left?"),
    "operations": ("finish = 'compelte'", "did you mean complete?"),
}


@pytest.mark.parametrize(("table", "line", "said"), [(table, *slip) for table, slip in THEIRS.items()])
def test_a_name_that_the_target_does_not_have_is_told(gate, book, table, line, said):
    """A slip on the other side of an adapter is told just so, and with what was probably meant."""
    path = book.with_name("book.toml")
    ours = line.partition(" ")[0]
    text = path.read_text()
    path.write_text("\n".join(line if row.startswith(f"{ours} =") else row for row in text.splitlines()))
    sentence = told(gate("book.py:Book", "--adapter", "book.toml"))
    assert sentence.startswith(f"adapter book.toml: [{table}] {line}")
    assert sentence.endswith(said)


def test_a_count_in_other_digits_is_told(harness):
    """A superscript two is no count."""
    assert "is not ROLE=NUMBER" in told(harness("gate", SOUND, "--count", "submitter=²"))


@pytest.mark.stress
def test_a_count_holds_for_the_scenarios_that_have_the_role(harness):
    """`--count submitter=2` alone is about the scenarios with submitters."""
    words = ("--stage", "stress", "--budget", "1s", "--duration", "0.1", "--count", "submitter=2")
    assert harness("gate", SOUND, *words).code in (Verdict.OK.exit_code, Verdict.UNKNOWN.exit_code)


def test_an_absurd_budget_is_no_violation(harness):
    """A duration that no machine can time is the user's to mend."""
    told(harness("gate", SOUND, "--stage", "sequential", "--budget", "1e300h"))


def test_a_file_called_like_a_standard_module_is_no_violation(gate, folder):
    """A `queue.py` of the user's own must not break ours."""
    (folder / "tomllib.py").write_text("raise RuntimeError('not the one you wanted')\n")
    assert 0 == gate(SOUND).code
