"""What scripts/demo runs once everything is built."""
import argparse
import subprocess

from cluster import STOCK_BIN, Pinwheel, Stock, pgbench_rate

SCRIPTS = (("tpcb-like", []), ("simple-update", ["-N"]), ("select-only", ["-S"]))


def run(cluster, title, arguments, seconds, clients):
    print(f"\n== {title}", flush=True)
    process = subprocess.Popen(
        [str(STOCK_BIN / "pgbench"), *arguments, "-n", "-M", "prepared", "-c", str(clients), "-j", "2", "-T", str(seconds), "-P", "1"],
        env=cluster.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    rate = 0.0
    for line in process.stdout:
        if line.startswith("progress") or "tps =" in line or "failed" in line:
            print("   " + line.rstrip(), flush=True)
        rate = pgbench_rate(line) or rate
    if process.wait() != 0:
        raise SystemExit(f"demo: pgbench failed\n{cluster.log_tail()}")
    return rate


def measure(cluster, name, options):
    print(f"\n=== {name}: pgbench -i -s {options.scale}", flush=True)
    cluster.pgbench("-i", "-q", "-s", str(options.scale))
    return {title: run(cluster, f"{name}, {title}, {options.clients} clients", arguments, options.seconds, options.clients)
            for title, arguments in SCRIPTS}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=16)
    options = parser.parse_args()
    settings = {"shared_buffers": "256MB"}
    with Pinwheel(settings, name="demo") as ours:
        ours.start()
        print(f"demo: cluster in {ours.data}, port {ours.port}")
        rates = measure(ours, "Pinwheel", options)
        ours.stop("fast")
    others = {}
    if (STOCK_BIN / "postgres").exists():
        with Stock(settings, name="demo-stock") as stock:
            stock.start()
            others = measure(stock, "PostgreSQL 15", options)
    print(f"\n{'transactions per second':<26}{'Pinwheel':>12}{'PostgreSQL 15':>16}{'ratio':>8}")
    for title, rate in rates.items():
        other = others.get(title)
        print(f"{title:<26}{rate:>12,.0f}" + (f"{other:>16,.0f}{rate / other:>8.2f}" if other else f"{'-':>16}"))
    print("\nThe cluster is stopped and removed.")


if __name__ == "__main__":
    main()
