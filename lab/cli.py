"""The command line of the laboratory: lab list, run, show, report, predict."""
import argparse
import json
import os
import pathlib
import shlex
import signal
import sys

from lab import experiment as experiments
from lab import measure, plan, report, results, runner, servers
from lab.experiment import LabError
from lab.progress import Progress, clock


def _numbers(text):
    try:
        values = tuple(int(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a list of numbers: {text}") from None
    if min(values) < 1:
        raise argparse.ArgumentTypeError(f"client counts start at 1: {text}")
    return values


def _positive(text):
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"must be above 0: {text}")
    return value


def _parser():
    parser = argparse.ArgumentParser(prog="lab", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="experiments, servers and profiles")
    run = commands.add_parser("run", help="measure an experiment; the same command resumes an interrupted run")
    run.add_argument("experiment", help="a name of lab list, a TOML file, or all")
    run.add_argument("--quick", action="store_true", help="a smoke run: scale 1, one repetition of one second; its figures mean nothing")
    run.add_argument("--budget", type=_positive, metavar="MINUTES", help="cut lengths, repetitions and points so that the run fits")
    run.add_argument("--clients", type=_numbers, metavar="N,N", help="client counts")
    run.add_argument("--seconds", type=_positive, help="length of each measured run")
    run.add_argument("--repetitions", type=int)
    run.add_argument("--part", action="append", default=[], help="only this part (may be repeated)")
    run.add_argument("--variant", action="append", default=[], help="only this variant (may be repeated)")
    run.add_argument("--profile", action="append", default=[], help="one more variant: profiles/NAME.conf (may be repeated)")
    run.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting for every Pinwheel variant")
    run.add_argument("--out", help="folder of the results (default build/lab/EXPERIMENT)")
    run.add_argument("--resume", action="store_true", help="fail when there is nothing to resume")
    run.add_argument("--fresh", action="store_true", help="discard earlier results in the folder")
    run.add_argument("--dry-run", action="store_true", help="print the plan and its length")
    for name, text in (("show", "print results as Markdown"), ("report", "write results.json, table.md and report.html")):
        command = commands.add_parser(name, help=text)
        command.add_argument("experiment", nargs="+", help="names, or folders with results of one experiment")
        command.add_argument("--allow-mixed", action="store_true", help="put results of different machines or commits together, and say so")
        command.add_argument("--out", help="folder to write to (default: the first one)")
    predict = commands.add_parser("predict", help="the queueing model: throughput for 1 to 128 hardware threads from measured demands")
    predict.add_argument("experiment")
    predict.add_argument("--from", dest="source", help="folder of the results (default build/lab/EXPERIMENT)")
    return parser


def _folder(name):
    return pathlib.Path(name) if os.sep in name or pathlib.Path(name).is_dir() else results.DEFAULT_FOLDER / name


def _checked_folder(name):
    """A folder with results; a name that is neither one nor an experiment gets the nearest match."""
    folder = _folder(name)
    if not folder.exists() and os.sep not in name and name not in experiments.available():
        raise experiments.unknown("experiment", name, experiments.available())
    return folder


def list_all(_options):
    for name in experiments.available():
        experiment = experiments.load(name)
        print(f"{name}: {experiment.title}")
        for part in experiment.parts:
            seconds = plan.PlannedPart(part, part.variants, ()).seconds()
            sweep = f" x {part.sweep_setting} {', '.join(part.sweep_values)}" if part.sweep_setting else ""
            print(f"  {part.name}: {', '.join(variant.name for variant in part.variants)}; clients {', '.join(map(str, part.clients))}"
                  f"{sweep}; about {clock(seconds)}")
    for kind in experiments.SERVER_KINDS:
        print(f"server {kind}: {servers.engine_missing(kind) or 'available'}")
    print(f"profiles: {', '.join(experiments.profiles()) or '(none)'}")
    return 0


def _plan(name, options):
    experiment = experiments.load(name)
    return experiment, plan.prepare(experiment, options, servers.engine_missing, runner.driver_missing)


def _describe(planned, cuts):
    for one in planned:
        for name, reason in one.skipped:
            print(f"skipped: {one.part.name}/{name}: {reason}", file=sys.stderr)
    for cut in cuts:
        print(f"cut to the budget: {cut}", file=sys.stderr)


def _run_one(name, options, budget_s):
    experiment, planned = _plan(name, options)
    cuts = []
    if budget_s:
        planned, cuts = plan.fit(planned, budget_s)
    _describe(planned, cuts)
    cell_count = sum(len(list(one.cells())) for one in planned)
    print(f"{name}: {cell_count} cells, about {clock(plan.total_seconds(planned))}", file=sys.stderr)
    if options.dry_run:
        return 0
    if not cell_count:
        print(f"{name}: nothing to measure: everything is skipped", file=sys.stderr)
        return 1
    binary = None if servers.engine_missing("pinwheel") else servers.find_pinwheel()
    folder = pathlib.Path(options.out) if options.out else results.DEFAULT_FOLDER / experiment.name
    if options.out and options.experiment == "all":
        folder = folder / experiment.name
    if options.resume and not (folder / "run.json").exists():
        raise LabError(f"nothing to resume in {folder}")
    definition = json.loads(json.dumps({**plan.definition(experiment, planned), "quick": options.quick, "cuts": cuts}))
    run = {"machine": measure.machine_facts(), "source": measure.source_facts(binary), "definition": definition,
           "command": "scripts/lab " + shlex.join(options.words)}
    found = results.open_for_run(folder, run, options.fresh)
    progress = Progress(plan.total_seconds(planned), cell_count)
    try:
        runner.Runner(found, progress).run(planned)
    except KeyboardInterrupt:
        progress.note(f"interrupted; {len(found.good())} of {cell_count} cells are kept in {folder}: the same command resumes")
        return 130
    report.write(folder, found)
    print(report.show(found))
    print(f"written: {folder / 'report.html'}, {folder / 'table.md'}, {folder / 'results.json'}")
    return 1 if found.failed() else 0


def run(options):
    if options.experiment != "all":
        return _run_one(options.experiment, options, options.budget * 60 if options.budget else None)
    names = experiments.available()
    needs = {}
    for name in names:
        needs[name] = plan.total_seconds(_plan(name, options)[1])
    status = 0
    for name in names:
        if not needs[name]:
            _describe(_plan(name, options)[1], ())
            print(f"{name}: left out: everything is skipped", file=sys.stderr)
            continue
        share = options.budget * 60 * needs[name] / sum(needs.values()) if options.budget else None
        outcome = _run_one(name, options, share)
        if outcome == 130:
            return outcome
        status = max(status, outcome)
    return status


def _merged(options):
    return results.merge([_checked_folder(name) for name in options.experiment], options.allow_mixed)


def show(options):
    print(report.show(_merged(options)))
    return 0


def write_report(options):
    found = _merged(options)
    folder = pathlib.Path(options.out) if options.out else found.folder
    report.write(folder, found)
    print(f"written: {folder / 'report.html'}, {folder / 'table.md'}, {folder / 'results.json'}")
    return 0


def predict(options):
    from lab import predict as prediction
    folder = pathlib.Path(options.source) if options.source else _checked_folder(options.experiment)
    found = results.read(folder)
    forecast = prediction.predict(found)
    results.write_json(folder / "prediction.json", forecast)
    report.write(folder, found)
    print(prediction.table(forecast))
    print(f"written: {folder / 'prediction.json'}, {folder / 'report.html'}")
    return 0


COMMANDS = {"list": list_all, "run": run, "show": show, "report": write_report, "predict": predict}


def _interrupted(*_):
    raise KeyboardInterrupt


def main(words=None):
    words = sys.argv[1:] if words is None else words
    options = _parser().parse_args(words)
    options.words = words
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell started us with SIGINT ignored
        signal.signal(number, _interrupted)
    try:
        return COMMANDS[options.command](options)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
