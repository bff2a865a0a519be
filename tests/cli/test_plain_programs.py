# SPDX-License-Identifier: MIT
"""The plain programs of benchmarks/, beside which engines are measured."""

import pathlib
import socket
import subprocess
import sys
import unittest

from program import TESTS, Case

BENCHMARKS = pathlib.Path(TESTS).parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
import against_plain  # noqa: E402
import by_hand  # noqa: E402
import two_cpus  # noqa: E402
from by_hand import PROGRAMS  # noqa: E402



class PlainPrograms(Case):
    def test_each_echoes_what_each_peer_has_sent(self):
        self.assertTrue((PROGRAMS / "bare_epoll_echo").exists())
        for _, program, arguments, _ in against_plain.MODELS:
            if not (PROGRAMS / program).exists():
                continue  # its library is not installed
            with self.subTest(program):
                with by_hand.Server([PROGRAMS / program, *arguments]) as server:
                    for _ in range(2):  # it goes on after its peers have gone
                        self.echo(server.port)
                    self.assertIsNone(server.process.poll())

    def echo(self, port):
        peers = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(5)]
        for turn in range(3):
            for number, peer in enumerate(peers):
                peer.sendall(b"%d %d" % (turn, number) * 8)
            for number, peer in enumerate(peers):
                self.assertEqual(peer.recv(24, socket.MSG_WAITALL), b"%d %d" % (turn, number) * 8)
        for peer in peers:
            peer.close()

    def test_the_bare_load_tells_what_a_reply_costs(self):
        cpu = str(two_cpus.cpus()[1])
        with by_hand.Server([PROGRAMS / "bare_epoll_echo", *against_plain.BARE]) as server:
            load = [PROGRAMS / "bare_epoll_load", str(server.port), cpu, "4", "32", "100",
                    str(server.process.pid)]
            done = subprocess.run(load, capture_output=True, text=True, timeout=60, check=True)
        rate, cost_us = map(float, done.stdout.split())
        self.assertGreater(rate, 0)
        self.assertTrue(0 < cost_us < 1.1e6 / rate, done.stdout)  # it has one thread


if __name__ == "__main__":
    unittest.main()
