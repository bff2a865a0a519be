# SPDX-License-Identifier: MIT
"""joust serve and joust load of files, end to end over real sockets."""

import json
import os
import unittest

from program import Case, Server, run

SCHEMA = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "result.schema.json")


def content(size):
    return bytes(i * 7 % 251 for i in range(size))


class File(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("root"))
        with open(self.path("root/text"), "wb") as file:
            file.write(content(300_000))

    def server(self, *more):
        return Server("-p", "file", "--root", self.path("root"), *more)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_a_file_is_fetched(self):
        with self.server() as server:
            plan = ("-p", "file", "--connect", server.address, "-c", 3, "--segments", 5)
            done, result = self.load(*plan, "--name", "text", "--output", self.path("got"))
            stopped = server.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("got"), content(300_000))
        self.assertEqual(result["messages"]["verified"], 5)
        self.assertEqual(result["transfer"]["bytes"], 300_000)
        self.assertEqual(result["transfer"]["transfers"], 1)
        self.assertEqual(len(result["transfer"]["digest"]), 32)
        self.assertEqual(stopped["files"]["fragments"], 5)
        self.assertEqual(stopped["files"]["bytes_sent"], 300_000)
        self.conforms(result["transfer"])

    def conforms(self, transfer):
        try:
            import jsonschema
        except ImportError:
            return
        with open(SCHEMA, encoding="utf-8") as text:
            load = json.load(text)["$defs"]["load"]
        jsonschema.validate(transfer, load["properties"]["transfer"])

    def test_a_file_comes_through_a_ring_where_the_engine_has_one(self):
        plan = ("-p", "file", "--file-write", "writev")
        with open(self.path("root/large"), "wb") as file:
            file.write(content(3_000_000))
        with self.server() as server:
            for engine in ("poll", "threads"):
                done, result = self.load(*plan, "--connect", server.address, "-e", engine, "-c", 3,
                                         "--segments", 5, "--name", "large", "--output", self.path("got"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.read("got"), content(3_000_000))
                self.assertEqual(result["transfer"]["way"], "writev")
        words = "unsupported: no ring buffer (writev) for files: "
        for command in (("load", "--connect", "127.0.0.1:1", "-e", "two-processes"), ("load", "-e", "null"),
                        ("serve", "-e", "two-processes", "--access", "read")):
            done = run(*command, *plan)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
        done = run("race", "--server", "epoll", "--client", "poll,two-processes", *plan, "-m", "1",
                   "--dry-run")
        self.assertEqual(done.stdout.count(words), 1, done.stdout + done.stderr)

    def test_a_file_is_sent_once_and_refused_the_second_time(self):
        with self.server() as server:
            put = ("-p", "file", "--connect", server.address, "--op", "put", "--file", self.path("root/text"))
            done, result = self.load(*put, "--name", "new")
            again, failed = self.load(*put, "--name", "new")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("root/new"), content(300_000))
        self.assertEqual(result["transfer"]["bytes"], 300_000)
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists; 'serve --overwrite' would", again.stderr)
        for rate in ("throughput", "bandwidth", "MB/s"):
            self.assertNotIn(rate, again.stdout)
        self.assertNotIn("mb_per_s", failed["transfer"])
        self.conforms(failed["transfer"])
        self.assertEqual(failed["errors"], {"verify": 1})

    def test_a_load_whose_uploads_are_refused_has_no_rate(self):
        with self.server() as server:
            put = ("-p", "file", "--connect", server.address, "--op", "put", "--bytes", "1MiB")
            done, result = self.load(*put, "--name", "new", "-c", 4, "-d", "300ms")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(result["connections"]["ok"], 0)
        for rate in ("throughput", "bandwidth", "MB/s"):
            self.assertNotIn(rate, done.stdout)
        self.assertNotIn("mb_per_s", result["transfer"])

    def test_a_way_of_the_other_side_is_refused(self):
        load = ("load", "-p", "file", "--connect", "127.0.0.1:1")
        self.refused(run(*load, "--op", "put", "--bytes", "1k", "--file-write", "splice"),
                     "--file-write has no effect on the client: with --op put the server writes the file")
        self.refused(run(*load, "--file-read", "mmap"), "with --op get the server reads the file")
        done = run("load", "-e", "null", "-p", "file", "--file-read", "read")  # both sides
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_file_is_replaced_where_that_is_allowed(self):
        with self.server("--overwrite") as server:
            put = ("-p", "file", "--connect", server.address, "--op", "put", "--bytes", "10k")
            done, result = self.load(*put, "--name", "text", "-m", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["transfer"]["transfers"], 3)
        self.assertEqual(len(self.read("root/text")), 10_000)
        self.assertEqual(os.listdir(self.path("root")), ["text"])

    def test_without_a_root_there_is_something_to_fetch_and_a_kill_leaves_nothing_behind(self):
        with Server("-p", "file", "--sample", "gift=1MiB") as server:
            client = ("-p", "file", "--connect", server.address)
            done, result = self.load(*client, "--name", "gift")
            put = run("load", *client, "--op", "put", "--bytes", "1k", "--name", "new")
            got = run("load", *client, "--name", "new")
            opened = self.paths_opened(server.process.pid)
            server.process.kill()
            server.process.wait()
        for process in (done, put, got):
            self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(result["transfer"]["bytes"], 1 << 20)
        self.assertEqual([path for path in opened if os.path.exists(path)], [])

    def paths_opened(self, pid):
        """Where the files and directories lie that a process has open."""
        folder = f"/proc/{pid}/fd"
        links = {int(number): os.path.join(folder, number) for number in os.listdir(folder)}
        paths = [os.readlink(link) for number, link in links.items() if number > 2]
        return [path for path in paths if os.path.isfile(path) or os.path.isdir(path)]

    def test_options_without_a_value_are_left_out(self):
        with Server("-p", "file", "--max-uploads", "0") as server:
            self.assertNotIn("", server.listening["options"].values())
            put = ("-p", "file", "--connect", server.address, "--op", "put", "--bytes", "1k", "--name", "new")
            done = run("load", *put)
        self.assertEqual(done.returncode, 1)
        self.assertIn("open uploads: 0 of at most 0", done.stderr)

    def test_a_transfer_that_fails_leaves_no_output(self):
        with self.server() as server:
            get = ("load", "-p", "file", "--connect", server.address, "--output", self.path("got"))
            done = run(*get, "--name", "nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not found", done.stderr)
        self.assertFalse(os.path.exists(self.path("got")))

    def test_what_cannot_be_is_refused(self):
        get = ("load", "-p", "file", "--connect", "127.0.0.1:1")
        self.refused(run(*get, "--op", "put"), "--file", "--bytes")
        self.refused(run(*get, "--op", "info", "--segments", "4"), "--segments is for --op get and --op put")
        self.refused(run(*get, "--name", "../x"), "--name")
        self.refused(run(*get, "--sink", "file"), "--output")
        missing = self.path("nothing")
        self.refused(run("serve", "-p", "file", "--root", missing),
                     f"--root: open the directory {missing}: No such file or directory")
        self.refused(run("serve", "-p", "file", "--sample", "gift"), "NAME=BYTES")


if __name__ == "__main__":
    unittest.main()
