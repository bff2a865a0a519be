# SPDX-License-Identifier: MIT
"""The protocol work: its options, and what they do to a load."""

import json
import signal
import subprocess
import time
import unittest

from program import JOUST, PATIENCE_S, Case, Server, run

MS = 1_000_000  # nanoseconds


class Work(Case):
    def load(self, *arguments):
        file = self.path("result.json")
        done = run("load", "-p", "work", *arguments, "--json", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(file, encoding="utf-8") as result:
            return json.load(result)

    def test_asleep_delays_each_reply(self):
        with Server("-p", "work", "--work", "20ms", "--work-kind", "sleep") as server:
            result = self.load("--connect", server.address, "-c", 3, "-m", 4, "--depth", 2, "--workload", 2)
        self.assertEqual(result["messages"]["verified"], 12)
        self.assertGreaterEqual(result["latency_ns"]["mean"], 30 * MS)
        self.assertEqual(result["options"], {"workload": "2", "writes": "one"})
        self.assertIsNone(result["plan"]["payload_bytes"])

    def test_a_second_signal_does_not_wait_for_a_long_request(self):
        with Server("-p", "work", "--work", "10s", "--most-work", "10s") as server:
            command = [JOUST, "load", "-p", "work", "--connect", server.address, "-m", "1"]
            with subprocess.Popen([*command, "--request-timeout", "90s"], stderr=subprocess.DEVNULL) as load:
                computed_s = 0
                while computed_s < 0.2:
                    time.sleep(0.05)
                    server.tell(signal.SIGUSR1)
                    computed_s = server.event()["usage"]["cpu_user_s"]
                server.tell(signal.SIGTERM)
                time.sleep(0.2)
                server.tell(signal.SIGTERM)
                # 0 once the request is answered
                self.assertEqual(server.process.wait(PATIENCE_S), 128 + signal.SIGTERM)
                load.wait(PATIENCE_S)

    def test_a_request_that_asks_for_too_much_is_refused(self):
        with Server("-p", "work", "--work", "1ms") as server:
            done = run("load", "-p", "work", "--connect", server.address, "-m", 1, "--workload", 101)
            self.assertEqual(done.returncode, 1)
            complaints = server.stop()["messages_of_errors"]
        self.assertIn("a workload takes longer than the 100 ms that --most-work allows", complaints[0])

    def test_busy_takes_the_servers_time(self):
        plan = ("-c", 1, "-m", 40)
        with Server("-p", "work", "--work", "5ms") as server:
            self.load("--connect", server.address, *plan)
            stopped = server.stop()
        self.assertGreaterEqual(stopped["usage"]["cpu_user_s"], 0.1)  # of 0.2 s

    # The second write waits for the acknowledgement of the first, which the receiver delays.
    def test_two_writes_without_nodelay_wait_for_acknowledgements(self):
        options = ("--writes", "two", "-m", 30)
        with Server("-p", "work") as server:
            held = self.load("--connect", server.address, *options, "--nodelay", "off")
            once = self.load("--connect", server.address, *options, "--nodelay", "on")
        self.assertGreaterEqual(held["latency_ns"]["max"], 30 * MS)
        self.assertLess(once["latency_ns"]["mean"], 30 * MS)

    def test_there_is_no_payload(self):
        words = "of protocol 'work', a request has no payload"
        self.refused(run("load", "-e", "null", "-p", "work", "-m", 1, "--payload", 64), words, "--workload")
        race = ("race", "--server", "epoll", "-p", "work", "--dry-run")
        self.refused(run(*race, "--payload", 64), words)
        self.refused(run(*race, "--sweep", "payload=1,2"), words)

    def test_values_that_make_no_sense(self):
        self.refused(run("serve", "-p", "work", "--work", "11s"), "--work: at most 10.0 s")
        self.refused(run("serve", "-p", "work", "--work", "5"), "--work", "unit")
        self.refused(run("serve", "-p", "work", "--work", "1s"), "which is 100 ms; --most-work allows more")
        self.refused(run("serve", "-p", "work", "--most-work", "11s"), "--most-work: at most 10.0 s")
        self.refused(run("load", "-e", "null", "-p", "work", "--workload", "3G"), "--workload: at most")
        race = ("race", "--server", "epoll", "-p", "work", "--dry-run")
        self.refused(run(*race, "--workload", "x"), "--workload")

    def test_strangers_may_not_keep_all_others_waiting(self):
        work = ("-p", "work", "--work", "1us", "--listen", "127.0.0.1:0", "--public")
        for engine in ("epoll", "epoll-pool"):
            done = run("serve", "-e", engine, *work)
            self.refused(done, "all other peers wait", "100ms", "--most-work 1ms", "'threads'")
        for options in (("-e", "epoll", "--most-work", "1ms"), ("-e", "epoll", "--most-work", "50ms"),
                        ("-e", "threads"), ("-e", "epoll", "--work", "0"),
                        ("-e", "epoll", "--work-kind", "sleep")):  # fmt: skip
            with self.subTest(options):
                given = work if "--work" not in options else (*work[:2], *work[4:])
                with Server(*given, *options) as server:
                    server.stop()

    def test_contestants_of_a_race_differ_in_writes_and_nodelay(self):
        servers = "epoll,epoll:writes=two,epoll:nodelay=off:writes=two"
        done = run("race", "--server", servers, "-p", "work", "--work", "10us", "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        twice = [line for line in done.stdout.splitlines() if " serve " in line and "--writes two" in line]
        self.assertTrue(any("--nodelay off" in line for line in twice), twice)
        self.assertTrue(any("--nodelay" not in line for line in twice), twice)
        ceilings = [line for line in done.stdout.splitlines() if " -e null " in line]
        self.assertTrue(ceilings)
        for line in ceilings:
            self.assertNotIn("--work ", line)  # it is the client's ceiling

    # Each would otherwise measure its loop at another moment, and find another speed.
    def test_the_servers_of_a_race_compute_the_same_for_the_same_time(self):
        race = ("race", "--server", "epoll,threads", "-p", "work", "--work", "10us", "--dry-run")

        def speeds(*more):
            done = run(*race, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            servers = [line.split() for line in done.stdout.splitlines() if " serve " in line]
            self.assertGreaterEqual(len(servers), 2, done.stdout)
            return [words[words.index("--loop-speed") + 1] if "--loop-speed" in words else None
                    for words in servers]

        measured = speeds()
        self.assertEqual(len(set(measured)), 1, measured)
        self.assertGreater(int(measured[0]), 0)
        self.assertEqual(set(speeds("--loop-speed", "1234")), {"1234"})
        self.assertEqual(set(speeds("--work-kind", "sleep")), {None})  # nobody computes

    def test_the_speed_of_the_loop_is_what_a_server_is_told(self):
        def mean_ns(*speed):
            with Server("-p", "work", "--work", "1ms", "--most-work", "1s", *speed) as server:
                file = self.path("load.json")
                done = run("load", "-p", "work", "--connect", server.address, "-m", 30, "--json", file)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(file, encoding="utf-8") as text:
                    return json.load(text)["latency_ns"]["mean"]

        few, many = mean_ns("--loop-speed", "1"), mean_ns("--loop-speed", "20000")
        self.assertGreater(many, 2 * few)
        self.refused(run("serve", "-p", "work", "--loop-speed", "2M"), "--loop-speed: at most")

    def test_an_engine_has_its_nodelay_once(self):
        words = ("serve", "-e", "epoll:nodelay=off", "-p", "work")
        with Server(*words[1:]) as server:
            self.assertFalse(server.listening["socket"]["nodelay"])
        self.refused(run(*words, "--nodelay", "on"), "'nodelay' is given twice")
        self.refused(run("serve", "-e", "epoll:nodelay=no"), "'no' is no value of nodelay", "on, off")

    # However fast the machine is: 600 replies take 600 ms, and a turn at most 500 ms.
    def test_a_count_that_takes_long_is_measured_in_whole_trials(self):
        file = self.path("race.json")
        slow = ("--work", "1ms", "--work-kind", "sleep")
        done = run("race", "--server", "epoll", "-p", "work", *slow, "-c", 1, "-m", 600, "-w", "10ms",
                   "--rounds", 1, "--json", file)  # fmt: skip
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertIn("which is too long: whole trials", done.stderr)
        self.assertIn("600 messages on each", done.stdout)
        with open(file, encoding="utf-8") as text:
            result = json.load(text)
        self.assertEqual((result["generations"], result["turns"], result["cases"][0]["turns"]), (0, 0, False))


if __name__ == "__main__":
    unittest.main()
