"""Experiments: their TOML files read, checked name by name, and opened up into the list of cells to measure."""
import dataclasses
import difflib
import pathlib
import re
import textwrap
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPERIMENTS = ROOT / "lab" / "experiments"
PROFILES = ROOT / "profiles"
PARAMETERS = ROOT / "docs" / "parameters.md"
SERVER_KINDS = ("pinwheel", "stock15", "stock18")
EXPECTATIONS = ("higher", "lower", "same")
CORES = "cores"  # a sweep over processors: not a setting, the runner pins server and clients


class LabError(Exception):
    """A mistake of the user, or results that do not fit together; printed without a trace."""


def unknown(what, name, valid):
    """The error for a name that is none of `valid`: says the nearest one and lists all."""
    valid = sorted(valid)
    near = difflib.get_close_matches(name, valid, n=1, cutoff=0.4)
    hint = f"; did you mean \"{near[0]}\"?" if near else ""
    listed = textwrap.fill(", ".join(valid) or "(none)", 110, initial_indent="valid: ", subsequent_indent="  ", break_on_hyphens=False)
    return LabError(f"unknown {what} \"{name}\"{hint}\n{listed}")


@dataclasses.dataclass(frozen=True)
class Workload:
    """What the clients run. `kind` pgbench: a builtin `script` or the text `sql`; kind tpcc: the driver of bench/tpcc."""
    kind: str = "pgbench"
    script: str = "select-only"
    sql: str = ""             # a custom pgbench script instead of a builtin
    protocol: str = "prepared"
    scale: int = 1            # pgbench's scale factor, or warehouses
    unlogged: bool = False
    think: bool = False       # tpcc: keying and think times
    check: str = ""           # a query that must give t after each run, beside the TPC-B sums

    @property
    def writes(self):
        return bool(self.sql) or self.kind == "tpcc" or self.script != "select-only"

    @property
    def load_key(self):
        """Workloads of equal key can share loaded data; those that write are kept apart by script, so that their sums hold."""
        flavour = "-".join(filter(None, [str(self.scale), "unlogged" if self.unlogged else ""]))
        return f"{self.kind}-{flavour}-{'sql' if self.sql else self.script}" if self.writes else f"{self.kind}-{flavour}-read"


@dataclasses.dataclass(frozen=True)
class Variant:
    """One server under one set of settings; what a line in a chart stands for."""
    name: str
    label: str = ""
    server: str = "pinwheel"
    profile: str = ""
    settings: dict = dataclasses.field(default_factory=dict)
    optional: bool = False    # skipped, and said so, when this build lacks one of its switches


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A published effect: `metric` of variant `of` against that of `over` is expected higher, lower or the same."""
    of: str
    over: str
    expect: str = "higher"
    metric: str = "rate"      # rate, latency.p99, or counter:VIEW.KEY.COLUMN (per 1000 transactions; * for any key)
    published: str = ""       # the original's figure, in words
    sweep: str = ""           # only at this swept value; with over_sweep `over` is taken at that one
    over_sweep: str = ""


@dataclasses.dataclass(frozen=True)
class Part:
    """One table of an experiment: variants by client counts by the values of one swept setting, repeated."""
    name: str
    title: str
    workload: Workload
    clients: tuple
    seconds: float
    repetitions: int
    warmup: float             # most seconds to wait for a steady rate
    variants: tuple
    settings: dict
    sweep_setting: str = ""
    sweep_values: tuple = ("",)
    comparisons: tuple = ()
    published: tuple = ()     # tables of the original: dicts with title, columns, rows; plot = true draws them
    events: tuple = ()        # dicts with at (part of the run, 0..1) and sql
    shortest: float = 2       # a budget does not cut the cells below this
    axis: str = "clients"     # what the chart's x axis is: clients, sweep or time
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    source: str
    question: str
    scaling: str
    parts: tuple


@dataclasses.dataclass(frozen=True)
class Cell:
    """One measurement. `key` names it in files and on the screen."""
    part: str
    variant: str
    sweep: str
    clients: int
    repetition: int

    @property
    def key(self):
        words = [self.part, self.variant, self.sweep.replace("/", "_"), f"c{self.clients}", f"r{self.repetition}"]
        return ".".join(word for word in words if word)


def available():
    return sorted(path.stem for path in EXPERIMENTS.glob("*.toml"))


def profiles():
    return sorted(path.stem for path in PROFILES.glob("*.conf"))


def known_parameters():
    """Name -> listed values (None where it is not an enumeration) of this tree's parameters, from docs/parameters.md."""
    found = {}
    for line in PARAMETERS.read_text().splitlines():
        match = re.match(r"\| `(\w+)` \| .*? \| (.*?) \| \w+ \|", line)
        if match:
            values = match.group(2)
            found[match.group(1)] = [word.strip() for word in values.split(",")] if "," in values else None
    return found


