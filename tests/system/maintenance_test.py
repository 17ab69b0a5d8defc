#!/usr/bin/env python3
"""Tables are vacuumed and analyzed by themselves; users who wait for that come first; loads past the log survive SIGKILL."""
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import Pinwheel  # noqa: E402

PATIENCE_S = 60


def value(cluster, sql):
    return cluster.psql(sql).strip()


def wait_for(what, condition):
    """Polls until the condition holds: what is waited for happens in another process, by a clock of its own."""
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        if condition():
            return
        time.sleep(0.2)
    raise AssertionError(f"{what} did not happen within {PATIENCE_S} s")


def autovacuum_does_its_work():
    with Pinwheel({"autovacuum_naptime": "1", "fsync": "off"}, name="autovacuum") as cluster:
        cluster.start()
        cluster.psql("create table t (k int primary key, v int)")
        cluster.psql("create table left_alone (k int) with (autovacuum_enabled = off)")
        cluster.psql("insert into t select i, i from generate_series(1, 5000) i")
        cluster.psql("insert into left_alone select i from generate_series(1, 5000) i")
        wait_for("an automatic analyze", lambda: value(
            cluster, "select autoanalyze_count > 0 from pg_stat_user_tables where relname = 't'") == "t")
        assert value(cluster, "select n_distinct from pg_stats where tablename = 't' and attname = 'k'") == "-1"
        cluster.psql("delete from t where k > 1000")
        cluster.psql("select pg_stat_force_next_flush()")
        wait_for("an automatic vacuum", lambda: value(
            cluster, "select n_dead_tup = 0 and autovacuum_count > 0 from pg_stat_user_tables where relname = 't'") == "t")
        assert value(cluster, "select count(*) from t") == "1000"
        assert value(cluster, "select autovacuum_count + autoanalyze_count from pg_stat_user_tables "
                              "where relname = 'left_alone'") == "0"


def users_come_first():
    settings = {"autovacuum_naptime": "1", "autovacuum_vacuum_cost_delay": "100", "autovacuum_vacuum_cost_limit": "1",
                "deadlock_timeout": "200ms", "fsync": "off"}
    with Pinwheel(settings, name="giveway") as cluster:
        cluster.start()
        cluster.psql("create table t (k int, v text)")
        cluster.psql("insert into t select i, repeat('x', 500) from generate_series(1, 20000) i")
        holds = ("select count(*) from pg_locks where relation = 't'::regclass and mode = 'ShareUpdateExclusiveLock' and granted")
        wait_for("autovacuum at work", lambda: value(cluster, holds) == "1")
        cluster.psql("begin; lock table t; commit")
        assert "canceling autovacuum task" in cluster.log_tail(50), cluster.log_tail(50)


def loads_survive():
    with Pinwheel({"autovacuum": "off"}, name="loads") as cluster:
        cluster.start()
        rows = cluster.folder / "rows.txt"
        rows.write_text("".join(f"{i}\trow {i}\n" for i in range(50000)))
        cluster.psql("create table kept (k int, v text)")
        script = f"""begin;
create table loaded (k int, v text);
copy loaded from '{rows}' with (freeze);
savepoint s;
copy loaded from '{rows}';
rollback to s;
insert into loaded values (-1, 'logged');
update loaded set v = 'changed' where k = 7;
commit;
begin;
truncate kept;
copy kept from '{rows}';
commit;
begin;
create table lost (k int, v text);
copy lost from '{rows}';
"""
        open_session = subprocess.Popen(["psql", "-X", "-q", "-d", "postgres"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                        env=cluster.environment())
        open_session.stdin.write(script + "select pg_advisory_lock(42);\n")
        open_session.stdin.flush()
        wait_for("the load", lambda: value(
            cluster, "select count(*) from pg_locks where locktype = 'advisory' and granted") == "1")
        os.kill(cluster.children()[0], signal.SIGKILL)
        open_session.stdin.close()
        open_session.wait()

        def answers():
            done = subprocess.run(["psql", "-X", "-At", "-d", "postgres", "-c", "select count(*), sum(k) from loaded"],
                                  env=cluster.environment(), capture_output=True, text=True)
            return done.stdout.strip() == "50001|1249974999"

        wait_for("service after the crash", answers)
        assert value(cluster, "select v from loaded where k = 7") == "changed"
        assert value(cluster, "select count(*) from kept") == "50000"
        assert value(cluster, "select count(*) from pg_class where relname = 'lost'") == "0"
        cluster.stop()
        assert cluster.check() is None, cluster.check()


def main():
    for check in (autovacuum_does_its_work, users_come_first, loads_survive):
        check()
        print(f"ok {check.__name__}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
