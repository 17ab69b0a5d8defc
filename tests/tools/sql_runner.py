"""Runs tests/sql/*.sql through psql and compares with what stock PostgreSQL 15 printed."""
import pathlib
import subprocess

from cluster import ROOT

SQL = ROOT / "tests" / "sql"
EXPECTED = SQL / "expected"


def scripts(names=()):
    found = sorted(SQL.glob("*.sql"))
    return [path for path in found if not names or path.stem in names]


def run(cluster, script, database="postgres"):
    """What psql prints for a script, errors with their SQLSTATE, detail, hint and position included."""
    done = subprocess.run(
        ["psql", "-X", "-a", "-q", "-v", "VERBOSITY=verbose", "-v", "SHOW_CONTEXT=never", "-d", database, "-f", str(script)],
        env=dict(cluster.environment(), PGTZ="UTC", PGDATESTYLE="ISO, MDY"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=300)
    lines = []
    for line in done.stdout.splitlines():
        # psql names the script's path; verbose errors name a source line of stock's.
        line = line.replace(f"psql:{script}:", f"psql:{script.name}:")
        if not line.startswith("LOCATION:"):
            lines.append(line)
    return "\n".join(lines) + "\n"
