# SPDX-License-Identifier: MIT
"""The words in which `receive`, `send` and `get` tell what happened, to what, and what to do about it."""

import json
import os
import socket
import threading
import unittest

from program import PATIENCE_S, Server, run
from transferring import Receiver, TransferCase


class Words(TransferCase):
    def failed(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_names_that_no_terminal_shows_are_told_apart(self):
        os.mkdir(self.path("tree"))
        for name in (b"\x1b", b"\x07", b"\xff", b"\xfe", b"\\x07\n"):
            with open(os.path.join(os.fsencode(self.path("tree")), name), "wb"):
                pass
        shown = (r"tree/\x1b", r"tree/\x07", r"tree/\xff", r"tree/\xfe", r"tree/\\x07\x0a")
        with Receiver(self.path("in")) as receiver:
            done = run("send", "-r", self.path("tree"), receiver.address, "--json", self.path("result"))
        with open(self.path("result"), encoding="utf-8") as text:
            complaints = json.load(text)["complaints"]
        self.failed(done)
        self.assertEqual(len(complaints), len(shown))
        for name in shown:
            self.assertIn(self.path(name) + ": cannot be sent: ", done.stderr)
            self.assertTrue(any(self.path(name) + ": " in each for each in complaints), complaints)

    def test_the_command_that_goes_on_is_one_for_a_shell(self):
        os.mkdir(self.path("tree"))
        source = self.path("tree/it's \x1b\\")
        self.make(source, 10)
        self.make("tree/good", 10)
        with Receiver(self.path("in")) as receiver:
            done = run("send", "-r", source, self.path("tree"), receiver.address)
            self.refused(done, r"it's \x1b\\: cannot be sent: the name has a control character")
            self.make("in/good", 20)
            done = run("send", self.path("tree/good"), self.make("new", 10), receiver.address,
                       "--json", self.path("it's \x1b\\"))  # fmt: skip
        self.failed(done, "--json $'" + self.path("") + r"it\'s \x1b\\'")

    def test_a_long_name_is_told_once(self):
        deep = "tree" + 5 * ("/" + 250 * "n")
        self.make(f"{deep}/file", 10)
        with Receiver(self.path("in")) as receiver:
            done = run("send", "-r", self.path("tree"), receiver.address)
        self.failed(done, "the name is longer than 1024 bytes; rename it")
        self.assertEqual(done.stderr.count(deep), 1, done.stderr)
        long = self.path(300 * "n")
        self.assertEqual(run("get", "127.0.0.1:1/file", "-o", f"{long}/file").stderr.count(long), 1)

    def test_who_is_not_asked_is_said(self):
        os.makedirs(self.path("tree/empty"))
        nobody = "127.0.0.1:1"
        said = f"there is nothing to send, so {nobody} is not asked for anything"
        told = self.tell("send", "-r", self.path("tree/empty") + "/.", nobody)
        self.assertEqual((told["connections"], told["notes"]), (0, [said]))
        self.assertIn(said, self.said)
        self.tell("send", "-r", self.path("tree"), nobody, code=1)
        self.assertNotIn(said, self.said)

    def test_an_empty_name_is_a_usage_error(self):
        self.refused(run("send", "", "127.0.0.1:1"), "'': the name of a file is empty")
        self.refused(run("send", self.make("file", 1), ""), "the server '': the port is missing")
        self.refused(run("get", ""), "'': which file? Say HOST:PORT/PATH")

    def test_what_has_to_be_mended_first_is_said(self):
        for name in ("a", "b"):
            self.make(f"tree/{name}", 10)
        self.make("in/tree/b", 20)
        with Receiver(self.path("in")) as receiver:
            done = run("send", "-r", self.path("tree"), receiver.address)
        self.failed(done, "what is there is kept: mend that, then the same command goes on from there:\n")

    def test_a_path_behind_a_socket_is_told_its_slashes(self):
        file, at = self.make("file", 10), "unix:" + self.path("socket")
        with Receiver(self.path("in"), "--listen", at):
            for words in (("send", file, f"{at}/to/here"), ("get", f"{at}/to/here")):
                self.refused(run(*words), f": {at} is the socket", f"is behind it: {at}//to/here\n")

    def test_an_address_is_in_every_failure_to_reach_it(self):
        file = self.make("file", 10)
        for words in (["127.0.0.1:1"], ["127.0.0.1:1/new", "--retries", 0]):
            self.failed(run("send", file, *words), "connect 127.0.0.1:1: Connection refused")
        nobody = "unix:" + self.path("none")
        self.failed(run("send", file, nobody), f"connect {nobody}: No such file or directory")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(PATIENCE_S)
            address = "127.0.0.1:%d" % listener.getsockname()[1]
            closing = threading.Thread(target=lambda: listener.accept()[0].close())
            closing.start()
            self.failed(run("send", file, address, "--retries", 0), f"joust: {address}: receive: ")
            closing.join()

    def test_another_program_is_told_from_a_receiver(self):
        token, file = self.path("token"), self.make("file", 10)
        self.assertEqual(run("receive", "--new-token", token).returncode, 0)
        with Server("-e", "epoll", "-p", "echo", "--listen", "127.0.0.1:0") as echo:
            for words in (("send", file, echo.address), ("get", f"{echo.address}/file")):
                self.failed(run(*words), f"{echo.address}: what answers there does not speak the file "
                            "protocol, as 'receive' does: is it another program, or another version of "
                            "joust?")  # fmt: skip
                guarded = run(*words, "--token-file", token, "--retries", 0)
                self.failed(guarded, f"{echo.address}: TLS: ", "or where another program answers")

    def test_a_directory_in_the_place_of_a_file_is_told(self):
        small, large = self.make("small", 10), self.make("large", 9 << 20)
        os.makedirs(self.path("in/small"))
        os.makedirs(self.path("in/large"))
        os.makedirs(self.path("out/file"))
        self.make("in/file", 10)
        there = "not a file (a directory has that name)"
        with Receiver(self.path("in")) as receiver:
            for source in (small, large):
                for wish in ((), ("--overwrite",)):
                    done = run("send", source, receiver.address, *wish)
                    self.failed(done, f"{there}; move it away there, or send to another directory")
            self.failed(run("get", f"{receiver.address}/small"), f"{there}; -r fetches a directory")
            self.tell("get", f"{receiver.address}/file", code=1)
            self.assertIn(f"./file: {there}; move it away, or choose another name (-o)", self.said)

    def test_what_is_no_file_is_left_as_it_is(self):
        self.make("in/file", 10)
        os.mkfifo(self.path("pipe"))
        os.symlink("nowhere", self.path("link"))
        with Receiver(self.path("in")) as receiver:
            for name, told in (
                ("/dev/null", "/dev/null is a device; '-o - > /dev/null' writes into it"),
                (self.path("pipe"), "pipe is a named pipe; '-o - > "),
                (self.path("link"), "link is a symbolic link; name the file that it leads to"),
            ):
                for wish in ((), ("--overwrite",)):
                    self.refused(run("get", f"{receiver.address}/file", "-o", name, *wish), told)
        self.assertTrue(os.path.islink(self.path("link")))

    def test_a_file_in_the_place_of_a_directory_is_told(self):
        self.make("tree/file", 10)
        self.make("in/tree", 10)
        mend = " is no directory: move it away, or choose another place)"
        with Receiver(self.path("in")) as receiver:
            done = run("send", "-r", self.path("tree"), receiver.address)
            self.failed(done, "tree: the server says: exists (and" + mend,
                        "tree/file: the server says: not found (what is in its way" + mend)  # fmt: skip


class Receive(TransferCase):
    def greeting(self, *words):
        receiver = self.start("receive", "--into", self.path("in"), *words)
        line = receiver.stdout.readline()
        receiver.terminate()
        _, self.said = receiver.communicate(timeout=PATIENCE_S)
        self.assertEqual(receiver.returncode, 0, self.said)
        return line

    def test_all_addresses_are_said(self):
        line = self.greeting("--listen", "localhost:0")
        names = {address[0] for *_, address in socket.getaddrinfo("localhost", 0, type=socket.SOCK_STREAM)}
        if names == {"127.0.0.1", "::1"} and "not listening on" not in self.said:
            either = r"(127\.0\.0\.1|\[::1\])"  # in the order of the system's lookup
            self.assertRegex(line, rf"^listening on {either}:(\d+) and (?!\1){either}:\2 with ")
        token = self.path("token")
        self.assertEqual(run("receive", "--new-token", token).returncode, 0)
        line = self.greeting("--listen", "*:0", "--public", "--token-file", token)
        if "not listening on" not in self.said:
            self.assertRegex(line, r"^listening on 0\.0\.0\.0:(\d+) and \[::\]:\1 with ")


if __name__ == "__main__":
    unittest.main()
