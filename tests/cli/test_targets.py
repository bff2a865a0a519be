# SPDX-License-Identifier: MIT
"""Where `send` puts what it sends, and what it says of that."""

import os

from program import run
from transferring import Receiver, TransferCase


class Targets(TransferCase):
    def setUp(self):
        super().setUp()
        self.file = self.make("file", 1000)

    def sent(self, to, code=0, *, receiver, words=()):
        done = run("send", *(words or [self.file]), receiver.address + to)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if code else done.stdout.splitlines()[0]

    def test_a_file_goes_into_a_directory_that_exists_and_else_gets_the_name(self):
        os.mkdir(self.path("in/there"))
        with Receiver(self.path("in")) as receiver:
            for to, name in (("", "file"), ("/", "file"), ("/there", "there/file"), ("/there/", "there/file"),
                             ("/new", "new"), ("/deep/er", "deep/er"), ("/other/", "other/file"),
                             ("/a/b/c/", "a/b/c/file"), ("/there/renamed", "there/renamed")):  # fmt: skip
                with self.subTest(to):
                    said = self.sent(to, receiver=receiver)
                    self.assertTrue(said.startswith(f"sent {self.file} to {receiver.address}/{name}: "), said)
                    self.same(self.file, self.path("in/" + name))
            # Once more: the same command finds its file, whatever it is called.
            for to in ("/new", "/there", "/deep/er"):
                self.assertIn("1 file was there already", self.sent(to, receiver=receiver))

    def test_a_file_that_is_another_one_stays(self):
        kept = self.make("in/kept", 5)
        with Receiver(self.path("in")) as receiver:
            self.assertIn("kept: exists on the server", self.sent("/kept", 1, receiver=receiver))
            self.assertIn("what is in its way", self.sent("/kept/", 1, receiver=receiver))
            self.assertEqual(os.path.getsize(kept), 5)
            self.tell("send", self.file, receiver.address + "/kept", "--overwrite")
        self.same(self.file, kept)

    def test_several_files_and_trees_go_into_a_directory(self):
        other = self.make("other", 10)
        self.make("tree/x", 10)
        with Receiver(self.path("in")) as receiver:
            self.sent("/two", receiver=receiver, words=[self.file, other])
            self.sent("/one", receiver=receiver, words=["-r", self.file])
            self.sent("/more", receiver=receiver, words=["-r", self.path("tree")])
        for name in ("two/file", "two/other", "one/file", "more/tree/x"):
            self.assertTrue(os.path.isfile(self.path("in/" + name)), name)

    def test_a_server_that_tells_nothing_is_taken_at_the_word(self):
        os.mkdir(self.path("in/there"))
        with Receiver(self.path("in"), "--write-only") as receiver:
            self.sent("/new", receiver=receiver)
            self.assertIn("a directory has that name", self.sent("/there", 1, receiver=receiver))
            self.sent("/there/", receiver=receiver)
        self.same(self.file, self.path("in/new"))
        self.same(self.file, self.path("in/there/file"))

    def test_a_rehearsal_asks_nobody(self):
        done = run("send", self.file, "127.0.0.1:1/new", "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"1,000  {self.file} -> new/file\nor -> new, if new is no directory on the server\n",
                      done.stdout)  # fmt: skip
