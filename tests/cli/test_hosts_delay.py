# SPDX-License-Identifier: MIT
"""Hosts whose packets arrive later: script/hosts --delay, by netem or by the switch of tests/delay."""

import hashlib
import json
import os
import subprocess
import sys
import unittest

from namespaces import NO_HOSTS, NO_MPI, OnNamespaces, host, why_no_hosts
from program import JOUST, PATIENCE_S, long

DELAY_S = 0.02
NO_DELAY = NO_HOSTS or why_no_hosts("--delay", "20ms")

# Connects to the first host from the second one, sends bytes, and prints what came back and the round trips.
CLIENT = """
import hashlib, socket, time
began = time.monotonic()
peer = socket.create_connection(("198.18.0.1", 9000))
print(time.monotonic() - began)
peer.sendall(bytes(range(256)) * 20_000)
peer.shutdown(socket.SHUT_WR)
print(b"".join(iter(lambda: peer.recv(100), b"")).decode())
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
began = time.monotonic()
peer.sendto(b"x" * 1400, ("198.18.0.1", 9000))
print(len(peer.recv(2000)), time.monotonic() - began)
"""

SERVER = """
import hashlib, socket, subprocess, sys
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(("198.18.0.1", 9000))
streams = socket.create_server(("198.18.0.1", 9000))
client = subprocess.Popen(["ip", "netns", "exec", sys.argv[1], sys.executable, "-c", sys.argv[2]])
peer, _ = streams.accept()
digest = hashlib.sha256()
for part in iter(lambda: peer.recv(1 << 16), b""):
    digest.update(part)
peer.sendall(digest.hexdigest().encode())
peer.close()
data, source = datagrams.recvfrom(2000)
datagrams.sendto(data, source)
sys.exit(client.wait())
"""


@unittest.skipIf(NO_DELAY, NO_DELAY)
class Delay(OnNamespaces):
    def on_delayed(self, count, *command):
        words = self.on_hosts(count, *command)
        place = words.index("--")
        words[place:place] = ["--delay", f"{DELAY_S * 1000:.0f}ms"]
        return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def test_both_ways_are_later_and_every_byte_arrives(self):
        done = self.on_delayed(2, sys.executable, "-c", SERVER, host(2), CLIENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        connected_s, digest, datagram = done.stdout.splitlines()
        self.assertGreaterEqual(float(connected_s), 2 * DELAY_S)
        self.assertEqual(digest, hashlib.sha256(bytes(range(256)) * 20_000).hexdigest())
        size, answered_s = datagram.split()
        self.assertEqual(size, "1400")
        self.assertGreaterEqual(float(answered_s), 2 * DELAY_S)

    def test_it_says_what_delays_and_the_switch_says_how_exactly(self):
        done = self.on_delayed(2, "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"script/hosts: packets arrive 20ms later, by (netem|frame-delay)")
        if "by netem" not in done.stderr:
            self.assertRegex(done.stderr, r"frame-delay: 20\.0 ms later: .* at the median, .*; dropped: 0 ")

    @long
    @unittest.skipIf(NO_MPI, NO_MPI)
    def test_a_race_shows_the_round_trip(self):
        race = [JOUST, "race", "--hosts", f"{host(1)},{host(2)}", "--server", "epoll,poll", "-p", "echo"]
        load = ["--progress", "none", "-c", "4", "-d", "300ms", "--rounds", "1"]
        done = self.on_delayed(2, *race, *load, "--json", self.path("race.json"))
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.valid(self.path("race.json"))
        with open(self.path("race.json"), encoding="utf-8") as file:
            result = json.load(file)
        self.assertGreaterEqual(result["hosts"][1]["round_trip_s"], 2 * DELAY_S)
        check = next(one for one in result["checks"] if one["title"] == "environment")
        self.assertRegex(check["detail"], r"round trip \d")
        for contestant in result["contestants"]:
            trial = contestant["trials"][0]
            self.assertIsNone(trial.get("failure"))
            if contestant["kind"] == "contestant":  # others have no network
                self.assertGreaterEqual(trial["load"]["latency_ns"]["min"], 2 * DELAY_S * 1e9)


class WithoutASwitch(OnNamespaces):
    @unittest.skipIf(NO_HOSTS, NO_HOSTS)
    def test_the_reason_is_printed(self):
        words = self.on_hosts(1, "true")
        words[2:2] = ["--delay", "1ms"]
        without = os.environ | {"JOUST_BUILD": self.path("no-build")}
        done = subprocess.run(
            words, env=without, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        if done.returncode == 0:
            self.assertIn("by netem", done.stderr)
        else:
            self.assertEqual(done.returncode, 77)
            self.assertIn("frame-delay", done.stderr)


if __name__ == "__main__":
    unittest.main()
