"""Throw-away clusters for tests and benchmarks: Pinwheel's and stock PostgreSQL's, each in a temporary folder on a free port."""
import os
import pathlib
import pwd
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STOCK_BIN = pathlib.Path("/usr/lib/postgresql/15/bin")
# accounts, history, tellers, branches: one statement, so one snapshot
TPCB_SUMS = ("SELECT (SELECT coalesce(sum(abalance), 0) FROM pgbench_accounts), (SELECT coalesce(sum(delta), 0) FROM pgbench_history), "
             "(SELECT sum(tbalance) FROM pgbench_tellers), (SELECT sum(bbalance) FROM pgbench_branches)")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def sums_error(sums, simple_updates=False):
    """What is wrong with a row of TPCB_SUMS; None when all agree. Simple updates leave tellers and branches alone."""
    accounts, history, tellers, branches = map(int, sums)
    if accounts == history and tellers == branches and (simple_updates or history == branches):
        return None
    return f"TPC-B sums differ: accounts {accounts}, history {history}, tellers {tellers}, branches {branches}"


def pgbench_rate(text):
    """Transactions per second that pgbench reports in `text`, without the time to connect; None when it does not."""
    match = re.search(r"tps = ([\d.]+) \(without", text)
    return float(match.group(1)) if match else None


def find_pinwheel():
    """The binary to test: $PINWHEEL, else the newest build."""
    if os.environ.get("PINWHEEL"):
        return pathlib.Path(os.environ["PINWHEEL"])
    found = sorted((ROOT / "build").glob("*/server/pinwheel"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise SystemExit("no pinwheel binary: build first, or set PINWHEEL")
    return found[-1]


class Cluster:
    """What both kinds share: a folder, a port, clients against it."""

    def __init__(self, settings=None, name="cluster"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"pinwheel-{name}-", dir=os.environ.get("PINWHEEL_TMP", "/tmp")))
        self.data = self.folder / "data"
        self.log = self.folder / "log"
        self.port = free_port()
        self.settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(self.folder)}
        self.settings.update(settings or {})
        self.wrapper = []  # a command before the server's own: valgrind, strace

    @property
    def host(self):
        return str(self.folder)

    def environment(self):
        return dict(os.environ, PGHOST=self.host, PGPORT=str(self.port), PGUSER="postgres", PGDATABASE="postgres")

    def psql(self, sql, *arguments, check=True):
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", *arguments, "-c", sql], env=self.environment(),
                              capture_output=True, text=True)
        if check and done.returncode != 0:
            raise RuntimeError(f"psql: {done.stderr.strip()}")
        return done.stdout.strip()

    def pgbench(self, *arguments, check=True):
        done = subprocess.run([str(STOCK_BIN / "pgbench"), *arguments], env=self.environment(), capture_output=True, text=True)
        if check and done.returncode != 0:
            raise RuntimeError(f"pgbench {' '.join(arguments)}: {done.stderr.strip()[-2000:]}")
        return done

    def tpcb_sums_error(self, simple_updates=False):
        return sums_error(self.psql(TPCB_SUMS).split("|"), simple_updates)

    def log_tail(self, lines=15):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:]) if self.log.exists() else ""

    def remove(self):
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class Pinwheel(Cluster):
    def __init__(self, settings=None, name="pinwheel", init_options=()):
        super().__init__(settings, name)
        self.binary = find_pinwheel()
        self.process = None
        self.launcher = 0  # the server's first process; another than `process` under strace
        subprocess.run([self.binary, "init", "-D", self.data, "-U", "postgres", "-q", *init_options], check=True)

    def start(self, timeout=60.0, options=()):
        command = [*self.wrapper, str(self.binary), "start", "-D", str(self.data), "-p", str(self.port), *options]
        for name, value in self.settings.items():
            command += ["-c", f"{name}={value}"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"server ended while starting:\n{self.log_tail()}")
            try:
                lines = (self.data / "postmaster.pid").read_text().splitlines()
                if (self.wrapper or int(lines[0]) == self.process.pid) and lines[7].startswith("ready"):
                    self.launcher = int(lines[0])
                    return self
            except (OSError, IndexError, ValueError):
                pass
            time.sleep(0.005)
        raise RuntimeError(f"server does not start:\n{self.log_tail()}")

    def stop(self, mode="fast", timeout=60.0):
        if self.process is None or self.process.poll() is not None:
            return
        os.kill(self.launcher, {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode])
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            if mode != "immediate":
                raise RuntimeError(f"server does not stop:\n{self.log_tail()}") from None

    def children(self):
        """Process ids of the launcher's children."""
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(path) as file:
            return [int(word) for word in file.read().split()]

    def check(self):
        """Runs `pinwheel check` on the stopped cluster; its output when it finds damage."""
        done = subprocess.run([self.binary, "check", "-D", self.data], capture_output=True, text=True)
        return None if done.returncode == 0 else done.stdout + done.stderr


class Stock(Cluster):
    """Stock PostgreSQL, version 15 unless another one's programs are named; as root it runs as user postgres, since it refuses root."""

    def __init__(self, settings=None, name="stock", bin_folder=STOCK_BIN):
        super().__init__(settings, name)
        self.bin_folder = pathlib.Path(bin_folder)
        self.running = False
        self.prefix = []
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self.prefix = ["runuser", "-u", "postgres", "--"]
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8", "-k", "-N")

    def _run(self, program, *arguments):
        done = subprocess.run([*self.prefix, str(self.bin_folder / program), *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.folder)
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout[-1000:]}{done.stderr[-1000:]}\n{self.log_tail()}")

    def start(self, timeout=60.0):
        options = f"-p {self.port}"
        for name, value in self.settings.items():
            options += f" -c {name}='{value}'"
        if self.wrapper:
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen([*self.prefix, *self.wrapper, str(self.bin_folder / "postgres"), "-D", str(self.data),
                                                 *shlex.split(options)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)
            deadline = time.monotonic() + timeout
            while subprocess.run([str(self.bin_folder / "pg_isready"), "-q"], env=self.environment()).returncode != 0:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"server does not start:\n{self.log_tail()}")
                time.sleep(0.1)
        else:
            self._run("pg_ctl", "start", "-w", "-D", self.data, "-l", self.log, "-o", options)
        self.running = True
        return self

    def stop(self, mode="fast", timeout=60.0):
        if self.running:
            self._run("pg_ctl", "stop", "-w", "-t", str(int(timeout)), "-D", self.data, "-m", mode)
            self.running = False
            if self.wrapper:
                self.process.wait(timeout)
