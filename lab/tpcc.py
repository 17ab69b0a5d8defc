"""The TPC-C-like workload, run by the project's own driver pw-tpcc (bench/tpcc) against any server."""
import json
import os
import pathlib
import subprocess
import tempfile

from lab.servers import find_pinwheel
from lab.workload import Outcome, RunError, client_threads, run_client

LOAD_TIMEOUT_S = 1800


def find_driver():
    """pw-tpcc: $PW_TPCC, else the one built beside the server's binary, else the newest build; None when there is none."""
    if os.environ.get("PW_TPCC"):
        return pathlib.Path(os.environ["PW_TPCC"])
    try:
        build = find_pinwheel().resolve().parent.parent
    except SystemExit:
        return None
    found = sorted(build.glob("bench/**/pw-tpcc")) or sorted(build.parent.glob("*/bench/**/pw-tpcc"), key=lambda path: path.stat().st_mtime)
    return found[-1] if found else None


def missing():
    driver = find_driver()
    if driver is None or not driver.exists():
        return "pw-tpcc is not built (bench/tpcc); PW_TPCC names one elsewhere"
    return None


def _driver(cluster, *arguments, check=True):
    done = subprocess.run([str(find_driver()), *map(str, arguments)], env=cluster.environment(), capture_output=True, text=True,
                          timeout=LOAD_TIMEOUT_S)
    if check and done.returncode != 0:
        raise RunError(f"pw-tpcc {' '.join(map(str, arguments))}: {(done.stderr or done.stdout)[-1000:]}")
    return done


def load(cluster, workload):
    _driver(cluster, "load", "--warehouses", workload.scale, *(["--unlogged"] if workload.unlogged else []))
    cluster.psql("CHECKPOINT")


def settle(cluster, _workload):
    cluster.psql("CHECKPOINT")


def sums_error(cluster, _workload):
    """The consistency conditions of TPC-C; what pw-tpcc printed when one does not hold."""
    done = _driver(cluster, "check", check=False)
    return None if done.returncode == 0 else f"pw-tpcc check: {(done.stdout + done.stderr)[-1500:]}"


def _start(cluster, workload, clients, seconds, report):
    command = [str(find_driver()), "run", "--warehouses", str(workload.scale), "--clients", str(clients), "--threads",
               str(client_threads(clients)), "--seconds", str(max(1, round(seconds))), "--warmup", "0", "--json", report]
    if workload.think:
        command.append("--think")
    return subprocess.Popen(command, env=cluster.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def warm_up(cluster, workload, clients, most_seconds):
    """A run of that length whose figures are dropped."""
    outcome = run(cluster, workload, clients, most_seconds)
    return {"seconds": outcome.seconds, "steady": None}


def run(cluster, workload, clients, seconds, _expected_rate=None):
    """One measured run; the rate is notpm: new orders per minute. Raises RunError with the driver's words."""
    with tempfile.TemporaryDirectory(prefix="pinwheel-lab-") as folder:
        report = f"{folder}/report.json"
        process = _start(cluster, workload, clients, seconds, report)
        client, output, errors = run_client(process, seconds)
        if process.returncode != 0 or not os.path.exists(report):
            raise RunError(f"pw-tpcc ended with {process.returncode}: {errors[-1500:]}{output[-500:]}")
        return outcome_of(json.loads(pathlib.Path(report).read_text()), seconds, client)


def outcome_of(report, seconds, client):
    """The driver's JSON as an Outcome: latencies are those of new orders, the other types stay in `detail`. RunError when
    transactions failed for good or connections were lost."""
    if report["failed"] or report["lost_connections"]:
        raise RunError(f"pw-tpcc: {report['failed']} failed, {report['lost_connections']} connections lost: {report['errors'][:5]}")
    types, series = report["types"], report["series"]
    new_order = types["new_order"]
    latency = {name: new_order.get(f"{name}_ms") for name in ("p50", "p95", "p99", "p99.9")}
    by_second = [{"second": round(point["at_s"] - point["length_s"]), "p95": point["types"]["new_order"]["p95_ms"],
                  "max": point["types"]["new_order"]["max_ms"]} for point in series]
    return Outcome(report["notpm"], sum(one["committed"] for one in types.values()), report.get("measured_s", seconds),
                   [point["notpm"] for point in series], latency, by_second, client, {"types": types})
