# SPDX-License-Identifier: MIT
"""The engine that sends to a group of multicast: where it can, and what it says where it cannot."""

import json
import socket
import subprocess
import unittest

from program import JOUST, Case, Server, run

ENGINE = "udp-multicast"
GROUP = "239.255.0.1:0"


def no_multicast():
    """The command that runs joust where no interface carries anything."""
    command = ["unshare", "--map-root-user", "--net", JOUST]
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except FileNotFoundError:
        raise unittest.SkipTest("there is no program unshare here") from None
    if done.returncode != 0:
        raise unittest.SkipTest("a network namespace of its own is not allowed here: " + done.stderr.strip())
    return command


def other_interface():
    for _, name in socket.if_nameindex():
        shown = subprocess.run(["ip", "-4", "-br", "address", "show", name, "up"], capture_output=True,
                               text=True, timeout=60, check=False)
        if name != "lo" and len(shown.stdout.split()) > 2:
            return name
    raise unittest.SkipTest("there is no interface with an address but lo")


class Here(Case):
    def setUp(self):
        super().setUp()
        engines = json.loads(run("engines", "--json").stdout)
        engine = next(engine for engine in engines if engine["name"] == ENGINE)
        if not engine["available"]:
            raise unittest.SkipTest(engine["reason"])


class Groups(Here):
    def broadcast(self, *options, members=30, messages=10):
        with Server("-e", ENGINE, "-p", "broadcast", "--listen", GROUP, *options) as server:
            self.assertRegex(server.address, r"^239\.255\.0\.1:\d+$")
            done, result = self.load("-e", ENGINE, "-p", "broadcast", "--connect", server.address, *options,
                                     "-c", members, "-m", messages)
            stopped = server.stop()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.valid(self.path("load.json"))
        return result, stopped

    def test_what_is_for_all_is_sent_once(self):
        result, stopped = self.broadcast()
        self.assertEqual(result["messages"]["verified"], 300)
        self.assertEqual(result["deliveries"]["received"], 30 * 300)
        self.assertEqual(result["deliveries"]["lost"], 0)
        self.assertEqual(result["datagrams"]["received"], 30 * (300 + 1))  # to each alone: a welcome
        self.assertEqual(result["datagrams"]["foreign"], 0)
        self.assertEqual(stopped["datagrams"]["foreign"], 0)
        self.assertEqual(stopped["connections"], {"accepted": 30, "failed": 0})
        # To each member alone it would have sent all of these again.
        self.assertLess(stopped["bytes"]["sent"], result["bytes"]["total_received"] / 10)

    def test_packed(self):
        result, _ = self.broadcast("--pack", "on", members=100, messages=5)
        self.assertEqual(result["deliveries"]["received"], 100 * 500)
        self.assertEqual(result["deliveries"]["lost"], 0)
        self.assertLess(result["datagrams"]["received"], 100 * 500 / 2)

    def test_without_an_address_it_has_a_group_of_its_own(self):
        with Server("-e", ENGINE, "-p", "echo") as server:
            self.assertRegex(server.address, r"^239\.255\.0\.1:\d+$")

    def test_two_groups_beside_each_other(self):
        room = ("-e", ENGINE, "-p", "broadcast")
        with Server(*room) as one, Server(*room) as other:
            for server in (one, other):
                done, result = self.load(*room, "--connect", server.address, "-c", 5, "-m", 5)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(result["datagrams"]["foreign"], 0)

    def test_nobody_answers(self):
        done, result = self.load("-e", ENGINE, "--connect", "239.255.0.77:9", "-m", 1,
                                 "--connect-timeout", "300ms")
        self.assertEqual(done.returncode, 1)
        self.assertIn("timed out", done.stderr)
        self.assertEqual(result["connections"]["failed"], 1)


class Refused(Here):
    def test_what_is_no_group(self):
        for address in ("127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[ff02::1]:9", "localhost:0"):
            done = run("serve", "-e", ENGINE, "-p", "broadcast", "--listen", address, "--public")
            self.refused(done, address, "a group of IPv4 multicast")
        self.refused(run("load", "-e", ENGINE, "--connect", "127.0.0.1:9"), "127.0.0.1:9", "a group")

    def test_a_race_of_clients_with_two_sockets_each(self):
        done = run("-c", 'ulimit -n 200 && exec "$0" "$@"', JOUST, "race", "--server", ENGINE, "--client",
                   ENGINE, "-p", "broadcast", "-c", 100, program="sh")
        self.refused(done, "-c: 100 connections need about 264 open files")

    def test_other_interfaces_are_public(self):
        name = other_interface()
        done = run("serve", "-e", ENGINE, "-p", "broadcast", "--interface", name)
        self.refused(done, name, "--public")

    def test_clients_that_hear_no_group(self):
        done = run("race", "--server", f"{ENGINE},udp-batched", "--client", "udp-batched", "-p", "broadcast",
                   "-c", 2, "-m", 2, "--rounds", 1, "--quick")
        self.assertIn("sends to a group of multicast, which udp-batched does not hear", done.stdout)


class Skipped(Case):
    def test_where_no_interface_carries_multicast(self):
        nowhere = no_multicast()
        for command in (("serve", "--listen", GROUP), ("load", "--connect", "239.255.0.1:9")):
            done = run(*command, "-e", ENGINE, "-p", "broadcast", program=nowhere)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stdout, "^skipped: .*lo is down\n$")

    def test_a_missing_interface(self):
        done = run("serve", "-e", ENGINE, "-p", "broadcast", "--interface", "nowhere7", "--public")
        self.refused(done, "--interface: there is no interface nowhere7; there are: lo")

    def test_the_list_of_engines_says_so(self):
        engines = json.loads(run("engines", "--json", program=no_multicast()).stdout)
        engine = next(engine for engine in engines if engine["name"] == ENGINE)
        self.assertFalse(engine["available"])
        self.assertIn("lo is down", engine["reason"])


if __name__ == "__main__":
    unittest.main()
