#!/usr/bin/env python3
"""The command line, lock files, signals, limits and the protocol's rough edges, against a running server."""
import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import Pinwheel, find_pinwheel  # noqa: E402
from pgwire import Connection, ConnectionLost, ServerError, cancel, parse_fields  # noqa: E402


def run(*arguments):
    return subprocess.run([str(find_pinwheel()), *map(str, arguments)], capture_output=True, text=True, timeout=60)


class Server(unittest.TestCase):
    """Tests of one mode share one server."""

    processes = "1"

    @classmethod
    def setUpClass(cls):
        cls.cluster = Pinwheel({"backend_processes": cls.processes, "max_connections": "20", "fsync": "off"},
                               name="server", init_options=("-N",))
        cls.cluster.start()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.remove()

    def connect(self, **options):
        return Connection(self.cluster.host, self.cluster.port, **options)

    def test_encryption_requests_are_declined_in_any_order(self):
        for codes in ((80877103,), (80877104,), (80877103, 80877104), (80877104, 80877103)):
            with socket.create_connection(("127.0.0.1", self.cluster.port), 10) as sock:
                for code in codes:
                    sock.sendall(struct.pack("!II", 8, code))
                    self.assertEqual(sock.recv(1), b"N")

    def test_an_oversized_length_ends_the_session_and_nothing_else(self):
        other = self.connect()
        victim = self.connect()
        victim.send_raw(b"Q" + struct.pack("!I", 0x7FFFFFFF))
        kind, payload = victim.read_message()
        self.assertEqual((kind, parse_fields(payload)["C"]), (b"E", "08P01"))
        self.assertRaises(ConnectionLost, victim.read_message)
        self.assertEqual(other.query("SELECT 1"), [["1"]])

    def test_an_unknown_message_type_ends_the_session(self):
        victim = self.connect()
        victim.send(b"?")
        kind, payload = victim.read_message()
        self.assertEqual((kind, parse_fields(payload)["C"]), (b"E", "08P01"))

    def test_errors_in_a_pipeline_skip_to_sync(self):
        connection = self.connect()
        for text in ("SELECT 1/0", "SELECT 2"):
            connection.send(b"P", b"\0" + text.encode() + b"\0\0\0")
            connection.send(b"B", b"\0\0\0\0\0\0\0\0")
            connection.send(b"E", b"\0\0\0\0\0")
        connection.send(b"S")
        kinds = [kind for kind, _ in connection.read_until_ready()]
        self.assertEqual(kinds.count(b"E"), 1)
        self.assertNotIn(b"D", kinds)
        self.assertEqual(connection.query("SELECT 3"), [["3"]])

    def test_a_row_limit_suspends_the_portal(self):
        connection = self.connect()
        connection.send(b"P", b"\0SELECT generate_series(1, 5)\0\0\0")
        connection.send(b"B", b"\0\0\0\0\0\0\0\0")
        for _ in range(3):
            connection.send(b"E", b"\0" + struct.pack("!I", 2))
        connection.send(b"S")
        kinds = b"".join(kind for kind, _ in connection.read_until_ready())
        self.assertEqual(kinds, b"12DDsDDsDC")

    def test_a_cancel_request_stops_a_statement(self):
        connection = self.connect()
        connection.send(b"Q", b"SELECT pg_sleep(60)\0")
        time.sleep(0.2)
        cancel(self.cluster.host, self.cluster.port, connection.backend_pid, connection.secret)
        messages = connection.read_until_ready()
        self.assertEqual([parse_fields(p)["C"] for kind, p in messages if kind == b"E"], ["57014"])
        self.assertEqual(connection.query("SELECT 1"), [["1"]])

    def test_a_cancel_while_the_client_does_not_read_costs_no_processor_time(self):
        connection, other = self.connect(), self.connect()
        connection.send(b"Q", b"SELECT repeat('x', 1000) FROM generate_series(1, 50000)\0")
        waiting = f"SELECT wait_event FROM pg_stat_activity WHERE pid = {connection.backend_pid}"
        deadline = time.monotonic() + 10
        while other.query(waiting) != [["ClientWrite"]]:
            self.assertLess(time.monotonic(), deadline)
        cancel(self.cluster.host, self.cluster.port, connection.backend_pid, connection.secret)
        other.query("SELECT 1")

        def ticks():
            total = 0
            for pid in self.cluster.children():
                try:
                    facts = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                except FileNotFoundError:
                    continue  # the process that took the cancel request has left
                total += int(facts[11]) + int(facts[12])
            return total

        before = ticks()
        time.sleep(1)
        # A wait that spins would burn about a hundred.
        self.assertLess(ticks() - before, 30)
        codes = [parse_fields(p)["C"] for kind, p in connection.read_until_ready() if kind == b"E"]
        self.assertEqual(codes, ["57014"])
        self.assertEqual(connection.query("SELECT 1"), [["1"]])

    def test_a_cancel_request_with_a_wrong_secret_does_nothing(self):
        connection = self.connect()
        connection.query("BEGIN")
        cancel(self.cluster.host, self.cluster.port, connection.backend_pid, connection.secret ^ 1)
        self.assertEqual(connection.query("SELECT 1"), [["1"]])

    def test_statement_timeout(self):
        connection = self.connect()
        connection.query("SET statement_timeout = '100ms'")
        with self.assertRaises(ServerError) as caught:
            connection.query("SELECT pg_sleep(60)")
        self.assertEqual(caught.exception.sqlstate, "57014")

    def test_a_row_lock_waits_and_lock_timeout_ends_the_wait(self):
        first, second = self.connect(), self.connect()
        first.query("CREATE TABLE IF NOT EXISTS locked (a int primary key, b int)")
        first.query("INSERT INTO locked VALUES (1, 1) ON CONFLICT DO NOTHING")
        first.query("BEGIN; UPDATE locked SET b = b + 1 WHERE a = 1")
        second.query("SET lock_timeout = '100ms'")
        with self.assertRaises(ServerError) as caught:
            second.query("UPDATE locked SET b = b + 1 WHERE a = 1")
        self.assertEqual(caught.exception.sqlstate, "55P03")
        first.query("ROLLBACK")

    def test_a_cancel_during_analysis_ends_the_statement(self):
        first, second = self.connect(), self.connect(timeout=10.0)
        first.query("CREATE TABLE IF NOT EXISTS held (a int)")
        first.query("BEGIN; LOCK TABLE held IN ACCESS EXCLUSIVE MODE")
        second.send(b"Q", b"SELECT a FROM held WHERE a = 2\0")
        waiting = f"SELECT wait_event FROM pg_stat_activity WHERE pid = {second.backend_pid}"
        deadline = time.monotonic() + 10
        while first.query(waiting) != [["relation"]]:
            self.assertLess(time.monotonic(), deadline)
        cancel(self.cluster.host, self.cluster.port, second.backend_pid, second.secret)
        outcomes = [parse_fields(p)["C"] for kind, p in second.read_until_ready() if kind == b"E"]
        self.assertEqual(outcomes, ["57014"])
        first.query("ROLLBACK")

    def test_a_deadlock_has_one_victim(self):
        first, second = self.connect(), self.connect()
        first.query("CREATE TABLE IF NOT EXISTS dead (a int primary key, b int)")
        first.query("INSERT INTO dead VALUES (1, 0), (2, 0) ON CONFLICT DO NOTHING")
        for connection in (first, second):
            connection.query("BEGIN")
            connection.query("SET deadlock_timeout = '100ms'")
        first.query("UPDATE dead SET b = 1 WHERE a = 1")
        second.query("UPDATE dead SET b = 2 WHERE a = 2")
        first.send(b"Q", b"UPDATE dead SET b = 1 WHERE a = 2\0")
        time.sleep(0.05)
        second.send(b"Q", b"UPDATE dead SET b = 2 WHERE a = 1\0")
        outcomes = []
        for connection in (first, second):
            outcomes += [parse_fields(p)["C"] for kind, p in connection.read_until_ready() if kind == b"E"]
            connection.query("ROLLBACK")
        self.assertEqual(outcomes, ["40P01"])

    def test_read_committed_rechecks_the_newest_version(self):
        first, second = self.connect(), self.connect()
        first.query("CREATE TABLE IF NOT EXISTS counter (a int primary key, b int)")
        first.query("INSERT INTO counter VALUES (1, 0) ON CONFLICT (a) DO UPDATE SET b = 0")
        first.query("BEGIN; UPDATE counter SET b = b + 1 WHERE a = 1")
        second.send(b"Q", b"UPDATE counter SET b = b + 10 WHERE a = 1\0")
        time.sleep(0.05)
        first.query("COMMIT")
        second.read_until_ready()
        self.assertEqual(first.query("SELECT b FROM counter"), [["11"]])

    def test_repeatable_read_raises_40001(self):
        first, second = self.connect(), self.connect()
        first.query("CREATE TABLE IF NOT EXISTS rr (a int primary key, b int)")
        first.query("INSERT INTO rr VALUES (1, 0) ON CONFLICT DO NOTHING")
        second.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
        second.query("SELECT * FROM rr")
        first.query("UPDATE rr SET b = b + 1")
        with self.assertRaises(ServerError) as caught:
            second.query("UPDATE rr SET b = b + 1")
        self.assertEqual(caught.exception.sqlstate, "40001")

    def test_too_many_clients(self):
        held, watcher = [], self.connect()

        def connected():
            return int(watcher.query("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")[0][0])

        before = connected()
        try:
            with self.assertRaises(ServerError) as caught:
                for _ in range(40):
                    held.append(self.connect())
            self.assertEqual(caught.exception.sqlstate, "53300")
        finally:
            for connection in held:
                connection.close()
        # The next test finds the places free again.
        deadline = time.monotonic() + 10
        while connected() > before:
            self.assertLess(time.monotonic(), deadline)

    def test_wrong_database_and_role(self):
        for options, state in (({"database": "nowhere"}, "3D000"), ({"user": "nobody"}, "28000")):
            with self.assertRaises(ServerError) as caught:
                self.connect(**options)
            self.assertEqual(caught.exception.sqlstate, state)

    def test_deep_nesting_is_an_error(self):
        connection = self.connect()
        with self.assertRaises(ServerError) as caught:
            connection.query("SELECT " + "(" * 20000 + "1" + ")" * 20000)
        self.assertIn(caught.exception.sqlstate, ("54001", "42601"))
        self.assertEqual(connection.query("SELECT 1"), [["1"]])


