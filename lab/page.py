"""The HTML report: one file, charts inside, for a phone, a desk and paper."""
import html

from lab import chart, figures as figure, markdown

STYLE = """
:root{--ink:#1c1f23;--soft:#5b636d;--line:#d9dee4;--paper:#fff}
*{box-sizing:border-box}
body{margin:0 auto;max-width:980px;padding:16px;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem;line-height:1.25;margin:.2em 0}h2{font-size:1.2rem;margin:2em 0 .4em;border-top:1px solid var(--line);padding-top:1em}
h3{font-size:1rem;margin:1.4em 0 .3em}p{max-width:75ch}.soft{color:var(--soft);font-size:.9rem}
.grid{display:grid;margin:14px 0;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));gap:16px}
figure{margin:0}figcaption{font-size:.85rem;margin-bottom:4px}
svg{width:100%;height:auto;max-width:520px;display:block;font:12px system-ui,sans-serif;fill:var(--ink)}
svg .grid{stroke:#e4e8ed;stroke-width:1}svg .mark{stroke:#888;stroke-width:1;stroke-dasharray:2 3}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{padding:3px 10px 3px 0;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child,td.l,th.l{text-align:left}th{font-weight:600}
.tag{font-size:.72rem;font-weight:700;text-transform:uppercase;letter-spacing:.03em;padding:1px 6px;border-radius:3px;border:1px solid}
.measured{color:#00538a}.predicted{color:#9a4200}.published{color:#555}
.verdict{margin:.4em 0;padding:.3em .8em;border-left:4px solid #999;max-width:85ch}
.verdict.reproduced{border-color:#009e73}.verdict.reversed,.verdict.different{border-color:#d55e00}
.warn{border-left:4px solid #e69f00;padding:.2em .8em;margin:.3em 0;max-width:95ch;overflow-wrap:anywhere}
pre{overflow-x:auto;font-size:.8rem;background:#f5f7f9;padding:8px}summary{cursor:pointer;font-weight:600;margin:.8em 0 .3em}
@media print{body{max-width:none;padding:0;font-size:10pt}figure,.verdict,tr{break-inside:avoid}h2,h3{break-after:avoid}
.grid{grid-template-columns:1fr 1fr}.scroll{overflow:visible}pre{white-space:pre-wrap}svg{max-width:9cm}}
"""


def escape(text):
    return html.escape(str(text))


def tag(kind):
    return f'<span class="tag {kind}">{kind}</span>'


def chart_figure(kind, caption, svg):
    """A chart under its caption, marked measured, predicted or published."""
    return f"<figure><figcaption>{tag(kind)} {escape(caption)}</figcaption>{svg}</figure>" if svg else ""


def table(head, rows, text_columns=1):
    def line(cells, mark):
        return "<tr>" + "".join(f'<{mark}{" class=l" if index < text_columns else ""}>{escape(cell)}</{mark}>'
                                for index, cell in enumerate(cells)) + "</tr>"

    body = "".join(line(cells, "td") for cells in rows)
    return f'<div class="scroll"><table><thead>{line(head, "th")}</thead><tbody>{body}</tbody></table></div>'


def _where(figures, sweep):
    return f", {figures.part['sweep_setting']} {sweep}" if figures.part["sweep_setting"] else ""


def _points(figures, variant, pairs):
    """[(x, median, low, high)] of the rate over (x, sweep, clients) triples."""
    found = ((x, figures.summary("rate", variant, sweep, clients)) for x, sweep, clients in pairs)
    return [(x, *summary) for x, summary in found if summary]


def _throughput(figures):
    """The charts of the rate: against clients for each swept value, or against the swept value for each client count."""
    part, drawn = figures.part, []
    if part["axis"] == "time":
        return []  # one figure per variant: the table has it
    published = {one.get("sweep", ""): one for one in part["published"] if one.get("plot")}
    panels = ([(f"{figure.clients_text(clients)}", [(sweep, sweep, clients) for sweep in figures.sweeps], "") for clients in figures.clients]
              if part["axis"] == "sweep" else
              [(f"{part['sweep_setting']} {sweep}".strip(), [(clients, sweep, clients) for clients in figures.clients], sweep)
               for sweep in figures.sweeps])
    for caption, pairs, sweep in panels:
        series = [{"label": figures.labels[variant], "index": index, "points": _points(figures, variant, pairs)}
                  for index, variant in enumerate(figures.variants)]
        x_label = part["sweep_setting"] if part["axis"] == "sweep" else "clients"
        drawn.append(chart_figure("measured", f"{caption}: median and spread".strip(": "), chart.lines(series, x_label, figures.unit)))
        if part["axis"] == "clients" and sweep in published:
            one = published[sweep]
            rows = [{"label": line[0], "points": list(zip(one["columns"], line[1:]))} for line in one["rows"]]
            drawn.append(chart_figure("published", f"the mail: {one['title']}", chart.lines(rows, "clients", "tps")))
    return drawn


