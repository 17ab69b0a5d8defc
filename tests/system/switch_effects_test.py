#!/usr/bin/env python3
"""Each switch does what it says: seen in counters, files, descriptors and memory maps, not in timings."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import Pinwheel, find_pinwheel  # noqa: E402

SEGMENT_BYTES = 1 << 20
O_DSYNC = 0o10000


class SwitchEffects(unittest.TestCase):
    def setUp(self):
        self.cluster = Pinwheel({"shared_buffers": "8MB", "max_connections": "20", "fsync": "off"}, name="effects",
                                init_options=("-N", "--wal-segsize", "1"))
        self.addCleanup(self.cluster.remove)

    def start(self, **settings):
        self.cluster.stop()
        self.cluster.settings.update(settings)
        self.cluster.start()

    def value(self, sql):
        return self.cluster.psql(sql)

    def number(self, sql):
        return int(float(self.value(sql)))

    def set_and_reload(self, name, value):
        """ALTER SYSTEM, and waits until a new session sees it."""
        self.value(f"ALTER SYSTEM SET {name} = {value}")
        self.value("SELECT pg_reload_conf()")
        self.wait_for(lambda: self.value(f"SHOW {name}") == str(value))

    def wait_for(self, condition, seconds=30):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, "does not happen")

    def segments(self):
        return sorted(path.name for path in (self.cluster.data / "pg_wal").iterdir() if re.fullmatch("[0-9A-F]{24}", path.name))

    def pid_of(self, backend_type):
        return int(self.value(f"SELECT pid FROM pg_stat_activity WHERE backend_type = '{backend_type}'"))

    # ---- page images ----

    def images_of_one_round(self):
        """Page images and log bytes of updates after a checkpoint."""
        self.value("CHECKPOINT")
        before = self.value("SELECT wal_fpi || ' ' || wal_bytes FROM pg_stat_wal").split()
        self.value("UPDATE t SET b = b + 1")
        after = self.value("SELECT wal_fpi || ' ' || wal_bytes FROM pg_stat_wal").split()
        return int(after[0]) - int(before[0]), int(after[1]) - int(before[1])

    def test_page_images_are_logged_compressed_or_left_out(self):
        self.start()
        self.value("CREATE TABLE t (a int, b int, c text)")
        self.value("INSERT INTO t SELECT n, 0, repeat('x', 100) FROM generate_series(1, 2000) n")
        self.images_of_one_round()
        images, size = self.images_of_one_round()
        self.assertGreater(images, 20)
        self.set_and_reload("wal_compression", "lz4")
        compressed_images, compressed_size = self.images_of_one_round()
        self.assertGreater(compressed_images, 20)
        self.assertLess(compressed_size / compressed_images, size / images / 2)
        self.set_and_reload("full_page_writes", "off")
        # The checkpointer takes it over within its next round.
        self.wait_for(lambda: self.images_of_one_round()[0] == 0)
        self.start(torn_page_protection="double_write", full_page_writes="on")
        self.assertEqual(self.images_of_one_round()[0], 0)
        self.value("CHECKPOINT")
        self.assertTrue(list((self.cluster.data / "pg_double_write").iterdir()))
        self.start(torn_page_protection="off")
        self.assertEqual(self.images_of_one_round()[0], 0)
        self.start(torn_page_protection="full_page_writes")
        self.assertGreater(self.images_of_one_round()[0], 20)

    def test_what_the_cluster_was_made_with_is_shown(self):
        self.start()
        self.assertEqual(self.value("SHOW wal_segment_size"), "1MB")
        self.assertEqual(self.value("SHOW data_checksums"), "on")

    def test_double_writes_need_checksums(self):
        cluster = Pinwheel({"torn_page_protection": "double_write"}, name="nochecksums", init_options=("-N", "--no-data-checksums"))
        self.addCleanup(cluster.remove)
        with self.assertRaisesRegex(RuntimeError, "torn_page_protection = double_write requires data checksums"):
            cluster.start()

    # ---- the log ----

    def test_four_log_buffers_are_filled_by_one_insert_and_many_are_not(self):
        full = {}
        for pages in ("4", "1024"):
            self.start(wal_buffers=pages)
            self.assertEqual(self.value("SELECT setting FROM pg_settings WHERE name = 'wal_buffers'"), pages)
            self.value("CREATE TABLE IF NOT EXISTS t (a text)")
            # A walwriter with a processor to itself can empty even four pages in time.
            walwriter = self.pid_of("walwriter")
            os.kill(walwriter, signal.SIGSTOP)
            try:
                self.cluster.psql("SET synchronous_commit = off; INSERT INTO t SELECT repeat('x', 1000) FROM generate_series(1, 3000)")
            finally:
                os.kill(walwriter, signal.SIGCONT)
            full[pages] = self.number("SELECT wal_buffers_full FROM pg_stat_wal")
        self.assertGreater(full["4"], 5)
        self.assertEqual(full["1024"], 0)

    def test_every_way_to_insert_takes_its_own_locks(self):
        sizes = {}
        for method, locks in (("reserve", 8), ("slots", 1), ("slots", 64), ("single_lock", 8)):
            self.start(wal_insert=method, wal_insert_locks=str(locks))
            self.value("CREATE TABLE IF NOT EXISTS t (a int)")
            before = self.number("SELECT acquired FROM pg_stat_lwlocks WHERE tranche = 'WALInsert'")
            self.value("INSERT INTO t SELECT generate_series(1, 1000)")
            taken = self.number("SELECT acquired FROM pg_stat_lwlocks WHERE tranche = 'WALInsert'") - before
            self.assertEqual(taken > 500, method != "reserve", f"{method}: {taken}")
            sizes[method, locks] = self.number("SELECT size FROM pg_shmem_allocations WHERE name = 'WAL control'")
        self.assertEqual(sizes["slots", 64] - sizes["slots", 1], 63 * 64)

    def test_the_sync_method_is_taken_over_at_a_reload(self):
        self.start(fsync="on", wal_sync_method="fdatasync")
        del self.cluster.settings["wal_sync_method"]
        self.start()
        self.value("CREATE TABLE t (a int)")

        def flags():
            """Of the walwriter's descriptor of the log."""
            folder = pathlib.Path(f"/proc/{self.pid_of('walwriter')}")
            for entry in (folder / "fd").iterdir():
                try:
                    if "/pg_wal/" in os.readlink(entry):
                        return int(re.search(r"flags:\s*(\d+)", (folder / "fdinfo" / entry.name).read_text())[1], 8)
                except OSError:
                    pass
            return None

        def commit():
            # Through the walwriter, not by the session itself.
            self.value("SET synchronous_commit = off; INSERT INTO t VALUES (1)")

        for method, synchronous in (("open_datasync", True), ("fsync", False), ("fdatasync", False)):
            self.set_and_reload("wal_sync_method", method)
            self.wait_for(lambda: (commit(), flags())[1] is not None and (flags() & O_DSYNC != 0) == synchronous)
        syncs = self.number("SELECT wal_sync FROM pg_stat_wal")
        self.value("INSERT INTO t VALUES (1)")
        self.assertGreater(self.number("SELECT wal_sync FROM pg_stat_wal"), syncs)

    def test_commit_delay_waits_only_beside_enough_siblings(self):
        for processes in ("2", "0"):
            self.start(fsync="on", commit_delay="100000", commit_siblings="0", backend_processes=processes)
            self.value("CREATE TABLE IF NOT EXISTS t (a int)")
            began = time.monotonic()
            self.value("INSERT INTO t VALUES (1)")
            self.assertGreaterEqual(time.monotonic() - began, 0.1)
            self.start(commit_siblings="1")
            began = time.monotonic()
            self.cluster.psql("; ".join(["INSERT INTO t VALUES (1); COMMIT"] * 50))
            self.assertLess(time.monotonic() - began, 5.0)  # 50 delays

    def test_new_log_files_are_filled_or_left_sparse(self):
        for zero in ("on", "off"):
            self.start(wal_init_zero=zero, wal_recycle="off")
            self.value("CREATE TABLE IF NOT EXISTS t (a int)")
            self.value("INSERT INTO t VALUES (1)")
            known = set(self.segments())
            self.value("SELECT pg_switch_wal()")
            self.value("INSERT INTO t VALUES (1)")
            new = sorted(set(self.segments()) - known)
            self.assertTrue(new)
            facts = (self.cluster.data / "pg_wal" / new[-1]).stat()
            self.assertGreaterEqual(facts.st_size, SEGMENT_BYTES)
            self.assertEqual(facts.st_blocks * 512 >= SEGMENT_BYTES, zero == "on", facts)

    def test_old_log_files_are_recycled_removed_or_kept(self):
        def write_segments(count):
            for _ in range(count):
                self.value("INSERT INTO t VALUES (1)")
                self.value("SELECT pg_switch_wal()")
            self.value("CHECKPOINT")
            self.value("CHECKPOINT")

        self.start(min_wal_size="8MB", wal_recycle="on")
        self.value("CREATE TABLE t (a int)")
        write_segments(6)
        current = self.value("SELECT pg_walfile_name(pg_current_wal_lsn())")
        self.assertGreater(len([name for name in self.segments() if name > current]), 2)
        self.start(wal_recycle="off")
        write_segments(12)
        current = self.value("SELECT pg_walfile_name(pg_current_wal_lsn())")
        self.assertLessEqual(len([name for name in self.segments() if name > current]), 1)
        self.assertLessEqual(len([name for name in self.segments() if name < current]), 1)
        self.start(wal_keep_size="5MB")
        write_segments(12)
        current = self.value("SELECT pg_walfile_name(pg_current_wal_lsn())")
        self.assertGreaterEqual(len([name for name in self.segments() if name < current]), 4)

    # ---- buffers ----

    def test_the_background_writer_is_woken_by_demand_or_only_by_its_timer(self):
        wakeups = {}
        for mode in ("timer", "demand"):
            self.start(shared_buffers="1MB", bgwriter_mode=mode, bgwriter_delay="10s")
            self.value("CREATE TABLE IF NOT EXISTS big (a int, b text)")
            self.value("INSERT INTO big SELECT n, repeat('x', 1000) FROM generate_series(1, 3000) n")
            self.value("SELECT count(*) FROM big")
            wakeups[mode] = self.number("SELECT wakeups FROM pg_stat_buffer_replacement")
        self.assertEqual(wakeups["timer"], 0)
        self.assertGreater(wakeups["demand"], 0)
        self.set_and_reload("bgwriter_lru_maxpages", "0")

    def test_the_water_marks_are_percentages(self):
        self.start(shared_buffers="8MB", buffer_freelist="refill", freelist_high_watermark="10", bgwriter_mode="demand")
        self.value("CREATE TABLE big (a int, b text)")
        self.value("INSERT INTO big SELECT n, repeat('x', 1000) FROM generate_series(1, 12000) n")
        # 10 % of 1024 buffers: once the pool has been full, no more are free.
        self.wait_for(lambda: self.number("SELECT refilled FROM pg_stat_buffer_replacement") > 0)
        self.assertLessEqual(self.number("SELECT free_buffers FROM pg_stat_buffer_replacement"), 110)

    # ---- memory ----

    def test_shared_memory_is_of_the_kind_asked_for(self):
        # How the system names each in a process's map.
        names = {"mmap": r"/dev/zero|memfd:pinwheel", "posix": r"/dev/shm/pinwheel\.", "sysv": r"/SYSV0"}
        for kind, name in names.items():
            self.start(shared_memory_type=kind, huge_pages="off")
            maps = pathlib.Path(f"/proc/{self.pid_of('checkpointer')}/maps").read_text()
            large = [line for line in maps.splitlines() if re.search(r"rw-s", line) and re.search(name, line)]
            self.assertTrue(large, maps)
            start, end = (int(word, 16) for word in large[0].split()[0].split("-"))
            self.assertGreater(end - start, 8 << 20)

    def test_huge_pages_are_used_or_refused_not_ignored(self):
        free = int(re.search(r"HugePages_Free:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
        done = subprocess.run([find_pinwheel(), "start", "-D", self.cluster.data, "-p", str(self.cluster.port), "-c", "huge_pages=on",
                               "-c", "shared_memory_type=sysv"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("could not map huge-page shared memory", done.stdout + done.stderr)
        if free == 0:
            with self.assertRaisesRegex(RuntimeError, "could not map huge-page shared memory"):
                self.start(huge_pages="on")
        self.start(huge_pages="try")
        self.assertEqual(self.value("SHOW huge_pages"), "try")


if __name__ == "__main__":
    unittest.main()
