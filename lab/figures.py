"""From cells to what a report says: medians with spread, counters per 1000 transactions, and verdicts on published effects."""
import dataclasses
import fnmatch
import statistics

from lab import stats

LATENCIES = ("p50", "p95", "p99", "p99.9")
EXPECTED = {"higher": "higher", "lower": "lower", "same": "no difference"}
SAME_WITHIN = 0.05  # ratios closer to 1 than this count as "the same"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a published effect. `interval` is (ratio, low, high), None where it cannot be had."""
    status: str       # reproduced, absent, reversed, different, undecided (no interval), not measured
    interval: tuple
    sentence: str
    points: tuple     # (sweep, clients, ratio) of each measured point


class PartFigures:
    """The measured cells of one part, by variant, swept value and client count. `part` is its stored definition."""

    def __init__(self, part, cells, hardware_threads, quick=False):
        self.part, self.hardware_threads, self.quick = part, hardware_threads, quick
        self.cells = {}
        for cell in cells:
            if cell["part"] == part["name"] and cell["status"] == "measured":
                self.cells.setdefault((cell["variant"], cell["sweep"], cell["clients"]), []).append(cell)
        self.labels = {variant["name"]: variant["label"] or variant["name"] for variant in part["variants"]}
        for cell in cells:
            self.labels.setdefault(cell["variant"], cell["variant"])
        present = {key[0] for key in self.cells}
        self.variants = [name for name in self.labels if name in present]
        self.sweeps = [value for value in part["sweep_values"] if any(key[1] == value for key in self.cells)]
        self.clients = sorted({key[2] for key in self.cells})
        self.unit = next((found[0]["unit"] for found in self.cells.values()), "tps")
        self.repetitions = max((len(found) for found in self.cells.values()), default=0)

    def at(self, variant, sweep, clients):
        return self.cells.get((variant, sweep, clients), [])

    def values(self, metric, variant, sweep, clients):
        """The metric of each repetition; those that lack it are left out."""
        found = (value_of(cell, metric) for cell in self.at(variant, sweep, clients))
        return [value for value in found if value is not None]

    def summary(self, metric, variant, sweep, clients):
        """(median, lowest, highest), or None where nothing was measured."""
        values = self.values(metric, variant, sweep, clients)
        return stats.summary(values) if values else None


def per_thousand(cell, pattern):
    """The sum of the counters that match, per 1000 transactions; None when none is there."""
    found = [value for name, value in cell["counters"].items() if fnmatch.fnmatchcase(name, pattern) and not isinstance(value, list)]
    return 1000 * sum(found) / cell["transactions"] if found and cell["transactions"] else None


def value_of(cell, metric):
    """One figure of a cell: rate, latency.P, counter:PATTERN (per 1000 transactions), or server./client.NAME per transaction."""
    if metric == "rate":
        return cell["rate"]
    if metric.startswith("counter:"):
        return per_thousand(cell, metric.removeprefix("counter:"))
    group, _, name = metric.partition(".")
    if group == "latency":
        return cell["latency"].get(name)
    return cell[group][name] / cell["transactions"] if cell["transactions"] else None


def samples(cell, metric):
    """What the bootstrap draws from within one run: its seconds for the rate, else the one figure."""
    if metric == "rate" and len(cell["per_second"]) >= 2:
        return cell["per_second"]
    value = value_of(cell, metric)
    return None if value is None else [value]


def _runs(figures, metric, variant, sweep, clients):
    found = (samples(cell, metric) for cell in figures.at(variant, sweep, clients))
    return [run for run in found if run]


def judge(expect, interval):
    """reproduced, absent, reversed or different, from the expected direction and the ratio's interval."""
    _, low, high = interval
    if expect == "same":
        near = 1 - SAME_WITHIN <= low and high <= 1 + SAME_WITHIN
        return "reproduced" if near or low <= 1 <= high else "different"
    if low <= 1 <= high:
        return "absent"
    return "reproduced" if (low > 1) == (expect == "higher") else "reversed"


def clients_text(count):
    return f"{count} client" if count == 1 else f"{count} clients"


def metric_name(metric):
    if metric == "rate":
        return "throughput"
    if metric.startswith("counter:"):
        return metric.removeprefix("counter:") + " per 1000 transactions"
    if metric.startswith("latency."):
        return metric.removeprefix("latency.") + " latency"
    return metric


