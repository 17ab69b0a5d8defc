"""What a run will measure: the experiment narrowed by the command line, what is skipped and why, and how long it takes."""
import dataclasses
import os

from lab import experiment as experiments
from lab.experiment import LabError, Variant, as_setting, check_switch, unknown

BLOCK_S = 2.0          # start and stop of a server
CELL_S = 1.2           # counters before and after, sums
TPCC_CHECK_S = 3.0     # its consistency conditions
LOAD_S_PER_SCALE = 0.3
NEXT_WARMUP = 0.25     # warm-up of a block's later cells, as part of the first one's
QUICK = {"seconds": 1, "repetitions": 1, "warmup": 1}


@dataclasses.dataclass(frozen=True)
class PlannedPart:
    part: experiments.Part
    variants: tuple  # of those that run
    skipped: tuple   # (variant name, reason)

    def cells(self):
        for variant, sweep, repetition in experiments.blocks(self.part, self.variants):
            for clients in self.part.clients:
                yield experiments.Cell(self.part.name, variant.name, sweep, clients, repetition)

    def cell_seconds(self):
        """Estimated seconds of one cell, its share of block and load left out."""
        check = TPCC_CHECK_S if self.part.workload.kind == "tpcc" else 0
        return self.part.seconds + NEXT_WARMUP * self.part.warmup + CELL_S + check

    def seconds(self):
        part = self.part
        engines = len({variant.server for variant in self.variants})
        load = 4 + LOAD_S_PER_SCALE * part.workload.scale * (20 if part.workload.kind == "tpcc" else 1)
        block = BLOCK_S + (1 - NEXT_WARMUP) * part.warmup + len(part.clients) * self.cell_seconds()
        return engines * load + part.repetitions * len(part.sweep_values) * len(self.variants) * block


def total_seconds(planned):
    return sum(part.seconds() for part in planned)


def _ends(values):
    return values if len(values) <= 2 else (values[0], values[-1])


def quick(part):
    """A smoke run of the part: its figures say that it works, nothing else."""
    workload = dataclasses.replace(part.workload, scale=1)
    return dataclasses.replace(part, workload=workload, clients=_ends(part.clients), sweep_values=_ends(part.sweep_values), **QUICK)


def _narrowed(part, options, parameters):
    """The part after --quick, --clients, --seconds, --repetitions, --set and --profile."""
    if options.quick:
        part = quick(part)
    changes = {name: getattr(options, name) for name in ("seconds", "repetitions", "clients") if getattr(options, name)}
    settings = {}
    for item in options.set:
        name, equals, value = item.partition("=")
        if not equals:
            raise LabError(f"--set {item}: write NAME=VALUE")
        check_switch(name, value, parameters)
        settings[name] = value
    variants = [dataclasses.replace(variant, settings={**variant.settings, **settings}) if variant.server == "pinwheel" else variant
                for variant in part.variants]
    for name in options.profile:
        experiments.read_profile(name)
        variants.append(Variant(name=f"profile-{name}", label=f"profile {name}", profile=name))
    return dataclasses.replace(part, variants=tuple(variants), **changes)


def _on_this_machine(part):
    """A sweep over processors without those that are not there, and [(what, reason)] of what was left out."""
    if part.sweep_setting != experiments.CORES:
        return part, []
    there = len(os.sched_getaffinity(0))
    fitting = tuple(value for value in part.sweep_values if int(value) <= there)
    left_out = [f"{value}" for value in part.sweep_values if value not in fitting]
    reasons = [(f"cores {', '.join(left_out)}", f"this machine has {there}")] if left_out else []
    return dataclasses.replace(part, sweep_values=fitting), reasons


def _chosen(names, valid, what):
    for name in names:
        if name not in valid:
            raise unknown(what, name, valid)


