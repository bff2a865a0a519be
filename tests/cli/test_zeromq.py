# SPDX-License-Identifier: MIT
"""Engines on ZeroMQ: what their users see."""

import json
import os
import socket
import unittest

from program import JOUST, Case, Server, long, run


def available():
    engines = json.loads(run("engines", "--json").stdout)
    return [engine["name"] for engine in engines
            if engine["name"].startswith("zeromq") and engine["available"]]


@unittest.skipUnless(available(), "built without ZeroMQ")
class ZeroMq(Case):
    @long
    def test_every_protocol_in_both_roles(self):
        for protocol in ("echo", "uppercase", "broadcast", "work"):
            for server_engine in available():
                for client_engine in available():
                    with self.subTest(protocol=protocol, server=server_engine, client=client_engine):
                        self.one_load(protocol, server_engine, client_engine)

    def one_load(self, protocol, server_engine, client_engine):
        with Server("-e", server_engine, "-p", protocol) as server:
            done, result = self.load("-e", client_engine, "-p", protocol, "--connect", server.address,
                                     "-c", 5, "-m", 20)
            stopped = server.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["verified"], 100)
        self.assertEqual(stopped["connections"], {"accepted": 5, "failed": 0})
        for counts in (result["datagrams"], stopped["datagrams"]):
            self.assertEqual(counts["received"], counts["expected"])
            self.assertEqual(sum(counts.values()), 2 * counts["received"], counts)
        self.valid(self.path("load.json"))

    def test_large_messages_of_clients_that_do_not_wait(self):
        for engine in available():
            with self.subTest(engine=engine), Server("-e", engine, "-p", "echo") as server:
                done, result = self.load("-e", "zeromq", "--connect", server.address, "-c", 4, "-m", 600,
                                         "--depth", 64, "--payload", 60_000)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(result["messages"]["verified"], 2400)
                self.assertEqual(server.stop()["connections"], {"accepted": 4, "failed": 0})

    def test_over_a_unix_socket(self):
        for engine in available():
            where = "unix:" + self.path(engine)
            with self.subTest(engine=engine), Server("-e", engine, "-p", "echo", "--listen", where) as server:
                done, _ = self.load("-e", engine, "--connect", server.address, "-m", 5)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_nobody_listens(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % other.getsockname()[1]
        for engine in available():
            with self.subTest(engine=engine):
                done, result = self.load("-e", engine, "--connect", address, "-m", 1)
                self.assertEqual(done.returncode, 1)
                self.assertIn("Connection refused", done.stderr)
                self.assertIn("connect", done.stderr)
                self.assertEqual(result["connections"]["failed"], 1)

    def test_a_server_does_not_care_for_rubbish(self):
        for engine in available():
            with self.subTest(engine=engine), Server("-e", engine, "-p", "echo") as server:
                to = ("127.0.0.1", int(server.address.rsplit(":", 1)[1]))
                for size in (0, 1, 64, 100_000):
                    with socket.create_connection(to) as stranger:
                        try:
                            stranger.sendall(os.urandom(size))
                        except OSError:
                            pass  # cut off
                done, _ = self.load("-e", engine, "--connect", server.address, "-m", 5)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_io_threads_are_a_knob(self):
        with Server("-e", "zeromq", "--io-threads", "2", "-p", "echo") as server:
            done, _ = self.load("-e", "zeromq-pool", "-t", 2, "--io-threads", "4", "--connect",
                                server.address, "-c", 10, "-m", 5)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_options_of_tcp_are_set_and_read_back(self):
        for engine in available():
            with self.subTest(engine=engine), Server("-e", engine, "-p", "echo") as server:
                done, result = self.load("-e", engine, "--connect", server.address, "-m", 5, "--nodelay",
                                         "off", "--congestion", "reno")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(result["socket"]["nodelay"], False)
                self.assertEqual(result["socket"]["congestion"], "reno")
                self.assertEqual(server.stop()["socket"]["nodelay"], True)

    def test_an_option_that_its_library_sets_is_noted(self):
        with Server("-e", "zeromq", "-p", "echo", "--nodelay", "off") as server:
            self.assertIn("TCP_NODELAY is on", " ".join(server.stop()["notes"]))

    def test_connections_of_several_files_each(self):
        with_200_files = ("-c", 'ulimit -n 200 && exec "$0" "$@"', JOUST)
        for engine in available():
            with self.subTest(engine=engine):
                words = "-c: 100 connections need about 364 open files"
                load = run(*with_200_files, "load", "-e", engine, "--connect", "127.0.0.1:1", "-c", 100,
                           program="sh")
                self.refused(load, words)
                race = run(*with_200_files, "race", "--server", engine, "--client", engine, "-c", 100,
                           program="sh")
                self.refused(race, words)

    def test_files_need_a_stream(self):
        for engine in available():
            done = run("serve", "-e", engine, "-p", "file", "--root", self.directory)
            self.refused(done, engine, "unsupported")


if __name__ == "__main__":
    unittest.main()
