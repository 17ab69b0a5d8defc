"""Predictions: throughput on 1 to 128 hardware threads from what one and two processors showed, held against both."""
import html
import statistics

from lab import chart, figures as figure, markdown
from lab.experiment import LabError
from lab.model import Delay, Lock, Servers, throughputs

MODEL_PART = "model"
THREADS = (1, 2, 4, 8, 16, 32, 64, 128)
# Stated, not measured here: no machine with more than the processors at hand is available.
TRANSFER_S = 100e-9    # a cache line fetched from another processor's cache
HANDOVER_S = 20e-9     # what each waiter adds to a hand-over of its lock
HOLD_S = 150e-9        # a lock whose collisions were too few to tell
FEWEST_COLLISIONS = 30
LINES_PER_VISIT = 2    # taking and leaving a lock both write its line
# Tranches whose locks are many and rarely the same: their lines travel, but nobody queues.
SPREAD = {"BufferContent": 1024, "LockManager": 16, "LockFastPath": 1024}
PARTITION_SETTINGS = {"BufferMapping": ("buffer_mapping_partitions", 128), "BufferFreelist": ("freelist_partitions", 4),
                      "XactBuffer": ("clog_banks", 8), "WALInsert": ("wal_insert_locks", 8)}


def _partitions(tranche, settings):
    if tranche in SPREAD:
        return SPREAD[tranche]
    if tranche == "WALInsert" and settings.get("wal_insert", "reserve") != "slots":
        return 1
    name, default = PARTITION_SETTINGS.get(tranche, (None, 1))
    return int(str(settings.get(name, default)).split()[0]) if name else 1


def _mean(cells, value):
    return statistics.fmean(value(cell) for cell in cells)


def _processor_seconds(cell):
    used = cell["server"]["user_s"] + cell["server"]["system_s"] + cell["client"]["user_s"] + cell["client"]["system_s"]
    return used / cell["transactions"]


def _locks(alone, together):
    """The locks of one variant: visits from the run on one processor, holds from how often two processors collided.

    With two running, who arrives finds a part of the lock taken with probability p = (X / 2) * visits * hold / partitions;
    `spun` / `acquired` is p, so hold follows. Shared holders do not collide, so this is the time held against others.
    """
    counts = {name.split(".")[1] for cell in alone for name in cell["counters"]
              if name.startswith("pg_stat_lwlocks.") and name.endswith(".acquired")}
    found = []
    for tranche in sorted(counts):
        prefix = f"pg_stat_lwlocks.{tranche}"
        visits = _mean(alone, lambda cell: cell["counters"].get(f"{prefix}.acquired", 0) / cell["transactions"])
        if visits < 0.001:
            continue
        partitions = _partitions(tranche, alone[0]["settings"])
        acquired = sum(cell["counters"].get(f"{prefix}.acquired", 0) for cell in together)
        collided = sum(cell["counters"].get(f"{prefix}.spun", 0) for cell in together)
        rate = _mean(together, lambda cell: cell["rate"]) if together else 0
        if collided >= FEWEST_COLLISIONS:
            hold, source = 2 * (collided / acquired) * partitions / (rate * visits), "collisions"
        else:
            hold, source = HOLD_S, "stated"
        found.append({"tranche": tranche, "visits": visits, "hold_s": hold, "partitions": partitions, "hold_from": source})
    budget = 0.5 * _mean(alone, _processor_seconds)
    held = sum(lock["visits"] * lock["hold_s"] for lock in found)
    if held > budget:  # preempted holders inflate collisions: no more than half of the work can be under locks
        for lock in found:
            lock["hold_s"] *= budget / held
            lock["hold_from"] += ", scaled down"
    return found


