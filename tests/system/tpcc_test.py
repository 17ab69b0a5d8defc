#!/usr/bin/env python3
"""pw-tpcc loads, runs and checks Pinwheel in both modes, and its checks can fail; pw-canned serves pgbench."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import STOCK_BIN, Pinwheel, find_pinwheel, free_port  # noqa: E402
from pgwire import Connection, parse_fields  # noqa: E402

BENCH = pathlib.Path(os.environ.get("PINWHEEL_BENCH", find_pinwheel().parent.parent / "bench"))
CONDITIONS = 15

# Together they violate every condition.
CORRUPTIONS = """
update district set d_ytd = d_ytd + 0.01 where d_w_id = 1 and d_id = 1;
update warehouse set w_ytd = w_ytd + 0.01 where w_id = 2;
update district set d_next_o_id = d_next_o_id + 1 where d_w_id = 1 and d_id = 2;
delete from new_order where no_w_id = 1 and no_d_id = 3
  and no_o_id = (select max(no_o_id) - 1 from new_order where no_w_id = 1 and no_d_id = 3);
delete from order_line where ol_w_id = 1 and ol_d_id = 4 and ol_o_id = 1 and ol_number = 1;
update orders set o_carrier_id = null where o_w_id = 1 and o_d_id = 5 and o_id = 1;
update customer set c_balance = c_balance + 0.01 where c_w_id = 1 and c_d_id = 6 and c_id = 1;
update customer set c_payment_cnt = c_payment_cnt + 1 where c_w_id = 1 and c_d_id = 7 and c_id = 1;
update stock set s_order_cnt = s_order_cnt + 1 where s_w_id = 1 and s_i_id = 1;
update stock set s_quantity = 101 where s_w_id = 1 and s_i_id = 2
"""


class OnPinwheel:
    """What must hold in either mode; the tests share one loaded server and run in the order of their names."""

    processes = "1"

    @classmethod
    def setUpClass(cls):
        cls.cluster = Pinwheel({"backend_processes": cls.processes, "fsync": "off"}, name="tpcc", init_options=("-N",))
        cls.cluster.start()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.remove()

    def tpcc(self, *arguments, status=0):
        done = subprocess.run([str(BENCH / "tpcc" / "pw-tpcc"), *arguments], env=self.cluster.environment(),
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr + self.cluster.log_tail())
        return done.stdout if status == 0 else done.stdout + done.stderr

    def load(self, *more):
        return self.tpcc("load", "--warehouses", "2", "--items", "500", "--customers", "60", *more)

    def test_1_without_tables_it_says_what_to_do(self):
        self.assertIn('run "pw-tpcc load" first', self.tpcc("run", "--seconds", "1", status=1))
        self.assertIn('run "pw-tpcc load" first', self.tpcc("check", status=1))

    def test_2_loads_repeat_byte_by_byte(self):
        self.load()
        queries = [f"select * from {table} order by {key}" for table, key in
                   (("customer", "c_w_id, c_d_id, c_id"), ("order_line", "ol_w_id, ol_d_id, ol_o_id, ol_number"))]
        before = [self.cluster.psql(query) for query in queries]
        self.assertEqual(len(before[0].splitlines()), 2 * 10 * 60)
        self.tpcc("drop")
        self.load("--fast")
        self.assertEqual([self.cluster.psql(query) for query in queries], before)
        self.assertIn('"pw-tpcc drop"', self.tpcc("load", "--warehouses", "1", status=1))
        self.assertIn(f"{CONDITIONS} conditions hold, 0 violated", self.tpcc("check"))

    def test_3_a_run_keeps_the_conditions(self):
        for isolation, seconds in (("READ COMMITTED", 2), ("REPEATABLE READ", 1)):
            result = json.loads(self.tpcc("run", "--warehouses", "2", "--clients", "8", "--threads", "2",
                                          "--seconds", str(seconds), "--isolation", isolation, "--json", "-"))
            types = result["types"]
            self.assertEqual(sum(types[name]["failed"] for name in types), 0)
            self.assertGreater(types["new_order"]["committed"], 0)
            self.assertLessEqual(types["new_order"]["p50_ms"], types["new_order"]["max_ms"])
            self.assertEqual(len(result["series"]), seconds)
            for name in types:
                self.assertEqual(sum(second["types"][name]["committed"] for second in result["series"]),
                                 types[name]["committed"])
            self.tpcc("check")

    def test_4_wrong_options_are_refused_before_anything_runs(self):
        self.assertIn("2 warehouses are loaded, not 3", self.tpcc("run", "--warehouses", "3", status=1))
        self.assertIn("--bogus", self.tpcc("run", "--bogus", status=1))
        self.assertIn("cannot write", self.tpcc("run", "--json", "/nonexistent/run.json", status=1))
        self.assertIn("--dsn", self.tpcc("check", "--help"))

    def test_5_an_interrupt_ends_a_run_with_think_times_early(self):
        with subprocess.Popen([str(BENCH / "tpcc" / "pw-tpcc"), "run", "--clients", "20", "--seconds", "600", "--think",
                               "--think-scale", "0.01", "--progress", "1", "--json", "-"],
                              env=self.cluster.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            self.assertIn("notpm", run.stderr.readline())
            run.send_signal(signal.SIGINT)
            result = json.loads(run.communicate(timeout=60)[0])
            self.assertEqual(run.returncode, 0)
        self.assertLess(result["measured_s"], 300)
        self.tpcc("check")

    def test_6_one_changed_row_fails_the_conditions_that_speak_of_it(self):
        self.cluster.psql("update warehouse set w_ytd = w_ytd + 0.01 where w_id = 2")
        output = self.tpcc("check", status=1)
        violated = [line.split()[1] for line in output.splitlines() if line.startswith("VIOLATED")]
        self.assertEqual(violated, ["1:", "8:"])
        self.assertIn("first: w_id=2", output)
        self.cluster.psql("update warehouse set w_ytd = w_ytd - 0.01 where w_id = 2")
        self.tpcc("check")

    def test_7_every_condition_can_fail(self):
        self.cluster.psql(CORRUPTIONS)
        self.assertIn(f"0 conditions hold, {CONDITIONS} violated", self.tpcc("check", status=1))

    def test_8_a_server_that_dies_is_reported(self):
        with subprocess.Popen([str(BENCH / "tpcc" / "pw-tpcc"), "run", "--clients", "4", "--seconds", "600", "--progress", "1"],
                              env=self.cluster.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            self.assertIn("notpm", run.stderr.readline())
            self.cluster.stop("immediate")
            self.assertIn("connections lost: 4", run.communicate(timeout=60)[0])
            self.assertEqual(run.returncode, 1)


class Pooled(OnPinwheel, unittest.TestCase):
    pass


class Classic(OnPinwheel, unittest.TestCase):
    processes = "0"


class Canned(unittest.TestCase):
    def serve(self, processes):
        folder = tempfile.TemporaryDirectory(prefix="pinwheel-canned-")
        self.addCleanup(folder.cleanup)
        self.folder, self.port = folder.name, free_port()
        server = subprocess.Popen([str(BENCH / "canned" / "pw-canned"), "-k", self.folder, "-p", str(self.port),
                                   "--processes", processes], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, server)
        self.assertEqual(server.stdout.readline(), "ready\n")

    def stop(self, server):
        server.send_signal(signal.SIGTERM)
        with server:
            self.assertEqual(server.wait(30), 0)

    def pgbench(self, *arguments, host=None):
        environment = dict(os.environ, PGHOST=host or self.folder, PGPORT=str(self.port), PGUSER="postgres", PGDATABASE="postgres")
        done = subprocess.run([str(STOCK_BIN / "pgbench"), *arguments], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotRegex(done.stderr, "(?i)error|fatal|warning|out of range")
        self.assertIn("number of failed transactions: 0 ", done.stdout)

    def test_pgbench_runs_in_all_protocols(self):
        for processes in ("0", "2"):
            self.serve(processes)
            for protocol in ("simple", "extended", "prepared"):
                for script in ("select-only", "simple-update", "tpcb-like"):
                    self.pgbench("-M", protocol, "-b", script, "-n", "-c", "4", "-t", "50")
            self.pgbench("-S", "-C", "-c", "8", "-t", "20", host="127.0.0.1")  # with its VACUUM, over TCP

    def test_errors_and_transactions_are_seen_as_a_client_expects(self):
        self.serve("1")
        client = Connection(self.folder, self.port)
        client.send(b"Q", b"begin; select ';' as x; copy t to stdout; select 2\0")
        self.assertEqual([kind for kind, _ in client.read_until_ready()], [b"C", b"T", b"D", b"C", b"E"])
        self.assertEqual(client.status, b"E")
        client.send(b"Q", b"commit\0")
        self.assertEqual(client.read_until_ready(), [(b"C", b"ROLLBACK\0")])
        self.assertEqual(client.status, b"I")
        client.send(b"B", b"\0nobody\0" + struct.pack("!hhh", 0, 0, 0))
        client.send(b"E", b"\0" + struct.pack("!i", 0))
        client.send(b"S")
        ((kind, payload),) = client.read_until_ready()
        self.assertEqual((kind, parse_fields(payload)["C"]), (b"E", "26000"))
        client.send(b"P", b"s\0select $2, $1\0" + struct.pack("!h", 0))
        client.send(b"D", b"Ss\0")
        client.send(b"B", b"\0s\0" + struct.pack("!hhh", 0, 0, 1) + struct.pack("!h", 1))
        client.send(b"E", b"\0" + struct.pack("!i", 0))
        client.send(b"S")
        messages = client.read_until_ready()
        self.assertEqual([kind for kind, _ in messages], [b"1", b"t", b"T", b"2", b"D", b"C"])
        self.assertEqual(struct.unpack("!h", messages[1][1][:2]), (2,))
        self.assertEqual(messages[4][1], struct.pack("!hii", 1, 4, 1))
        client.close()


if __name__ == "__main__":
    unittest.main()
