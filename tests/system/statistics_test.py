#!/usr/bin/env python3
"""Statistics views move the way they should after known work, in pooled and in classic mode; `pinwheel top`; docs/statistics.md."""
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import ROOT, Pinwheel, find_pinwheel  # noqa: E402
from pgwire import Connection, ServerError, cancel  # noqa: E402

OWN_VIEWS = ("pg_wait_events", "pg_stat_lwlocks", "pg_stat_buffer_replacement", "pg_stat_snapshots", "pg_stat_io",
             "pg_stat_statements", "pg_stat_statements_info", "pg_buffercache")


class Statistics(unittest.TestCase):
    """Tests of one mode share one server."""

    processes = "2"

    @classmethod
    def setUpClass(cls):
        cls.cluster = Pinwheel({"backend_processes": cls.processes, "max_connections": "30", "fsync": "off", "autovacuum": "off",
                                "shared_buffers": "8MB", "track_io_timing": "on", "deadlock_timeout": "100ms"},
                               name="statistics", init_options=("-N",))
        cls.cluster.start()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.remove()

    def connect(self, **options):
        connection = Connection(self.cluster.host, self.cluster.port, **options)
        self.addCleanup(connection.close)
        return connection

    def setUp(self):
        self.watcher = self.connect()

    def value(self, sql):
        return self.watcher.query(sql)[0][0]

    def number(self, sql):
        return float(self.value(sql))

    def wait_for(self, what, reached, timeout=10.0):
        """What others counted is seen within about a second."""
        deadline = time.monotonic() + timeout
        while True:
            seen = reached()
            if seen:
                return seen
            self.assertLess(time.monotonic(), deadline, f"{what} does not come: {seen!r}")

    def wait_for_number(self, sql, expected):
        seen = []

        def reached():
            seen[:] = [self.number(sql)]
            return seen[0] >= expected

        deadline = time.monotonic() + 10
        while not reached():
            self.assertLess(time.monotonic(), deadline, f"{sql}: {seen[0]}, expected {expected}")
        self.assertEqual(seen[0], expected, sql)

    def database(self, name):
        self.watcher.query(f"CREATE DATABASE {name}")
        return self.connect(database=name)

    def test_commits_rollbacks_and_rows_are_counted_per_database(self):
        worker = self.database("counted")
        worker.query("CREATE TABLE t (k int PRIMARY KEY, v int)")
        of = "FROM pg_stat_database WHERE datname = 'counted'"
        worker.query("SELECT pg_stat_force_next_flush()")
        worker.query("SELECT pg_stat_reset()")
        self.assertEqual(self.number(f"SELECT tup_inserted {of}"), 0)
        commits = self.number(f"SELECT xact_commit {of}")
        for i in range(20):
            worker.query(f"INSERT INTO t VALUES ({i}, 0)")
        worker.query("UPDATE t SET v = 1 WHERE k < 7")
        worker.query("DELETE FROM t WHERE k >= 17")
        for _ in range(3):
            worker.query("BEGIN; INSERT INTO t VALUES (100, 1); ROLLBACK")
        self.wait_for_number(f"SELECT xact_rollback {of}", 3)
        # The reset's own commit may come before or after.
        self.assertIn(self.number(f"SELECT xact_commit {of}") - commits, (22, 23))
        self.assertEqual(self.number(f"SELECT tup_inserted {of}"), 23)
        self.assertEqual(self.number(f"SELECT tup_updated {of}"), 7)
        self.assertEqual(self.number(f"SELECT tup_deleted {of}"), 3)
        self.assertGreater(self.number(f"SELECT blks_hit {of}"), 20)
        self.assertIsNotNone(self.value(f"SELECT stats_reset {of}"))
        self.assertEqual(self.value("SELECT stats_reset FROM pg_stat_database WHERE datname = 'template1'"), None)

    def test_sessions_and_their_time_are_counted(self):
        worker = self.database("visited")
        of = "FROM pg_stat_database WHERE datname = 'visited'"
        worker.query("BEGIN; SELECT pg_sleep(0.2)")
        worker.query("SELECT pg_sleep(0.2); COMMIT")
        worker.close()
        self.wait_for("the end of the session", lambda: self.number(f"SELECT active_time {of}") >= 400)
        self.assertGreaterEqual(self.number(f"SELECT session_time {of}"), 400)
        self.assertGreater(self.number(f"SELECT idle_in_transaction_time {of}"), 0)
        lost = Connection(self.cluster.host, self.cluster.port, database="visited")
        lost.sock.close()
        self.wait_for("an abandoned session", lambda: self.number(f"SELECT sessions_abandoned {of}") == 1)
        killed = self.connect(database="visited")
        self.value(f"SELECT pg_terminate_backend({killed.backend_pid})")
        self.wait_for("a killed session", lambda: self.number(f"SELECT sessions_killed {of}") == 1)
        self.assertEqual(self.number(f"SELECT sessions {of}"), 3)
        self.assertEqual(self.number(f"SELECT numbackends {of}"), 0)

    def test_temporary_files_and_deadlocks_are_counted(self):
        a, b = self.database("troubled"), self.connect(database="troubled")
        of = "FROM pg_stat_database WHERE datname = 'troubled'"
        a.query("SET work_mem = '64kB'")
        a.query("SELECT count(*) FROM (SELECT i FROM generate_series(1, 50000) i ORDER BY md5(i::text) OFFSET 1) s")
        a.query("CREATE TABLE t (k int)")
        a.query("INSERT INTO t VALUES (1), (2)")
        for session, row in ((a, 1), (b, 2)):
            session.query(f"BEGIN; UPDATE t SET k = k WHERE k = {row}")
        a.send(b"Q", b"UPDATE t SET k = k WHERE k = 2\0")
        b.send(b"Q", b"UPDATE t SET k = k WHERE k = 1\0")
        a.read_until_ready()
        b.read_until_ready()
        a.query("ROLLBACK")
        b.query("ROLLBACK")
        self.wait_for_number(f"SELECT deadlocks {of}", 1)
        self.wait_for("the temporary file", lambda: self.number(f"SELECT temp_files {of}") > 0)
        self.assertGreater(self.number(f"SELECT temp_bytes {of}"), 100000)

    def test_tables_and_indexes_count_scans_and_rows(self):
        worker = self.connect()
        worker.query("CREATE TABLE scanned (k int PRIMARY KEY, v text)")
        worker.query("INSERT INTO scanned SELECT i, 'x' FROM generate_series(1, 1000) i")
        for i in range(10):
            worker.query(f"SELECT v FROM scanned WHERE k = {i + 1}")
        for _ in range(2):
            worker.query("SELECT count(v) FROM scanned")
        table = "FROM pg_stat_user_tables WHERE relname = 'scanned'"
        self.wait_for_number(f"SELECT seq_scan {table}", 2)
        self.assertEqual(self.number(f"SELECT seq_tup_read {table}"), 2000)
        self.assertEqual(self.number(f"SELECT idx_scan {table}"), 10)
        self.assertEqual(self.number(f"SELECT idx_tup_fetch {table}"), 10)
        self.assertEqual(self.number(f"SELECT n_tup_ins {table}"), 1000)
        self.assertEqual(self.number(f"SELECT n_live_tup {table}"), 1000)
        index = "FROM pg_stat_user_indexes WHERE indexrelname = 'scanned_pkey'"
        self.assertEqual(self.number(f"SELECT idx_scan {index}"), 10)
        self.value("SELECT pg_stat_reset_single_table_counters('scanned'::regclass)")
        self.assertEqual(self.number(f"SELECT seq_scan {table}"), 0)

    def test_pages_are_read_again_after_the_pool_was_emptied(self):
        worker = self.connect()
        worker.query("CREATE TABLE paged (k int PRIMARY KEY, v text)")
        worker.query("INSERT INTO paged SELECT i, repeat('x', 500) FROM generate_series(1, 1000) i")
        pages = self.number("SELECT pg_relation_size('paged') / 8192")
        of = "FROM pg_statio_user_tables WHERE relname = 'paged'"
        frames = "SELECT count(*) FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('paged') AND relforknumber = 0"
        self.assertEqual(self.number(frames), pages)
        self.assertGreater(self.number(frames + " AND isdirty"), 0)
        evicted = self.watcher.query("SELECT * FROM pg_buffercache_evict_all()")[0]
        self.assertGreater(int(evicted[0]), pages)
        self.assertGreater(int(evicted[1]), 0)
        self.assertEqual(self.number(frames), 0)
        worker.query("SELECT pg_stat_force_next_flush()")
        before = self.watcher.query(f"SELECT heap_blks_read, heap_blks_hit {of}")[0]
        io = "SELECT sum(reads) FROM pg_stat_io WHERE backend_type = 'client backend'"
        reads = self.number(io)
        worker.query("SELECT count(v) FROM paged")
        worker.query("SELECT pg_stat_force_next_flush()")
        after = self.watcher.query(f"SELECT heap_blks_read, heap_blks_hit {of}")[0]
        self.assertEqual(int(after[0]) - int(before[0]), pages)
        self.assertGreaterEqual(self.number(io) - reads, pages)
        self.assertGreater(self.number("SELECT read_time FROM pg_stat_io WHERE backend_type = 'client backend' AND context = 'normal'"), 0)
        worker.query("SELECT count(v) FROM paged")
        worker.query("SELECT pg_stat_force_next_flush()")
        again = self.watcher.query(f"SELECT heap_blks_read, heap_blks_hit {of}")[0]
        self.assertEqual(again[0], after[0])
        self.assertEqual(int(again[1]) - int(after[1]), pages)
        of_index = "SELECT idx_blks_read, idx_blks_hit FROM pg_statio_user_indexes WHERE indexrelname = 'paged_pkey'"
        before = self.watcher.query(of_index)[0]
        worker.query("SELECT v FROM paged WHERE k = 500")
        worker.query("SELECT v FROM paged WHERE k = 501")
        worker.query("SELECT pg_stat_force_next_flush()")
        after = self.watcher.query(of_index)[0]
        self.assertGreater(int(after[0]), int(before[0]))
        self.assertGreater(int(after[1]), int(before[1]))
        one = self.value("SELECT bufferid FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('paged') LIMIT 1")
        self.assertEqual(self.value(f"SELECT pg_buffercache_evict({one})"), "t")
        self.assertEqual(self.number(frames), pages - 1)
        with self.assertRaises(ServerError):
            self.value("SELECT pg_buffercache_evict(0)")
        used, unused = self.watcher.query("SELECT buffers_used, buffers_unused FROM pg_buffercache_summary()")[0]
        self.assertEqual(int(used) + int(unused), 1024)

    def test_bulk_operations_count_in_their_context(self):
        worker = self.connect()
        worker.query("CREATE TABLE big (v text)")
        bulk = "SELECT sum({}) FROM pg_stat_io WHERE backend_type = 'client backend' AND context = '{}'"
        worker.query("INSERT INTO big SELECT repeat('x', 1000) FROM generate_series(1, 6000)")
        self.value("SELECT * FROM pg_buffercache_evict_all()")
        before = self.number(bulk.format("reads", "bulkread"))
        worker.query("SELECT count(*) FROM big")
        self.assertGreater(self.number(bulk.format("reads", "bulkread")) - before, 500)
        self.assertGreater(self.number(bulk.format("reuses", "bulkread")), 0)
        before = self.number(bulk.format("hits + reads", "vacuum"))
        worker.query("DELETE FROM big")
        worker.query("VACUUM big")
        self.assertGreater(self.number(bulk.format("hits + reads", "vacuum")) - before, 500)

    def test_statements_are_counted_by_their_text_without_literals(self):
        worker = self.connect()
        worker.query("CREATE TABLE asked (k int PRIMARY KEY, v int)")
        worker.query("INSERT INTO asked SELECT i, i FROM generate_series(1, 100) i")
        self.value("SELECT pg_stat_force_next_flush()")
        for i in range(12):
            worker.query(f"SELECT v FROM asked WHERE k = {i + 1}")
        worker.send(b"P", b"s\0SELECT v, 7 FROM asked WHERE k < $1\0\0\0")
        for i in range(5):
            worker.send(b"B", b"\0s\0\0\0\0\1" + struct.pack("!i", 1) + b"4" + b"\0\0")
            worker.send(b"E", b"\0\0\0\0\0")
        worker.send(b"S")
        worker.read_until_ready()
        worker.query("SELECT pg_stat_force_next_flush()")
        columns = "calls, rows, total_exec_time >= max_exec_time, max_exec_time >= mean_exec_time, mean_exec_time >= min_exec_time, " \
                  "min_exec_time > 0, shared_blks_hit > 0, query"
        of = f"SELECT {columns} FROM pg_stat_statements WHERE query LIKE "
        simple = self.watcher.query(of + "'SELECT v FROM asked%'")
        self.assertEqual(len(simple), 1, simple)
        self.assertEqual(simple[0][:2], ["12", "12"])
        self.assertEqual(set(simple[0][2:7]), {"t"})
        self.assertTrue(simple[0][7].endswith("k = $1"), simple[0][7])
        prepared = self.watcher.query(of + "'SELECT v, %'")
        self.assertEqual(prepared[0][:2], ["5", "15"])
        self.assertEqual(prepared[0][7], "SELECT v, $2 FROM asked WHERE k < $1")
        inserted = self.watcher.query("SELECT rows, wal_records >= 100, wal_bytes > 0, shared_blks_dirtied > 0 FROM pg_stat_statements "
                                      "WHERE query LIKE 'INSERT INTO asked%'")
        self.assertEqual(inserted, [["100", "t", "t", "t"]])
        utility = self.watcher.query("SELECT calls FROM pg_stat_statements WHERE query LIKE 'CREATE TABLE asked%'")
        self.assertEqual(utility, [["1"]])
        query_id = self.value("SELECT queryid FROM pg_stat_statements WHERE query LIKE 'SELECT v FROM asked%'")
        worker.query("SELECT v FROM asked WHERE k = 1")
        self.assertEqual(self.value(f"SELECT query_id FROM pg_stat_activity WHERE pid = {worker.backend_pid}"), query_id)
        worker.query("SELECT pg_stat_force_next_flush()")
        self.value(f"SELECT pg_stat_statements_reset(0, 0, {query_id})")
        self.assertEqual(self.watcher.query(of + "'SELECT v FROM asked%'"), [])
        self.assertEqual(len(self.watcher.query(of + "'SELECT v, %'")), 1)
        worker.query("SET pg_stat_statements_track = none")
        worker.query("SELECT v FROM asked WHERE k = 1")
        worker.query("SELECT pg_stat_force_next_flush()")
        self.assertEqual(self.watcher.query(of + "'SELECT v FROM asked%'"), [])
        self.value("SELECT pg_stat_statements_reset()")
        self.assertEqual(self.watcher.query(of + "'SELECT v, %'"), [])

    def test_others_statements_are_hidden_from_those_who_may_not_see_them(self):
        self.watcher.query("CREATE ROLE curious LOGIN")
        other = self.connect(user="curious")
        texts = {row[0] for row in other.query("SELECT query FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid "
                                               "WHERE r.rolname = 'postgres'")}
        self.assertEqual(texts, {"<insufficient privilege>"})
        for forbidden in ("SELECT pg_stat_reset_shared('wal')", "SELECT * FROM pg_buffercache_evict_all()", "SELECT pg_stat_statements_reset()",
                          "SELECT * FROM pg_buffercache"):
            with self.assertRaises(ServerError) as caught:
                other.query(forbidden)
            self.assertEqual(caught.exception.sqlstate, "42501")

    def test_wait_events_of_sessions_are_shown(self):
        holder, blocked, sleeper = self.connect(), self.connect(), self.connect()
        holder.query("CREATE TABLE held (k int)")
        holder.query("INSERT INTO held VALUES (1)")
        holder.query("BEGIN; UPDATE held SET k = 2")
        blocked.send(b"Q", b"UPDATE held SET k = 3\0")
        sleeper.send(b"Q", b"SELECT pg_sleep(60)\0")

        def waits(connection):
            return self.watcher.query("SELECT wait_event_type, wait_event, state FROM pg_stat_activity "
                                      f"WHERE pid = {connection.backend_pid}")[0]

        self.wait_for("the wait for a lock", lambda: waits(blocked) == ["Lock", "transactionid", "active"])
        self.wait_for("the sleep", lambda: waits(sleeper) == ["Timeout", "PgSleep", "active"])
        self.assertEqual(waits(holder), ["Client", "ClientRead", "idle in transaction"])
        locks = self.watcher.query("SELECT mode, granted FROM pg_locks WHERE pid = "
                                   f"{blocked.backend_pid} AND locktype = 'transactionid' AND NOT granted")
        self.assertEqual(locks, [["ShareLock", "f"]])
        self.assertEqual(self.value(f"SELECT pg_blocking_pids({blocked.backend_pid})"), "{%d}" % holder.backend_pid)
        known = {tuple(row) for row in self.watcher.query("SELECT type, name FROM pg_wait_events")}
        for event in (("Lock", "transactionid"), ("Timeout", "PgSleep"), ("Client", "ClientRead"), ("LWLock", "WALInsert")):
            self.assertIn(event, known)
        shown = {tuple(row) for row in self.watcher.query("SELECT wait_event_type, wait_event FROM pg_stat_activity "
                                                          "WHERE wait_event IS NOT NULL")}
        self.assertLessEqual(shown, known)
        holder.query("COMMIT")
        blocked.read_until_ready()
        cancel(self.cluster.host, self.cluster.port, sleeper.backend_pid, sleeper.secret)
        sleeper.read_until_ready()

    def test_progress_of_a_copy_whose_client_holds_back_its_data(self):
        loader = self.connect()
        loader.query("CREATE TABLE loaded (k int)")
        loader.send(b"Q", b"COPY loaded FROM STDIN\0")
        self.assertEqual(loader.read_message()[0], b"G")
        loader.send(b"d", b"".join(b"%d\n" % i for i in range(500)))
        progress = "SELECT command, type, tuples_processed, bytes_processed, relid::regclass FROM pg_stat_progress_copy"
        expected = ["COPY FROM", "PIPE", "500", str(sum(len(b"%d\n" % i) for i in range(500))), "loaded"]
        self.wait_for("the copy's row", lambda: self.watcher.query(progress) == [expected])
        loader.send(b"c")
        loader.read_until_ready()
        self.assertEqual(self.watcher.query(progress), [])

    def test_progress_of_an_index_build(self):
        builder = self.connect()
        builder.query("CREATE TABLE indexed (k text)")
        builder.query("INSERT INTO indexed SELECT md5(i::text) FROM generate_series(1, 100000) i")
        builder.send(b"Q", b"CREATE INDEX indexed_k ON indexed (k)\0")
        progress = "SELECT command, relid::regclass, phase, blocks_total, blocks_done FROM pg_stat_progress_create_index"
        row = self.wait_for("the build's row", lambda: [r for r in self.watcher.query(progress) if int(r[3]) > 0])[0]
        self.assertEqual(row[:2], ["CREATE INDEX", "indexed"])
        self.assertTrue(row[2].startswith("building index"), row)
        self.assertLessEqual(int(row[4]), int(row[3]))
        builder.read_until_ready()
        self.assertEqual(self.watcher.query(progress), [])

    def test_progress_of_vacuum_and_analyze(self):
        worker = self.connect()
        worker.query("CREATE TABLE swept (k int, v text)")
        worker.query("INSERT INTO swept SELECT i, repeat('x', 500) FROM generate_series(1, 2000) i")
        worker.query("SET vacuum_cost_limit = 1")
        worker.query("SET vacuum_cost_delay = 100")
        pages = self.value("SELECT pg_relation_size('swept') / 8192")
        for command, view, columns, phase in (
                ("VACUUM", "pg_stat_progress_vacuum", "heap_blks_total, heap_blks_scanned", "scanning heap"),
                ("ANALYZE", "pg_stat_progress_analyze", "sample_blks_total, sample_blks_scanned", "acquiring sample rows")):
            worker.send(b"Q", f"{command} swept".encode() + b"\0")
            query = f"SELECT relid::regclass, phase, {columns} FROM {view}"
            row = self.wait_for(f"the row of {command}", lambda: [r for r in self.watcher.query(query) if int(r[3]) > 0])[0]
            self.assertEqual(row[:3], ["swept", phase, pages])
            cancel(self.cluster.host, self.cluster.port, worker.backend_pid, worker.secret)
            worker.read_until_ready()
            self.assertEqual(self.watcher.query(query), [])

    def test_counters_of_the_server_move_and_can_be_reset(self):
        worker = self.connect()
        worker.query("CREATE TABLE moved (k int)")
        moved = {
            "pg_stat_wal": ("wal_records", "wal", "INSERT INTO moved SELECT generate_series(1, 100)", 100),
            "pg_stat_snapshots": ("taken", "snapshots", "SELECT 1", 1),
            "pg_stat_io": ("hits", "io", "SELECT count(*) FROM moved", 1),
            "pg_stat_lwlocks": ("acquired", "lwlocks", "INSERT INTO moved SELECT generate_series(1, 100)", 1),
        }
        for view, (column, target, work, least) in moved.items():
            total = f"SELECT sum({column}) FROM {view}"
            before = self.number(total)
            worker.query(work)
            after = self.number(total)
            self.assertGreaterEqual(after - before, least, view)
            since = self.value(f"SELECT max(stats_reset) FROM {view}")
            self.value(f"SELECT pg_stat_reset_shared('{target}')")
            self.assertLess(self.number(total), after, view)
            self.assertGreater(self.value(f"SELECT max(stats_reset) FROM {view}"), since, view)
        with self.assertRaises(ServerError) as caught:
            self.value("SELECT pg_stat_reset_shared('nothing')")
        self.assertEqual(caught.exception.sqlstate, "22023")

    def test_checkpoints_and_the_buffer_pool(self):
        worker = self.connect()
        worker.query("CREATE TABLE flushed (k int, v text)")
        worker.query("INSERT INTO flushed SELECT i, repeat('x', 200) FROM generate_series(1, 1000) i")
        before = self.watcher.query("SELECT checkpoints_req, buffers_checkpoint, buffers_alloc FROM pg_stat_bgwriter")[0]
        fsyncs = "SELECT fsyncs FROM pg_stat_io WHERE backend_type = 'checkpointer' AND context = 'normal'"
        synced = self.number(fsyncs)
        self.watcher.query("CHECKPOINT")
        after = self.watcher.query("SELECT checkpoints_req, buffers_checkpoint, buffers_alloc FROM pg_stat_bgwriter")[0]
        self.assertEqual(int(after[0]) - int(before[0]), 1)
        self.assertGreater(int(after[1]) - int(before[1]), 20)
        self.assertGreater(self.number(fsyncs), synced)
        self.value("SELECT * FROM pg_buffercache_evict_all()")
        worker.query("SELECT count(v) FROM flushed")
        row = self.watcher.query("SELECT policy, buffers, allocations, victims_from_freelist + victims_by_sweep + victims_from_rings "
                                 "FROM pg_stat_buffer_replacement")[0]
        self.assertEqual(row[0], self.value("SHOW buffer_replacement"))
        self.assertEqual(int(row[1]), 1024)
        self.assertGreater(int(row[2]), int(after[2]))
        self.assertGreaterEqual(int(row[3]), int(row[2]) - int(after[2]))
        self.value("SELECT pg_stat_reset_shared('bgwriter')")
        self.assertEqual(self.number("SELECT checkpoints_req FROM pg_stat_bgwriter"), 0)

    def test_waits_for_latches_fall_into_the_histogram(self):
        """Sessions of several processes that change one page; how often they meet is theirs, but each sleep has its place."""
        self.watcher.query("CREATE TABLE hot (k int)")
        workers = [self.connect() for _ in range(4)]
        for _ in range(5):
            for worker in workers:
                worker.send(b"Q", b"INSERT INTO hot SELECT generate_series(1, 500)\0")
            for worker in workers:
                worker.read_until_ready()
        rows = self.watcher.query("SELECT tranche, acquired, waited, wait_time, (SELECT sum(n) FROM unnest(histogram) n), "
                                  "cardinality(histogram) FROM pg_stat_lwlocks")
        content = next(row for row in rows if row[0] == "BufferContent")
        self.assertGreaterEqual(int(content[1]), 10000)
        for tranche, _, waited, wait_time, slept, buckets in rows:
            self.assertEqual((waited, buckets), (slept, "23"), tranche)
            self.assertEqual(int(waited) > 0, float(wait_time) > 0, tranche)

    def test_transaction_status_pages_are_counted(self):
        worker = self.connect()
        worker.query("CREATE TABLE changed (k int)")
        of = "FROM pg_stat_slru WHERE name = 'Xact'"
        self.watcher.query("SELECT pg_stat_reset_slru('Xact')")
        for i in range(5):
            worker.query(f"INSERT INTO changed VALUES ({i})")
        self.value("SELECT count(*) FROM changed")
        self.assertGreater(self.number(f"SELECT blks_hit {of}"), 0)
        self.watcher.query("CHECKPOINT")
        self.assertGreater(self.number(f"SELECT blks_written {of}"), 0)
        self.assertGreater(self.number(f"SELECT flushes {of}"), 0)
        self.assertEqual(self.number("SELECT count(*) FROM pg_stat_slru"), 4)

    def test_the_segments_regions_fill_it(self):
        regions = self.watcher.query("SELECT name, off, size, allocated_size FROM pg_shmem_allocations ORDER BY off")
        self.assertIn("Buffer Blocks", [row[0] for row in regions])
        end = int(regions[0][1])
        for _, off, size, allocated in regions:
            self.assertEqual(int(off), end)
            self.assertLessEqual(int(size), int(allocated))
            end += int(allocated)

    def test_every_statistics_view_can_be_read(self):
        views = [row[0] for row in self.watcher.query("SELECT viewname FROM pg_views WHERE schemaname = 'pg_catalog' "
                                                      "AND viewname ~ '^pg_stat|^pg_wait|^pg_shmem|^pg_locks|^pg_buffercache'")]
        self.assertGreater(len(views), 40)
        for view in views:
            self.watcher.query(f"SELECT * FROM {view}")
        self.assertEqual(self.watcher.query("SELECT count(*) FROM pg_class c WHERE c.oid BETWEEN 9000 AND 9999 AND c.relkind = 'v'"),
                         [[str(len(OWN_VIEWS))]])