def read_profile(name):
    """The settings of profiles/NAME.conf: lines of `name = value`, # for comments."""
    path = PROFILES / f"{name}.conf"
    if not path.exists():
        raise unknown("profile", name, profiles())
    settings = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"(\w+)\s*=?\s*(.+)", line)
        if not match:
            raise LabError(f"{path}:{number}: not a setting: {line}")
        settings[match.group(1)] = match.group(2).strip().strip("'")
    return settings


def check_switch(name, value, parameters):
    """Raises for a parameter this tree lacks, or for a value outside its listed ones."""
    if name not in parameters:
        raise unknown("switch", name, parameters)
    if parameters[name] is not None and str(value) not in parameters[name]:
        raise unknown(f"value of {name}", str(value), parameters[name])


def as_setting(value):
    """TOML's value in PostgreSQL's spelling."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _build(kind, table, where):
    """A dataclass of a TOML table; an unknown key is an error that names the nearest."""
    fields = {field.name for field in dataclasses.fields(kind)}
    for key in table:
        if key not in fields:
            raise LabError(f"{where}: {unknown('key', key, fields)}")
    try:
        return kind(**table)
    except TypeError as error:
        raise LabError(f"{where}: {error}") from None


def _settings(table):
    return {name: as_setting(value) for name, value in table.items()}


def _part(table, defaults, where):
    table = {**defaults, **table}
    where = f"{where}, part {table.get('name', '?')}"
    sweep = table.pop("sweep", {})
    if sweep:
        table["sweep_setting"], table["sweep_values"] = sweep["setting"], tuple(map(as_setting, sweep["values"]))
    table["workload"] = _build(Workload, table.get("workload", {}), where)
    variants = [{**variant, "settings": _settings(variant.get("settings", {}))} for variant in table.get("variants", [])]
    table["variants"] = tuple(_build(Variant, variant, where) for variant in variants)
    table["comparisons"] = tuple(_build(Comparison, row, where) for row in table.get("comparisons", []))
    table["settings"] = {**_settings(defaults.get("settings", {})), **_settings(table.get("settings", {}))}
    for name in ("clients", "published", "events"):
        table[name] = tuple(table.get(name, ()))
    part = _build(Part, table, where)
    names = [variant.name for variant in part.variants]
    for variant in part.variants:
        if variant.server not in SERVER_KINDS:
            raise LabError(f"{where}: {unknown('server', variant.server, SERVER_KINDS)}")
    for comparison in part.comparisons:
        for name in (comparison.of, comparison.over):
            if name not in names:
                raise LabError(f"{where}: {unknown('variant', name, names)}")
        if comparison.expect not in EXPECTATIONS:
            raise LabError(f"{where}: {unknown('expectation', comparison.expect, EXPECTATIONS)}")
    return part


def load(name, path=None):
    """The experiment of that name, or of that TOML file. Switches are checked by `check_variant`, per variant."""
    if path is None:
        path = pathlib.Path(name) if name.endswith(".toml") else EXPERIMENTS / f"{name}.toml"
    if not path.exists():
        raise unknown("experiment", name, available())
    try:
        table = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path}: {error}") from None
    defaults = table.pop("defaults", {})
    parts = tuple(_part(part, defaults, path.name) for part in table.pop("parts", []))
    return _build(Experiment, {"name": path.stem, "source": "", "question": "", "scaling": "", **table, "parts": parts}, path.name)


def variant_settings(part, variant, sweep):
    """Every setting the variant's server starts with: the profile's, then the part's, which hold
    for all, then its own, then the swept one."""
    settings = read_profile(variant.profile) if variant.profile else {}
    settings.update(part.settings)
    settings.update(variant.settings)
    if part.sweep_setting and part.sweep_setting != CORES:
        settings[part.sweep_setting] = sweep
    return settings


def check_variant(part, variant, parameters):
    """None when the variant can run on this build, else why it is skipped (optional ones); raises for other mistakes."""
    if variant.server != "pinwheel":
        return None
    try:
        for sweep in part.sweep_values:
            for name, value in variant_settings(part, variant, sweep).items():
                check_switch(name, value, parameters)
    except LabError as error:
        if variant.optional:
            return str(error).splitlines()[0]
        raise LabError(f"part {part.name}, variant {variant.name}: {error}") from None
    return None


def blocks(part, variants):
    """The order of measurement: (variant, sweep value, repetition) triples, A B C then C B A, so that drift of the machine
    falls on all alike. Client counts follow each other within a block, on one start of the server."""
    for repetition in range(1, part.repetitions + 1):
        for sweep in part.sweep_values:
            for variant in variants if repetition % 2 else reversed(variants):
                yield variant, sweep, repetition
