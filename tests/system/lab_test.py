#!/usr/bin/env python3
"""The laboratory: its statistics and its model against closed forms, and a small experiment from end to end."""
import argparse
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
from lab import chart, experiment, figures, model, plan, predict, results, runner, servers, stats  # noqa: E402

TINY = """
title = "A tiny experiment"
source = "this test"
question = "Does the laboratory work?"
scaling = "Nothing is scaled."
[defaults]
seconds = 1
repetitions = 2
warmup = 1
clients = [2]
workload = { script = "tpcb-like", scale = 1 }
[defaults.settings]
fsync = false
[[parts]]
name = "tiny"
title = "TPC-B, tiny"
variants = [
  { name = "ours", label = "ours <as it comes>" },
  { name = "stock", label = "PostgreSQL 15", server = "stock15" },
  { name = "future", optional = true, settings = { snapshot_method = "telepathy" } },
  { name = "broken", settings = { shared_buffers = "1kB" } },
]
comparisons = [{ of = "ours", over = "stock", expect = "same", published = "none" }]
[[parts.published]]
title = "a table of old"
plot = true
columns = [8, 16]
rows = [["before", 1234, 2345]]
"""


def statistics_are_right():
    assert stats.percentile([1, 2, 3, 4, 5], 0.5) == 3 and stats.percentile([1, 2], 0.25) == 1.25 and stats.percentile([], 0.5) is None
    source = random.Random(7)
    fast = [[source.gauss(120, 4) for _ in range(20)] for _ in range(4)]
    slow = [[source.gauss(100, 4) for _ in range(20)] for _ in range(4)]
    ratio, low, high = stats.bootstrap_ratio([(fast, slow)])
    assert low < 1.2 < high and 1.1 < low and high < 1.3 and abs(ratio - 1.2) < 0.03, (ratio, low, high)
    again = stats.bootstrap_ratio([(fast, slow)])
    assert again == (ratio, low, high), "the same seed gives the same interval"
    assert stats.bootstrap_ratio([([[1]], [[0]])]) is None and stats.bootstrap_ratio([]) is None
    assert stats.steady([1, 100, 101, 102]) and not stats.steady([100, 120, 100]) and not stats.steady([100, 100])
    for expect, interval, status in (("higher", (1.2, 1.1, 1.3), "reproduced"), ("higher", (0.8, 0.7, 0.9), "reversed"),
                                     ("higher", (1.0, 0.9, 1.1), "absent"), ("lower", (0.8, 0.7, 0.9), "reproduced"),
                                     ("lower", (1.2, 1.1, 1.3), "reversed"), ("same", (1.02, 1.01, 1.03), "reproduced"),
                                     ("same", (1.2, 1.1, 1.3), "different")):
        assert figures.judge(expect, interval) == status, (expect, interval)


def model_matches_closed_forms():
    balanced = [model.Lock(str(number), 2, 0.005) for number in range(3)]
    for customers in (1, 5, 128):  # K equal stations of demand D: N / (N + K - 1) / D
        assert math.isclose(model.throughputs(balanced, customers)[-1], customers / (customers + 2) / 0.01, rel_tol=1e-9)
    parts = model.throughputs([model.Lock("partitioned", 1, 0.01, partitions=5)], 40)[-1]
    assert math.isclose(parts, 40 / 44 / 0.002, rel_tol=1e-9), parts
    threads = model.throughputs([model.Servers(0.001, 4)], 10)
    assert all(math.isclose(rate, min(count, 4) * 1000, rel_tol=1e-9) for count, rate in enumerate(threads, 1)), threads
    # One repairman: with demand S and thinking time Z, X = (1 - P(idle)) / S, P(idle) by Erlang's recursion.
    service, think, machines = 0.002, 0.01, 12
    idle = 1 / sum(math.perm(machines, busy) * (service / think) ** busy for busy in range(machines + 1))
    rate = model.throughputs([model.Lock("repairman", 1, service), model.Delay(think)], machines)[-1]
    assert math.isclose(rate, (1 - idle) / service, rel_tol=1e-9)
    collapsing = model.throughputs([model.Servers(1e-4, 64), model.Lock("hot", 4, 1e-6, handover=2e-7)], 128)
    assert max(collapsing) > 1.2 * collapsing[-1] and all(map(math.isfinite, collapsing)), "waiters slow the lock down"
    assert model.throughputs([model.Servers(1e-4, 128), model.Delay(10.0)], 256)[-1] > 0, "neither overflow nor underflow"


