# SPDX-License-Identifier: MIT
"""`receive`, `send` and `get`, as a user runs them."""

import contextlib
import json
import os
import socket
import stat
import struct
import subprocess
import sys

from frames import DATA, WHOLE, frame, head
from program import CALCULATOR, PATIENCE_S, TESTS, run
from transferring import RANGE, SCHEMA, Receiver, TransferCase, nameless, wait_for

RECEIVING = ("epoll", "io-uring", "threads")
SIZES = [0, 1, 16_000, RANGE - 1, RANGE, RANGE + 1, 3 * RANGE, 40_000_000]


class Transfer(TransferCase):
    def test_files_of_every_size_arrive_with_time_and_mode(self):
        with Receiver(self.path("in")) as receiver:
            for i, size in enumerate(SIZES):
                file = self.make(f"file{i}", size)
                os.chmod(file, 0o640 + i % 8)
                os.utime(file, ns=(1, 1_000_000_000_123_456_789 + i))
                told = self.tell("send", file, receiver.address, "-c", 1 + i % 5)
                self.assertEqual(told["bytes"]["moved"], size)
                back = self.path(f"back{i}")
                got = self.tell("get", f"{receiver.address}/file{i}", "-o", back, "-c", 1 + i % 3)
                self.assertEqual(got["digest"], told["digest"])
                for copy in (self.path(f"in/file{i}"), back):
                    self.same(file, copy)
                    facts = os.stat(copy)
                    self.assertEqual(stat.S_IMODE(facts.st_mode), 0o640 + i % 8)
                    self.assertEqual(facts.st_mtime_ns, 1_000_000_000_123_456_789 + i)
            self.assertEqual(self.hidden("in") + self.hidden("."), [])

    def test_any_stream_engine_sends_and_fetches(self):
        file = self.make("file", 20_000_000)
        for engine in ("epoll", "poll", "select", "threads", "io-uring", "asio-pool", "coroutines"):
            at_server = ("-e", engine) if engine in RECEIVING else ()
            with self.subTest(engine), Receiver(self.path("in"), *at_server) as receiver:
                self.tell("send", file, receiver.address, "-e", engine, "--overwrite")
                self.same(file, self.path("in/file"))
                self.tell("get", f"{receiver.address}/file", "-e", engine, "--overwrite")
                self.same(file, self.path("out/file"))

    def test_a_tree_arrives_without_what_is_no_file(self):
        for name in ("tree/a", "tree/sub/b", "tree/sub/deep/c", "tree/sub/name with blanks"):
            self.make(name, 1000 + len(name))
        self.make("tree/sub/large", RANGE + 5)
        os.symlink("/etc/passwd", self.path("tree/link"))
        os.symlink("/etc", self.path("tree/folder"))
        os.mkfifo(self.path("tree/fifo"))
        os.mkdir(self.path("tree/nothing"))
        with Receiver(self.path("in")) as receiver:
            told = self.tell("send", "-r", self.path("tree") + "/", f"{receiver.address}/to/here")
        self.assertEqual(told["files"], {"stored": 5, "directories": 1, "skipped": 0, "failed": 0})
        for name in ("a", "sub/b", "sub/deep/c", "sub/name with blanks", "sub/large"):
            self.same(self.path("tree/" + name), self.path("in/to/here/tree/" + name))
        self.assertEqual(sorted(os.listdir(self.path("in/to/here/tree"))), ["a", "nothing", "sub"])
        for word in ("link: a symbolic link", "folder: a symbolic link", "fifo: a FIFO"):
            self.assertIn(word, self.said)

    def test_what_cannot_be_sent_is_no_success(self):
        self.make("tree/good", 10)
        self.make("tree/.joust-own", 10)
        os.symlink("good", self.path("tree/link"))
        with Receiver(self.path("in")) as receiver:
            told = self.tell("send", "-r", self.path("tree"), receiver.address, code=1)
            self.assertEqual(told["files"], {"stored": 1, "directories": 0, "skipped": 0, "failed": 1})
            self.assertIn("tree/.joust-own", told["complaints"][0])
            self.assertEqual(len(told["notes"]), 1, "the link is left out by intention")
            self.assertIn("link: a symbolic link", told["notes"][0])
            os.unlink(self.path("tree/good"))
            self.tell("send", "-r", self.path("tree"), receiver.address, code=1)
            done = run("send", "-r", self.path("tree"), receiver.address, "--dry-run")
            self.assertEqual(done.returncode, 1)
            self.assertIn("tree/.joust-own", done.stderr)

    def test_two_files_of_one_name_are_refused(self):
        one, other = self.make("a/tree/x", 10, 1), self.make("b/tree/x", 10, 2)
        with Receiver(self.path("in")) as receiver:
            for words in (
                [one, other, "--overwrite"],
                [one, other, "--skip-existing"],
                ["-r", self.path("a/tree"), self.path("b/tree")],
            ):
                done = run("send", *words, receiver.address)
                self.refused(done, "a/tree/x and", "b/tree/x would both be")
            self.assertEqual(os.listdir(self.path("in")), [])
            self.tell("send", "-r", self.path("a"), self.path("b"), receiver.address)
        self.same(one, self.path("in/a/tree/x"))
        self.same(other, self.path("in/b/tree/x"))

    def test_many_small_files_arrive(self):
        for i in range(600):
            self.make(f"tree/{i % 7}/{i}", i * 37, i)
        with Receiver(self.path("in")) as receiver:
            told = self.tell("send", "-r", self.path("tree"), receiver.address, "-c", 3)
        self.assertEqual(told["files"]["stored"], 600)
        for i in range(600):
            self.same(self.path(f"tree/{i % 7}/{i}"), self.path(f"in/tree/{i % 7}/{i}"))

    def test_a_file_arrives_beside_many_that_are_under_way(self):
        file, under_way = self.make("file", 1000), 200
        with Receiver(self.path("in")) as receiver, contextlib.ExitStack() as stack:
            host, port = receiver.address.rsplit(":", 1)
            for i in range(under_way):
                name = b"f%03d" % i
                body = struct.pack(">Q16xqIH", 1000, 0, 0o644, len(name)) + name
                peer = stack.enter_context(socket.create_connection((host, int(port))))
                peer.sendall(frame(WHOLE, 1, body) + head(DATA, 1, 1000))
            wait_for(lambda: nameless(receiver.process, self.path("in")) == under_way, receiver.process)
            self.tell("send", file, receiver.address)
        self.same(file, self.path("in/file"))

    def test_existing_files_stay_unless_told_otherwise(self):
        for size in (100, RANGE + 100):
            with self.subTest(size), Receiver(self.path("in")) as receiver:
                old, new = self.make("in/file", size, 1), self.make("file", size, 2)
                self.tell("send", new, receiver.address, code=1)
                self.assertIn("--overwrite", self.said)
                told = self.tell("send", new, receiver.address, "--skip-existing")
                self.assertEqual(told["files"], {"stored": 0, "directories": 0, "skipped": 1, "failed": 0})
                self.make("wanted", size, 1)
                self.same(old, self.path("wanted"))
                self.tell("send", new, receiver.address, "--overwrite")
                self.same(old, new)
                for other in (5, size):
                    here = self.make("out/file", other, 3)
                    self.tell("get", f"{receiver.address}/file", code=1)
                    self.assertIn("another file; --overwrite", self.said)
                    self.tell("get", f"{receiver.address}/file", "--skip-existing")
                    self.same(here, self.make("other", other, 3))
                self.tell("get", f"{receiver.address}/file", "--overwrite")
                self.same(here, new)

    def test_the_same_command_again_finds_the_same_files(self):
        for name, size in (("tree/small", 100), ("tree/sub/empty", 0), ("tree/large", 2 * RANGE + 100)):
            self.make(name, size)
        with Receiver(self.path("in")) as receiver:
            send = ("send", "-r", self.path("tree"), receiver.address)
            self.tell(*send)
            for connections in (1, 3):
                told = self.tell(*send, "-c", connections)
                self.assertEqual(told["files"], {"stored": 0, "directories": 0, "skipped": 3, "failed": 0})
                self.assertEqual(told["bytes"]["moved"], 0)
            self.make("tree/more", 100, 4)
            told = self.tell(*send)
            self.assertEqual(told["files"], {"stored": 1, "directories": 0, "skipped": 3, "failed": 0})
            for name in ("small", "large", "sub/empty"):
                get = ("get", f"{receiver.address}/tree/{name}", "-o", self.path("out/one"))
                self.tell(*get)
                told = self.tell(*get)
                self.assertEqual(told["files"], {"stored": 0, "directories": 0, "skipped": 1, "failed": 0})
                self.same(self.path("tree/" + name), self.path("out/one"))
                os.remove(self.path("out/one"))

    def test_one_bad_file_does_not_keep_the_others_back(self):
        self.make("in/tree/b", 20, 2)
        for name in ("a", "b", "c"):
            self.make("tree/" + name, 20)
        with Receiver(self.path("in")) as receiver:
            told = self.tell("send", "-r", self.path("tree"), receiver.address, code=1)
        self.assertEqual(told["files"], {"stored": 2, "directories": 0, "skipped": 0, "failed": 1})
        self.assertIn("tree/b: exists on the server, and is another file; --overwrite", self.said)

    def test_no_name_leads_outside(self):
        secret = self.make("secret", 50)
        with Receiver(self.path("in")) as receiver:
            for name in ("../secret", "a/../../secret", "/etc/passwd", ".joust-x"):
                done = run("get", f"{receiver.address}/{name}", "-o", self.path("got"))
                self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertEqual(run("send", secret, f"{receiver.address}/..").returncode, 2)
            os.symlink(self.directory, self.path("in/link"))
            self.tell("get", f"{receiver.address}/link/secret", code=1)
            self.tell("send", secret, f"{receiver.address}/link", code=1)
        self.assertFalse(os.path.exists(self.path("got")))

    def test_files_move_over_a_unix_socket(self):
        file = self.make("file", RANGE + 100)
        os.mkdir(self.path("sockets"))
        for number, path in enumerate((self.path("sockets/plain"), self.path("sockets") + "//twice")):
            with self.subTest(path), Receiver(self.path("in"), "--listen", f"unix:{path}") as receiver:
                self.assertEqual(receiver.address, f"unix:{path}")
                for folder in ("//", f"//to/{number}/", f"//to/{number}"):
                    self.tell("send", file, receiver.address + folder, "-c", 2, "--overwrite")
                    self.same(file, self.path("in" + folder[1:] + "/file"))
                back = self.path(f"back{number}")
                self.tell("get", f"{receiver.address}//to/{number}/file", "-o", back, "-c", 3)
                self.same(file, back)
        with Receiver(self.path("in"), "--listen", f"unix:{self.path('s')}") as receiver:
            self.tell("send", file, receiver.address, "--overwrite")
            self.refused(run("get", receiver.address), "Say unix:SOCKET//PATH")
            self.refused(run("get", receiver.address + "/file"), f"{receiver.address}//file\n")
            self.refused(run("get", "127.0.0.1:1"), "Say HOST:PORT/PATH")

    def test_the_greeting_of_a_receiver_can_be_copied(self):
        file = self.make("in/FILE", 100)
        for address in ("127.0.0.1:0", f"unix:{self.path('s')}"):
            receiver = self.start("receive", "--into", self.path("in"), "--listen", address)
            try:
                lines = [receiver.stdout.readline() for _ in range(3)]
                command = lines[2].split()
                self.assertEqual(command[1], "get", lines)
                done = run(*command[1:], "-o", self.path("FILE"), "--overwrite")
                self.assertEqual(done.returncode, 0, done.stderr)
            finally:
                receiver.terminate()
                receiver.communicate(timeout=60)
            self.same(file, self.path("FILE"))

    def test_a_side_may_be_closed(self):
        file = self.make("in/file", 100)
        with Receiver(self.path("in"), "--read-only") as receiver:
            self.tell("send", self.make("new", 10), receiver.address, code=1)
            self.assertIn("not permitted", self.said)
            self.tell("get", f"{receiver.address}/file")
        with Receiver(self.path("in"), "--write-only") as receiver:
            self.tell("get", f"{receiver.address}/file", "--overwrite", code=1)
            self.tell("send", self.path("new"), receiver.address)
        self.same(file, self.path("out/file"))

    def test_a_rehearsal_moves_nothing(self):
        file = self.make("file", 1000)
        with Receiver(self.path("in")) as receiver:
            done = run("send", file, receiver.address, "--dry-run")
            self.assertEqual((done.returncode, os.listdir(self.path("in"))), (0, []))
            self.assertIn("1,000", done.stdout)
            self.make("in/file", 1000)
            self.tell("get", f"{receiver.address}/file", "--dry-run")
            self.assertEqual(os.listdir(self.path("out")), [])

    def test_a_limit_is_kept(self):
        file = self.make("file", 4_000_000)
        with Receiver(self.path("in")) as receiver:
            told = self.tell("send", file, receiver.address, "--limit", "4MB")
            self.assertGreater(told["seconds"], 0.5)
            large = self.make("large", RANGE + 1000)
            told = self.tell("send", large, receiver.address, "--limit", "8MiB")
            self.assertGreater(told["seconds"], 0.7)
            self.same(large, self.path("in/large"))
            for connections in (1, 4):
                told = self.tell("get", f"{receiver.address}/large", "--limit", "8MiB", "-c", connections)
                self.assertGreater(told["seconds"], 0.7)
                self.assertLess(told["seconds"], 5)
                self.same(large, self.path("out/large"))
                os.remove(self.path("out/large"))

    def test_progress_and_result_are_told_to_programs(self):
        file = self.make("file", 2_000_000)
        with Receiver(self.path("in")) as receiver:
            result = self.path("result.json")
            done = run("send", file, receiver.address, "--progress", "json", "--json", result)
        last = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(last["event"], "progress")
        self.assertEqual((last["bytes"], last["total_bytes"]), (2_000_000, 2_000_000))
        schema = os.path.join(os.path.dirname(TESTS), "docs", SCHEMA)
        validate = [sys.executable, "-B", os.path.join(TESTS, "validate_result.py"), schema, result]
        checked = subprocess.run(validate, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_summary_is_for_people(self):
        file = self.make("file", 2_000_000)
        with Receiver(self.path("in")) as receiver:
            done = run("send", file, receiver.address)
        for word in ("sent", "B/s", "CPU", "memory", "1 connection, ", "XXH3-128"):
            self.assertIn(word, done.stdout)

    def test_the_receiver_tells_where_it_is_and_what_went_through(self):
        receiver = self.start("receive", "--into", self.path("in"))
        greeting = receiver.stdout.readline()
        self.assertRegex(greeting, r"^listening on 127\.0\.0\.1:\d+ with \w+, no token; files are below ")
        self.tell("send", self.make("file", 2 << 20), greeting.split()[2])
        receiver.terminate()
        said, complaints = receiver.communicate(timeout=PATIENCE_S)
        self.assertRegex(said.splitlines()[-1], r"^received 2\.[01]\d* MB, sent \d+ B over 1 connection$")
        self.assertEqual((receiver.returncode, complaints), (0, ""))

    def test_a_summary_counts_what_was_sent_and_what_was_not(self):
        for name in ("a", "b", "c"):
            self.make(f"tree/{name}", 10)
        self.make("in/tree/b", 10, 2)
        with Receiver(self.path("in")) as receiver:
            done = run("send", "-r", self.path("tree"), receiver.address)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, "^sent 2 files: .*; 1 file failed")
            again = run("send", "-r", self.path("tree"), receiver.address)
            self.assertEqual((again.returncode, again.stdout), (1, ""))
            self.assertTrue(again.stderr.endswith("joust: not complete: nothing was moved\n"), again.stderr)
            self.assertEqual(again.stderr.count("exists"), 1, "the other two are the same")
            skips = run("send", "-r", self.path("tree"), receiver.address, "--skip-existing")
            self.assertRegex(skips.stdout, "^sent 0 files: .*; 3 files were there already")

    def test_only_a_program_with_the_protocol_has_the_file_tool(self):
        self.assertIn("receive", run("--help").stdout)
        self.assertNotIn("receive", run("--help", program=CALCULATOR).stdout)