def inputs_of(figures, variant):
    """Demands of one variant per transaction, or None when it was not measured on one processor."""
    alone = figures.at(variant, "1", figures.clients[0])
    if not alone:
        return None
    together = [cell for clients in figures.clients if clients >= 2 for cell in figures.at(variant, "2", clients)][:6]
    busy = max(figures.clients)
    saturated = figures.at(variant, "1", busy) or alone
    processor = _mean(saturated, _processor_seconds)
    delay = max(0.0, 1 / _mean(alone, lambda cell: cell["rate"]) - processor)
    locks = _locks(alone, together)
    return {"processor_s": processor, "delay_s": delay, "locks": locks,
            "lock_counters": any(name.startswith("pg_stat_lwlocks.") for cell in alone for name in cell["counters"])}


def rates(inputs, threads, customers):
    """Predicted throughput of 1 to `customers` clients on that many hardware threads."""
    foreign = 1 - 1 / threads  # the part of writes that find the line in another cache
    transfer = LINES_PER_VISIT * TRANSFER_S * foreign
    stations, under_locks = [], 0.0
    for lock in inputs["locks"]:
        under_locks += lock["visits"] * lock["hold_s"]
        stations.append(Lock(lock["tranche"], lock["visits"], lock["hold_s"] + transfer, lock["partitions"], HANDOVER_S * foreign))
    stations.append(Servers(max(inputs["processor_s"] - under_locks, 1e-9), threads))
    if inputs["delay_s"] > 0:
        stations.append(Delay(inputs["delay_s"]))
    return throughputs(stations, customers)


def _validation(figures, variant, inputs):
    """Measured against predicted on the processors at hand."""
    rows = []
    for cores in figures.sweeps:
        predicted = rates(inputs, int(cores), max(figures.clients))
        for clients in figures.clients:
            measured = figures.summary("rate", variant, cores, clients)
            if measured:
                rows.append({"cores": int(cores), "clients": clients, "measured": measured[0], "predicted": predicted[clients - 1],
                             "error": predicted[clients - 1] / measured[0] - 1})
    return rows


def predict(results):
    """The forecast of an experiment as plain data: inputs, validation and curves by variant. LabError when the part that
    measures its inputs was not run."""
    found = [figures for figures in figure.parts_of(results) if figures.part["name"] == MODEL_PART]
    if not found:
        name = results.run["definition"]["experiment"]["name"]
        raise LabError(f"{name} has no measured part \"{MODEL_PART}\", from which the model starts: scripts/lab run {name}")
    figures = found[0]
    tables = [one for part in results.run["definition"]["parts"] for one in part["published"]]
    mail = next((one for one in tables if one.get("plot") and one.get("threads")), None)
    variants = {}
    for variant in figures.variants:
        inputs = inputs_of(figures, variant)
        if inputs is None:
            continue
        entry = {"label": figures.labels[variant], "inputs": inputs, "validation": _validation(figures, variant, inputs),
                 "curve": [[threads, rates(inputs, threads, threads)[-1]] for threads in THREADS]}
        if mail:
            most = max(mail["columns"])
            there = rates(inputs, mail["threads"], most)
            entry["mail_points"] = [[clients, there[clients - 1]] for clients in mail["columns"]]
        variants[variant] = entry
    if not variants:
        raise LabError("the model needs the runs on one processor; none was measured")
    errors = [abs(row["error"]) for entry in variants.values() for row in entry["validation"]]
    held_out = [abs(row["error"]) for entry in variants.values() for row in entry["validation"] if row["cores"] > 1]
    return {"variants": variants, "mail": mail, "mean_error": statistics.fmean(errors),
            "mean_error_more_cores": statistics.fmean(held_out) if held_out else None, "worst_error": max(errors),
            "constants": {"line transfer ns": TRANSFER_S * 1e9, "hand-over per waiter ns": HANDOVER_S * 1e9,
                          "hold where collisions were too few ns": HOLD_S * 1e9, "lines written per visit": LINES_PER_VISIT}}


def error_sentence(forecast):
    more = forecast["mean_error_more_cores"]
    return (f"Against the measured runs the model is off by {forecast['mean_error']:.0%} on average, {forecast['worst_error']:.0%} at worst"
            + (f"; on more than one processor, of which it saw only the collisions of two, by {more:.0%}." if more is not None else ".")
            + " Beyond the processors measured, figures are predictions from stated constants.")