class ClassicStatistics(Statistics):
    processes = "0"


class Top(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Pinwheel({"backend_processes": "1", "fsync": "off"}, name="top", init_options=("-N",))
        cls.cluster.start()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.remove()

    def command(self, *arguments):
        return [str(find_pinwheel()), "top", "-D", str(self.cluster.data), "-U", "postgres", *arguments]

    def test_one_frame_as_text(self):
        busy = Connection(self.cluster.host, self.cluster.port, options={"application_name": "busy"})
        busy.send(b"Q", b"SELECT pg_sleep(30)\0")
        done = subprocess.run(self.command("--once"), capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("\x1b", done.stdout)
        self.assertRegex(done.stdout, r"tps [0-9.]+ ")
        self.assertRegex(done.stdout, r"Timeout:PgSleep 1")
        row = next(line for line in done.stdout.splitlines() if "SELECT pg_sleep(30)" in line)
        self.assertRegex(row, rf"^\s*{busy.backend_pid} postgres +postgres +active +Timeout:PgSleep")
        cancel(self.cluster.host, self.cluster.port, busy.backend_pid, busy.secret)
        busy.read_until_ready()
        busy.close()

    def test_a_key_leaves_and_the_terminal_is_restored(self):
        for keys in (b"q", b"\x03"):
            master, slave = pty.openpty()
            before = termios.tcgetattr(slave)
            process = subprocess.Popen(self.command(), stdin=slave, stdout=slave, stderr=slave, close_fds=True,
                                       preexec_fn=lambda: (os.setsid(), __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0)))
            output = b""
            while b"QUERY" not in output:
                self.assertTrue(select.select([master], [], [], 20)[0], output)
                output += os.read(master, 65536)
            self.assertFalse(termios.tcgetattr(slave)[3] & termios.ICANON)
            os.write(master, keys)
            self.assertEqual(process.wait(20), 0)
            self.assertEqual(termios.tcgetattr(slave), before)
            while select.select([master], [], [], 0.2)[0]:
                output += os.read(master, 65536)
            self.assertTrue(output.rstrip().endswith(b"\x1b[?1049l"), output[-40:])
            os.close(master)
            os.close(slave)

    def test_no_server_is_an_error(self):
        done = subprocess.run([str(find_pinwheel()), "top", "--once", "--host", "/nonexistent", "-U", "postgres"], capture_output=True,
                              text=True, timeout=30, env={k: v for k, v in os.environ.items() if k != "PGDATA"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such file or directory", done.stderr)


class Documentation(unittest.TestCase):
    def test_every_column_of_our_own_views_is_documented(self):
        sections = {}
        for part in re.split(r"^### ", (ROOT / "docs" / "statistics.md").read_text(), flags=re.M)[1:]:
            sections[part.split("\n", 1)[0].strip()] = set(re.findall(r"^\| `(\w+)` \|", part, flags=re.M))
        with Pinwheel({"backend_processes": "1"}, name="documented", init_options=("-N",)) as cluster:
            cluster.start()
            for view in OWN_VIEWS:
                columns = set(cluster.psql(f"SELECT attname FROM pg_attribute WHERE attrelid = '{view}'::regclass AND attnum > 0").split())
                self.assertTrue(columns, view)
                self.assertEqual(columns, sections.get(view, set()), view)


if __name__ == "__main__":
    unittest.main()
