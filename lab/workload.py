"""Workloads: data loaded, a run driven by pgbench, and what its output and log say."""
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

from lab import stats
from lab.servers import STOCK_BIN, pgbench_rate

BUILTINS = {"select-only": "select-only", "simple-update": "simple-update", "tpcb-like": "tpcb-like"}
LOGGED_PER_SECOND = 20_000  # latencies kept: enough for p99.9, few enough not to slow the client
GRACE_S = 60
PERCENTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
WARMUP_MIN_S = 3


@dataclasses.dataclass
class Outcome:
    """One run. `rate` is tps (notpm for tpcc), `per_second` the same by second, latencies in milliseconds."""
    rate: float
    transactions: int
    seconds: float
    per_second: list
    latency: dict
    latency_by_second: list
    client: dict
    detail: dict = dataclasses.field(default_factory=dict)


class RunError(Exception):
    """A run that ended badly: its figures are not used."""


def client_threads(clients):
    return min(clients, os.cpu_count() or 1)


def load(cluster, workload):
    """Fills an empty running cluster, and checkpoints."""
    arguments = ["-i", "-q", "-s", str(workload.scale)]
    if workload.unlogged:
        arguments.append("--unlogged-tables")
    cluster.pgbench(*arguments)
    cluster.psql("CHECKPOINT")


def settle(cluster, workload):
    """Before a block: what the previous block left behind in the two small tables goes, dirty pages too."""
    if workload.writes:
        for table in ("pgbench_branches", "pgbench_tellers"):
            cluster.psql(f"VACUUM {table}")
        cluster.psql("CHECKPOINT")


def sums_error(cluster, workload):
    """What is wrong with the TPC-B sums after a run that writes, and with the workload's own check; None when all agree."""
    if workload.check and cluster.psql(workload.check) != "t":
        return f"the check failed: {workload.check}"
    if workload.sql or not workload.writes:
        return None
    return cluster.tpcb_sums_error(simple_updates=workload.script == "simple-update")


def _script_arguments(workload, folder):
    if not workload.sql:
        return ["-b", BUILTINS[workload.script]]
    path = pathlib.Path(folder) / "script.sql"
    path.write_text(workload.sql)
    return ["-f", str(path)]


def _pgbench(cluster, workload, clients, seconds, folder, extra=()):
    command = [str(STOCK_BIN / "pgbench"), "-n", "-M", workload.protocol, "-c", str(clients), "-j", str(client_threads(clients)),
               "-T", str(seconds), "-P", "1", "-s", str(workload.scale), *_script_arguments(workload, folder), *extra]
    return subprocess.Popen(command, env=cluster.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, cwd=folder)


def _progress_rate(line):
    match = re.match(r"progress: ([\d.]+) s, ([\d.]+) tps", line)
    return float(match.group(2)) if match else None


def warm_up(cluster, workload, clients, most_seconds):
    """Runs until three seconds in a row are alike, at most so long; the seconds it took, whether the rate was steady, the last rate."""
    start = time.monotonic()
    rates, errors = [], []
    with tempfile.TemporaryDirectory(prefix="pinwheel-lab-") as folder:
        process = _pgbench(cluster, workload, clients, max(1, round(most_seconds)), folder)
        try:
            for line in process.stderr:
                rate = _progress_rate(line)
                if rate is not None:
                    rates.append(rate)
                    if len(rates) >= WARMUP_MIN_S and stats.steady(rates):
                        break
                elif "error" in line or "fatal" in line:
                    errors.append(line)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.communicate()
    if errors:
        raise RunError(f"pgbench while warming up: {''.join(errors[-5:])}")
    return {"seconds": round(time.monotonic() - start, 2), "steady": stats.steady(rates), "rate": rates[-1] if rates else None}


