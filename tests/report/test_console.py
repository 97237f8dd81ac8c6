"""The terminal's view of gates, contracts and certificates, as it was agreed."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from rich.errors import MarkupError

from harness.certify import mutants_of
from harness.contracts import contract_named
from harness.contracts.records import Mutant
from harness.findings import Kind, StageReport, Verdict
from harness.gate import conclude
from harness.report.console import TerminalListener, finding_view, gate_view
from harness.report.tables import contract_view, kill_table, plain
from harness.report.visible import visible

GATES = ("ok", "violation", "unknown", "advice", "skipped", "covered")


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", GATES)
def test_a_gate_is_shown_as_agreed(gates, shown, golden, name, width):
    """Clauses, findings, coverage, reasons, verdict, at a narrow and a wide width."""
    golden(f"gate_{name}_{width}.txt", shown(gate_view(gates[name]), width))


def test_a_verbose_gate_lists_what_is_fine(gates, shown, golden):
    """With --verbose every clause has its row, with its norm where it holds."""
    golden("gate_skipped_verbose_80.txt", shown(gate_view(gates["skipped"], verbose=True), 80))


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, "OK  tea"),
        ({"stages": ("stress",)}, "OK (stage stress only)  tea"),
        ({"stages": ("stress", "canary", "stress")}, "OK (stages stress and canary only)  tea"),
        (
            {"stages": ("stress",), "scenarios": ("ends",)},
            'OK (stage stress, scenario "ends" only)  tea',
        ),
        ({"scenarios": ("ends", "soak")}, 'OK (scenarios "ends" and "soak" only)  tea'),
    ],
)
def test_a_part_is_not_taken_for_the_whole(gates, shown, chosen, said):
    """The last line says what the user's own choice of stages and scenarios left out."""
    report = gates["ok"]
    text = shown(gate_view(replace(report, request=replace(report.request, **chosen))), 200)
    assert text.splitlines()[-1].startswith(said)


def test_a_contract_is_shown_as_agreed(tea, shown, golden):
    """Clauses with what checks them and what they need, and how ambiguities were settled."""
    golden("contract_80.txt", shown(contract_view(tea), 80))


@pytest.fixture(scope="session")
def kills():
    """A kill table with one mutant that died and one that survives."""
    dead = Mutant("ColdTea", "TEA-HOT", "tea.mutants:ColdTea", "the kettle is off")
    alive = Mutant(
        "TheCupThatIsFilledTwiceIfTwoGuestsAskAtOnce", "TEA-ONCE", "tea.mutants:Twice", "a race", rare=True
    )
    return kill_table([(dead, "sequential", "TEA-HOT", 3, 0.25), (alive, "", "", 12_345, 61.0)])


def test_a_kill_table_is_shown_as_agreed(kills, shown, golden):
    """Who killed which mutant, and who survives."""
    golden("kills_120.txt", shown(kills, 120))


def test_a_narrow_kill_table_is_whole(kills, shown):
    """At 80 columns, which is what is guaranteed, executions and seconds are still there."""
    text = shown(kills, 80)
    assert [] == [part for part in ("executions", "seconds", "12345", "61.0") if part not in text]
    names = (
        "TheCupThatIsFilledTwiceIfTwoGuestsAskAtOnce",
        "breaks TEA-ONCE",
        "killed by sequential",
        "survives",
    )
    assert [] == [name for name in names if name not in text]


def test_the_longest_names_there_are_fit_a_narrow_kill_table(shown):
    """Mutants and clauses, as they are installed, are whole at 80 columns."""
    mutants = mutants_of("ledger")
    clauses = [clause.id for clause in contract_named("ledger").clauses]
    other = max(clauses, key=len)
    lines = shown(
        kill_table([(mutant, "interleavings", other, 1, 0.5) for mutant in mutants]), 80
    ).splitlines()
    assert max(map(len, lines)) <= 80
    words = {word for line in lines for word in line.split()}
    assert {mutant.name for mutant in mutants} | {mutant.clause for mutant in mutants} | {other} <= words


def test_a_file_gets_no_blanks_that_fill_lines_up(gates):
    """Away from a terminal no line ends with a blank, and everything is there."""
    for gate in gates.values():
        console = Console(file=io.StringIO(), width=80, highlight=False, legacy_windows=False)
        text = plain(console, gate_view(gate, verbose=True))
        assert [] == [line for line in text.split("\n") if line != line.rstrip()]
        assert text.split()[-1] == "s"
        console.print(gate_view(gate, verbose=True), crop=False)
        assert text.split() == console.file.getvalue().split()


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", GATES)
def test_nothing_is_wider_than_the_paper(gates, shown, name, width):
    """Long lines are folded, none is cut off by the terminal."""
    assert max(map(len, shown(gate_view(gates[name], verbose=True), width).splitlines())) <= width