def verdict(figures, comparison):
    """The verdict on one published effect, over the points where sessions contend: at least as many clients as hardware threads."""
    metric, sweep = comparison["metric"], comparison["sweep"]
    pairs, points = [], []
    for value in [sweep] if sweep else figures.sweeps:
        below_sweep = comparison["over_sweep"] or value
        for clients in figures.clients:
            above = _runs(figures, metric, comparison["of"], value, clients)
            below = _runs(figures, metric, comparison["over"], below_sweep, clients)
            if above and below:
                pairs.append((clients, above, below))
                mean = statistics.fmean(statistics.fmean(run) for run in below)
                points.append((value, clients, statistics.fmean(statistics.fmean(run) for run in above) / mean if mean else None))
    contended = [pair for pair in pairs if pair[0] >= figures.hardware_threads] or pairs
    subject = _subject(figures, comparison)
    if not contended:
        return Verdict("not measured", None, f"Not measured: {subject.rstrip(',')}.", ())
    interval = stats.bootstrap_ratio([pair[1:] for pair in contended])
    published = f" Published: {comparison['published']}." if comparison["published"] else ""
    if interval is None:
        return _without_ratio(comparison, contended, subject, published, tuple(points))
    ratio, low, high = interval
    counts = sorted({pair[0] for pair in contended})
    where = f"{counts[0]} to {clients_text(counts[-1])}" if len(counts) > 1 else clients_text(counts[0])
    if figures.quick:
        sentence = f"Not judged, a smoke run: {subject} is {ratio:.3f} at {where} (measured here).{published}"
        return Verdict("undecided", None, sentence, tuple(points))
    if all(len(side) == 1 and len(side[0]) == 1 for pair in contended for side in pair[1:]):
        sentence = (f"Undecided (expected {EXPECTED[comparison['expect']]}): {subject} is {ratio:.3f} at {where} (measured here once: "
                    f"no interval).{published}")
        return Verdict("undecided", None, sentence, tuple(points))
    status = judge(comparison["expect"], interval)
    only = "; one repetition, so the interval covers only the variation within it" if figures.repetitions < 2 else ""
    sentence = (f"{_words(status, comparison['expect'])}: {subject} is {ratio:.3f} [{low:.3f}, {high:.3f}] at {where} "
                f"(measured here, 95 % interval{only}).{published}")
    return Verdict(status, interval, sentence, tuple(points))


def _subject(figures, comparison):
    labels = figures.labels
    if comparison["over_sweep"]:
        setting = figures.part["sweep_setting"]
        return (f"{metric_name(comparison['metric'])} of \"{labels.get(comparison['of'])}\", {setting} {comparison['sweep']} over "
                f"{comparison['over_sweep']},")
    at = f", {figures.part['sweep_setting']} {comparison['sweep']}" if comparison["sweep"] else ""
    return f"{metric_name(comparison['metric'])} of \"{labels.get(comparison['of'])}\" over \"{labels.get(comparison['over'])}\"{at}"


def _words(status, expect):
    expected = EXPECTED[expect]
    return {"reproduced": f"Reproduced ({expected}, as expected)", "absent": f"Absent (expected {expected}, the interval includes 1)",
            "reversed": f"Reversed (expected {expected})", "different": "Not reproduced (expected no difference, found one)"}[status]


def _without_ratio(comparison, pairs, subject, published, points):
    """A side is zero: a ratio says nothing, but the direction may still be plain."""
    above, below = (sum(statistics.fmean(run) for pair in pairs for run in pair[side]) for side in (1, 2))
    if above == below:
        status, text = ("reproduced" if comparison["expect"] == "same" else "absent"), "both are zero"
    else:
        direction = "higher" if above > below else "lower"
        status = "reproduced" if direction == comparison["expect"] else "different" if comparison["expect"] == "same" else "reversed"
        text = f"{'the second' if above else 'the first'} is zero"
    return Verdict(status, None, f"{_words(status, comparison['expect']).split(' (')[0]}: {subject}: {text} (measured here).{published}", points)


def counter_table(figures, sweep, clients, most=60):
    """Rows (counter, {variant: median per 1000 transactions}) for one point, those that differ most between variants first."""
    names = {name for variant in figures.variants for cell in figures.at(variant, sweep, clients)
             for name, value in cell["counters"].items() if not isinstance(value, list)}
    rows = []
    for name in names:
        row = {}
        for variant in figures.variants:
            values = [1000 * cell["counters"].get(name, 0) / cell["transactions"] for cell in figures.at(variant, sweep, clients)
                      if cell["transactions"]]
            if values and any(cell["counters"].get(name) is not None for cell in figures.at(variant, sweep, clients)):
                row[variant] = statistics.median(values)
        if row and max(map(abs, row.values())) >= 0.05:
            rows.append((name, row))
    rows.sort(key=lambda row: (row[0].split(".")[0], row[0]))
    interesting = [row for row in rows if not row[0].startswith("pg_stat_user_")] + [row for row in rows if row[0].startswith("pg_stat_user_")]
    return interesting[:most]


def by_second(figures, variant, sweep, clients, name):
    """[(second, median over repetitions)] of a latency (p50, p95, p99, max) or of the rate."""
    seconds = {}
    for cell in figures.at(variant, sweep, clients):
        series = enumerate(cell["per_second"]) if name == "rate" else ((row["second"], row.get(name)) for row in cell["latency_by_second"])
        for second, value in series:
            if value is not None:
                seconds.setdefault(second, []).append(value)
    return [(second, statistics.median(values)) for second, values in sorted(seconds.items())]


def parts_of(results):
    """The figures of every part that has cells, in the experiment's order."""
    threads = results.run["machine"].get("hardware_threads") or 1
    definition = results.run["definition"]
    found = [PartFigures(part, list(results.cells.values()), threads, definition.get("quick", False)) for part in definition["parts"]]
    return [figures for figures in found if figures.cells]
