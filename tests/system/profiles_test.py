#!/usr/bin/env python3
"""Profiles: each starts a server with exactly its switches, precedence, and what a wrong name says."""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import ROOT, Pinwheel, find_pinwheel  # noqa: E402

PROFILES = ROOT / "profiles"


def switches(path):
    """name -> value of a profile."""
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    return dict((part.strip() for part in line.split("=", 1)) for line in lines if line)


class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Pinwheel(name="profiles", init_options=("-N",))

    @classmethod
    def tearDownClass(cls):
        cls.cluster.remove()

    def start(self, profile, **settings):
        self.cluster.settings = {"unix_socket_directories": str(self.cluster.folder), "listen_addresses": "",
                                 "shared_buffers": "4MB", "fsync": "off", **settings}
        self.cluster.start(options=("--profile", str(profile)) if profile else ())

    def shown(self, names):
        return {name: self.cluster.psql(f"SHOW {name}") for name in names}

    def refused(self, *options):
        return subprocess.run([find_pinwheel(), "start", "-D", self.cluster.data, *options], capture_output=True, text=True, timeout=60)

    def test_every_profile_starts_a_server_with_its_switches(self):
        for path in sorted(PROFILES.glob("*.conf")):
            with self.subTest(path.stem):
                self.start(path.stem)
                wanted = switches(path)
                self.assertEqual(self.shown(wanted), wanted)
                self.assertEqual(self.cluster.psql("SELECT count(*) FROM pg_class WHERE relname = 'pg_class'"), "1")
                self.cluster.stop()

    def test_the_default_profile_equals_the_defaults(self):
        self.start(None)
        wanted = switches(PROFILES / "default.conf")
        self.assertEqual(self.shown(wanted), wanted)
        self.cluster.stop()

    def test_all_profiles_list_the_same_mechanisms(self):
        optional = {"freelist_high_watermark", "freelist_low_watermark", "freelist_partitions", "wal_insert_locks"}
        names = {path.stem: set(switches(path)) - optional for path in PROFILES.glob("*.conf")}
        self.assertEqual({frozenset(listed) for listed in names.values()}, {frozenset(names["default"])})

    def test_the_command_line_is_stronger_and_the_file_weaker_than_a_profile(self):
        configuration = self.cluster.data / "postgresql.conf"
        before = configuration.read_text()
        configuration.write_text(before + "\nclog_banks = 2\nwal_insert = reserve\nwal_insert_locks = 3\n")
        try:
            self.start("pg93", wal_insert="slots")
            self.assertEqual(self.shown(("clog_banks", "wal_insert", "wal_insert_locks")),
                             {"clog_banks": "1", "wal_insert": "slots", "wal_insert_locks": "3"})
            # A reload of the files does not undo the profile.
            self.cluster.psql("SELECT pg_reload_conf()")
            self.assertEqual(self.shown(("clog_banks",)), {"clog_banks": "1"})
            self.cluster.stop()
        finally:
            configuration.write_text(before)

    def test_a_file_may_be_named_and_its_last_line_counts(self):
        path = self.cluster.folder / "mine.conf"
        path.write_text("clog_buffers = 16\nclog_buffers = 24\n")
        self.start(path)
        self.assertEqual(self.shown(("clog_buffers",)), {"clog_buffers": "24"})
        self.cluster.stop()

    def test_an_unknown_profile_names_the_nearest_and_all(self):
        done = self.refused("--profile", "s1-pach")
        self.assertEqual(done.returncode, 2)
        self.assertIn('profile "s1-pach" does not exist', done.stderr)
        self.assertIn('Perhaps you meant "s1-patch"', done.stderr)
        for path in PROFILES.glob("*.conf"):
            self.assertIn(path.stem, done.stderr)

    def test_a_bad_line_is_told_with_its_place(self):
        path = self.cluster.folder / "bad.conf"
        path.write_text("clog_buffers = 16\nclog_update = grouped\n")
        done = self.refused("--profile", str(path))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'invalid value for parameter "clog_update": "grouped" in file "{path}" line 2', done.stderr)
        self.assertIn("Available values: locked, group, atomic.", done.stderr)

    def test_an_unknown_parameter_names_the_nearest(self):
        done = self.refused("-c", "buffer_replacment=s3fifo")
        self.assertEqual(done.returncode, 1)
        self.assertIn('unrecognized configuration parameter "buffer_replacment"', done.stderr)
        self.assertIn('Perhaps you meant "buffer_replacement".', done.stderr)
        self.assertNotIn("Perhaps", self.refused("-c", "zzzzzzzzzzzz=1").stderr)


if __name__ == "__main__":
    unittest.main()
