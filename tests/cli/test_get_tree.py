# SPDX-License-Identifier: MIT
"""`get -r`: a directory of a server, as a user fetches it, and from servers that lie."""

import os
import signal
import stat
import struct
import subprocess

from frames import DATA, FRAGMENT, QUERY, frame, head
from lying import END, LIST, Liar, entries, error, facts, listed, name_of
from program import PATIENCE_S, Server, run
from transferring import RANGE, Proxy, Receiver, TransferCase, partial_bytes, wait_for


class Tree(TransferCase):
    def mode(self, name):
        return stat.S_IMODE(os.stat(self.path(name)).st_mode)

    def tree(self):
        for name in ("a/b/deep", "a/plain", "with blanks/x", "empty file"):
            self.make("in/tree/" + name, 0 if "empty" in name else 1000 + len(name))
        self.make("in/tree/large", 3 * RANGE + 7)
        for name, mode in (("none", 0o755), ("a/none", 0o700), ("closed", 0o500), ("closed/in", 0o711)):
            os.makedirs(self.path("in/tree/" + name), exist_ok=True)
            if name != "closed":
                os.chmod(self.path("in/tree/" + name), mode)
        self.make("in/tree/closed/file", 10)
        os.chmod(self.path("in/tree/closed"), 0o500)
        os.chmod(self.path("in/tree/a"), 0o751)
        os.chmod(self.path("in/tree/a/plain"), 0o604)
        os.utime(self.path("in/tree/a/plain"), ns=(1, 1_000_000_000_123_456_789))
        os.chmod(self.path("in/tree"), 0o750)

    def same_trees(self, one, other):
        command = ["diff", "-r", self.path(one), self.path(other)]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((told.returncode, told.stdout + told.stderr), (0, ""))

    def test_a_tree_comes_with_its_directories_modes_and_times(self):
        self.tree()
        for fsync, connections in (("on", 1), ("off", 3)):
            with self.subTest(fsync), Receiver(self.path("in")) as receiver:
                back = self.path(f"back{connections}")
                words = ("-o", back, "--fsync", fsync, "-c", connections)
                told = self.tell("get", "-r", f"{receiver.address}/tree", *words)
                self.assertEqual(self.said, "")
                self.assertEqual(told["files"], {"stored": 6, "directories": 3, "skipped": 0, "failed": 0})
                self.same_trees("in/tree", back)
                for name in ("", "a", "a/plain", "none", "a/none", "closed", "closed/in"):
                    self.assertEqual(self.mode(f"{back}/{name}"), self.mode("in/tree/" + name), name)
                self.assertEqual(os.stat(f"{back}/a/plain").st_mtime_ns, 1_000_000_000_123_456_789)
                self.assertEqual(self.hidden(back), [])

    def test_any_stream_engine_does_it_on_either_side(self):
        self.tree()
        for engine in ("poll", "threads", "io-uring", "asio-pool", "coroutines"):
            back = self.path("back-" + engine)
            serve = ("-e", engine, "-p", "file", "--root", self.path("in"))
            with self.subTest(engine), Server(*serve) as server:
                self.tell("get", "-r", f"{server.address}/tree", "-o", back, "-e", engine, "-c", 3)
                self.same_trees("in/tree", back)

    def test_it_is_what_send_has_sent(self):
        self.tree()
        with Receiver(self.path("out")) as receiver:
            self.tell("send", "-r", self.path("in/tree"), receiver.address)
            self.tell("get", "-r", f"{receiver.address}/tree", "-o", self.path("back"))
        self.same_trees("in/tree", "back")

    def test_the_same_command_again_fetches_what_is_missing(self):
        self.tree()
        with Receiver(self.path("in")) as receiver:
            get = ("get", "-r", f"{receiver.address}/tree")
            self.tell(*get)
            for more in ((), ("--skip-existing",), ("--overwrite",), ("-c", 1)):
                told = self.tell(*get, *more)
                self.assertEqual((told["files"]["stored"], told["files"]["skipped"]), (0, 6), more)
                self.assertEqual(told["bytes"]["moved"], 0)
            os.remove(self.path("out/tree/a/plain"))
            other = self.make("out/tree/a/b/deep", 5)
            told = self.tell(*get, code=1)
            self.assertEqual(told["files"], {"stored": 1, "directories": 0, "skipped": 4, "failed": 1})
            self.assertIn("tree/a/b/deep: exists, and is another file; --overwrite", self.said)
            self.assertEqual(os.path.getsize(other), 5)
            self.tell(*get, "--skip-existing")
            self.tell(*get, "--overwrite")
        self.same_trees("in/tree", "out/tree")

    def test_an_interrupted_fetch_is_gone_on_with(self):
        self.make("in/tree/large", 60_000_000)
        for i in range(20):
            self.make(f"in/tree/small/{i}", 1000 + i)
        with Receiver(self.path("in")) as receiver:
            command = ("get", "-r", f"{receiver.address}/tree", "-c", 2)
            for ending in (signal.SIGKILL, signal.SIGINT):
                process = self.start(*command, "--limit", "30MB")
                wait_for(lambda: partial_bytes(self.path("out/tree")) > 4_000_000, process)
                process.send_signal(ending)
                process.communicate(timeout=PATIENCE_S)
            told = self.tell(*command)
            self.assertGreater(told["bytes"]["there_before"], 0)
        self.same_trees("in/tree", "out/tree")
        self.assertEqual(self.hidden("out"), [])

    def test_lost_connections_lose_nothing(self):
        for i in range(100):
            self.make(f"in/tree/{i % 9}/{i}", i * 100)

        def harm(number, to_server, at, data):
            return None if number < 4 and not to_server and at + len(data) > 3000 * (number + 1) else data

        with Receiver(self.path("in")) as receiver, Proxy(receiver.address, harm) as proxy:
            told = self.tell("get", "-r", f"{proxy.address}/tree", "-c", 2)
        self.assertEqual(told["files"]["stored"], 100)
        self.assertGreater(told["connections"], 2)
        self.same_trees("in/tree", "out/tree")

    def test_everything_may_be_fetched_and_a_file_too(self):
        self.tree()
        with Receiver(self.path("in")) as receiver:
            self.refused(run("get", "-r", receiver.address), "say one: -o DIR")
            self.refused(run("get", "-r", f"{receiver.address}/tree", "-o", "-"), "a directory cannot go")
            self.tell("get", "-r", receiver.address, "-o", self.path("all/"))
            self.same_trees("in", "all")
            self.tell("get", "-r", f"{receiver.address}/tree/large", "-o", self.path("one"))
            self.same(self.path("in/tree/large"), self.path("one"))
            self.tell("get", "-r", f"{receiver.address}/none", code=1)
            self.assertIn("none: the server says: not found", self.said)
            done = run("get", f"{receiver.address}/tree", "-o", self.path("x"))
            self.assertIn("-r fetches a directory", done.stderr)

    def test_a_rehearsal_makes_nothing(self):
        self.tree()
        with Receiver(self.path("in")) as receiver:
            done = run("get", "-r", f"{receiver.address}/tree", "-o", self.path("back"), "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"directory  tree/a/none -> {self.path('back')}/a/none\n", done.stdout)
        self.assertIn("  tree/a/b/deep -> ", done.stdout)
        self.assertIn("6 files, 25.2 MB: nothing was fetched\n", done.stdout)
        self.assertFalse(os.path.exists(self.path("back")))

    def test_what_is_in_the_way_is_told_and_stays(self):
        self.tree()
        os.mkdir(self.path("out/tree"))
        self.make("out/tree/a", 3)
        os.symlink(self.path("in"), self.path("out/tree/none"))
        with Receiver(self.path("in")) as receiver:
            told = self.tell("get", "-r", f"{receiver.address}/tree", code=1)
            self.assertIn("tree/a: exists (and is no directory: move it away", self.said)
            self.assertIn("tree/none: exists (and is no directory", self.said)
            self.assertEqual(told["files"]["stored"], 4)
            self.refused(run("get", "-r", f"{receiver.address}/tree", "-o", self.path("out/tree/a")),
                         "is no directory; move it away")  # fmt: skip
        self.assertEqual(os.path.getsize(self.path("out/tree/a")), 3)

    def test_links_here_are_not_followed(self):
        self.make("in/tree/a/secret", 10)
        os.makedirs(self.path("out/tree"))
        os.mkdir(self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), self.path("out/tree/a"))
        with Receiver(self.path("in")) as receiver:
            self.tell("get", "-r", f"{receiver.address}/tree", "--overwrite", code=1)
        self.assertEqual(os.listdir(self.path("elsewhere")), [])

    def test_links_there_are_left_out_and_told(self):
        self.make("in/tree/file", 10)
        os.symlink("/etc", self.path("in/tree/link"))
        with Receiver(self.path("in")) as receiver:
            told = self.tell("get", "-r", f"{receiver.address}/tree")
        self.assertEqual(os.listdir(self.path("out/tree")), ["file"])
        self.assertIn("left out: 1 name on the server", told["notes"][0])

    def test_a_limit_is_kept(self):
        for i in range(4):
            self.make(f"in/tree/{i}", 2_000_000)
        with Receiver(self.path("in")) as receiver:
            told = self.tell("get", "-r", f"{receiver.address}/tree", "--limit", "8MB")
        self.assertGreater(told["seconds"], 0.7)
        self.same_trees("in/tree", "out/tree")