def test_a_finding_is_whole(gates, shown):
    """Message, evidence, place, program and command of a finding are there, in this order."""
    finding = gates["violation"].findings[0]
    text = "".join(shown(finding_view(finding), 80).split())
    parts = [finding.clause, finding.message, *finding.evidence, finding.program, finding.reproduce]
    places = [text.index("".join(part.split())) for part in parts]
    assert sorted(places) == places


def test_square_brackets_in_a_finding_are_kept(gates, shown):
    """What an implementation says is text, not markup."""
    text = shown(finding_view(gates["violation"].findings[1]), 200)
    assert "[/full] of [red]tea[/red]" in text
    assert "[guest-1] fill('cup')" in text


@pytest.mark.parametrize("skipped", ["virtual time: no [red]clock", "virtual time: no [/clock]"])
def test_square_brackets_in_a_reason_are_kept(tea, gates, shown, skipped):
    """A reason may quote the implementation."""
    stage = StageReport("sequential", Verdict.OK, skipped=(skipped,))
    try:
        text = shown(gate_view(conclude(gates["ok"].request, tea, [stage], {})), 200)
    except MarkupError as error:
        pytest.fail(str(error))
    assert skipped in text


def test_square_brackets_in_a_file_name_are_kept(gates, shown):
    """A folder may be called [red]."""
    gate = replace(gates["covered"], coverage={"tea/[red]/pot.py": gates["covered"].coverage["tea/pot.py"]})
    assert "tea/[red]/pot.py" in shown(gate_view(gate), 200)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_finding_has_a_heading(gates, shown, kind):
    """The kind comes first, then the clause."""
    finding = type(gates["violation"].findings[0])(kind, "TEA-HOT", "message", "stress")
    assert f"{kind.value} TEA-HOT" == shown(finding_view(finding), 80).splitlines()[0]


STEERING = "\x1b[2J\x1b]0;all is well\x07\r\x08\x9b1mOK\x7f\u202eKO\u2028."
SHOWN = "".join(STEERING.encode("unicode_escape").decode("ascii").split())


def test_control_characters_of_an_implementation_are_shown_not_sent(gates, shown):
    """Whatever an implementation says, and wherever it is repeated, the terminal stays ours."""
    finding = replace(
        gates["violation"].findings[0],
        message=STEERING,
        where=STEERING,
        evidence=(STEERING,),
        program=f"# {STEERING}",
        reproduce=STEERING,
    )
    report = gates["covered"]
    report = replace(
        report,
        request=replace(report.request, target=STEERING),
        stages=(replace(report.stages[0], findings=(finding,), notes=(STEERING,)),),
        clauses=(replace(report.clauses[0], verdict=Verdict.UNKNOWN, reason=STEERING),),
        reasons=(STEERING,),
        coverage={STEERING: report.coverage["tea/pot.py"]},
    )
    text = "".join(shown(gate_view(report, verbose=True), 400).split())
    assert 10 == text.count(SHOWN.replace(" ", ""))
    assert {char for char in text if not char.isprintable()} == set()


def test_text_that_steers_nothing_is_left_alone():
    """Letters of any script, joined ones too, line ends and tabs; half a character is none."""
    kept = "na\u00efve \u05e9\u05dc\u05d5\u05dd \U0001f469\u200d\U0001f52c\n\tindented"
    assert kept == visible(kept)
    assert "\\ud800" == visible("\ud800")


def console_on(stream, **choices):
    """A console that writes to a text stream."""
    return Console(file=stream, width=100, highlight=False, legacy_windows=False, **choices)


def test_away_from_a_terminal_stages_are_plain_lines(gates):
    """One line per stage, when it is over, without any control sequence."""
    stream = io.StringIO()
    with TerminalListener(console_on(stream), ["sequential", "stress"]) as listener:
        for stage in gates["violation"].stages:
            listener.stage_began(stage.stage)
            listener.stage_moved(stage.stage, 10, 150)
            listener.stage_ended(stage)
    assert [
        "sequential: VIOLATION, 20 executions, 300 operations, 1.2 s, 1 finding",
        "stress: VIOLATION, 20 executions, 300 operations, 1.2 s, 2 findings",
    ] == stream.getvalue().splitlines()


def test_on_a_terminal_stages_are_a_live_table(gates):
    """The table is drawn in place, ends with what the stages came to, and gives the terminal back."""
    stream = io.StringIO()
    with TerminalListener(console_on(stream, force_terminal=True), ["sequential", "stress"]) as listener:
        for stage in gates["violation"].stages:
            listener.stage_began(stage.stage)
            listener.stage_ended(stage)
    last = stream.getvalue().rpartition("executions/s")[2]
    assert 2 == last.count("VIOLATION")
    assert "running" not in last
    assert stream.getvalue().rstrip().endswith("\x1b[?25h")
