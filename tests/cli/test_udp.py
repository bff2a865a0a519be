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


def asks_a_group(engine):
    return engine == "udp-multicast"


def pairs():
    engines = engines_of_messages()
    return [(one, two) for one in engines for two in engines if asks_a_group(one) == asks_a_group(two)]


def sender():
    """A socket that sends to groups on the loopback interface too."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
    return made


class Datagrams(Case):
    def test_a_load_counts_datagrams_on_both_sides(self):
        for server_engine, client_engine in pairs():
            with self.subTest(server=server_engine, client=client_engine):
                self.one_load(server_engine, client_engine)

    def one_load(self, server_engine, client_engine):
        with Server("-e", server_engine, "-p", "echo") as server:
            host = "239.255.0.1" if asks_a_group(server_engine) else "127.0.0.1"
            self.assertRegex(server.address, "^" + host.replace(".", r"\.") + r":\d+$")
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

    def test_a_server_needs_the_address_that_peers_use(self):
        for engine in engines_of_messages():
            if asks_a_group(engine):
                continue
            for address in ("0.0.0.0:0", "[::]:0"):
                with self.subTest(engine=engine, address=address):
                    for more in ((), ("--public",)):
                        self.refused(run("serve", "-e", engine, "--listen", address, *more),
                                     "name the address that peers use")
            self.refused(run("serve", "-e", engine, "--public"), "--listen ADDRESS", "192.0.2.1:9000")

    def test_a_server_does_not_care_for_rubbish(self):
        for engine in engines_of_messages():
            with self.subTest(engine=engine), Server("-e", engine, "-p", "echo") as server:
                host, port = server.address.rsplit(":", 1)
                to = (host, int(port))
                with sender() as stranger:
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
            if asks_a_group(engine):
                continue  # nobody refuses anything there: see test_multicast.py
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
        for engine in engines_of_messages():
            with self.subTest(engine=engine):
                room = ("-e", engine, "--pack", "on", "-p", "broadcast")
                with Server(*room) as server:
                    done, result = self.load(*room, "--connect", server.address, "-c", 20, "-m", 5)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(result["deliveries"]["received"], 2_000)
                self.assertEqual(result["deliveries"]["lost"], 0)

    def test_requests_that_are_sent_together_share_a_datagram(self):
        for engine in engines_of_messages():
            for pack, datagrams in (("off", 20), ("on", 2)):
                with self.subTest(engine=engine, pack=pack):
                    with Server("-e", engine, "-p", "echo") as server:
                        done, result = self.load("-e", engine, "--pack", pack, "--connect", server.address,
                                                 "-c", 2, "-m", 10, "--depth", 10)
                        stopped = server.stop()
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(result["messages"]["verified"], 20)
                    self.assertEqual(stopped["datagrams"]["received"], datagrams)


class Refusals(Case):
    def test_of_unix_sockets(self):
        for engine in engines_of_messages():
            where = "unix:" + self.path("socket")
            what = "a group" if asks_a_group(engine) else "UDP"
            self.refused(run("serve", "-e", engine, "-p", "echo", "--listen", where), where, what)
            self.refused(run("load", "-e", engine, "-p", "echo", "--connect", where), where, what)

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