class Liars(TransferCase):
    """Whatever a server says, nothing comes to be outside of the directory that was named."""

    def fetched(self, answer):
        with Liar(answer) as liar:
            done = run("get", "-r", f"{liar.address}/top", "-o", self.path("out/top"), "--retries", 1)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(sorted(os.listdir(self.directory)), ["in", "out"])
        self.assertIn(os.listdir(self.path("out")), ([], ["top"]))
        return done.stderr

    def test_names_that_lead_elsewhere_make_nothing(self):
        for name in ("..", "/etc/x", "a/../../b", "../x", "a/b", "a\nb", "\x1b[2J", ".joust-x", b"\xff", ""):
            for is_folder in (False, True):
                with self.subTest(name, is_folder=is_folder):
                    found = [("right", False, 5), (name, is_folder, 5)]
                    said = self.fetched(lambda peer, kind, request, body, found=found: peer.sendall(
                        listed(request, found)))  # fmt: skip
                    self.assertIn("the server's list of top is not to be trusted", said)
                    self.assertEqual(os.listdir(self.path("out")), [])

    def test_ten_million_entries_have_an_end(self):
        def answer(peer, kind, request, body):
            peer.sendall(facts(request))
            for first in range(0, 10_000_000, 10_000):
                found = ((f"{i:08}", False, 1) for i in range(first, first + 10_000))
                peer.sendall(entries(request, found))

        self.assertIn("more than 1,000,000 files and directories", self.fetched(answer))

    def test_directories_without_an_end_have_one(self):
        said = self.fetched(lambda peer, kind, request, body: peer.sendall(listed(request, [("a", True, 0)])))
        self.assertIn("more than 100 directories in one another", said)

    def test_a_file_that_was_a_directory_is_told(self):
        def answer(peer, kind, request, body):
            if kind == LIST and name_of(kind, body) == "top":
                peer.sendall(listed(request, [("a", True, 0)]))
            else:
                peer.sendall(error(request, 1))

        said = self.fetched(answer)
        self.assertIn("top/a: the server says: not found", said)
        self.assertNotIn("sent", said)

    def test_a_name_that_is_a_file_and_a_directory_is_refused(self):
        said = self.fetched(lambda peer, kind, request, body: peer.sendall(
            listed(request, [("a", True, 0), ("a", False, 5)])))  # fmt: skip
        self.assertIn("it has 'a' twice", said)

    def test_sizes_that_no_disk_has_are_told(self):
        said = self.fetched(lambda peer, kind, request, body: peer.sendall(
            listed(request, [("a", False, 1 << 61)]) if kind == LIST else facts(request, 1 << 61, b"x" * 16)))
        self.assertIn("top/a: no space", said)
        said = self.fetched(lambda peer, kind, request, body: peer.sendall(
            listed(request, [("a", False, (1 << 64) - 1)])))  # fmt: skip
        self.assertIn("the files have more than", said)

    def test_bytes_that_are_not_the_announced_ones_get_no_name(self):
        def answer(peer, kind, request, body):
            if kind == LIST:
                peer.sendall(listed(request, [("a", False, 4)]))
            elif kind == QUERY:
                peer.sendall(facts(request, 4, b"x" * 16, 0o644))
            elif kind == FRAGMENT:
                data = head(DATA, request, 4) + b"evil" + frame(END, request, struct.pack(">Q16x", 4))
                peer.sendall(facts(request, 4, mode=0o644) + data)

        self.assertIn("a: digest differs", self.fetched(answer))
        self.assertEqual(os.listdir(self.path("out/top")), [])
