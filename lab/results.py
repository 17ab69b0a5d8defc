"""Where results lie: a folder per experiment, run.json beside one JSON file per cell, written at once and whole."""
import dataclasses
import json
import os
import pathlib

from lab.experiment import ROOT, LabError

DEFAULT_FOLDER = ROOT / "build" / "lab"
FORMAT = 1


def write_json(path, value):
    """Written beside and renamed: an interrupt leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(value, indent=1) + "\n")
    os.replace(beside, path)


def differences(old, new):
    """Names of the machine's and the source's facts that differ, as "name: old against new"."""
    found = []
    for group in ("machine", "source"):
        for name in sorted({*old.get(group, {}), *new.get(group, {})}):
            was, now = old.get(group, {}).get(name), new.get(group, {}).get(name)
            if was != now:
                found.append(f"{name}: {was} against {now}")
    return found


@dataclasses.dataclass
class Results:
    """One run of an experiment, in memory. `run` has its facts and definition, `cells` the measurements by key."""
    folder: pathlib.Path
    run: dict
    cells: dict

    def save_cell(self, key, cell):
        """Durable before the next cell starts, so that an interrupt costs one cell."""
        self.cells[key] = cell
        write_json(self.folder / "cells" / f"{key}.json", cell)

    def good(self):
        return [cell for cell in self.cells.values() if cell["status"] == "measured"]

    def failed(self):
        return [cell for cell in self.cells.values() if cell["status"] == "failed"]


def read(folder):
    """The results in a folder: as a run left them, or one results.json that `lab report --out` wrote. LabError if none."""
    folder = pathlib.Path(folder)
    merged = folder / "results.json"
    try:
        if (folder / "run.json").exists():
            run = json.loads((folder / "run.json").read_text())
            cells = {path.stem: json.loads(path.read_text()) for path in sorted((folder / "cells").glob("*.json"))}
        elif merged.exists():
            whole = json.loads(merged.read_text())
            run, cells = whole["run"], whole["cells"]
        else:
            raise LabError(f"no results in {folder}: lab run makes them")
    except (ValueError, KeyError) as error:
        raise LabError(f"{folder}: damaged results: {error}") from None
    if run.get("format") != FORMAT:
        raise LabError(f"{folder}: results of format {run.get('format')}, this lab reads {FORMAT}")
    return Results(folder, run, cells)


def open_for_run(folder, run, fresh):
    """Results to add to: new ones, or those of an interrupted run of the same definition on the same machine and commit."""
    folder = pathlib.Path(folder)
    run = {**run, "format": FORMAT}
    if fresh or not (folder / "run.json").exists():
        for path in (folder / "cells").glob("*.json"):
            path.unlink()
        write_json(folder / "run.json", run)
        return Results(folder, run, {})
    old = read(folder)
    wrong = differences(old.run, run)
    if old.run["definition"] != run["definition"]:
        wrong.append("the experiment's definition or options")
    if wrong:
        raise LabError(f"{folder} holds results that must not be mixed with new ones; different are:\n  " + "\n  ".join(wrong)
                       + "\n--fresh discards them, --out FOLDER writes elsewhere")
    return old


def merge(folders, allow_mixed):
    """The results of several folders as one; refuses when machine, commit, binary or definition differ, unless told to mix."""
    parts = [read(folder) for folder in folders]
    first = parts[0]
    cells = dict(first.cells)
    mixed = []
    for other in parts[1:]:
        wrong = differences(first.run, other.run)
        if first.run["definition"]["experiment"]["name"] != other.run["definition"]["experiment"]["name"]:
            raise LabError(f"{first.folder} and {other.folder} hold different experiments")
        if wrong and not allow_mixed:
            raise LabError(f"{first.folder} and {other.folder} do not belong together; different are:\n  " + "\n  ".join(wrong)
                           + "\n--allow-mixed reports them together and says so")
        mixed += wrong
        for key, cell in other.cells.items():
            number = len(cells)
            cells[key if key not in cells else f"{key}.{number}"] = cell
    run = {**first.run, "mixed": sorted(set(mixed))} if mixed else first.run
    return Results(first.folder, run, cells)


def save_merged(folder, results):
    """One results.json with everything, a cell a line, so that a commit of it stays readable and small."""
    def line(value):
        return json.dumps(value, separators=(",", ":"))

    cells = ",\n".join(f"{json.dumps(key)}:{line(cell)}" for key, cell in sorted(results.cells.items()))
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(f'{{"run":{line(results.run)},\n"cells":{{\n{cells}\n}}}}\n')
