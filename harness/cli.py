"""The command line. Exit codes: 0 OK, 1 VIOLATION, 2 usage error, 3 UNKNOWN or a fault of the harness."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import Any

import click
from rich.console import Console, RenderableType

from harness import certify as certification
from harness.contracts import CONTRACTS, contract_named
from harness.contracts.adapter import Adapter
from harness.findings import HarnessError, UsageError, Verdict
from harness.gate import chosen_stages, run_gate
from harness.job import PLAYING, STAGES
from harness.outcome import GateRequest, parse_budget, parse_seed
from harness.report.console import TerminalListener, gate_view
from harness.report.files import gate_json, junit_xml
from harness.report.tables import contract_view, kill_table, plain
from harness.report.visible import visible
from harness.scenario import installed_scenarios
from harness.seeds.store import DEFAULT_FOLDER

__all__ = ["main"]

_NARROWEST = 80
_MOST_STRANDS = 500
_LONGEST_S = 7 * 24 * 3600


def _console(stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = 120
    console.width = max(console.width, _NARROWEST)
    return console


def _show(console: Console, renderable: RenderableType) -> None:
    """Print what has a layout. Nothing is cut off: commands are there to be copied."""
    if console.is_terminal:
        console.print(renderable, crop=False)
    else:
        console.file.write(plain(console, renderable))


def _say(console: Console, line: str) -> None:
    """Print a line that is one record: a terminal may wrap it, a file keeps it whole."""
    console.print(line, markup=False, soft_wrap=True)


def _counts(texts: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    counts = []
    for text in texts:
        name, _, number = text.partition("=")
        if not name or not (number.isascii() and number.isdigit()) or not 1 <= int(number) <= _MOST_STRANDS:
            raise UsageError(f"--count {text!r} is not ROLE=NUMBER, with a number from 1 to {_MOST_STRANDS}")
        counts.append((name, int(number)))
    return tuple(counts)


def _write(path: str, text: str) -> None:
    if path == "-":
        click.echo(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def _check_writable(path: str | None) -> None:
    """Find out before the first stage, not after the last, that a report has nowhere to go."""
    if path and path != "-":
        try:
            with Path(path).open("a", encoding="utf-8"):
                pass
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="job-harness", prog_name="harness")
@click.pass_context
def cli(context: click.Context) -> None:
    """Gate asynchronous-job implementations against written contracts."""
    if context.invoked_subcommand is None:  # an error in every version of click
        click.echo(context.get_help(), err=True)
        sys.exit(2)


@cli.command()
@click.argument("target")
@click.option(
    "--contract",
    default="",
    metavar="NAME",
    help="Which contract; 'harness contracts' lists them.  [default: ledger]",
)
@click.option(
    "--adapter", "adapter_file", metavar="FILE", help="TOML file that maps foreign names to the contract's."
)
@click.option(
    "--budget",
    default="default",
    show_default=True,
    help="quick, default, thorough, or a duration: 45s, 10m, 2h.",
)
@click.option(
    "--seed", default="0", show_default=True, help="A number, or 'random' for a fresh one (it is printed)."
)
@click.option(
    "--stage", "stages", multiple=True, help=f"Run this stage only; repeatable. Stages: {', '.join(STAGES)}."
)
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    help=f"Run this scenario only, in the stages {' and '.join(PLAYING)}; repeatable.",
)
@click.option(
    "--count", "counts", multiple=True, metavar="ROLE=N", help="How many strands play a role; repeatable."
)
@click.option(
    "--duration",
    "soak_seconds",
    type=click.FloatRange(0.1, _LONGEST_S),
    help="Seconds of each soak of the stress stage.  [default: by budget]",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first finding, unshrunk.")
@click.option("--strict", is_flag=True, help="SHOULD clauses decide the verdict too.")
@click.option(
    "--cov", is_flag=True, help="Report lines and branches of the implementation that were never reached."
)
@click.option(
    "--json", "json_file", metavar="FILE", help="Write the outcome as JSON ('-' for standard output)."
)
@click.option("--junit", "junit_file", metavar="FILE", help="Write JUnit XML, a test case per clause.")
@click.option(
    "--seeds",
    default=DEFAULT_FOLDER,
    show_default=True,
    metavar="FOLDER",
    help="Where failing schedules are kept and replayed from; '' for nowhere.",
)
@click.option(
    "--instrument",
    multiple=True,
    metavar="PACKAGE",
    help="An installed package that is under test too; repeatable.",
)
@click.option("--verbose", "-v", is_flag=True, help="List the clauses that are OK as well.")
def gate(
    target: str,
    contract: str,
    adapter_file: str | None,
    budget: str,
    seed: str,
    stages: tuple[str, ...],
    scenarios: tuple[str, ...],
    counts: tuple[str, ...],
    soak_seconds: float | None,
    fail_fast: bool,
    strict: bool,
    cov: bool,
    json_file: str | None,
    junit_file: str | None,
    seeds: str,
    instrument: tuple[str, ...],
    verbose: bool,
) -> None:
    """Hold TARGET against a contract: package.module:factory or path/to/file.py:factory."""
    if soak_seconds is not None and isnan(soak_seconds):
        raise UsageError("--duration nan is no number of seconds")
    request = GateRequest(
        target=target,
        contract=contract,
        adapter=Adapter.load(Path(adapter_file)) if adapter_file else Adapter(),
        budget=parse_budget(budget),
        seed=parse_seed(seed),
        stages=stages or (PLAYING if scenarios else ()),
        scenarios=scenarios,
        counts=_counts(counts),
        soak_seconds=soak_seconds,
        stop_at_first=fail_fast,
        strict=strict,
        coverage=cov,
        adapter_file=adapter_file or "",
        budget_text=budget,
        seeds=seeds,
        instrument=instrument,
    )
    for path in (json_file, junit_file):
        _check_writable(path)
    console = _console(stderr=json_file == "-")
    with TerminalListener(console, chosen_stages(request)) as listener:
        report = run_gate(request, listener)
    _show(console, gate_view(report, verbose))
    if json_file:
        _write(json_file, json.dumps(gate_json(report), indent=2))
    if junit_file:
        _write(junit_file, junit_xml(report))
    sys.exit(report.verdict.exit_code)


@cli.command()
@click.argument("name", required=False)
def contracts(name: str | None) -> None:
    """List the contracts, or the clauses of one."""
    console = _console()
    if name:
        _show(console, contract_view(contract_named(name)))
        return
    for contract in CONTRACTS.values():
        _say(console, f"{contract.name}: {contract.title}, {len(contract.clauses)} clauses")


@cli.command()
@click.option("--contract", default="ledger", show_default=True, metavar="NAME", help="Which contract.")
def scenarios(contract: str) -> None:
    """List the stress scenarios of a contract."""
    console = _console()
    for scenario in installed_scenarios(contract_named(contract).name):
        roles = ", ".join(f"{role.count} {role.name}" for role in scenario.roles)
        _say(console, f"{scenario.name}: {scenario.about} ({roles}; {scenario.seconds:g} s)")


@cli.command()
@click.option("--contract", default="ledger", show_default=True, metavar="NAME", help="Which contract.")
@click.option("--mutant", "names", multiple=True, metavar="NAME", help="Only this mutant; repeatable.")
@click.option("--list", "only_list", is_flag=True, help="List the mutants and gate none.")
@click.option("--budget", default="default", show_default=True, help="As of 'harness gate'.")
@click.option("--seed", default="0", show_default=True, help="As of 'harness gate'.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Mutants at a time.")
@click.option(
    "--json", "json_file", metavar="FILE", help="Write the kill table as JSON ('-' for standard output)."
)
def certify(
    contract: str,
    names: tuple[str, ...],
    only_list: bool,
    budget: str,
    seed: str,
    jobs: int,
    json_file: str | None,
) -> None:
    """Gate every known mutant: which stage kills it, after how much. Exit 3 if any survives."""
    console = _console(stderr=json_file == "-")
    mutants = certification.mutants_of(contract_named(contract).name, names)
    if only_list:
        for mutant in mutants:
            rare = "  (rare)" if mutant.rare else ""
            _say(console, f"{mutant.name}  {mutant.clause}  {mutant.bug}{rare}")
        return
    kills = certification.certify(
        contract,
        mutants,
        budget=parse_budget(budget),
        seed=parse_seed(seed),
        jobs=jobs,
        heard=_heard(console, len(mutants)),
    )
    rows = ((kill.mutant, kill.stage, kill.clause, kill.executions, kill.seconds) for kill in kills)
    _show(console, kill_table(rows))
    outcome = certification.kill_json(kills)
    _say(console, f"{outcome['killed']} of {outcome['mutants']} mutants killed")
    for survivor in outcome["survivors"]:
        _say(console, f"survives: {survivor}")
    if json_file:
        _write(json_file, json.dumps(outcome, indent=2))
    sys.exit(Verdict.UNKNOWN.exit_code if outcome["survivors"] else Verdict.OK.exit_code)


@cli.command()
@click.argument("test", metavar="FILE::TEST")
@click.option(
    "--executions", type=click.IntRange(1), default=100_000, show_default=True, help="At most so many."
)
@click.option("--seconds", type=click.FloatRange(0.1), help="At most so long.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--seed", default="0", show_default=True, help="As of 'harness gate'.")
@click.option("--strategy", default="portfolio", show_default=True, help="How to choose schedules.")
@click.option("--instrument", multiple=True, metavar="PACKAGE", help="Import this privately too; repeatable.")
@click.option(
    "--seeds", default=DEFAULT_FOLDER, show_default=True, metavar="FOLDER", help="Where failures are kept."
)
def explore(
    test: str,
    executions: int,
    seconds: float | None,
    jobs: int,
    seed: str,
    strategy: str,
    instrument: tuple[str, ...],
    seeds: str,
) -> None:
    """Explore one test for longer than its own budget says: path/to/test_file.py::test_name."""
    from harness.campaign import explore_test
    from harness.explore.exploration import Effort

    effort = Effort(
        executions=executions,
        seconds=seconds,
        seed=parse_seed(seed),
        strategy=strategy,
        jobs=jobs,
        instrument=instrument,
    )
    sys.exit(explore_test(test, effort, seeds, _console()).exit_code)


@cli.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--trace", is_flag=True, help="Print every step.")
@click.option("--pdb", "debug", is_flag=True, help="Stop in the debugger where a task fails.")
def replay(files: tuple[str, ...], trace: bool, debug: bool) -> None:
    """Replay kept seeds, or all in a folder.

    Exit 1 if one fails again, 2 if one cannot be read, 3 if one no longer applies.
    """
    from harness.replaying import replay_file
    from harness.seeds.store import seed_files

    console = _console()
    codes = []
    for name in seed_files(files):
        try:
            replayed = replay_file(name, min(console.width, 120), trace, debug)
        except UsageError as error:
            click.echo(f"harness: {error}", err=True)
            codes.append(2)
            continue
        console.print(replayed.text, markup=False, soft_wrap=True)
        codes.append(replayed.verdict.exit_code)
    sys.exit(next((code for code in (1, 2, 3) if code in codes), 0))


@cli.command("check-history")
@click.argument("file", metavar="FILE")
@click.option("--model", required=True, metavar="MODEL", help="A name, or module:Class, or file.py:Class.")
@click.option("--nodes", type=click.IntRange(1), default=5_000_000, help="Configurations to look at.")
@click.option(
    "--seconds", type=click.FloatRange(0.1), default=60.0, show_default=True, help="At most so long."
)
def check_history(file: str, model: str, nodes: int, seconds: float) -> None:
    """Is a recorded history linearizable? FILE is JSON Lines, one operation per line."""
    from harness.checking import check_file, model_named
    from harness.history.linearizability import Budget

    answer = check_file(Path(file), model_named(model), Budget(nodes, seconds), min(_console().width, 120))
    click.echo(answer.text)
    sys.exit(answer.verdict.exit_code)


def _heard(console: Console, total: int) -> Callable[[Any], None]:
    done = 0

    def heard(kill: Any) -> None:
        nonlocal done
        done += 1
        outcome = f"killed by {kill.stage}" if kill.stage else "survives"
        _say(console, f"[{done}/{total}] {kill.mutant.name}: {outcome}, {kill.seconds:.1f} s")

    return heard


def _ended(number: int, frame: object) -> None:
    sys.exit(128 + number)


def main() -> None:
    """Entry point of the `harness` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names and messages of targets may hold anything
            stream.reconfigure(errors="backslashreplace")
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # leave as when interrupted, so that nothing stays behind
            signal.signal(getattr(signal, name), _ended)
    try:
        cli.main(standalone_mode=False)
    except UsageError as error:
        click.echo(f"harness: {visible(str(error))}", err=True)
        sys.exit(2)
    except HarnessError as error:
        click.echo(f"harness: fault of the harness, no verdict: {visible(str(error))}", err=True)
        sys.exit(3)
    except click.exceptions.Abort:
        click.echo("harness: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