def _curve_table(forecast):
    head = ["hardware threads = clients", *(entry["label"] for entry in forecast["variants"].values())]
    rows = [[threads, *(f"{entry['curve'][index][1]:,.0f}" for entry in forecast["variants"].values())]
            for index, threads in enumerate(THREADS)]
    return head, rows


def _validation_table(forecast):
    head = ["variant", "processors", "clients", "measured tps", "predicted tps", "error"]
    rows = [[entry["label"], row["cores"], row["clients"], f"{row['measured']:,.0f}", f"{row['predicted']:,.0f}", f"{row['error']:+.0%}"]
            for entry in forecast["variants"].values() for row in entry["validation"]]
    return head, rows


def _input_table(forecast):
    head = ["variant", "station", "visits per transaction", "hold ns", "parts", "hold from"]
    rows = []
    for entry in forecast["variants"].values():
        inputs = entry["inputs"]
        rows.append([entry["label"], "processor", "1.00", f"{inputs['processor_s'] * 1e9:,.0f}", "", "measured"])
        rows.append([entry["label"], "delay", "1.00", f"{inputs['delay_s'] * 1e9:,.0f}", "", "measured"])
        rows += [[entry["label"], lock["tranche"], f"{lock['visits']:.2f}", f"{lock['hold_s'] * 1e9:,.0f}", lock["partitions"],
                  lock["hold_from"]] for lock in inputs["locks"]]
    return head, rows


def _caveat(forecast):
    if all(entry["inputs"]["lock_counters"] for entry in forecast["variants"].values()):
        return ""
    return "This build has no pg_stat_lwlocks: the model knows the processors only, and cannot show contention."


def table(forecast):
    """The forecast as Markdown."""
    lines = ["Predicted tps:", "", *markdown.table(*_curve_table(forecast)), "", *markdown.table(*_validation_table(forecast)), "",
             error_sentence(forecast), _caveat(forecast)]
    return "\n".join(lines)


def _relative(points):
    first = points[0][1]
    return [(x, y / first) for x, y in points]


def section(forecast, _results):
    """The forecast as a section of the HTML report: its curve beside the mail's, its inputs, its error."""
    from lab.page import chart_figure, table as html_table, tag  # page does not know predictions, predictions know pages
    drawn = [chart_figure("predicted", "tps against hardware threads, as many clients", chart.lines(
        [{"label": f"{entry['label']} (predicted)", "points": entry["curve"], "dashed": True} for entry in forecast["variants"].values()],
        "hardware threads", "tps"))]
    mail = forecast["mail"]
    if mail:
        drawn.append(chart_figure("predicted", f"on {mail['threads']} hardware threads, relative to {mail['columns'][0]} clients", chart.lines(
            [{"label": f"{entry['label']} (predicted)", "points": _relative(entry["mail_points"]), "dashed": True}
             for entry in forecast["variants"].values()], "clients", "relative tps")))
        drawn.append(chart_figure("published", f"the mail, {mail['title']}, relative to {mail['columns'][0]} clients", chart.lines(
            [{"label": f"{row[0]} (the mail)", "points": _relative(list(zip(mail["columns"], row[1:])))} for row in mail["rows"]],
            "clients", "relative tps")))
    constants = ", ".join(f"{name} {value:g}" for name, value in forecast["constants"].items())
    return (f"<h2>The queueing model</h2><p>{html.escape(error_sentence(forecast))} {html.escape(_caveat(forecast))}</p>"
            f"<p class=soft>Stated constants: {html.escape(constants)}.</p><div class=\"grid\">{''.join(drawn)}</div>"
            f"<h3>Throughput {tag('predicted')}</h3>{html_table(*_curve_table(forecast))}"
            f"<h3>Held against this machine {tag('measured')} {tag('predicted')}</h3>{html_table(*_validation_table(forecast))}"
            f"<h3>Inputs {tag('measured')}</h3>{html_table(*_input_table(forecast), 2)}")
