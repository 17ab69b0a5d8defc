#!/usr/bin/env python3
"""SQL scripts print what stock PostgreSQL 15 printed, in the classic and in the pooled mode. Arguments: script names."""
import difflib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import sql_runner  # noqa: E402
from cluster import Pinwheel  # noqa: E402


def main():
    failed = 0
    chosen = sql_runner.scripts(sys.argv[1:])
    for mode, processes in (("pooled", "1"), ("classic", "0")):
        for script in chosen:
            expected = (sql_runner.EXPECTED / f"{script.stem}.out").read_text()
            with Pinwheel({"backend_processes": processes, "fsync": "off"}, name="sql", init_options=("-N",)) as cluster:
                cluster.start()
                printed = sql_runner.run(cluster, script)
                if printed == expected:
                    print(f"ok {script.stem} ({mode})", flush=True)
                    continue
                failed += 1
                print(f"FAILED {script.stem} ({mode})")
                difference = difflib.unified_diff(expected.splitlines(), printed.splitlines(), "stock", "pinwheel", lineterm="", n=2)
                print("\n".join(list(difference)[:200]))
                print(cluster.log_tail(10), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