def _by_type(figures):
    """Response times of each transaction type, where the driver tells them apart (TPC-C)."""
    clients, sweep, rows = figures.clients[-1], figures.sweeps[0], []
    for variant in figures.variants:
        types = figures.at(variant, sweep, clients)[-1:] and figures.at(variant, sweep, clients)[-1]["detail"].get("types", {})
        rows += [[figures.labels[variant], name, f"{one['committed']:,}", *(f"{one[f'{part}_ms']:.2f}" for part in ("p50", "p95", "p99", "max"))]
                 for name, one in types.items()] if types else []
    if not rows:
        return ""
    return (f"<h3>Response times by transaction type, last repetition{escape(_where(figures, sweep))} {tag('measured')}</h3>"
            + table(["variant", "type", "committed", "p50 ms", "p95 ms", "p99 ms", "max ms"], rows, 2))


def _over_time(figures):
    """Rate and latency by second at the largest client count; the checkpoint, if one was asked for, as a line."""
    clients, sweep = figures.clients[-1], figures.sweeps[0]
    marks = sorted({round(event["at_s"], 1) for cells in figures.cells.values() for cell in cells for event in cell["events"]})[:1]
    drawn = []
    for name, label in (("rate", figures.unit), ("p95", "p95 ms"), ("p99", "p99 ms"), ("max", "max ms")):
        series = [{"label": figures.labels[variant], "index": index, "points": figure.by_second(figures, variant, sweep, clients, name)}
                  for index, variant in enumerate(figures.variants)]
        if max((len(one["points"]) for one in series), default=0) > 1:
            title = "throughput" if name == "rate" else f"{name} response time"
            drawn.append(chart_figure("measured", f"{title} by second, {figure.clients_text(clients)}{_where(figures, sweep)}",
                                      chart.lines(series, "second", label, categorical=False, marks=marks)))
    return drawn


def _costs(figures):
    """Processor time and context switches per transaction at the largest client count."""
    clients, sweep = figures.clients[-1], figures.sweeps[0]

    def rows(names):
        found = []
        for variant in figures.variants:
            parts = [(label, figures.summary(metric, variant, sweep, clients), factor) for label, metric, factor in names]
            if all(summary for _, summary, _ in parts):
                found.append((figures.labels[variant], [(label, summary[0] * factor) for label, summary, factor in parts]))
        return found

    processor = [("server user", "server.user_s", 1e6), ("server system", "server.system_s", 1e6), ("client", "client.user_s", 1e6),
                 ("client system", "client.system_s", 1e6)]
    switches = [("voluntary", "server.voluntary_switches", 1), ("involuntary", "server.involuntary_switches", 1)]
    faults = [("minor", "server.minor_faults", 1), ("major", "server.major_faults", 1)]
    where = f"{figure.clients_text(clients)}{_where(figures, sweep)}"
    return [chart_figure("measured", f"processor time per transaction, {where}", chart.bars(rows(processor), "µs")),
            chart_figure("measured", f"server context switches per transaction, {where}", chart.bars(rows(switches), "")),
            chart_figure("measured", f"server page faults per transaction, {where}", chart.bars(rows(faults), ""))]


def _compared_counters(figures):
    """A bar chart per counter that a comparison names."""
    clients, drawn = figures.clients[-1], []
    for metric, sweep in dict.fromkeys((row["metric"], row["sweep"]) for row in figures.part["comparisons"]):
        sweep = sweep or figures.sweeps[0]
        rows = [(figures.labels[variant], [("", summary[0])]) for variant in figures.variants
                if metric.startswith("counter:") and (summary := figures.summary(metric, variant, sweep, clients))]
        caption = f"{figure.metric_name(metric)}, {figure.clients_text(clients)}{_where(figures, sweep)}"
        drawn.append(chart_figure("measured", caption, chart.bars(rows, "")))
    return drawn


