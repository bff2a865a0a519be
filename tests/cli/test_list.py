# SPDX-License-Identifier: MIT
"""`list`, as a user runs it."""

import json
import os
import subprocess
import sys

from lying import ENTRIES, LIST, Liar, facts, frame, listed
from program import JOUST, PATIENCE_S, TESTS, Server, run
from transferring import Receiver, TransferCase


class List(TransferCase):
    def setUp(self):
        super().setUp()
        self.make("in/a/b/deep", 1234567)
        self.make("in/plain", 7)
        os.chmod(self.path("in/plain"), 0o640)
        os.chmod(self.path("in/a"), 0o750)
        for name in ("plain", "a"):
            os.utime(self.path("in/" + name), ns=(1, 1_000_000_000_123_456_789))

    def lines(self, *arguments, code=0):
        done = subprocess.run([JOUST, "list", *arguments], capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False, env={**os.environ, "TZ": "UTC"})
        self.said = done.stderr
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.splitlines()

    def test_it_looks_as_that_of_ls(self):
        with Receiver(self.path("in")) as receiver:
            self.assertEqual(self.lines(receiver.address),
                             ["drwxr-x---  -  2001-09-09 01:46:40  a/",
                              "-rw-r-----  7  2001-09-09 01:46:40  plain"])  # fmt: skip
            names = [line.split()[-1] for line in self.lines(receiver.address + "/", "-r")]
            self.assertEqual(names, ["a/", "a/b/", "a/b/deep", "plain"])
            self.assertIn(" 1,234,567 ", self.lines(receiver.address + "/a/b/")[0])
            self.assertEqual(self.lines(receiver.address + "/plain"),
                             ["-rw-r-----  7  2001-09-09 01:46:40  plain"])  # fmt: skip
            self.assertEqual(self.lines(receiver.address + "/none", code=1), [])
            self.assertEqual(self.said, "joust: none: the server says: not found\n")
            self.refused(run("list", receiver.address + "/a/.."), "'.' and '..' are no names")
            self.refused(run("list"), "list HOST:PORT[/DIR]")
            self.refused(run("list", receiver.address, receiver.address), "list HOST:PORT[/DIR]")

    def test_programs_get_json(self):
        with Receiver(self.path("in")) as receiver:
            done = run("list", receiver.address, "-r", "--json")
        document = json.loads(done.stdout)
        self.assertTrue(document["complete"])
        self.assertEqual(document["entries"][-1],
                         {"name": "plain", "kind": "file", "size": 7, "mode": "0640",
                          "modified": "2001-09-09T01:46:40Z",
                          "modified_ns": 1_000_000_000_123_456_789})  # fmt: skip
        with open(self.path("list.json"), "w", encoding="utf-8") as file:
            file.write(done.stdout)
        schema = os.path.join(os.path.dirname(TESTS), "docs", "listing.schema.json")
        validate = [sys.executable, "-B", os.path.join(TESTS, "validate_result.py"), schema, file.name]
        checked = subprocess.run(validate, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_what_cannot_be_fetched_is_counted(self):
        os.symlink("plain", self.path("in/link"))
        os.mkfifo(self.path("in/fifo"))
        self.make("in/.joust-partial-x", 5)
        with Receiver(self.path("in")) as receiver:
            self.assertEqual(len(self.lines(receiver.address)), 2)
            self.assertIn("2 names left out", self.said)

    def test_names_obey_nobody(self):
        self.make("in/back\\slash", 1)
        self.make("in/\u202egnp.exe", 1)
        with Receiver(self.path("in")) as receiver:
            text = "\n".join(self.lines(receiver.address))
        self.assertIn("back\\\\slash", text)
        self.assertNotIn("\u202e", text)

    def test_a_large_directory_is_listed(self):
        for i in range(30_000):
            os.close(os.open(self.path(f"in/a/{i}"), os.O_CREAT, 0o600))
        with Receiver(self.path("in")) as receiver:
            self.assertEqual(len(self.lines(receiver.address + "/a")), 30_001)

    def test_servers_without_directories_or_with_another_task_refuse(self):
        with Receiver(self.path("in"), "--write-only") as receiver:
            self.lines(receiver.address, code=1)
            self.assertIn("not permitted (this server only receives files)", self.said)
        with Server("-p", "file", "--listen", "127.0.0.1:0", "--json") as server:
            self.lines(server.address, code=1)
            self.assertIn("there are no directories here", self.said)


class Liars(TransferCase):
    def told_of(self, answer):
        with Liar(answer) as liar:
            done = run("list", liar.address + "/top", "-r", "--retries", 0)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        return done.stderr

    def test_names_that_lead_elsewhere_are_told(self):
        for name, why in (("..", "'.' and '..' are no names"), ("/etc", "absolute"), ("a/../../b", "'..'"),
                          ("a/b", "more than one part"), ("a\x1b[2J", "control character"),
                          (b"\xff", "not UTF-8"), ("", "empty")):  # fmt: skip
            with self.subTest(name):
                said = self.told_of(lambda peer, kind, request, body, name=name: peer.sendall(
                    listed(request, [("right", False, 5), (name, False, 5)])))  # fmt: skip
                self.assertIn("the server's list of top is not to be trusted: it has '", said)
                self.assertIn(why, said)
                self.assertNotIn("\x1b", said)

    def test_there_is_an_end_to_directories_in_directories(self):
        said = self.told_of(lambda peer, kind, request, body: peer.sendall(
            listed(request, [("again", True, 0)])))  # fmt: skip
        self.assertIn("more than 100 directories in one another", said)

    def test_there_is_an_end_to_a_directory(self):
        def answer(peer, kind, request, body):
            self.assertEqual(kind, LIST)
            peer.sendall(facts(request))
            entry = bytes.fromhex("00 000001a4 0000000000000001 0000000000000000 0001 61")
            part = frame(ENTRIES, request, (80).to_bytes(2, "big") + 80 * entry)
            for _ in range(10_000_000 // (80 * 100)):
                peer.sendall(100 * part)

        self.assertIn("top: more than 1,000,000 files and directories", self.told_of(answer))
