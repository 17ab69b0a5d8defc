#!/usr/bin/env python3
"""Switches in combination: every pair of values of any two switches runs under load, is killed, recovers, and is whole afterwards.

The set of combinations is computed here, the same each time. $PINWHEEL_SWITCHES_SEED starts from another one.
"""
import itertools
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import STOCK_BIN, Pinwheel  # noqa: E402

# torn_page_protection = off is left out: a process that is killed within a write may leave half a page.
SWITCHES = {
    "buffer_replacement": ("atomic_clock", "locked_clock", "batched_clock", "s3fifo"),
    "buffer_freelist": ("refill", "off"),
    "bgwriter_mode": ("demand", "timer"),
    "buffer_mapping_partitions": ("128", "1"),
    "clog_update": ("atomic", "locked", "group"),
    "clog_banks": ("8", "1"),
    "snapshot_method": ("cached", "scan", "csn"),
    "wal_insert": ("reserve", "slots", "single_lock"),
    "wal_buffers": ("64", "4"),
    "wal_compression": ("off", "lz4"),
    "torn_page_protection": ("full_page_writes", "double_write"),
    "backend_processes": ("2", "0"),
    "shared_memory_type": ("mmap", "posix", "sysv"),
}


def pairwise(switches, seed):
    """Few combinations in which every pair of values of every two switches occurs: greedy, of some random candidates the best."""
    chooser = random.Random(seed)
    names = sorted(switches)
    missing = {((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in switches[a] for y in switches[b]}
    rows = []
    while missing:
        best, gain = None, -1
        for _ in range(60):
            (a, x), (b, y) = chooser.choice(sorted(missing))
            row = {a: x, b: y}
            for name in chooser.sample(names, len(names)):
                if name in row:
                    continue
                row[name] = max(chooser.sample(switches[name], len(switches[name])), key=lambda value: sum(
                    tuple(sorted(((name, value), (other, row[other])))) in missing for other in row))
            covered = {pair for pair in itertools.combinations(sorted(row.items()), 2)} & missing
            if len(covered) > gain:
                best, gain = (row, covered), len(covered)
        rows.append(best[0])
        missing -= best[1]
    return rows


class Rounds:
    """One loaded cluster, copied for each combination."""

    def __init__(self):
        self.master = Pinwheel({"fsync": "off", "shared_buffers": "16MB"}, name="switches", init_options=("-N",))
        self.master.start()
        self.master.pgbench("-i", "-q", "-s", "1")
        self.master.stop()
        self.cluster = None

    def close(self):
        self.master.remove()

    def begin(self, combination):
        cluster = Pinwheel.__new__(Pinwheel)
        cluster.__dict__.update(self.master.__dict__)
        cluster.data = self.master.folder / "copy"
        shutil.copytree(self.master.data, cluster.data)
        # Small, so that pages are evicted. fsync is on: syncs are part of what is tested.
        cluster.settings = {"listen_addresses": "", "unix_socket_directories": str(self.master.folder), "shared_buffers": "2MB",
                            "max_connections": "30", "checkpoint_timeout": "30s", **combination}
        self.cluster = cluster
        cluster.start()
        return cluster

    def end(self):
        self.cluster.stop("immediate")
        shutil.rmtree(self.cluster.data)

    def crash_under_load(self, seconds, chooser):
        """Runs tpcb-like load, kills a child after part of its second, and waits until the server serves again."""
        cluster = self.cluster
        load = subprocess.Popen([str(STOCK_BIN / "pgbench"), "-n", "-c", "8", "-T", str(seconds), "-M", "prepared"],
                                env=cluster.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = int(cluster.psql("SELECT count(*) FROM pgbench_history"))
        deadline = time.monotonic() + 30
        # Not at once: some transactions shall be there to be lost.
        while int(cluster.psql("SELECT count(*) FROM pgbench_history")) < before + 50 and time.monotonic() < deadline:
            if load.poll() is not None:
                break
        for victim in chooser.sample(cluster.children(), len(cluster.children())):
            try:
                os.kill(victim, signal.SIGKILL)
                break
            except ProcessLookupError:
                continue
        load.wait()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if cluster.psql("SELECT 1") == "1":
                    return int(cluster.psql("SELECT count(*) FROM pgbench_history")) - before
            except RuntimeError:
                if cluster.process.poll() is not None:
                    raise
        raise RuntimeError(f"the server does not come back:\n{cluster.log_tail()}")

    def run(self, combination, seed, crashes=1, seconds=1):
        """What is wrong after the combination has run and crashed; None when nothing is."""
        chooser = random.Random(seed)
        cluster = self.begin(combination)
        try:
            done = 0
            for _ in range(crashes):
                done += self.crash_under_load(seconds, chooser)
                if wrong := cluster.tpcb_sums_error():
                    return f"after a crash: {wrong}"
            cluster.pgbench("-n", "-c", "4", "-t", "20", "-M", "prepared")
            if wrong := cluster.tpcb_sums_error():
                return wrong
            if done == 0:
                return "no transaction survived"
            cluster.stop()
            return cluster.check()
        except RuntimeError as error:
            return f"{error}\n{cluster.log_tail()}"
        finally:
            self.end()


class Switches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rounds = Rounds()

    @classmethod
    def tearDownClass(cls):
        cls.rounds.close()

    def test_every_pair_of_values_survives_a_crash_under_load(self):
        seed = int(os.environ.get("PINWHEEL_SWITCHES_SEED", "1"))
        combinations = pairwise(SWITCHES, seed)
        print(f"switches: seed {seed}, {len(combinations)} combinations", file=sys.stderr)
        for number, combination in enumerate(combinations):
            with self.subTest(number=number, **combination):
                self.assertIsNone(self.rounds.run(combination, f"{seed}-{number}"))

    def test_the_combinations_hold_every_pair(self):
        rows = pairwise(SWITCHES, 1)
        seen = {pair for row in rows for pair in itertools.combinations(sorted(row.items()), 2)}
        wanted = {((a, x), (b, y)) for a, b in itertools.combinations(sorted(SWITCHES), 2) for x in SWITCHES[a] for y in SWITCHES[b]}
        self.assertEqual(wanted - seen, set())
        self.assertLessEqual(len(rows), 20)


if __name__ == "__main__":
    unittest.main()
