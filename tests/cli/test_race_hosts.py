# SPDX-License-Identifier: MIT
"""Races over several hosts: network namespaces, made by script/hosts, and Open MPI."""

import json
import os
import signal
import subprocess
import unittest

from namespaces import NO_MPI, OnNamespaces, host, is_called, parent, processes
from program import JOUST, PATIENCE_S, Case, long, run


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


@unittest.skipIf(NO_MPI, NO_MPI)
class RaceOverHosts(OnNamespaces):
    def command(self, count, *arguments, progress="none"):
        return self.plain_command(count, "-p", "echo", *arguments, progress=progress)

    def plain_command(self, count, *arguments, progress="none"):
        return self.on_hosts(count, *self.words(count, *arguments, progress=progress))

    def words(self, count, *arguments, progress="none"):
        names = ",".join(host(number) for number in range(1, count + 1))
        race = [JOUST, "race", "--hosts", names, "--progress", progress, *arguments]
        return [*race, "--json", self.path("race.json")]

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

    def disturbed(self, hurt, *arguments, repair=None, count=2):
        """A race whose hosts are hurt in the second round: the exit code, the texts, the result. `repair` is
        called when a round has been refused for it."""
        command = self.command(count, "--server", "epoll,poll", "-c", 4, "-d", "200ms", "--rounds", 4,
                               *arguments, progress="lines")
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            try:
                errors = self.until("round 2", process.stderr)
                hurt()
                if repair:
                    errors += self.until("is refused and run again", process.stderr)
                    repair()
                output, rest = process.communicate(timeout=PATIENCE_S)
            finally:
                if process.poll() is None:
                    process.terminate()
        self.valid(self.path("race.json"))
        return process.returncode, output + errors + rest, self.result()

    def agent(self, number):
        """The process of joust that a relay has started."""
        relay = self.one(number, is_called("joust-relay"))
        return self.awaited("an agent", lambda: next(
            (pid for pid, words in processes(number)
             if is_called("joust", "race")(words) and parent(pid) == relay), None))

    def check_run_again(self, code, text, result, victim):
        self.assertIn(code, (0, 3), text)
        self.assertTrue(result["complete"])
        self.assertEqual(result["rounds"], 4)
        self.assertTrue(result["lost_hosts"])
        for why in result["lost_hosts"]:
            self.assertTrue(why.startswith(f"host {victim}: "), why)
        self.assertIn("is refused and run again", text)
        for one in result["contestants"]:
            counted = [trial for trial in one["trials"] if trial["counted"]]
            if one["kind"] == "contestant":
                self.assertEqual(len(counted), 4, one["name"])
                self.assertFalse(any(trial.get("failure") for trial in counted))

    @long
    def test_a_host_that_dies_is_named_and_its_round_is_run_again(self):
        done = self.disturbed(lambda: os.kill(self.agent(1), signal.SIGKILL))
        self.check_run_again(*done, victim=host(1))
        self.assertIn("signal 9", done[2]["lost_hosts"][0])

    @long
    def test_a_host_that_stops_is_named_and_its_round_is_run_again(self):
        agents = []

        def stop():
            agents.append(self.agent(1))
            os.kill(agents[0], signal.SIGSTOP)
        done = self.disturbed(stop, repair=lambda: os.kill(agents[0], signal.SIGCONT))
        self.check_run_again(*done, victim=host(1))
        self.assertIn("no answer", done[2]["lost_hosts"][0])

    @long
    def test_a_network_that_is_lost_is_no_fault_of_contestants(self):
        def wire(state):
            subprocess.run(["ip", "-n", host(2), "link", "set", "data", state], check=True)
        done = self.disturbed(lambda: wire("down"), repair=lambda: wire("up"))
        self.check_run_again(*done, victim=host(2))
        self.assertRegex(done[2]["lost_hosts"][0], "the network is lost|no route")

    def check_ended(self, code, text, result, victim):
        self.assertEqual(code, 1, text)
        self.assertFalse(result["complete"])
        self.assertGreater(result["rounds"], 0)
        self.assertIn(f"because a round was refused: host {victim}: ", result["incomplete"])
        self.assertIn(f"INCOMPLETE: {result['incomplete'][:40]}", text.replace("\n", " "))
        for one in result["contestants"]:
            if one["kind"] == "contestant":
                self.assertEqual(sum(trial["counted"] for trial in one["trials"]), result["rounds"])

    @long
    def test_a_race_may_end_with_what_it_has(self):
        done = self.disturbed(lambda: os.kill(self.agent(1), signal.SIGKILL), "--lost-host", "end")
        self.check_ended(*done, victim=host(1))

    @long
    def test_a_rank_that_dies_ends_the_race_with_what_it_has(self):
        """MPI cannot bring a rank back. The others go on, and all of them end."""
        relay = is_called("joust-relay")
        done = self.disturbed(lambda: os.kill(self.one(3, relay), signal.SIGKILL), count=3)
        self.check_ended(*done, victim=host(3))
        self.assertEqual(len(done[2]["lost_hosts"]), 4, "three times again")

    def interrupted(self, hurt, shows=True):
        """A race that is ended early: its finished rounds are kept, and nothing is left."""
        race = self.words(3, "-p", "echo", "--server", "epoll,threads", "-c", 6, "-d", "200ms", "--time",
                          "100s", progress="lines")
        with self.kept(3, race) as process:
            errors = self.until("round 4", process.stderr)
            hurt(self.starter())
            text = self.until("ended: ", process.stdout)
            self.nothing_is_left(3)
        self.valid(self.path("race.json"))
        result = self.result()
        self.assertFalse(result["complete"])
        self.assertGreaterEqual(result["rounds"], 3)
        self.assertEqual(result["lost_hosts"], [])
        self.assertIn("interrupted after ", result["incomplete"])
        if shows:
            self.assertIn("ended: 1\n", text)
            self.assertIn("INCOMPLETE: interrupted after ", text.replace("\n", " "))
        return errors

    def test_an_interrupted_race_keeps_its_finished_rounds(self):
        self.interrupted(lambda starter: os.killpg(starter, signal.SIGINT))

    @long
    def test_a_race_that_is_ended_in_another_way_keeps_its_finished_rounds(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            self.interrupted(lambda starter, number=number: os.kill(starter, number))

    @long
    def test_a_race_whose_mpirun_is_ended_keeps_its_finished_rounds(self):
        """mpirun passes on what ranks print, so a dead one shows no table."""
        for number, shows in ((signal.SIGTERM, True), (signal.SIGKILL, False)):
            self.interrupted(lambda _, end=number: os.kill(self.one(1, is_called("mpirun")), end), shows)

    @long
    def test_a_race_whose_starter_is_killed_keeps_its_finished_rounds(self):
        self.interrupted(lambda starter: os.kill(starter, signal.SIGKILL), shows=False)

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
        self.refused(run(*race, "--lost-host", "end"), "--lost-host", "--hosts")
        self.refused(run(*race, "--hosts", "a,b", "--layout", "server=0 load=1"), "--layout", "rank 0")


if __name__ == "__main__":
    unittest.main()