def model_cell(cores, clients, rate, spun):
    return {"key": f"{cores}.{clients}", "part": "model", "variant": "v", "sweep": cores, "clients": clients, "status": "measured",
            "unit": "tps", "rate": rate, "transactions": 100000, "settings": {"buffer_mapping_partitions": "16"}, "per_second": [], "latency": {},
            "server": {"user_s": 4.0, "system_s": 1.0}, "client": {"user_s": 2.0, "system_s": 1.0},
            "counters": {"pg_stat_lwlocks.BufferMapping.acquired": 200000, "pg_stat_lwlocks.BufferMapping.spun": spun}}


def model_takes_its_inputs_from_counters():
    mail = {"title": "of old", "plot": True, "threads": 64, "columns": [8, 64], "rows": [["before", 100, 400]]}
    part = {"name": "model", "variants": [{"name": "v", "label": "our v"}], "sweep_values": ["1", "2"], "published": [mail], "sweep_setting": "cores"}
    cells = {cell["key"]: cell for cell in (model_cell("1", 1, 10000.0, 0), model_cell("2", 2, 20000.0, 1000))}
    run = {"machine": {"hardware_threads": 2}, "definition": {"experiment": {"name": "x"}, "parts": [part]}}
    forecast = predict.predict(results.Results(pathlib.Path(), run, cells))
    inputs = forecast["variants"]["v"]["inputs"]
    assert math.isclose(inputs["processor_s"], 80e-6) and math.isclose(inputs["delay_s"], 20e-6), inputs
    lock = inputs["locks"][0]
    # p = 1000 / 200000 = (20000 / 2) * 2 visits * hold / 16 partitions
    assert lock["partitions"] == 16 and lock["hold_from"] == "collisions" and math.isclose(lock["hold_s"], 4e-6), lock
    first = forecast["variants"]["v"]["validation"][0]
    assert abs(first["error"]) < 0.001, "one client on one processor is what was measured"
    curve = dict(forecast["variants"]["v"]["curve"])
    assert curve[8] > 4 * curve[1] and curve[128] < 128 * curve[1], curve
    page = predict.section(forecast, None)
    assert page.count("<svg") == 3 and "our v (predicted)" in page and "before (the mail)" in page and "collisions" in page
    assert "| 128 |" in predict.table(forecast)


def charts_are_svg():
    drawn = chart.lines([{"label": "a<b", "points": [(1, 10, 8, 12), (64, 20, 19, 21)]}], "clients", "tps")
    assert drawn.startswith("<svg") and "a&lt;b" in drawn and drawn.count("<polyline") == 1
    assert chart.lines([{"label": "empty", "points": []}], "x", "y") == ""
    assert chart.ticks(97)[-1] >= 97 and chart.ticks(0) == [0, 1]


def shipped_experiments_are_sound():
    assert experiment.available()[:5] == ["s1", "s2", "s3", "s4", "s5"]
    options = argparse.Namespace(quick=False, seconds=None, repetitions=None, clients=None, part=[], variant=[], profile=[], set=[])
    planned = []
    for name in experiment.available():
        planned += plan.prepare(experiment.load(name), options, lambda kind: None, lambda workload: None)
    assert {one.part.name for one in planned} >= {"eviction", "square", "freelist", "snapshot", "buffers", "checkpoint", "update-unlogged", "model"}
    whole = plan.total_seconds(planned)
    fitted, cuts = plan.fit(planned, whole / 4)
    assert plan.total_seconds(fitted) <= whole / 4 and cuts and all(one.part.seconds >= one.part.shortest for one in fitted)
    unchanged, cuts = plan.fit(planned, whole * 2)
    assert unchanged == planned and not cuts
    order = [(variant.name, repetition) for variant, _, repetition in experiment.blocks(planned[1].part, planned[1].variants)]
    names = [variant.name for variant in planned[1].variants]
    assert order[:2 * len(names)] == [(name, 1) for name in names] + [(name, 2) for name in reversed(names)], "A B C, C B A"


