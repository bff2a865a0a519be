# SPDX-License-Identifier: MIT
"""Races over several hosts: network namespaces, made by script/hosts, and Open MPI."""

import json
import os
import signal
import subprocess
import unittest

from namespaces import NO_MPI, OnNamespaces, host
from program import JOUST, PATIENCE_S, Case, run


# Contestants that move files in both directions, in TLS too, and one that needs one host.
FILES = '''
rounds = 1
allow_unranked = true
cpus = { server = "any", client = "any" }

[[case]]
name = "three files"
files = { count = 3, size = "100kB", on = "memory" }

[[contestant]]
name = "send"
command = "exec {joust} serve -p file --root {into}/.. --public --listen {address}:{port}"
transfer = "exec {joust} send -r {from} {address}:{port}"

[[contestant]]
name = "send, TLS"
command = """
export JOUST_TOKEN=5d1c0e8b7a2f4936b8e7d0c1f2a39485
exec {joust} receive --into {into}/.. --public --listen {address}:{port}"""
transfer = "JOUST_TOKEN=5d1c0e8b7a2f4936b8e7d0c1f2a39485 exec {joust} send -r {from} {address}:{port}"

[[contestant]]
name = "get"
command = "exec {joust} serve -p file --access read --root {from} --public --listen {address}:{port}"
transfer = "for f in 00000 00001 {last}; do {joust} get {address}:{port}/$f -o {into}/$f || exit 1; done"

[[contestant]]
name = "cp"
transfer = "exec cp {from}/* {into}/"
'''


def is_called(*names):
    """Of a process whose first words are these."""
    return lambda words: (os.path.basename(words[0]), *words[1:len(names)]) == names


@unittest.skipIf(NO_MPI, NO_MPI)
class RaceOverHosts(OnNamespaces):
    def command(self, count, *arguments):
        return self.plain_command(count, "-p", "echo", *arguments)

    def plain_command(self, count, *arguments):
        names = ",".join(host(number) for number in range(1, count + 1))
        race = [JOUST, "race", "--hosts", names, "--progress", "none", *arguments]
        return self.on_hosts(count, *race, "--json", self.path("race.json"))

    def race(self, count, *arguments):
        return self.raced(self.command(count, *arguments))

    def raced(self, command):
        """The finished process and the result. The exit code is 3 where a short race tells nothing."""
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_S, check=False
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

    def test_files_are_moved_from_host_to_host(self):
        with open(self.path("files.toml"), "w", encoding="utf-8") as file:
            file.write(FILES)
        _, result = self.raced(self.plain_command(2, self.path("files.toml")))
        both = result["contestants"]
        for one in both[:3]:
            self.assertIsNone(one["trials"][0].get("failure"), one["name"])
            self.assertEqual(one["trials"][0]["load"]["verified"], 3, one["name"])
            self.assertIsNotNone(one["trials"][0]["server"]["cpu_user_s"], one["name"])
        self.assertIn("it has no server", both[3]["reason"])

    def test_a_dry_run_shows_the_address_of_the_server(self):
        done = subprocess.run(
            self.command(2, "--server", "epoll", "-c", 4, "--dry-run"), capture_output=True, text=True,
            timeout=PATIENCE_S, check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"Network: servers on {host(1)} (198.18.0.1, data)", done.stdout)
        self.assertIn("--listen 198.18.0.1:0", done.stdout)
        self.assertIn("--public", done.stdout)
        self.assertNotIn("127.0.0.1", done.stdout)

    def test_cpus_that_a_host_has_not_are_refused_with_its_name(self):
        done = subprocess.run(
            self.command(2, "--server", "epoll", "-c", 4, "--client-cpus", "999"), capture_output=True,
            text=True, timeout=PATIENCE_S, check=False,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f"{host(2)}: CPUs '999' of the client", done.stderr)


class WrongUsage(Case):
    def test_of_hosts_is_refused(self):
        race = "race", "--server", "epoll", "-p", "echo"
        self.refused(run(*race, "--fabric", "eth0"), "--fabric", "--hosts")
        self.refused(run(*race, "--hosts", "a"), "--hosts", "at least two")
        self.refused(run(*race, "--hosts", "a,b", "--layout", "server=0 load=1"), "--layout", "rank 0")


if __name__ == "__main__":
    unittest.main()
