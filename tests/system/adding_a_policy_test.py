#!/usr/bin/env python3
"""docs/adding-a-policy.md, followed: its class is the one that tests/storage runs, and its changes apply to the tree and compile."""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "adding-a-policy.md"
NEW_FILE = "storage/buffer/random_replacement.cc"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


class AddingAPolicy(unittest.TestCase):
    def test_the_class_is_the_one_that_the_unit_tests_run(self):
        source, = blocks("cpp")
        self.assertEqual(source, (ROOT / "tests/storage/random_replacement.cc").read_text())
        self.assertLess(len(source.splitlines()), 100)

    def test_the_changes_apply_to_the_tree_and_compile(self):
        with tempfile.TemporaryDirectory(prefix="pinwheel-policy-") as folder:
            tree = pathlib.Path(folder)
            for room in ("base", "shm", "wal", "clog", "storage", "txn", "server", "sql"):
                shutil.copytree(ROOT / room, tree / room, ignore=lambda where, names: [
                    name for name in names if not (pathlib.Path(where) / name).is_dir() and not name.endswith((".h", ".inc", ".build"))])
            changed = []
            for diff in blocks("diff"):
                changed += re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE)
                for path in re.findall(r"^--- a/(.*)$", diff, re.MULTILINE):
                    (tree / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / path, tree / path)
                done = subprocess.run(["patch", "-p1", "--fuzz=0"], cwd=tree, input=diff, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            (tree / NEW_FILE).write_text(blocks("cpp")[0])
            shutil.copytree(ROOT / "tests/base", tree / "tests/base")
            shutil.copy(ROOT / "tests/storage/storage_fixture.h", tree / "tests/storage")
            includes = shlex.split(subprocess.run(["pkg-config", "--cflags", "fmt", "spdlog"], capture_output=True, text=True).stdout)
            for path in [NEW_FILE, *(path for path in changed if path.endswith(".cc"))]:
                done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-fno-strict-aliasing",
                                       f"-I{tree}", *includes, str(tree / path)], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{path}:\n{done.stderr[-3000:]}")

    def test_the_experiment_is_one_that_the_laboratory_reads(self):
        sys.path.insert(0, str(ROOT))
        from lab import experiment
        with tempfile.TemporaryDirectory(prefix="pinwheel-policy-") as folder:
            path = pathlib.Path(folder) / "random.toml"
            path.write_text(blocks("toml")[0])
            loaded = experiment.load("random", path)
        self.assertEqual([variant.name for variant in loaded.parts[0].variants], ["clock", "random"])


if __name__ == "__main__":
    unittest.main()
