# SPDX-License-Identifier: MIT
"""Directories in which nothing is to be sent: `send -r` makes them."""

import os
import shutil
import stat
import subprocess

from program import run
from transferring import RANGE, Proxy, Receiver, TransferCase


class Folders(TransferCase):
    def mode(self, name):
        return stat.S_IMODE(os.stat(self.path(name)).st_mode)

    def tree(self):
        for name in ("tree/file", "tree/full/deep/file", "tree/full/other"):
            self.make(name, 1000)
        for name, mode in (("tree/none", 0o755), ("tree/full/none", 0o700), ("tree/a/b/c", 0o711),
                           ("tree/shared", 0o775), ("tree/with blanks", 0o500)):  # fmt: skip
            os.makedirs(self.path(name))
            os.chmod(self.path(name), mode)
        return self.path("tree")

    def same_trees(self, one, other):
        told = subprocess.run(["diff", "-r", one, other], capture_output=True, text=True, timeout=60,
                              check=False)  # fmt: skip
        self.assertEqual((told.returncode, told.stdout + told.stderr), (0, ""))

    def test_a_tree_arrives_with_its_empty_directories_and_their_modes(self):
        tree = self.tree()
        for fsync in ("on", "off"):
            with self.subTest(fsync), Receiver(self.path("in")) as receiver:
                told = self.tell("send", "-r", tree, receiver.address, "--fsync", fsync, "-c", 2)
                self.assertEqual(self.said, "")
                self.assertEqual(told["files"], {"stored": 3, "directories": 5, "skipped": 0, "failed": 0})
                self.same_trees(tree, self.path("in/tree"))
                for name in ("none", "full/none", "a/b/c", "shared", "with blanks"):
                    self.assertEqual(self.mode("in/tree/" + name), self.mode("tree/" + name), name)
                told = self.tell("send", "-r", tree, receiver.address)
                self.assertEqual(told["files"], {"stored": 0, "directories": 0, "skipped": 3, "failed": 0})
            shutil.rmtree(self.path("in/tree"))

    def test_every_directory_has_the_mode_of_its_source(self):
        modes = {"tree/full/deep": 0o500, "tree/full": 0o555, "tree/a/b": 0o710, "tree/a": 0o700,
                 "tree/none": 0o755, "tree": 0o711}  # fmt: skip
        self.tree()
        for i in range(300):
            self.make(f"tree/full/deep/{i}", 10)
        self.make("tree/full/large", 2 * RANGE)
        for name, mode in modes.items():
            os.chmod(self.path(name), mode)
        for connections in (1, 4):
            with Receiver(self.path("in")) as receiver:
                to = f"{receiver.address}/to/{connections}"
                self.tell("send", "-r", self.path("tree"), to, "-c", connections)
            self.same_trees(self.path("tree"), self.path(f"in/to/{connections}/tree"))
            for name, mode in modes.items():
                self.assertEqual(self.mode(f"in/to/{connections}/{name}"), mode, name)

    def test_an_empty_directory_alone_arrives(self):
        os.mkdir(self.path("tree"), 0o750)
        with Receiver(self.path("in")) as receiver:
            done = run("send", "-r", self.path("tree"), receiver.address)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, "^sent 0 files and 1 empty directory: 0 B in ")
            again = run("send", "-r", self.path("tree"), f"{receiver.address}/to/here")
            self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.mode("in/tree"), 0o750)
        self.assertEqual(self.mode("in/to/here/tree"), 0o750)

    def test_directories_come_into_the_summary_only_if_there_are_any(self):
        tree = self.tree()
        with Receiver(self.path("in")) as receiver:
            first, second = (run("send", "-r", tree, receiver.address).stdout for _ in range(2))
        self.assertRegex(first, "^sent 3 files and 5 empty directories: ")
        self.assertRegex(second, "^sent 0 files: .*; 3 files were there already")

    def test_a_rehearsal_lists_what_would_be_made(self):
        with Receiver(self.path("in")) as receiver:
            done = run("send", "-r", self.tree(), receiver.address, "--dry-run")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(f"directory  {self.path('tree/a/b/c')} -> tree/a/b/c\n", done.stdout)
            self.assertIn("3 files and 5 empty directories, ", done.stdout)
            self.assertEqual(os.listdir(self.path("in")), [])

    def test_the_name_of_a_file_is_no_success(self):
        tree = self.tree()
        file = self.make("in/tree/none", 10)
        with Receiver(self.path("in")) as receiver:
            for words in ([], ["--overwrite"], ["--skip-existing"]):
                told = self.tell("send", "-r", tree, receiver.address, *words, code=1)
                self.assertEqual(told["complaints"],
                                 ["tree/none: the server says: exists (and is no directory: "
                                  "move it away, or choose another place)"])  # fmt: skip
                self.assertEqual(told["files"]["failed"], 1)
        self.assertEqual(os.path.getsize(file), 10)

    def test_a_receiver_that_only_gives_makes_none(self):
        os.mkdir(self.path("tree"))
        with Receiver(self.path("in"), "--read-only") as receiver:
            self.tell("send", "-r", self.path("tree"), receiver.address, code=1)
            self.assertIn("not permitted", self.said)
        self.assertEqual(os.listdir(self.path("in")), [])

    def test_lost_connections_lose_none(self):
        for i in range(200):
            os.makedirs(self.path(f"tree/{i}"))
        self.make("tree/large", RANGE + 5)

        def harm(number, to_server, at, data):
            return None if number < 4 and at + len(data) > 1000 * (number + 1) else data

        with Receiver(self.path("in")) as receiver, Proxy(receiver.address, harm) as proxy:
            told = self.tell("send", "-r", self.path("tree"), proxy.address)
        self.assertEqual(told["files"], {"stored": 1, "directories": 200, "skipped": 0, "failed": 0})
        self.assertGreater(told["retries"], 0)
        self.same_trees(self.path("tree"), self.path("in/tree"))
