# SPDX-License-Identifier: MIT
"""joust load -R: the open loop, end to end."""

import json
import re
import signal
import threading
import time
import unittest

from program import Case, Server, long, run


EVEN = ("--arrivals", "constant")  # exactly as many are due


class OpenLoop(Case):
    def test_the_rate_is_kept_and_told(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            done, result = self.load("--connect", server.address, "-c", 10, "-R", "1k", "-d", "1s", *EVEN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.valid(self.path("load.json"))
        self.assertEqual(result["messages"]["due"], 1000)
        self.assertEqual(result["messages"]["verified"], 1000)
        self.assertEqual(result["plan"]["rate_per_s"], 1000)
        self.assertEqual(result["plan"]["arrivals"], "constant")
        self.assertEqual(result["plan"]["phase"], "spread")
        for key in ("latency_ns", "uncorrected_latency_ns", "send_lateness_ns"):
            self.assertEqual(result[key]["samples"], 1000, key)
        # On a busy machine it goes on: how many were not sent in time.
        self.assertRegex(done.stdout, r"schedule +1,000 messages/s \(constant arrivals, .*\): 1,000 due\b")
        for line in ("latency", "uncorrected", "sent late by"):
            self.assertRegex(done.stdout, rf"\n  {line} +mean ")

    def test_a_fraction_of_a_message_a_second_is_a_rate_too(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            done, result = self.load("--connect", server.address, "-c", 3, "-R", "12.5", "-d", "800ms", *EVEN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["verified"], 10)

    def test_a_load_of_few_messages_is_no_faster_than_its_schedule(self):
        for plan, rate in (
            (("-R", 0.5, "-m", 1), 0.5),
            (("-R", 0.1, "-d", "50ms", *EVEN), 0.1),
            (("-R", 5, "-m", 2, "-c", 2), 5),
            (("-R", 20, "-m", 1, "-c", 3, "--arrivals", "poisson"), 20),
            (("-R", 2, "-c", 9, "--phase", "together", "-d", "50ms"), 2),
            (("-i", "1s", "-m", 1), 1),
            (("-i", "1s", "-c", 9, "--phase", "together", "-d", "50ms"), 9),
        ):
            done, result = self.load("-e", "null", "-p", "echo", *plan)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(result["throughput_per_s"], 0)
            self.assertLessEqual(result["throughput_per_s"], rate * (1 + 1e-9), plan)
            (mbps,) = re.findall(r"bandwidth +(\S+) Mbps sent", done.stdout)
            self.assertLessEqual(float(mbps.removeprefix("<")), max(0.001, rate * 256e-6 * 1.01), plan)

    def test_poisson_arrivals_differ_from_connection_to_connection(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            plan = ("-c", 20, "-R", "2k", "-d", "1s")
            done, result = self.load("--connect", server.address, *plan)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(result["messages"]["due"], 2000, delta=5 * 2000**0.5)
        self.assertEqual(result["plan"]["arrivals"], "poisson")

    # By the arithmetic: 5 % of the requests are late, by up to 100 ms, so p99 is beyond 80 ms. A closed loop
    # would have counted one late reply for each connection.
    def test_a_server_that_stops_delays_all_that_is_due_meanwhile(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            stop = threading.Thread(target=self.stop_for_100_ms, args=(server,))
            stop.start()
            done, result = self.load("--connect", server.address, "-c", 2, "-R", "1k", "-d", "2s", *EVEN)
            stop.join()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(result["messages"]["verified"], 2000)
        self.assertGreater(result["latency_ns"]["p99"], 75e6)
        late = sum(count for ns, count in result["histogram_ns"] if ns > 10e6)
        self.assertGreaterEqual(late, 85)
        uncorrected = sum(count for ns, count in result["uncorrected_histogram_ns"] if ns > 75e6)
        self.assertLessEqual(uncorrected, 10)

    @staticmethod
    def stop_for_100_ms(server):
        time.sleep(0.8)  # the load has a window of two seconds
        server.tell(signal.SIGSTOP)
        time.sleep(0.1)
        server.tell(signal.SIGCONT)

    def test_a_rate_beyond_the_server_is_seen_as_such(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            plan = ("-c", 2, "-R", "10M", "-d", "200ms", "--request-timeout", "100ms", *EVEN)
            done, result = self.load("--connect", server.address, *plan)
        messages = result["messages"]
        self.assertEqual(messages["due"], 2_000_000)
        self.assertGreater(messages["unsent"], 1_000_000)
        self.assertEqual(
            messages["sent"], messages["verified"] + messages["failed"] + messages["in_flight"]
        )
        self.assertIn("not sent in the window", done.stdout)
        self.assertIn("never sent", done.stdout)
        self.assertIn("did not keep up with the rate", done.stdout)

    # Planted: the server needs twice the time that the rate leaves it. Each request finds a free connection.
    def test_a_backlog_that_fits_into_the_connections_is_seen_as_such(self):
        with Server("-e", "epoll", "-p", "work", "--work", "200us") as server:
            plan = ("-c", 2000, "-R", "10k", "-d", "250ms", *EVEN)
            done, result = self.load("-p", "work", "--connect", server.address, *plan)
        messages = result["messages"]
        self.assertEqual(done.returncode, 0, done.stderr)
        self.valid(self.path("load.json"))
        grown = messages["open_at_close"] - messages["open_at_opening"]
        self.assertGreater(grown, 0.2 * messages["due"])  # a load that is late has unsent ones too
        self.assertRegex(done.stdout, r"did not keep up with the rate: only [1-6][0-9]\.[0-9] % of it")

    @long
    def test_a_race_in_turns_does_not_pass_an_overloaded_server(self):
        race = ("race", "--server", "epoll,poll", "-p", "work", "--work", "200us", "-c", 2000, "-R", "10k")
        # The connections hold the backlog of a turn, and a pause of a busy machine is short beside a turn.
        size = ("--rounds", 1, "--turn", "300ms", "-d", "600ms", "--quick")
        done = run(*race, *size, "--json", self.path("race.json"))
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        with open(self.path("race.json"), encoding="utf-8") as file:
            result = json.load(file)
        self.assertTrue(result["cases"][0]["turns"])
        (check,) = [check for check in result["checks"] if check["id"] == 2]
        self.assertEqual(check["verdict"], "REFUSE")
        self.assertEqual(set(check["not_ranked"]), {"epoll", "poll"})
        for contestant in result["contestants"]:
            if contestant["kind"] == "contestant":
                summary = contestant["summary"]
                self.assertLess(summary["schedule"]["kept_fraction"], 0.7)
                self.assertLess(summary["throughput_per_s"]["median"], 7000)
        self.assertRegex(done.stdout, r"replies/s\b")
        self.assertNotIn(" 10.0k ", done.stdout)

    @long
    def test_a_search_finds_a_rate_or_says_that_there_is_none(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            plan = ("--connect", server.address, "-c", 2, "-d", "50ms", "-w", "0s")
            plan += ("--request-timeout", "500ms")
            done, result = self.load(*plan, "-R", "100", "--search", "p50<20s")
            self.assertEqual(done.returncode, 0, done.stderr)
            never, nothing = self.load(*plan, "-R", "10k", "--search", "mean<1ns")
        self.assertEqual(result["schema"], "joust-search/1")
        self.valid(self.path("load.json"))
        self.assertEqual(result["criterion"], {"figure": "p50", "limit_ns": 20_000_000_000})
        self.assertGreater(result["highest_rate_per_s"], 10)  # single tries fail on a busy machine
        self.assertLess(result["limit"]["low"], result["limit"]["rate_per_s"])
        self.assertLess(result["limit"]["rate_per_s"], result["limit"]["high"])
        self.assertEqual(result["steps"][0]["rate_per_s"], 100)
        self.assertTrue(any(step["held"] for step in result["steps"]))
        self.assertRegex(done.stdout, r"p50 < 20.0 s holds up to [0-9,]+ messages/s \(90 % interval: [0-9,]+")
        self.assertEqual(never.returncode, 3)  # no load is on time for such a limit
        self.assertIsNone(nothing["highest_rate_per_s"])
        self.assertTrue(nothing["limited_by_load"])
        self.assertIn("the load itself was late there", never.stdout)

    def test_a_search_does_not_mistake_a_dead_server_for_a_slow_one(self):
        with Server("-e", "epoll", "-p", "echo") as server:
            address = server.address
        done, result = self.load("--connect", address, "-c", 2, "--search", "p50<1s")
        self.assertEqual(done.returncode, 1)
        self.assertIn("refused", result["lost"])
        self.assertIn("the server was lost in the closed loop that finds its capacity", done.stdout)

    def test_what_means_nothing_is_refused(self):
        for words, told in (
            (("-R", "5k", "-i", "1ms"), "-R and -i exclude each other"),
            (("-R", "0"), "between 0.001 and 1G"),
            (("-R", "fast"), "is not a number"),
            (("--arrivals", "poisson"), "--arrivals needs a rate"),
            (("--phase", "together"), "--phase needs a rate or an interval"),
            (("-R", "1", "--arrivals", "sometimes"), "allowed: constant, poisson"),
            (("-R", "0.001", "-c", "1k"), "less than once a day"),
            (("--search", "p99"), "there is no '<'"),
            (("--search", ""), "the value is empty"),
            (("--search", "p99<1ms", "-m", "5"), "excludes -m, -i, --turns and --events"),
            (("-R", "1", "-p", "file", "--op", "info", "--name", "a"), "files have no open loop"),
        ):
            with self.subTest(words):
                done = run("load", "--connect", "127.0.0.1:1", *words)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertRegex(done.stderr, told)


if __name__ == "__main__":
    unittest.main()
