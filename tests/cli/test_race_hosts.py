# SPDX-License-Identifier: MIT
"""Races over several hosts: network namespaces, made by script/hosts, and Open MPI."""

import json
import os
import signal
import subprocess
import unittest

from namespaces import NO_MPI, OnNamespaces, host
from program import JOUST, PATIENCE_S, Case, run


def is_called(*names):
    """Of a process whose first words are these."""
    return lambda words: (os.path.basename(words[0]), *words[1:len(names)]) == names


@unittest.skipIf(NO_MPI, NO_MPI)
class RaceOverHosts(OnNamespaces):
    def command(self, count, *arguments):
        names = ",".join(host(number) for number in range(1, count + 1))
        race = [JOUST, "race", "--hosts", names, "-p", "echo", "--progress", "none", *arguments]
        return self.on_hosts(count, *race, "--json", self.path("race.json"))

    def race(self, count, *arguments):
        """The finished process and the result. The exit code is 3 where a short race tells nothing."""
        done = subprocess.run(
            self.command(count, *arguments), capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.valid(self.path("race.json"))
        return done, self.result()

    def result(self):
        with open(self.path("race.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_servers_and_loads_have_hosts_of_their_own(self):
        done, result = self.race(2, "--server", "epoll,poll", "-c", 4, "-d", "100ms", "--rounds", 1)
        self.assertTrue(result["complete"])
        self.assertEqual([(one["name"], one["side"]) for one in result["hosts"]],
                         [(host(1), "server"), (host(2), "load")])
        self.assertEqual(result["hosts"][0]["address"], "198.18.0.1")
        self.assertGreater(result["hosts"][1]["round_trip_s"], 0)
        self.assertIn(f"Network: servers on {host(1)} (198.18.0.1, data)", done.stdout)
        for contestant in result["contestants"]:
            self.assertTrue(contestant["trials"], contestant["name"])
            for trial in contestant["trials"]:
                self.assertIsNone(trial.get("failure"))
        self.assertIn("several hosts", result["contestants"][0]["call_count"]["reason"])

    def test_several_hosts_make_one_load(self):
        _, result = self.race(3, "--server", "epoll", "-c", 5, "-R", 1000, "-d", "300ms", "--rounds", 1,
                              "--fabric", "198.18.0.0/24")
        loads = [one for one in result["hosts"] if one["side"] == "load"]
        self.assertEqual(len(loads), 2)
        for one in loads:
            self.assertIsNotNone(one["clock_offset_s"])
            self.assertGreater(one["clock_error_s"], 0)
        trial = result["contestants"][0]["trials"][0]
        self.assertIsNone(trial.get("failure"))
        self.assertEqual(trial["load"]["connections"]["ok"], 5)

    def test_a_host_that_is_lost_is_named(self):
        command = self.command(2, "--server", "epoll,poll", "-c", 4, "-d", "200ms", "--rounds", 50)
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            try:
                self.one(1, is_called("joust", "serve"))
                os.kill(self.one(1, is_called("joust", "race")), signal.SIGKILL)
                _, errors = process.communicate(timeout=PATIENCE_S)
            finally:
                if process.poll() is None:
                    process.terminate()
        self.assertIn(f"host {host(1)}: ", errors)
        failures = [trial["failure"] for one in self.result()["contestants"] for trial in one["trials"]
                    if trial.get("failure")]
        self.assertTrue(any(failure.startswith(f"host {host(1)}: ") for failure in failures), failures)

    def test_what_other_hosts_cannot_reach_is_unavailable(self):
        _, result = self.race(2, "--server", "epoll,epoll:transport=unix,processes", "-c", 2, "-d", "50ms",
                              "--rounds", 1)
        reasons = [one["reason"] for one in result["contestants"] if one["kind"] == "contestant"]
        self.assertIn("unix socket", reasons[1])
        self.assertIn("its own machine only", reasons[2])


class WrongUsage(Case):
    def test_of_hosts_is_refused(self):
        race = "race", "--server", "epoll", "-p", "echo"
        self.refused(run(*race, "--fabric", "eth0"), "--fabric", "--hosts")
        self.refused(run(*race, "--hosts", "a"), "--hosts", "at least two")
        self.refused(run(*race, "--hosts", "a,b", "--layout", "server=0 load=1"), "--layout", "rank 0")


if __name__ == "__main__":
    unittest.main()