class Events:
    """Statements sent at parts of a run by threads of their own; `happened` has what was sent, when, and how long it took."""

    def __init__(self, cluster, events, seconds):
        self.happened = []
        self.start = time.monotonic()
        self.threads = [threading.Timer(event["at"] * seconds, self._send, (cluster, event["sql"])) for event in events]
        for thread in self.threads:
            thread.start()

    def _send(self, cluster, sql):
        begun = time.monotonic()
        try:
            cluster.psql(sql)
            self.happened.append({"sql": sql, "at_s": begun - self.start, "took_s": time.monotonic() - begun})
        except RuntimeError as error:
            self.happened.append({"sql": sql, "at_s": begun - self.start, "error": str(error)})

    def finish(self):
        """Waits for those under way, drops those to come."""
        for thread in self.threads:
            thread.cancel()
            thread.join()
        return self.happened


def wait_with_usage(process, seconds):
    """Waits for a client process, kills it when it is far over time; its exit status and what it used."""
    killer = threading.Timer(seconds + GRACE_S, process.kill)
    killer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return {"user_s": usage.ru_utime, "system_s": usage.ru_stime, "minor_faults": usage.ru_minflt, "major_faults": usage.ru_majflt,
            "voluntary_switches": usage.ru_nvcsw, "involuntary_switches": usage.ru_nivcsw}


def run_client(process, seconds):
    """Waits for a client process and drains its pipes meanwhile, so that neither fills up: (what it used, stdout, stderr). Ends
    it when the wait is interrupted."""
    texts = {}

    def drain(name):
        texts[name] = getattr(process, name).read()

    threads = [threading.Thread(target=drain, args=(name,)) for name in ("stdout", "stderr")]
    for thread in threads:
        thread.start()
    try:
        client = wait_with_usage(process, seconds)
    finally:
        stop_client(process)
        for thread in threads:
            thread.join()
    return client, texts["stdout"], texts["stderr"]


def stop_client(process):
    """Ends a client left running by an interrupt."""
    if process.returncode is None:
        process.kill()
        process.wait()


def _read_log(folder, seconds):
    """(latencies in ms in order, by second) of pgbench's transaction logs."""
    samples = []
    for path in pathlib.Path(folder).glob("log.*"):
        for line in path.read_text().splitlines():
            words = line.split()
            samples.append((int(words[4]) + int(words[5]) / 1e6, int(words[2]) / 1000))
    if not samples:
        return [], []
    begin = min(when - latency / 1000 for when, latency in samples)
    buckets = [[] for _ in range(int(seconds) + 1)]
    for when, latency in samples:
        buckets[min(int(when - begin), int(seconds))].append(latency)
    by_second = []
    for second, bucket in enumerate(buckets[:int(seconds)]):
        bucket.sort()
        by_second.append({"second": second, "p50": stats.percentile(bucket, 0.5), "p95": stats.percentile(bucket, 0.95),
                          "p99": stats.percentile(bucket, 0.99), "max": bucket[-1] if bucket else None})
    return sorted(latency for _, latency in samples), by_second


def run(cluster, workload, clients, seconds, expected_rate=None):
    """One measured run. `expected_rate` sets the part of the latencies that is logged. Raises RunError with pgbench's words."""
    sampling = 1.0 if not expected_rate else min(1.0, LOGGED_PER_SECOND / expected_rate)
    with tempfile.TemporaryDirectory(prefix="pinwheel-lab-") as folder:
        extra = ["--log", f"--log-prefix={folder}/log"]
        if sampling < 1:
            extra.append(f"--sampling-rate={sampling:.6f}")
        process = _pgbench(cluster, workload, clients, max(1, round(seconds)), folder, extra)
        client, output, errors = run_client(process, seconds)
        rate = pgbench_rate(output)
        count = re.search(r"actually processed: (\d+)", output)
        failed = re.search(r"number of failed transactions: (\d+)", output)
        if process.returncode != 0 or rate is None or int(failed.group(1) if failed else 0):
            raise RunError(f"pgbench ended with {process.returncode}: {errors[-1500:]}{output[-500:]}")
        ordered, by_second = _read_log(folder, seconds)
    per_second = [value for value in map(_progress_rate, errors.splitlines()) if value is not None]
    latency = {name: stats.percentile(ordered, part) for name, part in PERCENTILES.items()}
    latency["logged"] = len(ordered)
    transactions = int(count.group(1))
    return Outcome(rate, transactions, transactions / rate, per_second, latency, by_second, client,
                   {"latency_sampling": sampling})
