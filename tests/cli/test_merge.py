# SPDX-License-Identifier: MIT
"""Loads over several hosts without Open MPI: a time at which all begin, and results that are merged."""

import copy
import json
import signal
import subprocess
import time
import unittest

from program import JOUST, PATIENCE_S, Case, Server, run


class Merge(Case):
    def test_a_load_begins_at_a_time(self):
        with Server("-p", "echo") as server:
            began = time.time_ns()
            done, result = self.load("--connect", server.address, "-c", 2, "-m", 3, "--start-at", "+700ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(result["window_utc_ns"] - began, 690_000_000)

    def test_a_time_that_is_over_is_refused(self):
        for when, word in (("2020-01-31T12:00:00Z", "over"), ("soon", "+5s"), ("+3h", "ahead")):
            self.refused(run("load", "--connect", "127.0.0.1:9", "--start-at", when), word)

    def test_an_interruption_ends_the_wait(self):
        with Server("-p", "echo") as server:
            process = subprocess.Popen(
                [JOUST, "load", "--connect", server.address, "--start-at", "+9m", "--events", "--json",
                 self.path("x.json")], stdout=subprocess.PIPE, text=True)
            self.assertIn("connected", process.stdout.readline())
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE_S), 1)
            process.stdout.close()

    def test_results_are_merged(self):
        with Server("-p", "echo") as server:
            for number in (1, 2):
                done = run("load", "--connect", server.address, "-c", number, "-m", 4, "--json",
                           self.path(f"{number}.json"))
                self.assertEqual(done.returncode, 0, done.stderr)
        merged = run("merge", "--json", self.path("1.json"), self.path("2.json"))
        self.assertEqual(merged.returncode, 0, merged.stderr)
        with open(self.path("merged.json"), "w", encoding="utf-8") as file:
            file.write(merged.stdout)
        self.valid(self.path("merged.json"))
        whole = json.loads(merged.stdout)
        self.assertEqual(whole["messages"]["verified"], 12)
        self.assertEqual(whole["plan"]["connections"], 3)
        self.assertEqual(sum(count for _, count in whole["histogram_ns"]), 12)
        self.assertGreater(whole["start_spread_ns"], 0)
        text = run("merge", self.path("1.json"), self.path("2.json")).stdout
        self.assertIn("All started within", text)

    def test_other_loads_are_not_merged(self):
        with Server("-p", "echo") as server:
            for name, payload in (("1", 32), ("2", 64)):
                load = "load", "--connect", server.address, "-m", 1, "--payload", payload
                run(*load, "--json", self.path(name))
        self.refused(run("merge", self.path("1"), self.path("2")), "payload", "no parts of one load")
        self.refused(run("merge", self.path("1"), self.path("1")), "twice")
        self.refused(run("merge", self.path("1"), self.path("none")), "none: is no file")

    def test_numbers_that_no_load_has_are_refused(self):
        with Server("-p", "echo") as server:
            for name in "1", "2":
                run("load", "--connect", server.address, "-m", 4, "--json", self.path(name))
        with open(self.path("2"), encoding="utf-8") as file:
            whole = json.load(file)
        for keys, value, words in (
            (("messages", "verified"), -5, "messages.verified: is -5"),
            (("messages", "sent"), 0.5, "messages.sent: is 0.5, and should be a whole number"),
            (("duration_s",), 1e308, "duration_s: is 1e+308"),
            (("histogram_ns", 0, 1), -3, "histogram_ns[0][1]: is -3"),
            (("cpu", "user_s"), -1, "cpu.user_s: is -1"),
            (("messages", "verified"), [], "messages.verified: is of type array"),
        ):
            broken = copy.deepcopy(whole)
            place = broken
            for key in keys[:-1]:
                place = place[key]
            place[keys[-1]] = value
            with open(self.path("broken"), "w", encoding="utf-8") as file:
                json.dump(broken, file)
            self.refused(run("merge", self.path("1"), self.path("broken")), words)


if __name__ == "__main__":
    unittest.main()
