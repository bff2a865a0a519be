# SPDX-License-Identifier: MIT
"""Engines of datagrams: what their users see."""

import json
import os
import socket
import unittest

from program import Case, Server, run


def engines_of_messages():
    engines = json.loads(run("engines", "--json").stdout)
    return [engine["name"] for engine in engines
            if engine["name"].startswith("udp-") and engine["delivery"] == "message" and engine["available"]]


class Datagrams(Case):
    def test_a_load_counts_datagrams_on_both_sides(self):
        for server_engine in engines_of_messages():
            for client_engine in engines_of_messages():
                with self.subTest(server=server_engine, client=client_engine):
                    self.one_load(server_engine, client_engine)

    def one_load(self, server_engine, client_engine):
        with Server("-e", server_engine, "-p", "echo") as server:
            self.assertRegex(server.address, r"^127\.0\.0\.1:\d+$")
            self.assertGreater(server.listening["socket"]["receive_buffer"], 0)
            done, result = self.load("-e", client_engine, "--connect", server.address, "-c", 5, "-m", 20)
            stopped = server.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["verified"], 100)
        for counts in (result["datagrams"], stopped["datagrams"]):
            self.assertEqual(counts["received"], 100)
            self.assertEqual(sum(counts.values()), 200, counts)  # expected, received and nothing else
        self.assertEqual(stopped["connections"], {"accepted": 5, "failed": 0})
        self.assertIn("datagrams", done.stdout)
        self.valid(self.path("load.json"))

    def test_a_server_does_not_care_for_rubbish(self):
        for engine in engines_of_messages():
            with self.subTest(engine=engine), Server("-e", engine, "-p", "echo") as server:
                to = ("127.0.0.1", int(server.address.rsplit(":", 1)[1]))
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                    for size in (0, 1, 25, 26, 1_000, 65_507):
                        stranger.sendto(os.urandom(size), to)
                done, _ = self.load("-e", engine, "--connect", server.address, "-m", 5)
                self.assertEqual(done.returncode, 0, done.stderr)
                dropped = server.stop()["datagrams"]
                self.assertEqual(dropped["foreign"] + dropped["truncated"], 6)

    def test_nobody_listens(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % other.getsockname()[1]
        for engine in engines_of_messages():
            with self.subTest(engine=engine):
                done, result = self.load("-e", engine, "--connect", address, "-m", 1)
                self.assertEqual(done.returncode, 1)
                self.assertIn("Connection refused", done.stderr)
                self.assertEqual(result["connections"]["failed"], 1)

    def test_two_servers_cannot_have_one_address(self):
        for engine in engines_of_messages():
            with self.subTest(engine=engine), Server("-e", engine, "-p", "echo") as server:
                done = run("serve", "-e", engine, "-p", "echo", "--listen", server.address)
                self.assertEqual(done.returncode, 1)
                self.assertIn("Address already in use", done.stderr)

    def test_several_threads_share_the_peers(self):
        with Server("-e", "udp-reuseport", "-t", 3, "-p", "echo") as server:
            done, result = self.load("-e", "udp-reuseport", "-t", 2, "--connect", server.address, "-c", 60,
                                     "-m", 5)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["verified"], 300)

    def test_packed_messages(self):
        with Server("-e", "udp-batched", "--pack", "on", "-p", "broadcast") as server:
            done, result = self.load("-e", "udp-batched", "--pack", "on", "-p", "broadcast", "--connect",
                                     server.address, "-c", 20, "-m", 5)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["deliveries"]["received"], 2_000)
        self.assertEqual(result["deliveries"]["lost"], 0)


class Refusals(Case):
    def test_of_unix_sockets(self):
        for engine in engines_of_messages():
            where = "unix:" + self.path("socket")
            self.refused(run("serve", "-e", engine, "-p", "echo", "--listen", where), where, "UDP")
            self.refused(run("load", "-e", engine, "-p", "echo", "--connect", where), where, "UDP")

    def test_of_options_of_tcp(self):
        for option in (("--nodelay", "on"), ("--congestion", "cubic")):
            for command in (("serve",), ("load", "--connect", "127.0.0.1:9")):
                done = run(*command, "-e", "udp-reuseport", "-p", "echo", *option)
                self.refused(done, option[0], "TCP", "UDP")

    def test_of_protocols_that_need_a_stream(self):
        for engine in engines_of_messages():
            done = run("serve", "-e", engine, "-p", "file", "--root", self.directory)
            self.refused(done, engine, "unsupported")


if __name__ == "__main__":
    unittest.main()
