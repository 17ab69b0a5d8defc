"""The Markdown table of an experiment: ours, the published one, and the verdicts in words."""
from lab import figures as figure

OTHERS_BUSY = 0.10  # the laboratory's own sampling stays well below


def figure_text(summary):
    """median [lowest-highest], or an empty cell."""
    if summary is None:
        return ""
    middle, low, high = summary
    places = 0 if middle >= 100 else 1
    spread = "" if low == high else f" [{low:,.{places}f}-{high:,.{places}f}]"
    return f"{middle:,.{places}f}{spread}"


def row(cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def table(head, rows):
    return [row(head), row(["---"] * len(head)), *map(row, rows)]


def facts_line(run):
    """Machine, commit, binary: what the figures stand on."""
    machine, source = run["machine"], run["source"]
    return (f"{machine.get('cpu')}, {machine.get('hardware_threads')} hardware threads, {machine.get('memory_gib')} GiB, kernel "
            f"{machine.get('kernel')}; commit {source.get('commit', '')[:12]}{' with local changes' if source.get('dirty') else ''}, binary "
            f"{source.get('binary_sha256', '')[:12]}")


def ours(figures):
    """(head, rows) of the part's own rates."""
    part = figures.part
    swept = part["sweep_setting"]
    head = ([swept] if swept else []) + ["variant"] + [figure.clients_text(clients) for clients in figures.clients]
    rows = []
    for sweep in figures.sweeps:
        for variant in figures.variants:
            cells = [figure_text(figures.summary("rate", variant, sweep, clients)) for clients in figures.clients]
            if any(cells):
                rows.append(([sweep] if swept else []) + [figures.labels[variant], *cells])
    return head, rows


def published(one):
    """(head, rows) of a table of the original."""
    return ["", *one["columns"]], [[f"{cell:,}" if isinstance(cell, (int, float)) else cell for cell in line] for line in one["rows"]]


def latency(figures):
    """(head, rows) of response times in ms at the largest client count."""
    clients, sweep = figures.clients[-1], figures.sweeps[0]
    head = ["variant", *(f"{name} ms" for name in figure.LATENCIES)]
    rows = []
    for variant in figures.variants:
        values = [figures.summary(f"latency.{name}", variant, sweep, clients) for name in figure.LATENCIES]
        if any(values):
            rows.append([figures.labels[variant], *(f"{value[0]:.3f}" if value else "" for value in values)])
    return head, rows


def _short(error):
    """One line of an error: its beginning and its end, where programs say what was wrong."""
    line = " ".join(error.split())
    return line if len(line) <= 240 else f"{line[:80]} ... {line[-150:]}"


def warnings(results):
    """What a reader must know before the first figure."""
    run, found = results.run, []
    if run["definition"].get("quick"):
        found.append("A smoke run (--quick): its figures say that everything works, nothing more.")
    if run.get("mixed"):
        found.append("MIXED results of different machines or commits, as was asked for; different are: " + "; ".join(run["mixed"]))
    if run["definition"].get("cuts"):
        found.append("Cut to fit a time budget: " + "; ".join(run["definition"]["cuts"]))
    if run["source"].get("dirty"):
        found.append("The tree had local changes beside its commit.")
    disturbed = [cell["others_busy"] for cell in results.good() if cell["others_busy"] > OTHERS_BUSY]
    if disturbed:
        found.append(f"DISTURBED: in {len(disturbed)} of {len(results.good())} cells other processes used more than {OTHERS_BUSY:.0%} of the "
                     f"processors, up to {max(disturbed):.0%}.")
    for cell in results.failed():
        found.append(f"FAILED and left out: {cell['key']}: {_short(cell['error'])}")
    for part in run["definition"]["parts"]:
        found += [f"Skipped: {part['name']}/{name}: {reason}" for name, reason in part["skipped"]]
    return found


def document(results):
    experiment = results.run["definition"]["experiment"]
    lines = [f"# {experiment['name']}: {experiment['title']}", "", experiment["question"], "", f"Source: {experiment['source'] or 'none'}.",
             f"Machine: {facts_line(results.run)}.", f"Command: `{results.run['command']}`.", "", experiment["scaling"].strip(), ""]
    lines += [f"- {text}" for text in warnings(results)] + [""]
    for figures in figure.parts_of(results):
        part = figures.part
        lines += [f"## {part['title']}", ""]
        if part["note"]:
            lines += [part["note"], ""]
        lines += [f"Measured: {figures.unit}, median [lowest-highest] of up to {figures.repetitions} runs of {part['seconds']:g} s.", ""]
        lines += table(*ours(figures)) + [""]
        for one in part["published"]:
            lines += [f"Published: {one['title']}.", "", *table(*published(one)), ""]
        for comparison in part["comparisons"]:
            lines.append(f"- {figure.verdict(figures, comparison).sentence}")
        head, rows = latency(figures)
        if rows:
            lines += ["", f"Measured response times at {figure.clients_text(figures.clients[-1])}"
                      + (f", {part['sweep_setting']} {figures.sweeps[0]}" if part["sweep_setting"] else "") + ":", "", *table(head, rows)]
        lines.append("")
    return "\n".join(lines)
