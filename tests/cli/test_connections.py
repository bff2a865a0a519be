# SPDX-License-Identifier: MIT
"""How many connections `send` and `get` open."""

import os
import time

from program import JOUST, long, run
from transferring import RANGE, Receiver, TransferCase


class Connections(TransferCase):
    def get(self, receiver, name, *words):
        return self.tell("get", f"{receiver.address}/{name}", "--overwrite", *words)["connections"]

    def test_a_small_file_comes_over_one_connection(self):
        for name, size in (("empty", 0), ("three", 3), ("range", RANGE)):
            file = self.make("in/" + name, size)
            with self.subTest(name), Receiver(self.path("in")) as receiver:
                self.assertEqual(self.get(receiver, name), 1)
                self.assertEqual(self.get(receiver, name, "-c", 1), 1, "and so does one that is there")
                self.assertEqual(receiver.stop()["connections"]["accepted"], 2)
            self.same(file, self.path("out/" + name))

    # The limit makes it last, so that nobody comes too late.
    @long
    def test_a_large_file_comes_over_as_many_as_it_is_worth(self):
        slowly = ("--limit", "16MiB")
        for size in (RANGE + 1, 2 * RANGE, 3 * RANGE - 1):
            self.make(f"in/{size}", size)
        time.sleep(4)  # the digest of a file that has just changed is not remembered
        for size, words, carriers in (
            (RANGE + 1, [], 1),
            (2 * RANGE, [], 2),
            (3 * RANGE - 1, ["-c", 2], 2),
            (RANGE + 1, ["-c", 20], 9),
            (2 * RANGE, ["-c", 1], 1),
        ):
            with self.subTest(size=size, words=words), Receiver(self.path("in")) as receiver:
                for connections, why in ((carriers + 1, "one has the digest"), (carriers, "it is known")):
                    self.assertEqual(self.get(receiver, size, *slowly, *words), connections, why)
                    self.same(self.path(f"in/{size}"), self.path(f"out/{size}"))
                    os.remove(self.path(f"out/{size}"))

    def test_every_engine_dials_more_when_they_are_needed(self):
        file = self.make("in/file", 2 * RANGE)
        with Receiver(self.path("in")) as receiver:
            for engine in ("epoll", "poll", "select", "threads", "io-uring", "asio-pool", "coroutines"):
                with self.subTest(engine):
                    self.assertGreater(self.get(receiver, "file", "-e", engine, "--limit", "16MiB"), 1)
                    self.same(file, self.path("out/file"))
                    os.remove(self.path("out/file"))  # one that is there already needs no other connection

    @staticmethod
    def with_few(open_files, *arguments):
        return run("-c", f'ulimit -n {open_files} && exec "$0" "$@"', JOUST, *arguments, program="sh")

    def test_no_more_are_dialled_than_there_are_descriptors_for(self):
        file = self.make("in/large", 5 * RANGE)
        with Receiver(self.path("in")) as receiver:
            for engine in ("epoll", "threads", "io-uring", "asio-coroutines", "two-processes", "qt-threads"):
                where = ("-e", engine, "-c", 200, "--overwrite", "--retries", 0)
                for command in (
                    ("get", f"{receiver.address}/large", "-o", self.path("out/large")),
                    ("send", file, f"{receiver.address}/again/"),
                ):
                    with self.subTest(engine=engine, command=command[0]):
                        done = self.with_few(64, *command, *where)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        said = r"^joust: 64 open files \(ulimit -n\) allow \d+ connections at a time\n$"
                        self.assertRegex(done.stderr, said)
                self.same(file, self.path("in/again/large"))
                self.same(file, self.path("out/large"))
                os.remove(self.path("out/large"))
                os.remove(self.path("in/again/large"))

    def test_a_tree_needs_no_more_descriptors_than_there_are(self):
        for i in range(500):
            self.make(f"in/tree/{i % 3}/{i}", 100 + i)
        with Receiver(self.path("in")) as receiver:
            for limit in (48, 64):
                back = self.path(f"out/{limit}")
                done = self.with_few(limit, "get", "-r", f"{receiver.address}/tree", "-o", back, "-c", 4)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(sum(len(files) for _, _, files in os.walk(back)), 500)

    def test_room_for_none_is_said_at_once(self):
        file = self.make("file", 10)
        for command in (("get", "127.0.0.1:1/file"), ("send", file, "127.0.0.1:1")):
            done = self.with_few(16, *command)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn("16 open files (ulimit -n) are too few: one connection needs", done.stderr)

    def test_a_rehearsal_asks_over_one(self):
        self.make("in/file", 5 * RANGE)
        with Receiver(self.path("in")) as receiver:
            self.assertEqual(self.get(receiver, "file", "--dry-run"), 1)
