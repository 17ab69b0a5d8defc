"""What is read around a run: processor time and page faults of a process tree, every counter view, settings, the machine."""
import csv
import fnmatch
import hashlib
import io
import os
import pathlib
import platform
import re
import subprocess
import threading

from lab.experiment import ROOT

TICKS = os.sysconf("SC_CLK_TCK")
SAMPLE_S = 0.5

# View -> its key columns. Every other column of numbers is a counter; views that a server lacks are left out.
COUNTER_VIEWS = {
    "pg_stat_lwlocks": ("tranche", "name"),
    "pg_stat_bgwriter": (),
    "pg_stat_checkpointer": (),
    "pg_stat_buffer_replacement": (),
    "pg_stat_wal": (),
    "pg_stat_slru": ("name",),
    "pg_stat_snapshots": (),
    "pg_stat_io": ("backend_type", "object", "context"),
    "pg_stat_database": ("datname",),
    "pg_stat_user_tables": ("relname",),
    "pg_stat_user_indexes": ("indexrelname",),
}
SEPARATOR = "=== "
NO_COUNTERS = {"datid", "relid", "indexrelid", "numbackends", "buffers", "free_buffers", "refill_ratio", "op_bytes"}


def process_tree(pid):
    """The process and its descendants that are alive."""
    pids = [pid]
    try:
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            pids += process_tree(int(child))
    except OSError:
        pass
    return pids


def _stat_fields(pid):
    text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    return text[text.rindex(")") + 2:].split()


def tree_usage(pid):
    """User and system seconds, minor and major faults of a tree, its reaped children included."""
    total = {"user_s": 0.0, "system_s": 0.0, "minor_faults": 0, "major_faults": 0}
    for member in process_tree(pid):
        try:
            fields = _stat_fields(member)
        except OSError:
            continue
        total["minor_faults"] += int(fields[7]) + int(fields[8])
        total["major_faults"] += int(fields[9]) + int(fields[10])
        total["user_s"] += (int(fields[11]) + int(fields[13])) / TICKS
        total["system_s"] += (int(fields[12]) + int(fields[14])) / TICKS
    return total


def machine_busy():
    """(busy, all) processor seconds of the whole machine since its start; time stolen by other guests counts as busy."""
    words = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(words) - words[3] - words[4]) / TICKS, sum(words) / TICKS


class SwitchSampler:
    """Context switches of a tree, summed over its processes while they live: the kernel keeps none of exited ones, so a
    thread reads them twice a second; what a process switches in its last half second is missed."""

    def __init__(self, pid):
        self.pid = pid
        self.first, self.last = {}, {}
        self.done = threading.Event()
        self._sample(self.first)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _sample(self, into):
        for member in process_tree(self.pid):
            try:
                text = pathlib.Path(f"/proc/{member}/status").read_text()
            except OSError:
                continue
            into[member] = tuple(map(int, re.findall(r"ctxt_switches:\s+(\d+)", text)))

    def _run(self):
        while not self.done.wait(SAMPLE_S):
            self._sample(self.last)

    def stop(self):
        """Voluntary and involuntary switches since the start."""
        self.done.set()
        self.thread.join()
        self._sample(self.last)
        return {name: sum(counts[index] - self.first.get(pid, (0, 0))[index] for pid, counts in self.last.items())
                for index, name in enumerate(("voluntary_switches", "involuntary_switches"))}


def _csv(cluster, sql):
    return list(csv.reader(io.StringIO(cluster.psql(sql, "--csv"))))


def _number(text):
    """A number, a list of numbers (a histogram), or None."""
    if text[:1] == "{":
        values = [_number(word) for word in text.strip("{}").split(",")]
        return None if None in values else values
    try:
        return float(text)
    except ValueError:
        return None


def existing_views(cluster):
    names = ",".join(f"'{name}'" for name in COUNTER_VIEWS)
    return {row[0] for row in _csv(cluster, f"SELECT relname FROM pg_class WHERE relkind = 'v' AND relname IN ({names})")}


def counters(cluster):
    """Every counter as "view.key.column" -> number or list of numbers. One psql reads all views."""
    views = sorted(existing_views(cluster))
    if not views:
        return {}
    words = ["--csv", "-P", "tuples_only=off"]
    for view in views:
        words += ["-c", f"\\echo {SEPARATOR}{view}", "-c", f"SELECT * FROM {view}"]
    found = {}
    for text in cluster.psql("\\echo", *words).split(SEPARATOR)[1:]:
        view, _, body = text.partition("\n")
        keys = COUNTER_VIEWS[view]
        for row in csv.DictReader(io.StringIO(body.strip("\n"))):
            prefix = ".".join([view, *(row[key] for key in keys if row.get(key))])
            for column, text_value in row.items():
                value = None if column in keys or column in NO_COUNTERS else _number(text_value or "")
                if value is not None:
                    found[f"{prefix}.{column}"] = value
    return found


def deltas(before, after, keep=()):
    """after - before of every counter that moved, and of those whose names match a pattern in `keep`: a zero there is a finding."""
    moved = {name: 0 for name, value in after.items()
             if not isinstance(value, list) and any(fnmatch.fnmatchcase(name, pattern) for pattern in keep)}
    for name, value in after.items():
        old = before.get(name)
        if isinstance(value, list):
            old = old if isinstance(old, list) and len(old) == len(value) else [0] * len(value)
            difference = [new - was for new, was in zip(value, old)]
            if any(difference):
                moved[name] = difference
        elif value != (old or 0):
            moved[name] = value - (old or 0)
    return moved


def settings(cluster):
    """Settings of a running server that are not at their default, addresses and paths left out."""
    rows = _csv(cluster, "SELECT name, setting, coalesce(unit, '') FROM pg_settings WHERE source NOT IN ('default', 'client', 'override')")
    paths = {"unix_socket_directories", "listen_addresses", "port", "log_timezone", "TimeZone"}
    return {name: value + (f" ({unit})" if unit else "") for name, value, unit in rows if name not in paths}


def _output(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _first_match(path, pattern):
    try:
        match = re.search(pattern, pathlib.Path(path).read_text(), re.M)
    except OSError:
        return ""
    return match.group(1) if match else ""


def machine_facts():
    """What must be equal for results to stand beside each other: the machine."""
    memory_kib = int(_first_match("/proc/meminfo", r"^MemTotal:\s+(\d+)") or 0)
    return {
        "cpu": _first_match("/proc/cpuinfo", r"^model name\s*:\s*(.+)") or platform.machine(),
        "hardware_threads": os.cpu_count(),
        "memory_gib": round(memory_kib / 2**20, 1),
        "kernel": platform.release(),
        "huge_pages_total": int(_first_match("/proc/meminfo", r"^HugePages_Total:\s+(\d+)") or 0),
        "transparent_huge_pages": _first_match("/sys/kernel/mm/transparent_hugepage/enabled", r"\[(\w+)\]"),
    }


def source_facts(binary):
    """What must be equal too: the tree's commit, whether files differ from it, and the binary measured."""
    return {
        "commit": _output("git", "rev-parse", "HEAD") or "unknown",
        "dirty": bool(_output("git", "status", "--porcelain", "--untracked-files=no")),
        "binary_sha256": hashlib.sha256(pathlib.Path(binary).read_bytes()).hexdigest() if binary else "",
    }