def prepare(experiment, options, engine_missing, driver_missing):
    """The parts to run. `engine_missing(server)` and `driver_missing(workload)` say why one cannot be had, or None.

    Skipped, with the reason kept: servers that are not installed, optional variants whose switches this build lacks,
    parts whose driver is not built. Everything else that is wrong raises LabError.
    """
    parameters = experiments.known_parameters()
    _chosen(options.part, [part.name for part in experiment.parts], "part")
    _chosen(options.variant, {variant.name for part in experiment.parts for variant in part.variants}, "variant")
    planned = []
    for part in experiment.parts:
        if options.part and part.name not in options.part:
            continue
        part, too_many = _on_this_machine(part)
        part = _narrowed(part, options, parameters)
        missing_driver = driver_missing(part.workload)
        running, skipped = [], too_many
        for variant in part.variants:
            if options.variant and variant.name not in options.variant and not variant.name.startswith("profile-"):
                continue
            reason = missing_driver or engine_missing(variant.server) or experiments.check_variant(part, variant, parameters)
            if reason:
                skipped.append((variant.name, reason))
            else:
                running.append(variant)
        planned.append(PlannedPart(part, tuple(running), tuple(skipped)))
    return planned


def _thinned(values, keep=()):
    """Every other value; the first, the last and those to keep stay."""
    return values if len(values) <= 2 else tuple(
        value for index, value in enumerate(values) if index % 2 == 0 or value == values[-1] or value in keep)


def _thinner(part):
    compared = {value for row in part.comparisons for value in (row.sweep, row.over_sweep)}
    return dataclasses.replace(part, clients=_thinned(part.clients), sweep_values=_thinned(part.sweep_values, compared))


def fit(planned, budget_s):
    """The plan made to fit the budget, and in words what was cut. In this order, each only as far as needed: cells to a third
    of their length, two repetitions, cells as short as the part allows, every other client count and swept value, one
    repetition, thinner again. A plan that still does not fit raises LabError with the time it needs."""
    original = planned

    def fits():
        return total_seconds(planned) <= budget_s

    def change(make):
        nonlocal planned
        planned = [dataclasses.replace(one, part=make(one.part)) for one in planned]

    def shorten(part_of_length):
        whole = planned
        for percent in range(95, 0, -5):
            if fits():
                return
            for index, one in enumerate(whole):
                seconds = max(one.part.shortest, part_of_length * one.part.seconds, one.part.seconds * percent / 100)
                warmup = max(1, one.part.warmup * seconds / one.part.seconds)
                part = dataclasses.replace(one.part, seconds=min(one.part.seconds, round(seconds)), warmup=min(one.part.warmup, round(warmup)))
                planned[index] = dataclasses.replace(one, part=part)

    def repeat(most):
        if not fits():
            change(lambda part: dataclasses.replace(part, repetitions=min(most, part.repetitions)))

    def thin():
        before = list(planned)
        change(_thinner)
        return planned != before

    planned = list(planned)
    shorten(1 / 3)
    repeat(2)
    shorten(0)
    if not fits():
        thin()
    repeat(1)
    while not fits():
        if not thin():
            raise LabError(f"does not fit: the shortest useful run takes about {total_seconds(planned) / 60:.1f} minutes, the budget is "
                           f"{budget_s / 60:.1f}; leave out parts (--part) or variants (--variant)")
    cuts = []
    for before, after in zip(original, planned):
        if before.part != after.part:
            cuts.append(f"{before.part.name}: {before.part.seconds:g} -> {after.part.seconds:g} s, "
                        f"{before.part.repetitions} -> {after.part.repetitions} repetitions, "
                        f"{len(before.part.clients)} -> {len(after.part.clients)} client counts, "
                        f"{len(before.part.sweep_values)} -> {len(after.part.sweep_values)} swept values")
    return planned, cuts


def definition(experiment, planned):
    """The plan as plain data: stored with the results, compared on resuming."""
    return {
        "experiment": {name: as_setting(getattr(experiment, name)) for name in ("name", "title", "source", "question", "scaling")},
        "parts": [{**dataclasses.asdict(one.part), "running": [variant.name for variant in one.variants],
                   "skipped": [list(pair) for pair in one.skipped]} for one in planned],
    }
