#!/usr/bin/env python3
"""Records what stock PostgreSQL 15 prints for tests/sql/*.sql (or those named) into tests/sql/expected/."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import sql_runner  # noqa: E402
from cluster import Stock  # noqa: E402


def main():
    for script in sql_runner.scripts(sys.argv[1:]):
        with Stock(name="oracle") as stock:
            stock.start()
            (sql_runner.EXPECTED / f"{script.stem}.out").write_text(sql_runner.run(stock, script))
        print(f"recorded {script.stem}")


if __name__ == "__main__":
    main()
