# SPDX-License-Identifier: MIT
"""What `receive`, `send` and `get` say where they cannot do anything."""

import socket
import time

from program import run
from transferring import Receiver, TransferCase


class Refusals(TransferCase):
    def test_a_wrong_wish_is_a_usage_error(self):
        file = self.make("file", 10)
        for words in (
            ["send", file],
            ["send", self.path("nothing"), "127.0.0.1:1"],
            ["send", self.directory, "127.0.0.1:1"],
            ["send", file, "127.0.0.1:1", "--overwrite", "--skip-existing"],
            ["send", file, "127.0.0.1:1", "-c", "0"],
            ["send", file, "nowhere"],
            ["get", "127.0.0.1:1"],
            ["get", "127.0.0.1:1/file", "-o", self.directory],
            ["receive", "--into", self.path("nothing")],
            ["receive", "--read-only", "--write-only"],
            ["receive", "-e", "processes", "--into", self.path("in")],
        ):
            self.assertEqual(run(*words).returncode, 2, words)

    def test_nobody_there_is_said_at_once(self):
        file = self.make("file", 10)
        told = self.tell("send", file, "127.0.0.1:1", code=1)
        self.assertIn("Connection refused", told["complaints"][0])
        self.tell("get", "127.0.0.1:1/file", code=1)
        with Receiver(self.path("in")) as receiver:
            self.tell("get", f"{receiver.address}/nothing", code=1)
            self.assertIn("not found", self.said)

    def test_a_listener_that_never_answers_is_not_waited_for(self):
        file = self.make("file", 10)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = "127.0.0.1:%d" % listener.getsockname()[1]
            began = time.monotonic()
            for each in [self.start("send", file, address, "--retries", 0),
                         self.start("get", f"{address}/file", "--retries", 0)]:  # fmt: skip
                said = each.communicate(timeout=60)[1]
                self.assertEqual(each.returncode, 1)
                words = f"{address}: no answer within 10.0 s: is a 'joust receive' listening there?"
                self.assertIn(words, said)
            self.assertLess(time.monotonic() - began, 25)
            told = self.start("get", f"{address}/file")  # its connections are silent together, twice
            self.assertEqual(told.wait(timeout=60), 1)
            self.assertLess(time.monotonic() - began, 55)

    def test_an_empty_name_is_no_directory(self):
        self.refused(run("receive", "--into", ""), "--into: the value is empty")
        self.refused(run("receive", "--into", self.path("none")), "--into: open the directory")
        self.refused(run("get", "127.0.0.1:1/a", "-o", ""), "-o: the value is empty")
        self.refused(run("get", "127.0.0.1:1/a", "-o", "-"), "cannot go to standard output")
