# SPDX-License-Identifier: MIT
"""`send -` and `get -o -`: standard input and standard output."""

import json
import os
import signal
import struct
import subprocess

from frames import DATA, FRAGMENT, QUERY, frame, head
from lying import END, Liar, facts
from program import JOUST, PATIENCE_S
from transferring import RANGE, Proxy, Receiver, TransferCase, wait_for


class Streams(TransferCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("temporary"))

    def piped(self, *words, given=b"", code=0, stdin=None):
        """Runs joust with these bytes as its input. Returns its output; what it says is in self.said."""
        done = subprocess.run([JOUST, *map(str, words)], capture_output=True, timeout=PATIENCE_S, check=False,
                              env={**os.environ, "TMPDIR": self.path("temporary")},
                              **({"stdin": stdin} if stdin else {"input": given}))  # fmt: skip
        self.said = done.stderr.decode()
        self.assertEqual(done.returncode, code, self.said)
        self.assertEqual(os.listdir(self.path("temporary")), [])
        return done.stdout

    def test_what_goes_in_comes_out(self):
        with Receiver(self.path("in")) as receiver:
            for size in (0, 1, 100_000, RANGE, 2 * RANGE + 5):
                given = os.urandom(size)
                self.piped("send", "-", f"{receiver.address}/a/{size}", given=given)
                with open(self.path(f"in/a/{size}"), "rb") as file:
                    self.assertTrue(file.read() == given)
                got = self.piped("get", f"{receiver.address}/a/{size}", "-o", "-", "-c", 3)
                self.assertTrue(got == given)
                self.assertIn(f"fetched a/{size}: ", self.said)
            self.piped("send", "-", f"{receiver.address}/a/0", given=b"x", code=1)
            self.assertIn("exists on the server", self.said)
            self.piped("send", "-", f"{receiver.address}/a/0", "--overwrite", given=b"x")
            mask = os.umask(0)
            os.umask(mask)
            self.assertEqual(os.stat(self.path("in/a/0")).st_mode & 0o777, 0o666 & ~mask)

    def test_a_file_as_input_is_sent_as_it_is(self):
        path = self.make("file", 3 * RANGE)
        with Receiver(self.path("in")) as receiver:
            with open(path, "rb") as file:
                self.piped("send", "-", f"{receiver.address}/whole", stdin=file)
            with open(path, "rb") as file:
                file.seek(2 * RANGE)
                self.piped("send", "-", f"{receiver.address}/rest", stdin=file)
        self.same(path, self.path("in/whole"))
        self.assertEqual(os.path.getsize(self.path("in/rest")), RANGE)

    def test_input_needs_a_name_and_goes_by_itself(self):
        for words, why in ((["-", "a:1"], "say one: a:1/NAME"), (["-", "a:1/dir/"], "say one: a:1/dir/NAME"),
                           (["-", "x", "a:1/n"], "cannot be sent together with files"),
                           (["-r", "-", "a:1/n"], "cannot be sent together with files")):
            self.assertEqual(self.piped("send", *words, code=2), b"")
            self.assertIn(why, self.said)

    def test_a_temporary_directory_that_is_full_is_told(self):
        environment = {**os.environ, "TMPDIR": self.path("none")}
        done = subprocess.run([JOUST, "send", "-", "127.0.0.1:1/x"], input=b"x", capture_output=True,
                              check=False, env=environment, timeout=PATIENCE_S)  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn("set TMPDIR to another directory", done.stderr.decode())
        done = subprocess.run([JOUST, "get", "127.0.0.1:1/x", "-o", "-"], capture_output=True, check=False,
                              env=environment, timeout=PATIENCE_S)  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"cannot be kept in {environment['TMPDIR']}", done.stderr.decode())
        self.assertIn("set TMPDIR to another directory", done.stderr.decode())

    def test_nothing_else_is_on_the_output(self):
        self.make("in/file", 1000)
        with Receiver(self.path("in")) as receiver:
            at = f"{receiver.address}/file"
            for words in (["--json", "-"], ["--progress", "json"]):
                self.assertEqual(self.piped("get", at, "-o", "-", *words, code=2), b"")
                self.assertIn("standard output is the file's", self.said)
            self.assertEqual(self.piped("get", at, "-o", "-", "--dry-run"), b"")
            self.assertEqual(self.piped("get", f"{receiver.address}/none", "-o", "-", code=1), b"")
            self.assertIn("none: the server says: not found", self.said)
            result = self.path("result.json")
            self.assertEqual(len(self.piped("get", at, "-o", "-", "--json", result)), 1000)
            with open(result, encoding="utf-8") as file:
                self.assertTrue(json.load(file)["complete"])

    def test_an_output_that_cannot_be_written_is_no_success(self):
        self.make("in/file", 1_000_000)
        with Receiver(self.path("in")) as receiver, open("/dev/full", "wb") as full:
            command = [JOUST, "get", f"{receiver.address}/file", "-o", "-"]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False,
                                  timeout=PATIENCE_S)  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output: cannot be written", done.stderr.decode())

    def test_what_is_closed_is_told(self):
        for words, why in ((("send", "-", "127.0.0.1:1/x"), "standard input is closed"),
                           (("get", "127.0.0.1:1/x", "-o", "-"), "standard output is closed")):  # fmt: skip
            number = 0 if words[0] == "send" else 1
            done = subprocess.run([JOUST, *words], stderr=subprocess.PIPE, check=False, timeout=PATIENCE_S,
                                  preexec_fn=lambda number=number: os.close(number))  # fmt: skip
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr.decode())

    def test_wrong_bytes_never_reach_the_output(self):
        def answer(peer, kind, request, body):
            if kind == QUERY:
                peer.sendall(facts(request, 4, b"x" * 16, 0o644))
            elif kind == FRAGMENT:
                peer.sendall(facts(request, 4, mode=0o644) + head(DATA, request, 4) + b"evil")
                peer.sendall(frame(END, request, struct.pack(">Q16x", 4)))

        with Liar(answer) as liar:
            self.assertEqual(self.piped("get", f"{liar.address}/file", "-o", "-", code=1), b"")
        self.assertIn("digest differs", self.said)
        self.assertIn("nothing was written to standard output", self.said)

    def test_lost_connections_change_nothing(self):
        path = self.make("in/file", 3 * RANGE)

        def harm(number, to_server, at, data):
            return None if number < 3 and not to_server and at > 5_000_000 else data

        with Receiver(self.path("in")) as receiver, Proxy(receiver.address, harm) as proxy:
            got = self.piped("get", f"{proxy.address}/file", "-o", "-")
        with open(path, "rb") as file:
            self.assertTrue(file.read() == got)

    def test_an_interruption_writes_nothing_and_leaves_nothing(self):
        self.make("in/file", 20_000_000)
        temporary = self.path("temporary")
        with Receiver(self.path("in")) as receiver:
            command = [JOUST, "get", f"{receiver.address}/file", "-o", "-", "--limit", "2MB"]
            getting = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={**os.environ, "TMPDIR": temporary})  # fmt: skip
            wait_for(lambda: any(files for _, _, files in os.walk(temporary)), getting)
            getting.send_signal(signal.SIGINT)
            got, said = getting.communicate(timeout=PATIENCE_S)
        self.assertEqual((got, getting.returncode), (b"", 1), said)
        self.assertIn(b"interrupted: nothing was written to standard output", said)
        self.assertEqual(os.listdir(temporary), [])

    def test_dashes_with_a_path_are_files(self):
        with open(self.path("out/-"), "wb") as file:
            file.write(b"dash")
        with Receiver(self.path("in")) as receiver:
            self.tell("send", "./-", receiver.address)
            self.tell("get", f"{receiver.address}/-", "-o", "./copy")
            self.tell("get", f"{receiver.address}/-", "-o", "./-", "--overwrite")
        self.same(self.path("in/-"), self.path("out/copy"))
