"""Runs a plan: starts each server, warms up, measures cell by cell, checks the sums, and keeps what fails out of the figures."""
import contextlib
import dataclasses
import datetime
import os

from lab import experiment as experiments
from lab import measure, servers, tpcc, workload as pgbench
from lab.experiment import CORES, Cell, LabError
from lab.plan import NEXT_WARMUP

DRIVERS = {"pgbench": pgbench, "tpcc": tpcc}
UNITS = {"pgbench": "tps", "tpcc": "notpm"}


def driver_missing(workload):
    """Why the workload's client program cannot be had; None when it can."""
    if workload.kind not in DRIVERS:
        raise experiments.unknown("workload kind", workload.kind, DRIVERS)
    if workload.kind == "pgbench" and not workload.sql and workload.script not in pgbench.BUILTINS:
        raise experiments.unknown("script", workload.script, pgbench.BUILTINS)
    return tpcc.missing() if workload.kind == "tpcc" else None


@contextlib.contextmanager
def pinned(cores):
    """This process, and what it starts meanwhile, on the first `cores` processors; 0 leaves it alone."""
    before = os.sched_getaffinity(0)
    if cores:
        if cores > len(before):
            raise LabError(f"{cores} processors wanted, {len(before)} there")
        os.sched_setaffinity(0, set(sorted(before)[:cores]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Runner:
    """Owns the clusters of a run: one per kind of server and loaded data, at most one of them running."""

    def __init__(self, results, progress):
        self.results, self.progress = results, progress
        self.clusters = {}

    def run(self, planned):
        """Measures every cell of the plan that is not measured yet. On any way out the servers are gone."""
        with servers.scratch_folder():
            try:
                for number, one in enumerate(planned):
                    for block in experiments.blocks(one.part, one.variants):
                        self._block(one, *block)
                    self._close(keep={(variant.server, later.part.workload.load_key)
                                      for later in planned[number + 1:] for variant in later.variants})
            finally:
                self._close(keep=())

    def _close(self, keep):
        """Removes the clusters whose data no later part needs: disks are finite."""
        for key in [key for key in self.clusters if key not in keep]:
            servers.close(self.clusters.pop(key))

    def _cluster(self, variant, workload):
        """The stopped cluster with the workload's data, made and loaded on first use."""
        key = (variant.server, workload.load_key)
        if key not in self.clusters:
            self.progress.show(f"loading {variant.server}, scale {workload.scale}")
            cluster = servers.make_cluster(variant.server)
            self.clusters[key] = cluster
            servers.restart(cluster, {"shared_buffers": "256MB", "max_wal_size": "4GB", "autovacuum": "off"})
            DRIVERS[workload.kind].load(cluster, workload)
            cluster.stop()
        return self.clusters[key]

    def _discard(self, variant, workload):
        """Data that a failed run may have harmed is not used again."""
        cluster = self.clusters.pop((variant.server, workload.load_key), None)
        if cluster:
            servers.close(cluster)

    def _block(self, planned, variant, sweep, repetition):
        """One start of a server: all client counts of one variant, swept value and repetition."""
        part = planned.part
        cells = [Cell(part.name, variant.name, sweep, clients, repetition) for clients in part.clients]
        todo = [cell for cell in cells if self.results.cells.get(cell.key, {}).get("status") != "measured"]
        share = planned.seconds() / max(1, len(list(planned.cells())))
        for _ in range(len(cells) - len(todo)):
            self.progress.total_s -= share
            self.progress.cells -= 1
        if not todo:
            return
        settings = experiments.variant_settings(part, variant, sweep)
        cores = int(sweep) if part.sweep_setting == CORES else 0
        cluster, error = None, None
        try:
            with pinned(cores):
                cluster = self._cluster(variant, part.workload)
                servers.restart(cluster, settings)
                DRIVERS[part.workload.kind].settle(cluster, part.workload)
                for number, cell in enumerate(todo):
                    warmup = part.warmup * (1 if number == 0 else NEXT_WARMUP)
                    self._cell(part, cell, cluster, warmup, share)
                cluster.stop()
        except (RuntimeError, OSError, LabError, pgbench.RunError) as caught:
            error = caught
        if error is not None:
            tail = cluster.log_tail(servers.LOG_LINES) if cluster else ""
            self._discard(variant, part.workload)
            for cell in todo:
                if self.results.cells.get(cell.key, {}).get("status") != "measured":
                    self._failed(cell, str(error), tail, share)

    def _failed(self, cell, error, tail, share):
        self.results.save_cell(cell.key, {**dataclasses.asdict(cell), "key": cell.key, "status": "failed", "error": error, "log_tail": tail})
        log = "" if tail and tail in error else tail  # a failed start has told its log already
        self.progress.note(f"FAILED {cell.key}: {error}" + (f"\n  log: " + log.replace("\n", "\n  log: ") if log else ""))
        self.progress.finished(share, f"{cell.key} failed")

    def _cell(self, part, cell, cluster, warmup_s, share):
        """Warm-up and one measured run. RunError when the client failed or the sums disagree: the cell is not measured."""
        driver, workload = DRIVERS[part.workload.kind], part.workload
        self.progress.show(f"{cell.key}: warming up")
        warmup = driver.warm_up(cluster, workload, cell.clients, warmup_s)
        self.progress.show(f"{cell.key}: measuring {part.seconds:g} s")
        expected = warmup.pop("rate", None)
        launcher = servers.launcher_pid(cluster)
        started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        counters = measure.counters(cluster)
        usage, busy = measure.tree_usage(launcher), measure.machine_busy()
        switches = measure.SwitchSampler(launcher)
        events = pgbench.Events(cluster, part.events, part.seconds)
        try:
            outcome = driver.run(cluster, workload, cell.clients, part.seconds, expected)
        finally:
            server_switches = switches.stop()
            happened = events.finish()
        usage_after, busy_after = measure.tree_usage(launcher), measure.machine_busy()
        server = {name: usage_after[name] - usage[name] for name in usage} | server_switches
        ours = sum(one[name] for one in (server, outcome.client) for name in ("user_s", "system_s"))
        others = max(0.0, busy_after[0] - busy[0] - ours) / max(busy_after[1] - busy[1], 1e-9)
        compared = [row.metric.removeprefix("counter:") for row in part.comparisons]
        moved = measure.deltas(counters, measure.counters(cluster), compared)
        wrong = driver.sums_error(cluster, workload)
        if wrong:
            raise pgbench.RunError(wrong)
        failed_events = [event for event in happened if "error" in event]
        if failed_events:
            raise pgbench.RunError(f"{failed_events[0]['sql']}: {failed_events[0]['error']}")
        self.results.save_cell(cell.key, {
            **dataclasses.asdict(cell), "key": cell.key, "status": "measured", "unit": UNITS[workload.kind], "started": started,
            **dataclasses.asdict(outcome), "server": server, "counters": moved, "warmup": warmup, "events": happened,
            "others_busy": round(others, 4),
            "settings": measure.settings(cluster)})
        self.progress.finished(share, f"{cell.key}: {outcome.rate:,.0f} {UNITS[workload.kind]}")
