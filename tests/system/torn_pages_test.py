#!/usr/bin/env python3
"""Pages that a crash leaves half written: made by hand on the files of a killed server, repaired by recovery in both modes."""
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import Pinwheel  # noqa: E402

PAGE = 8192
SLOT = 512 + PAGE
SLOT_HEADER = struct.Struct("<8sQQQIIIB")  # docs/formats/double_write.md


def lsn_of(page):
    return struct.unpack_from("<Q", page)[0]


class TornPages(unittest.TestCase):
    def make(self, **settings):
        cluster = Pinwheel({"fsync": "off", "shared_buffers": "1MB", "autovacuum": "off", "checkpoint_timeout": "1h", **settings},
                           name="torn", init_options=("-N",))
        self.addCleanup(cluster.remove)
        cluster.start()
        cluster.psql("CREATE TABLE t (id int PRIMARY KEY, v int, filler text)")
        cluster.psql("INSERT INTO t SELECT n, 0, repeat('x', 400) FROM generate_series(1, 5000) n")
        cluster.psql("CHECKPOINT")
        self.before = cluster.folder / "before"
        shutil.copytree(cluster.data / "base", self.before)
        # Larger than the pool, so most of what changes is written in place before the crash.
        cluster.psql("UPDATE t SET v = v + id WHERE id % 5 = 0")
        cluster.psql("UPDATE t SET v = v + 1 WHERE id % 7 = 0")
        self.expected = self.content(cluster)
        self.kill(cluster)
        return cluster

    def content(self, cluster):
        return cluster.psql("SELECT count(*), sum(v), sum(v::bigint * id), min(v), max(length(filler)) FROM t")

    def kill(self, cluster):
        for victim in [cluster.process.pid, *cluster.children()]:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        cluster.process.wait()

    def tear_changed_pages(self, cluster, may_tear):
        """Puts old bytes over one half of every page written since the checkpoint for which may_tear(path, number, page)."""
        torn, chooser = 0, random.Random(1)
        for path in sorted((cluster.data / "base").glob("*/*")):
            old_path = self.before / path.relative_to(cluster.data / "base")
            if not old_path.exists() or not path.name.isdigit():
                continue
            old, new = old_path.read_bytes(), bytearray(path.read_bytes())
            for at in range(0, min(len(old), len(new)), PAGE):
                page = bytes(new[at:at + PAGE])
                half = at + chooser.choice((0, PAGE // 2))
                if old[half:half + PAGE // 2] == new[half:half + PAGE // 2] or not may_tear(path, at // PAGE, page):
                    continue
                new[half:half + PAGE // 2] = old[half:half + PAGE // 2]
                torn += bytes(new[at:at + PAGE]) not in (page, old[at:at + PAGE])
            path.write_bytes(new)
        return torn

    def saved_pages(self, cluster):
        """(path, page number) -> the newest copy in the double-write files."""
        newest = {}
        for area in (cluster.data / "pg_double_write").iterdir():
            data = area.read_bytes()
            for at in range(0, len(data) - SLOT + 1, SLOT):
                magic, _, _, lsn, database, relation, page, fork = SLOT_HEADER.unpack_from(data, at)
                if magic != b"PWDWRIT1" or fork != 0:
                    continue
                key = (cluster.data / "base" / str(database) / str(relation), page)
                copy = data[at + 512:at + SLOT]
                self.assertEqual(lsn, lsn_of(copy))
                if key not in newest or lsn > lsn_of(newest[key]):
                    newest[key] = copy
        return newest

    def test_double_writes_repair_what_was_written_since_the_checkpoint(self):
        cluster = self.make(torn_page_protection="double_write")
        saved = self.saved_pages(cluster)
        # Pages whose last write has no copy any more were synced before the copy was overwritten: they cannot be torn.
        torn = self.tear_changed_pages(cluster, lambda path, number, page: saved.get((path, number)) == page)
        self.assertGreater(torn, 50)
        cluster.start()
        restored = int(re.search(r"restored (\d+) half-written pages", cluster.log.read_text())[1])
        self.assertGreaterEqual(restored, torn)
        self.assertEqual(self.content(cluster), self.expected)
        cluster.stop()
        self.assertIsNone(cluster.check())

    def test_double_writes_are_repaired_under_any_later_setting_and_after_a_crash_of_recovery(self):
        cluster = self.make(torn_page_protection="double_write")
        saved = self.saved_pages(cluster)
        self.assertGreater(self.tear_changed_pages(cluster, lambda path, number, page: saved.get((path, number)) == page), 50)
        cluster.settings["torn_page_protection"] = "off"
        # Dies when it has replayed and before it has made its checkpoint.
        os.environ["PINWHEEL_FAILPOINTS"] = "checkpoint_after_redo=crash"
        try:
            self.assertRaises(RuntimeError, cluster.start, 20)
        finally:
            del os.environ["PINWHEEL_FAILPOINTS"]
            self.kill_leftovers(cluster)
        cluster.start()
        self.assertEqual(self.content(cluster), self.expected)
        cluster.stop()
        self.assertIsNone(cluster.check())

    def kill_leftovers(self, cluster):
        if cluster.process.poll() is None:
            self.kill(cluster)

    def test_page_images_repair_them_too(self):
        cluster = self.make(torn_page_protection="full_page_writes")
        self.assertGreater(self.tear_changed_pages(cluster, lambda *_: True), 50)
        cluster.start()
        self.assertEqual(self.content(cluster), self.expected)
        cluster.stop()
        self.assertIsNone(cluster.check())

    def test_without_protection_the_damage_is_found(self):
        cluster = self.make(torn_page_protection="off")
        self.assertGreater(self.tear_changed_pages(cluster, lambda *_: True), 50)
        with self.assertRaisesRegex(RuntimeError, "invalid page in block|does not start|ended while starting"):
            cluster.start()
            self.content(cluster)


if __name__ == "__main__":
    unittest.main()
