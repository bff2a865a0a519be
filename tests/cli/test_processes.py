# SPDX-License-Identifier: MIT
"""Engines with processes: crashes, zombies, stops, and protocols that they cannot carry."""

import contextlib
import os
import pathlib
import resource
import signal
import socket
import time
import unittest

from program import Case, Server, run, with_few_processes


def children_of(pid):
    """The process ids and states of the living and dead children of a process."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            if int(fields[1]) == pid:
                found[int(entry.name)] = fields[0]
    return found


def connect(server):
    host, port = server.address.rsplit(":", 1)
    peer = socket.create_connection((host, int(port)), timeout=30)
    peer.sendall(b"hello")
    assert peer.recv(5, socket.MSG_WAITALL) == b"hello"
    return peer


def wait_for(condition):
    give_up = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def limits_of_descriptors(server):
    """The limit of a process, and the one that leaves it no descriptor but those it has."""
    numbers = [int(entry.name) for entry in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()]
    return resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE), max(numbers) + 1


class Shortage(Case):
    def waiting_peer(self, server):
        host, port = server.address.rsplit(":", 1)
        peer = socket.create_connection((host, int(port)), timeout=0.5)
        self.addCleanup(peer.close)
        peer.sendall(b"hello")
        with self.assertRaises(TimeoutError):  # and not ConnectionResetError
            peer.recv(5)
        peer.settimeout(30)
        return peer

    def test_peers_of_two_processes_wait_for_both(self):
        program = with_few_processes(4)  # the parent, both of a connection, and one too few for another
        with Server("-p", "echo", "-e", "two-processes", program=program) as server:
            with connect(server):
                peers = [self.waiting_peer(server) for _ in range(2)]
            for peer in peers:
                self.assertEqual(peer.recv(5, socket.MSG_WAITALL), b"hello")
                peer.close()
            stopped = server.stop()
        self.assertEqual(stopped["connections"], {"accepted": 3, "failed": 0}, stopped)
        self.assertIn("accepting paused", "".join(stopped["notes"]))

    def test_a_stop_resets_peers_who_wait_and_counts_them(self):
        program = with_few_processes(2)
        with Server("-p", "echo", "-e", "two-processes", program=program) as server:
            peer = self.waiting_peer(server)
            stopped = server.stop()
            with contextlib.suppress(ConnectionError):
                self.assertEqual(peer.recv(1), b"")
        self.assertEqual(stopped["connections"], {"accepted": 1, "failed": 1}, stopped)
        self.assertEqual(stopped["errors"], {"local": 1})

    def test_peers_wait_for_the_descriptors_of_both_processes(self):
        with Server("-p", "echo", "-e", "two-processes") as server:
            connect(server).close()
            wait_for(lambda: not children_of(server.process.pid))
            before, tight = limits_of_descriptors(server)
            for free in range(1, 5):  # enough for the parent, but not for both processes, and at last for all
                resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (tight + free, before[1]))
                with connect(server) if free == 4 else self.waiting_peer(server) as peer:
                    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, before)
                    if free < 4:
                        self.assertEqual(peer.recv(5, socket.MSG_WAITALL), b"hello")
            self.assertEqual(server.stop()["connections"], {"accepted": 5, "failed": 0})

    def test_a_load_counts_connections_that_get_no_reader(self):
        program = with_few_processes(2)
        with Server("-p", "echo") as server:
            plan = ("-e", "two-processes", "-p", "echo", "--connect", server.address, "-c", "3", "-m", "1")
            done = run("load", *plan, program=program)
        self.assertEqual(done.returncode, 1)
        words = "fork() of the reading process: Resource temporarily unavailable"
        self.assertEqual(done.stderr, f"joust: connect {server.address}: {words}\n")
        self.assertIn("failed       2 connections at stage connect", done.stdout)


class Processes(Case):
    ENGINES = ("processes", "two-processes")

    def test_a_crash_costs_its_own_connection(self):
        for engine in self.ENGINES:
            with self.subTest(engine=engine), Server("-p", "echo", "-e", engine) as server:
                with connect(server) as first:
                    child = next(iter(children_of(server.process.pid)))
                    with connect(server) as second:
                        os.kill(child, signal.SIGKILL)
                        with contextlib.suppress(ConnectionError):
                            self.assertEqual(first.recv(1), b"")
                        second.sendall(b"still here")
                        self.assertEqual(second.recv(10, socket.MSG_WAITALL), b"still here")
                stopped = server.stop()
                self.assertEqual(stopped["errors"], {"local": 1})
                self.assertIn("was ended by signal 9", stopped["messages_of_errors"][0])

    def test_no_child_is_left_after_a_storm(self):
        for engine in self.ENGINES:
            with self.subTest(engine=engine), Server("-p", "echo", "-e", engine) as server:
                for _ in range(30):
                    connect(server).close()
                wait_for(lambda: not children_of(server.process.pid))
                self.assertEqual(server.stop()["connections"], {"accepted": 30, "failed": 0})

    def test_children_end_with_a_parent_that_is_killed(self):
        for engine in self.ENGINES:
            with self.subTest(engine=engine), Server("-p", "echo", "-e", engine) as server:
                with connect(server) as peer:
                    children = list(children_of(server.process.pid))
                    self.assertTrue(children)
                    os.kill(server.process.pid, signal.SIGKILL)
                    with contextlib.suppress(ConnectionError):
                        self.assertEqual(peer.recv(1), b"")

    def test_a_stop_of_the_whole_group_is_one_stop(self):
        with Server("-p", "echo", "-e", "processes") as server:
            with connect(server) as peer:
                for child in children_of(server.process.pid):
                    os.kill(child, signal.SIGINT)  # as Ctrl-C does
                peer.sendall(b"x")
                self.assertEqual(peer.recv(1), b"x")
            self.assertEqual(server.stop()["connections"]["failed"], 0)

    def test_rooms_are_refused_in_the_same_words_everywhere(self):
        words = "unsupported: sessions live in different processes"
        for engine in self.ENGINES:
            done = run("serve", "-e", engine, "-p", "broadcast")
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
            done = run("race", "--server", f"{engine},epoll", "-p", "broadcast", "--dry-run")
            self.assertIn(words, done.stdout + done.stderr)

    UPLOAD = ("-p", "file", "--op", "put", "--bytes", "1MB", "-m", "1")

    def test_files_are_served_and_uploads_are_refused(self):
        words = "unsupported: sessions live in different processes, and uploads need them in one"
        for engine in self.ENGINES:
            for access in ((), ("--access", "write")):
                done = run("serve", "-e", engine, "-p", "file", *access)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr)
                self.assertIn("engines such as poll and threads", done.stderr)
            serving = ("-p", "file", "-e", engine, "--access", "read")
            with self.subTest(engine=engine), Server(*serving) as server:
                done, result = self.load("--connect", server.address, "-p", "file", "-c", 3,
                                         "--segments", 3, "-m", 1, "--sink", "memory")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(result["transfer"]["digest"], "^[0-9a-f]{32}$")
                done = run("load", "--connect", server.address, *self.UPLOAD)
                self.assertEqual(done.returncode, 1)
                self.assertIn("this server only sends files", done.stderr)

    def test_a_race_leaves_uploads_out_with_the_reason(self):
        words = "unsupported: sessions live in different processes, and uploads need them in one"
        race = ("race", "--server", "processes,two-processes,epoll")
        done = run(*race, *self.UPLOAD, "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(words), 2, done.stdout)
        self.assertIn("joust serve -e epoll", done.stdout)
        done = run("race", "--server", "processes", *self.UPLOAD)
        self.assertEqual(done.returncode, 1)
        self.assertIn(words, done.stderr)
        done = run(*race, "-p", "file", "-m", "1", "--dry-run")
        self.assertIn("joust serve -e processes -p file --listen 127.0.0.1:0 --access read", done.stdout)
        self.assertNotIn(words, done.stdout)

    def test_a_load_of_two_processes_is_one_load(self):
        with Server("-p", "broadcast", "-e", "epoll") as server:
            done, result = self.load(
                "--connect", server.address, "-p", "broadcast", "-e", "two-processes", "-c", 5, "-m", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["failed"], 0)


if __name__ == "__main__":
    unittest.main()
