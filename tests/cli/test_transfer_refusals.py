# SPDX-License-Identifier: MIT
"""What `receive`, `send` and `get` say where they cannot do anything."""

import os
import socket
import subprocess
import time

from program import JOUST, PATIENCE_S, Server, long, run, with_few_processes
from transferring import Receiver, TransferCase, wait_for

SILENT = "another program listens there, or all connections that the server takes are in use"


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
        ):
            self.assertEqual(run(*words).returncode, 2, words)

    def test_what_can_never_be_sent_is_no_reason_to_try_again(self):
        self.make("tree/a\nb", 10)
        for _ in range(2):
            with Receiver(self.path("in")) as receiver:
                done = run("send", "-r", self.path("tree"), receiver.address)
            self.assertEqual(done.returncode, 1)
            self.assertIn("the name has a control character; rename it", done.stderr)
            self.assertIn("not complete: what was not sent cannot be sent as it is", done.stderr)
            self.assertNotIn("the same command", done.stderr)
            self.make("tree/good", 10)

    def test_a_time_that_cannot_be_kept_is_refused(self):
        file, tree = self.make("tree/file", 10), self.path("tree")
        self.make("tree/good", 10)
        for years in (400, -400):
            os.utime(file, (years * 31_556_952,) * 2)
            if os.stat(file).st_mtime != years * 31_556_952:
                self.skipTest("the file system has no such times")
            self.refused(run("send", file, "127.0.0.1:1"), "file: was changed before 1678 or after 2262")
            with Receiver(self.path("in")) as receiver:
                done = run("send", "-r", tree, receiver.address, "--overwrite")
                self.assertEqual(done.returncode, 1)
                self.assertIn("tree/file: was changed before 1678 or after 2262", done.stderr)
                self.assertEqual(os.listdir(self.path("in/tree")), ["good"])
            with Receiver(tree) as receiver:
                done = run("get", f"{receiver.address}/file", "-o", self.path("got"))
                self.assertEqual(done.returncode, 1)
                self.assertIn("was changed before 1678 or after 2262", done.stderr)
                self.assertFalse(os.path.exists(self.path("got")))

    def test_a_file_on_which_something_is_mounted_is_refused_at_once(self):
        mount = 'mount --bind "$0" "$1" && shift && exec "$@"'
        file, there = self.make("file", 10), self.make("in/file", 20)
        large = self.make("large", 20_000_000)
        self.make("in/large", 30)
        for source, place in ((file, there), (large, self.path("in/large"))):
            alone = ["unshare", "-m", "sh", "-c", mount, place, place]
            if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
                self.skipTest("no mounts here")
            with Receiver(self.path("in"), program=(*alone, JOUST)) as receiver:
                begun = time.monotonic()
                done = run("send", source, receiver.address, "--overwrite")
                self.assertLess(time.monotonic() - begun, 60, "a file that is being received is waited for")
            self.assertEqual(done.returncode, 1)
            self.assertIn("something is mounted on it", done.stderr)

    def test_a_receiver_says_that_its_directory_was_replaced(self):
        file = self.make("file", 10)
        with Receiver(self.path("in")) as receiver:
            os.rename(self.path("in"), self.path("moved"))
            os.mkdir(self.path("in"))
            self.assertEqual(run("send", file, receiver.address).returncode, 0)
            receiver.stop()
            self.assertIn("has led to another directory meanwhile", receiver.process.stderr.read())
        self.assertEqual(os.listdir(self.path("moved")), ["file"])

    def test_what_is_left_out_fills_no_screen(self):
        self.make("tree/file", 10)
        for count in (20, 23):
            for i in range(count):
                if not os.path.lexists(self.path(f"tree/{i}")):
                    os.symlink("nowhere", self.path(f"tree/{i}"))
            with Receiver(self.path("in")) as receiver:
                told = self.tell("send", "-r", self.path("tree"), receiver.address)
            lines = self.said.splitlines()
            self.assertEqual(len([line for line in lines if line.endswith(": a symbolic link")]), 20)
            self.assertEqual(lines[20:], ["joust: left out: and 3 more"] if count > 20 else [])
            self.assertEqual(len(told["notes"]), count, "all of them are in the result")

    def test_a_result_that_cannot_be_written_is_found_before_anything_moves(self):
        file = self.make("file", 10)
        with Receiver(self.path("in")) as receiver:
            for command in (["send", file, receiver.address], ["get", f"{receiver.address}/in", "-o", file]):
                for json, words in (
                    (self.path("no/such.json"), "cannot be written: No such file or directory"),
                    (self.directory, "cannot be written: Is a directory"),
                    ("", "--json: the value is empty"),
                    (file, "this run uses that file itself"),
                ):
                    self.refused(run(*command, "--json", json), words)
            self.assertEqual(receiver.stop()["connections"]["accepted"], 0)

    def test_a_result_that_can_no_longer_be_written_takes_no_summary_away(self):
        file = self.make("file", 2_000_000)
        os.mkdir(self.path("results"))
        with Receiver(self.path("in")) as receiver:
            sending = self.start("send", file, receiver.address, "--limit", "1MB",
                                 "--json", self.path("results/json"))  # fmt: skip
            wait_for(lambda: os.listdir(self.path("in")), sending)
            os.rmdir(self.path("results"))
            printed, said = sending.communicate(timeout=PATIENCE_S)
        self.assertEqual(sending.returncode, 1)
        self.assertIn("sent ", printed)
        self.assertIn("results/json: cannot be written: No such file or directory", said)
        self.same(file, self.path("in/file"))

    def test_a_lost_standard_output_takes_no_transfer_away(self):
        file = self.make("file", 10)
        self.make("tree/a", 10)
        self.make("tree/b", 10)
        self.make("in/tree/a", 10, 2)
        with Receiver(self.path("in")) as receiver:
            for words, lines in (
                (["send", file, receiver.address], ["all is there: sent .*file: 10 B in .*"]),
                (["send", file, receiver.address, "--json", "-"],
                 ["all is there: sent .*; 1 file was there already"]),
                (["get", receiver.address + "/file", "-o", self.path("out/file"), "--progress", "json"],
                 ["all is there: fetched file: 10 B in .*"]),
                (["send", "-r", self.path("tree"), receiver.address],
                 ["tree/a: exists on the server.*", "not complete; what is there is kept.*", "  .*send.*",
                  "sent 1 file: 10 B in .*; 1 file failed"]),
            ):  # fmt: skip
                with self.subTest(words=words), open("/dev/full", "w", encoding="ascii") as full:
                    done = subprocess.run([JOUST, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                          timeout=PATIENCE_S, check=False)  # fmt: skip
                    self.assertEqual(done.returncode, 1, done.stderr)
                    said = [line.removeprefix("joust: ") for line in done.stderr.splitlines()]
                    self.assertEqual(len(said), len(lines) + 1, done.stderr)
                    for line, expected in zip(said, [*lines, "standard output: cannot be written"]):
                        self.assertRegex(line, f"^{expected}$")

    def test_an_address_that_is_none_is_told_the_right_form(self):
        file = self.make("file", 10)
        for command in (["get", "http://host:80/path"], ["send", file, "http://host:80/path"]):
            self.refused(run(*command), "is a URL; without http:// it is the address", ": host:80/path")
        for without in ("127.0.0.1:1", "127.0.0.1:1/"):
            self.refused(run("get", without), "which file? Say HOST:PORT/PATH")
        new = self.path("new") + "/"
        self.refused(run("get", "127.0.0.1:1/a/file", "-o", new), "there is no such directory; make it",
                     f"-o {new}file")  # fmt: skip
        there = self.path("in") + "/"
        self.refused(run("get", "127.0.0.1:1/file", "-o", there), f"-o {there}file")

    def test_arguments_in_another_order_are_told_the_right_one(self):
        file, address = self.make("file", 10), "127.0.0.1:1/to"
        for words, right in (
            (["send", address, file], f"the address comes last: joust send {file} {address}\n"),
            (["send", "-r", file, address, file], f"joust send -r {file} {file} {address}\n"),
            (["send", "unix:/s", file], f"joust send {file} unix:/s\n"),
            (["get", address, file], f"by -o: joust get {address} -o {file}\n"),
            (["get", file, address], f"by -o: joust get {address} -o {file}\n"),
            (["get", file, "-o", address], f"by -o: joust get {address} -o {file}\n"),
            (["get", address, file, "more"], "get takes one file, HOST:PORT/PATH"),
            (["get"], "get HOST:PORT/PATH, or unix:SOCKET//PATH: which file?"),
        ):
            with self.subTest(words=words):
                self.refused(run(*words), right)
        with Receiver(self.path("in")) as receiver:  # a file may look like an address
            self.make("out/host:1", 10)
            sending = self.start("send", "host:1", receiver.address)
            self.assertEqual((sending.communicate(timeout=PATIENCE_S)[1], sending.returncode), ("", 0))

    def test_two_that_write_one_file_are_told_apart(self):
        self.make("in/file", 3_000_000)
        with Receiver(self.path("in")) as receiver:
            get = ("get", f"{receiver.address}/file", "-o", self.path("out/file"))
            first = self.start(*get, "--limit", "1MB")
            wait_for(lambda: os.listdir(self.path("out")), first)
            self.tell(*get, code=1)
            self.assertIn("another process may be writing that file", self.said)
            first.communicate(timeout=PATIENCE_S)
        self.assertEqual(first.returncode, 0)
        self.same(self.path("in/file"), self.path("out/file"))

    @staticmethod
    def receive_with(open_files, *arguments):
        limited = ("-c", f'ulimit -n {open_files} && exec timeout -s INT 5 "$0" "$@"', JOUST)
        return run(*limited, "receive", *arguments, program="sh")

    def test_a_receiver_with_few_descriptors_says_what_they_allow(self):
        for engine in ("epoll", "threads", "io-uring"):
            with self.subTest(engine):
                for few in (10, 16):
                    done = self.receive_with(few, "--into", self.path("in"), "-e", engine, "-t", 2)
                    self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                    self.assertIn(f"{few} open files (ulimit -n) are too few: one ", done.stderr)
        some = self.receive_with(100, "--into", self.path("in"), "-t", 1)
        self.assertIn("100 open files (ulimit -n) allow 6 connections at a time", some.stderr)
        self.assertIn("listening on", some.stdout)

    def test_a_directory_that_cannot_be_written_to_is_said_at_the_start(self):
        folder = self.path("closed")
        os.mkdir(folder, 0o555)
        os.chmod(self.directory, 0o755)
        program = [JOUST] if os.geteuid() else with_few_processes(10)  # as somebody who is not root
        done = run("receive", "--into", folder, program=["timeout", "5", *program])
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn(f"--into {folder}: nothing can be written there: Permission denied", done.stderr)

    def test_a_wrong_value_is_told_as_load_tells_it(self):
        receive = ["receive", "--into", self.path("in")]
        get, send = ["get", "127.0.0.1:1/a"], ["send", self.make("file", 1), "127.0.0.1:1"]
        for command, option, value, words in (
            (get, "-c", "", "-c,--connections: '' is not a number"),
            (send, "-c", "abc", "-c,--connections: 'abc' is not a number"),
            (get, "-c", "-1", "-c,--connections: '-1' is negative"),
            (send, "-c", "0", "-c,--connections: 0 is not between 1 and 256, and not auto"),
            (get, "-c", "9" * 20, "is too large"),
            (send, "--limit", "", "--limit: '' is not a number"),
            (get, "--limit", "0", "--limit: 0 is not between"),
            (get, "--limit", "-1", "--limit: '-1' is negative"),
            (send, "--retries", "1001", "--retries: 1001 is not between 0 and 1000"),
            (get, "-e", "", "-e,--engine: the value is empty"),
            (send, "-e", "", "-e,--engine: the value is empty"),
            (receive, "-e", "", "-e,--engine: the value is empty"),
            (receive, "-t", "-1", "-t,--threads: '-1' is negative"),
        ):
            self.refused(run(*command, option, value), words)

    def test_files_are_received_by_three_engines(self):
        for engine in ("processes", "qt-pool", "poll"):
            done = run("receive", "--into", self.path("in"), "-e", engine)
            self.refused(done, f"-e {engine}: files are received by epoll, io-uring, threads")
        self.refused(run("receive", "-e", "epol"), "epoll")
        self.assertIn("epoll, io-uring, threads", run("receive", "--help").stdout)

    def test_nobody_there_is_said_at_once(self):
        file = self.make("file", 10)
        told = self.tell("send", file, "127.0.0.1:1", code=1)
        self.assertIn("Connection refused", told["complaints"][0])
        self.tell("get", "127.0.0.1:1/file", code=1)
        with Receiver(self.path("in")) as receiver:
            self.tell("get", f"{receiver.address}/nothing", code=1)
            self.assertIn("not found", self.said)

    @long
    def test_a_listener_that_never_answers_is_not_waited_for(self):
        file = self.make("file", 10)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = "127.0.0.1:%d" % listener.getsockname()[1]
            began = time.monotonic()
            for each in [self.start("send", file, address, "--retries", 0),
                         self.start("get", f"{address}/file", "--retries", 0)]:  # fmt: skip
                said = each.communicate(timeout=60)[1]
                self.assertEqual(each.returncode, 1)
                self.assertIn(f"{address}: no answer within 10.0 s: {SILENT}", said)
            self.assertLess(time.monotonic() - began, 25)
            told = self.start("get", f"{address}/file")  # its connections are silent together, twice
            self.assertEqual(told.wait(timeout=60), 1)
            self.assertLess(time.monotonic() - began, 55)

    def test_a_server_without_room_is_not_taken_for_none(self):
        file = self.make("file", 10)
        with Server("-p", "file", "--max-connections", 1) as server:
            host, port = server.address.rsplit(":", 1)
            with socket.create_connection((host, int(port))):
                done = run("send", file, server.address, "--retries", 0)
                self.assertEqual(done.returncode, 1)
                self.assertIn("are all its connections in use?", done.stderr)
                time.sleep(1.1)
                done = run("send", file, server.address, "-c", 1)
                self.assertEqual(done.returncode, 0, "the other one is idle: " + done.stderr)

    def test_an_empty_name_is_no_directory(self):
        self.refused(run("receive", "--into", ""), "--into: the value is empty")
        self.refused(run("receive", "--into", self.path("none")), "--into: open the directory")
        self.refused(run("get", "127.0.0.1:1/a", "-o", ""), "--output: the value is empty")