def lab(*words, environment=None):
    # Without a repository the commit is "unknown": a commit made elsewhere while this runs must not look like another tree.
    return subprocess.run([sys.executable, str(ROOT / "scripts" / "lab"), *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, "GIT_DIR": "/nonexistent", **(environment or {})})


def mistakes_name_the_nearest():
    for words, expected in (
            (("run", "s11"), ['unknown experiment "s11"', 'did you mean "s1"?', "s1, s2, s3, s4, s5"]),
            (("run", "s2", "--set", "snapshot_metod=scan"), ['did you mean "snapshot_method"?', "shared_buffers"]),
            (("run", "s2", "--set", "snapshot_method=scam"), ['did you mean "scan"?', "cached"]),
            (("run", "s2", "--profile", "s2-hed"), ['unknown profile "s2-hed"', 'did you mean "s2-head"?', "default"]),
            (("run", "s2", "--variant", "hed"), ['did you mean "head"?', "stock15"]),
            (("show", "s7"), ['unknown experiment "s7"'])):
        done = lab(*words)
        assert done.returncode == 1 and all(text in done.stderr for text in expected), (words, done.stderr)
    listed = lab("list")
    assert listed.returncode == 0 and "s1: Scaling shared buffer eviction" in listed.stdout and "server stock15:" in listed.stdout


def interrupted_run_resumes(tiny, folder):
    """SIGINT after the first cell: it is kept, no server stays behind, and the same command measures the rest."""
    running = subprocess.Popen([sys.executable, str(ROOT / "scripts" / "lab"), "run", str(tiny), "--out", str(folder)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "GIT_DIR": "/nonexistent"})
    give_up = time.monotonic() + 60
    while not list(folder.glob("cells/*.json")):
        assert running.poll() is None and time.monotonic() < give_up, running.communicate()[1]
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    errors = running.communicate(timeout=60)[1]
    assert running.returncode == 130 and "the same command resumes" in errors, errors
    first = {path.name: path.read_text() for path in folder.glob("cells/*.json")}
    done = lab("run", tiny, "--out", folder, "--resume")
    assert done.returncode == 1, "one variant cannot start, and the status says so"
    assert all((folder / "cells" / name).read_text() == text for name, text in first.items() if '"measured"' in text), "kept, not measured again"
    assert "FAILED tiny.broken.c2.r1" in done.stderr and "shared_buffers" in done.stderr, done.stderr
    assert 'skipped: tiny/future: unknown value of snapshot_method "telepathy"' in done.stderr, done.stderr
    return done


def results_are_complete(folder):
    cells = {path.stem: json.loads(path.read_text()) for path in folder.glob("cells/*.json")}
    assert set(cells) == {f"tiny.{variant}.c2.r{number}" for variant in ("ours", "stock", "broken") for number in (1, 2)}, sorted(cells)
    for key, cell in cells.items():
        if cell["variant"] == "broken":
            assert cell["status"] == "failed" and "shared_buffers" in cell["error"] + cell["log_tail"], cell
            continue
        assert cell["rate"] > 10 and cell["transactions"] > 10 and cell["latency"]["p50"] > 0, key
        assert cell["latency"]["p50"] <= cell["latency"]["p95"] <= cell["latency"]["p99.9"], key
        assert cell["server"]["user_s"] + cell["server"]["system_s"] > 0 and cell["client"]["user_s"] + cell["client"]["system_s"] > 0, key
        assert cell["server"]["minor_faults"] > 0 and cell["server"]["voluntary_switches"] > 0, key
        assert cell["counters"]["pg_stat_user_tables.pgbench_history.n_tup_ins"] == cell["transactions"], (key, cell["counters"])
        assert cell["settings"]["fsync"] == "off", key
    run = json.loads((folder / "run.json").read_text())
    assert run["machine"]["hardware_threads"] == os.cpu_count() and run["source"]["binary_sha256"], run


