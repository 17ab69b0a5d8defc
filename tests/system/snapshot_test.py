#!/usr/bin/env python3
"""Isolation under each snapshot_method: every snapshot is one point in the order of commits. Arguments: methods; none = all.

Random transactions append to lists and move money; what each of them read is checked afterwards. csn runs with the smallest
ring, so that it goes round while an old snapshot lives. Option --seed N repeats a run's choices.
"""
import argparse
import pathlib
import random
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import Pinwheel  # noqa: E402
from pgwire import Connection, ServerError  # noqa: E402

ACCOUNTS = 20
LISTS = 4
RETRY = ("40001", "40P01")


def in_threads(bodies):
    """Runs each body in a thread; raises the first failure."""
    failures = []

    def guarded(body):
        try:
            body()
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
        assert not thread.is_alive(), "a client hangs"
    if failures:
        raise failures[0]


def attempt(connection, statements, isolation):
    """One transaction; its rows by statement, or None when it had to give up."""
    connection.query(f"BEGIN ISOLATION LEVEL {isolation}")
    try:
        rows = [connection.query(text) for text in statements]
        connection.query("COMMIT")
        return rows
    except ServerError as error:
        connection.query("ROLLBACK")
        if error.sqlstate not in RETRY:
            raise
        return None


def connect(cluster):
    return Connection(cluster.host, cluster.port, timeout=120)


def transfers_keep_the_sum(cluster, seed):
    setup = connect(cluster)
    setup.query("CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)")
    setup.query(f"INSERT INTO account SELECT i, 100 FROM generate_series(1, {ACCOUNTS}) i")
    done = threading.Event()
    running = [6]
    lock = threading.Lock()

    def writer(number):
        chooser, connection = random.Random(f"{seed}-transfer-{number}"), connect(cluster)
        try:
            for _ in range(150):
                low, high = sorted(chooser.sample(range(1, ACCOUNTS + 1), 2))
                amount = chooser.randint(1, 50)
                first = f"UPDATE account SET balance = balance - {amount} WHERE id = {low}"
                second = f"UPDATE account SET balance = balance + {amount} WHERE id = {high}"
                kind = chooser.randrange(4)
                if kind == 0:
                    # Half in a subtransaction, after one that is taken back.
                    statements = [first, "SAVEPOINT a", f"UPDATE account SET balance = 0 WHERE id = {high}",
                                  "ROLLBACK TO a", "SAVEPOINT b", second, "RELEASE b"]
                elif kind == 1:
                    statements = [f"SELECT balance FROM account WHERE id IN ({low}, {high}) ORDER BY id FOR UPDATE", first, second]
                else:
                    statements = [first, second]
                attempt(connection, statements, chooser.choice(("READ COMMITTED", "REPEATABLE READ")))
        finally:
            with lock:
                running[0] -= 1
                if running[0] == 0:
                    done.set()

    def reader(number):
        chooser, connection = random.Random(f"{seed}-sum-{number}"), connect(cluster)
        while not done.is_set():
            look = "SELECT sum(balance), count(*) FROM account"
            isolation = chooser.choice(("READ COMMITTED", "REPEATABLE READ"))
            for rows in attempt(connection, [look] * 3, isolation):
                total, count = (int(word) for word in rows[0])
                assert (total, count) == (100 * ACCOUNTS, ACCOUNTS), f"a snapshot saw {count} accounts with {total} in sum"

    in_threads([lambda n=n: writer(n) for n in range(6)] + [lambda n=n: reader(n) for n in range(3)])


def lists_grow_in_one_order(cluster, seed):
    """List-append: all reads of a list are prefixes of its last state, and all snapshots lie in one order."""
    setup = connect(cluster)
    setup.query("CREATE TABLE list (k int PRIMARY KEY, v text NOT NULL)")
    setup.query(f"INSERT INTO list SELECT i, '' FROM generate_series(0, {LISTS - 1}) i")
    look = "SELECT v FROM list ORDER BY k"
    snapshots, appended = [], []

    def client(number):
        chooser, connection = random.Random(f"{seed}-list-{number}"), connect(cluster)
        for step in range(120):
            keys = sorted(chooser.sample(range(LISTS), chooser.randint(1, 3)))
            mark = f"{number}.{step}"
            isolation = chooser.choice(("READ COMMITTED", "REPEATABLE READ"))
            writes = [f"UPDATE list SET v = v || '{mark},' WHERE k = {key}" for key in keys]
            rows = attempt(connection, [look, *writes, look], isolation)
            if rows is None:
                continue
            appended.append((mark, keys))
            # Before the own appends, a statement's snapshot; after them, others may have come in between.
            snapshots.append([row[0] for row in rows[0]])

    in_threads([lambda n=n: client(n) for n in range(6)])
    final = [row[0] for row in setup.query(look)]
    for state in snapshots:
        for key in range(LISTS):
            assert final[key].startswith(state[key]), f"list {key} was read as {state[key]!r}, but became {final[key]!r}"
    lengths = sorted(tuple(len(text) for text in state) for state in snapshots)
    for earlier, later in zip(lengths, lengths[1:]):
        assert all(a <= b for a, b in zip(earlier, later)), f"two snapshots are in no order: {earlier} and {later}"
    for mark, keys in appended:
        for key in range(LISTS):
            assert final[key].split(",").count(mark) == (1 if key in keys else 0), f"{mark} in list {key}: {final[key]!r}"


def an_old_snapshot_outlives_the_ring(cluster, seed):
    chooser = random.Random(f"{seed}-old")
    setup, old = connect(cluster), connect(cluster)
    setup.query("CREATE TABLE counter (id int PRIMARY KEY, n int NOT NULL)")
    setup.query("INSERT INTO counter SELECT i, 0 FROM generate_series(1, 50) i")
    look = "SELECT sum(n), count(*) FROM counter"
    old.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert tuple(old.query(look)[0]) == ("0", "50")
    for _ in range(10):
        # Each subtransaction has an xid of its own.
        setup.query("BEGIN")
        for _ in range(100):
            setup.query(f"SAVEPOINT s; UPDATE counter SET n = n + 1 WHERE id = {chooser.randint(1, 50)}; RELEASE s")
        setup.query("COMMIT")
        setup.query("; ".join(["BEGIN; INSERT INTO counter VALUES (99, 1); ROLLBACK"] * 1000))
        assert tuple(old.query(look)[0]) == ("0", "50")
    setup.query("VACUUM counter")
    assert tuple(old.query(look)[0]) == ("0", "50")
    old.query("COMMIT")
    assert tuple(old.query(look)[0]) == ("1000", "50")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("methods", nargs="*", default=["scan", "cached", "csn"])
    options = parser.parse_args()
    failed = 0
    for method in options.methods or ["scan", "cached", "csn"]:
        for processes in ("2", "0"):
            settings = {"snapshot_method": method, "csn_slots": "4096", "backend_processes": processes, "fsync": "off"}
            with Pinwheel(settings, name="snapshot", init_options=("-N",)) as cluster:
                cluster.start()
                for test in (transfers_keep_the_sum, lists_grow_in_one_order, an_old_snapshot_outlives_the_ring):
                    what = f"{test.__name__} ({method}, backend_processes = {processes}, --seed {options.seed})"
                    try:
                        test(cluster, options.seed)
                        print(f"ok {what}", flush=True)
                    except Exception as error:  # noqa: BLE001
                        failed += 1
                        print(f"FAILED {what}: {error!r}\n{cluster.log_tail()}", flush=True)
                cluster.stop("fast")
                damage = cluster.check()
                if damage:
                    failed += 1
                    print(f"FAILED pinwheel check: {damage}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