class ClassicServer(Server):
    processes = "0"


class CommandLine(unittest.TestCase):
    def test_init_refuses_a_directory_with_content(self):
        with Pinwheel(name="init", init_options=("-N",)) as cluster:
            done = run("init", "-D", cluster.data)
            self.assertEqual(done.returncode, 1)
            self.assertIn("exists but is not empty", done.stderr)

    def test_bad_settings_are_told_before_the_server_starts(self):
        with Pinwheel(name="settings", init_options=("-N",)) as cluster:
            for assignment, words in (("nosuch=1", 'unrecognized configuration parameter "nosuch"'),
                                      ("shared_buffers=1", "is outside the valid range"),
                                      ("fsync=perhaps", "requires a Boolean value")):
                done = run("start", "-D", cluster.data, "-c", assignment)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)

    def test_one_server_per_directory(self):
        with Pinwheel({"fsync": "off"}, name="lock", init_options=("-N",)) as cluster:
            cluster.start()
            done = run("start", "-D", cluster.data, "-p", cluster.port + 1)
            self.assertEqual(done.returncode, 1)
            self.assertIn('lock file "postmaster.pid" already exists', done.stderr)
            self.assertEqual(run("status", "-D", cluster.data).returncode, 0)
            cluster.stop("smart")
            self.assertEqual(run("status", "-D", cluster.data).returncode, 3)

    def test_a_stale_lock_file_is_recognised(self):
        with Pinwheel({"fsync": "off"}, name="stale", init_options=("-N",)) as cluster:
            cluster.start()
            cluster.process.kill()
            cluster.process.wait()
            self.assertTrue((cluster.data / "postmaster.pid").exists())
            cluster.start()
            self.assertEqual(cluster.psql("SELECT 1"), "1")

    def test_shutdown_modes_lose_nothing(self):
        with Pinwheel(name="modes", init_options=("-N",)) as cluster:
            for number, mode in enumerate(("smart", "fast", "immediate")):
                cluster.start()
                cluster.psql(f"CREATE TABLE t{number} AS SELECT generate_series(1, 1000) AS a")
                cluster.stop(mode)
            cluster.start()
            for number in range(3):
                self.assertEqual(cluster.psql(f"SELECT count(*) FROM t{number}"), "1000")
            cluster.stop("fast")
            self.assertIsNone(cluster.check())

    def test_unlogged_tables_are_empty_after_a_crash(self):
        with Pinwheel(name="unlogged", init_options=("-N",)) as cluster:
            cluster.start()
            cluster.psql("CREATE UNLOGGED TABLE u AS SELECT generate_series(1, 10) AS a; CREATE TABLE l AS SELECT 1 AS a")
            os.kill(cluster.process.pid, signal.SIGKILL)
            cluster.process.wait()
            cluster.start()
            self.assertEqual(cluster.psql("SELECT count(*) FROM u"), "0")
            self.assertEqual(cluster.psql("SELECT count(*) FROM l"), "1")

    def test_a_launcher_without_descriptors_waits_and_recovers(self):
        with Pinwheel({"backend_processes": "1", "fsync": "off"}, name="descriptors", init_options=("-N",)) as cluster:
            cluster.start()
            kept = Connection(cluster.host, cluster.port)
            taken = {int(path.name) for path in pathlib.Path(f"/proc/{cluster.process.pid}/fd").iterdir()}
            lowest_free = min(set(range(max(taken) + 2)) - taken)
            _, hard = resource.prlimit(cluster.process.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(cluster.process.pid, resource.RLIMIT_NOFILE, (lowest_free, hard))
            waiting = socket.socket(socket.AF_UNIX)
            waiting.connect(f"{cluster.host}/.s.PGSQL.{cluster.port}")
            time.sleep(1)
            resource.prlimit(cluster.process.pid, resource.RLIMIT_NOFILE, (hard, hard))
            self.assertEqual(Connection(cluster.host, cluster.port).query("SELECT 1"), [["1"]])
            self.assertEqual(kept.query("SELECT 2"), [["2"]])
            complaints = cluster.log.read_text().count("could not accept new connection")
            self.assertGreater(complaints, 0)
            self.assertLess(complaints, 50)
            waiting.close()

    def test_reload_takes_over_settings(self):
        with Pinwheel({"fsync": "off"}, name="reload", init_options=("-N",)) as cluster:
            cluster.start()
            cluster.psql("ALTER SYSTEM SET work_mem = '7MB'")
            cluster.psql("SELECT pg_reload_conf()")
            deadline = time.monotonic() + 10
            while cluster.psql("SHOW work_mem") != "7MB":
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)

    def test_one_row_of_a_small_table_is_found_by_its_unique_index(self):
        with Pinwheel({"fsync": "off"}, name="smalltable", init_options=("-N",)) as cluster:
            cluster.start()
            cluster.psql("CREATE TABLE t (a int PRIMARY KEY, b int, c int, UNIQUE (b, c))")
            cluster.psql("INSERT INTO t SELECT g, g, g FROM generate_series(1, 10) g")
            cluster.psql("ANALYZE t")

            def plan(statement, before="RESET ALL"):
                return cluster.psql(f"{before}; EXPLAIN (COSTS OFF) {statement}").splitlines()

            self.assertEqual(plan("SELECT * FROM t WHERE a = 3"), ["Index Scan using t_pkey on t", "  Index Cond: (a = 3)"])
            self.assertIn("  ->  Index Scan using t_b_c_key on t", plan("UPDATE t SET a = 11 WHERE b = 1 AND c = 1"))
            # what may be several rows is left to the costs
            self.assertEqual(plan("SELECT * FROM t WHERE b = 1")[0], "Seq Scan on t")
            self.assertEqual(plan("SELECT * FROM t WHERE a IN (1, 2)")[0], "Seq Scan on t")
            self.assertEqual(plan("SELECT * FROM t WHERE a = 3", "SET enable_indexscan = off; SET enable_bitmapscan = off")[0],
                             "Seq Scan on t")

    def test_tools_read_a_stopped_cluster(self):
        with Pinwheel(name="tools", init_options=("-N",)) as cluster:
            cluster.start()
            cluster.psql("CREATE TABLE t AS SELECT generate_series(1, 100) AS a")
            cluster.stop("immediate")
            control = run("controldata", "-D", cluster.data)
            self.assertIn("in production", control.stdout)
            dump = run("waldump", "-D", cluster.data)
            self.assertIn("Transaction", dump.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