def reports_say_it(folder):
    markdown = (folder / "table.md").read_text()
    for text in ("A tiny experiment", "| ours <as it comes> |", "Published: a table of old", "1,234", "FAILED and left out: tiny.broken.c2.r1",
                 "Skipped: tiny/future", "throughput of \"ours <as it comes>\" over \"PostgreSQL 15\" is "):
        assert text in markdown, (text, markdown)
    assert re.search(r"(Reproduced|Not reproduced|Absent|Reversed).* \[\d\.\d+, \d+\.\d+\]", markdown), markdown
    assert "broken" not in re.search(r"Measured: .*?\n\n(.*?)\n\n", markdown, re.S).group(1), "a failed variant has no row"
    html = (folder / "report.html").read_text()
    assert 'name="viewport"' in html and "@media print" in html and "<svg" in html and "ours &lt;as it comes&gt;" in html
    assert not re.search(r'(src|href)="http', html), "self-contained"
    assert lab("show", folder).stdout.strip() == markdown.strip()


def browser_renders(folder):
    """The page as headless Chromium sees it: the rendered text, and a screenshot that is not blank."""
    browser = shutil.which("chromium")
    if not browser:
        print("skipped: the page in a browser: chromium is not installed (apt-get install chromium)")
        return
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}/browser"]
    page = f"file://{folder}/report.html"
    dom = subprocess.run([browser, *flags, "--dump-dom", page], capture_output=True, text=True, timeout=60).stdout
    text = re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", dom, flags=re.S))
    for expected in ("A tiny experiment", "Counters per 1000 transactions", "measured", "published", "PostgreSQL 15", "hardware threads"):
        assert expected in text, (expected, text[:2000])
    shot = folder / "phone.png"
    subprocess.run([browser, *flags, "--window-size=390,2000", f"--screenshot={shot}", page], capture_output=True, timeout=60)
    blank_png_bytes = 15_000
    assert shot.exists() and shot.stat().st_size > blank_png_bytes, "the screenshot shows something"


def different_runs_are_not_mixed(tiny, folder):
    other = folder.parent / "other"
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("browser"))
    run = json.loads((other / "run.json").read_text())
    run["source"]["commit"] = "0123456789abcdef"
    (other / "run.json").write_text(json.dumps(run))
    done = lab("report", folder, other, "--out", folder.parent / "merged")
    assert done.returncode == 1 and "do not belong together" in done.stderr and "commit: unknown against 0123456789abcdef" in done.stderr, done.stderr
    done = lab("report", folder, other, "--out", folder.parent / "merged", "--allow-mixed")
    assert done.returncode == 0 and "MIXED results" in (folder.parent / "merged" / "table.md").read_text(), done.stderr
    done = lab("run", tiny, "--out", other)
    assert done.returncode == 1 and "must not be mixed" in done.stderr, done.stderr
    done = lab("run", tiny, "--out", folder, "--seconds", "2")
    assert done.returncode == 1 and "definition" in done.stderr, "other options are another run"
    done = lab("predict", "tiny", "--from", folder)
    assert done.returncode == 1 and 'no measured part "model"' in done.stderr, done.stderr


def one_experiment_end_to_end():
    with tempfile.TemporaryDirectory(prefix="pinwheel-lab-test-") as scratch:
        tiny = pathlib.Path(scratch) / "tiny.toml"
        tiny.write_text(TINY)
        folder = pathlib.Path(scratch) / "results"
        interrupted_run_resumes(tiny, folder)
        results_are_complete(folder)
        reports_say_it(folder)
        browser_renders(folder)
        different_runs_are_not_mixed(tiny, folder)


def sums_are_checked():
    """A server that lost a transaction would be caught: the check itself fails on a changed row."""
    workload = experiment.Workload(script="tpcb-like", scale=1)
    cluster = servers.make_cluster("pinwheel")
    try:
        servers.restart(cluster, {"fsync": "off"})
        runner.DRIVERS["pgbench"].load(cluster, workload)
        assert runner.DRIVERS["pgbench"].sums_error(cluster, workload) is None
        cluster.psql("UPDATE pgbench_branches SET bbalance = bbalance + 1")
        assert "TPC-B sums differ" in runner.DRIVERS["pgbench"].sums_error(cluster, workload)
    finally:
        servers.close(cluster)


def main():
    for check in (statistics_are_right, model_matches_closed_forms, model_takes_its_inputs_from_counters, charts_are_svg,
                  shipped_experiments_are_sound, mistakes_name_the_nearest, sums_are_checked, one_experiment_end_to_end):
        begun = time.monotonic()
        check()
        print(f"ok {check.__name__} ({time.monotonic() - begun:.1f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