def _counters(figures):
    clients, sweep = figures.clients[-1], figures.sweeps[0]
    rows = [[name, *(f"{row[variant]:,.1f}" if variant in row else "" for variant in figures.variants)]
            for name, row in figure.counter_table(figures, sweep, clients)]
    if not rows:
        return ""
    where = escape(figure.clients_text(clients) + _where(figures, sweep))
    return (f"<details open><summary>Counters per 1000 transactions, {where} {tag('measured')}</summary>"
            + table(["counter", *(figures.labels[variant] for variant in figures.variants)], rows) + "</details>")


def _settings(figures):
    """The settings that are not at their default, by variant, at the first swept value."""
    by_variant = {}
    for variant in figures.variants:
        for clients in figures.clients:
            for cell in figures.at(variant, figures.sweeps[0], clients):
                by_variant.setdefault(variant, cell["settings"])
    names = sorted({name for settings in by_variant.values() for name in settings})
    rows = [[name, *(by_variant.get(variant, {}).get(name, "") for variant in figures.variants)] for name in names]
    return ("<details open><summary>Settings that are not at their default</summary>"
            + table(["setting", *(figures.labels[variant] for variant in figures.variants)], rows) + "</details>")


def _by_point(figures, verdict):
    """The ratios of the single points, small."""
    if len(verdict.points) < 2:
        return ""
    named = [f"{f'{sweep}, ' if figures.part['sweep_setting'] else ''}{figure.clients_text(clients)} {ratio:.2f}"
             for sweep, clients, ratio in verdict.points if ratio is not None]
    return f"<br><span class=soft>By point {tag('measured')}: {escape('; '.join(named))}.</span>"


def part_section(figures):
    part = figures.part
    text = [f"<h2>{escape(part['title'])}</h2>"]
    if part["note"]:
        text.append(f"<p>{escape(part['note'])}</p>")
    for comparison in part["comparisons"]:
        verdict = figure.verdict(figures, comparison)
        text.append(f'<p class="verdict {verdict.status.split()[0]}">{escape(verdict.sentence)}{_by_point(figures, verdict)}</p>')
    text.append('<div class="grid">' + "".join(_throughput(figures)) + "</div>")
    head, rows = markdown.ours(figures)
    text.append(f"<h3>Ours {tag('measured')}</h3><p class=soft>{escape(figures.unit)}, median [lowest-highest] of up to "
                f"{figures.repetitions} runs of {part['seconds']:g} s</p>" + table(head, rows, head.index("variant") + 1))
    for one in part["published"]:
        text.append(f"<h3>The mail's: {escape(one['title'])} {tag('published')}</h3>" + table(*markdown.published(one)))
    head, rows = markdown.latency(figures)
    if rows:
        where = escape(figure.clients_text(figures.clients[-1]) + _where(figures, figures.sweeps[0]))
        text.append(f"<h3>Response times at {where} {tag('measured')}</h3>" + table(head, rows))
    text.append(_by_type(figures))
    text.append('<div class="grid">' + "".join(_over_time(figures) + _compared_counters(figures) + _costs(figures)) + "</div>")
    return "".join(text) + _counters(figures) + _settings(figures)


def _failures(results):
    """Error and log of each failed cell; a failed start has its log in its error already."""
    def one(cell):
        log = "" if cell["log_tail"] in cell["error"] else cell["log_tail"]
        return f"<h3>{escape(cell['key'])}</h3><pre>{escape(cell['error'])}\n\n{escape(log)}</pre>"

    return "".join(map(one, results.failed()))


def document(results, prediction_section=""):
    """The whole page. `prediction_section` is HTML of lab.predict, empty when nothing was predicted."""
    run = results.run
    experiment = run["definition"]["experiment"]
    title = f"{experiment['name']}: {experiment['title']}"
    facts = [[name.replace("_", " "), value] for group in ("machine", "source") for name, value in sorted(run[group].items())]
    body = [f"<h1>{escape(title)}</h1><p>{escape(experiment['question'])}</p><p class=soft>{escape(experiment['source'])}</p>",
            *(f'<p class="warn">{escape(text)}</p>' for text in markdown.warnings(results)),
            f"<p class=soft>{escape(markdown.facts_line(run))}<br>{len(results.good())} cells measured, {len(results.failed())} failed."
            f"<br>Made by <code>{escape(run['command'])}</code></p>",
            f"<p class=soft>{escape(experiment['scaling'].strip())}</p>", *map(part_section, figure.parts_of(results)), prediction_section]
    failures = _failures(results)
    if failures:
        body.append(f"<h2>Failed, and left out of every figure</h2>{failures}")
    body.append(f"<h2>Machine and source</h2>{table(['fact', 'value'], facts, 2)}")
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>{''.join(body)}</body></html>\n")
