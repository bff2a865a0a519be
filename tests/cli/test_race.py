# SPDX-License-Identifier: MIT
"""joust race, end to end over real sockets."""

import json
import os
import re
import signal
import subprocess
import sys
import unittest

from program import JOUST, PATIENCE_S, Case, run, whose_races_count

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMA = os.path.join(os.path.dirname(TESTS), "docs", "result.schema.json")


class Race(Case):
    def scenario(self, text):
        file = self.path("race.toml")
        with open(file, "w", encoding="utf-8") as scenario:
            scenario.write('rounds = 1\nload = { duration = "60ms", warmup = "0", connections = 2 }\n' + text)
        return file

    def test_a_race_without_a_sound_contestant_is_invalid(self):
        ends = "import socket; socket.create_server(('127.0.0.1', {port})).accept()"
        scenario = self.scenario("".join(
            f'[[contestant]]\nname = "{name}"\ncommand = """{sys.executable} -c "{ends}" """\n'
            for name in ("one", "other")))
        done = run("race", scenario, "--quick")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("No contestant can be ranked", done.stdout)

    def test_rounds_are_told_while_a_race_runs(self):
        race = ("race", "--server", "epoll,poll", "-p", "echo", "-c", 2, "-d", "60ms", "-w", 0, "--rounds", 3,
                "--allow-unranked")
        done = run(*race, "--progress", "json")
        events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        rounds = [event for event in events if event["event"] == "round"]
        self.assertEqual([one["round"] for one in rounds], [1, 2, 3])
        self.assertEqual({one["rounds"] for one in rounds}, {3})
        self.assertIn("to epoll: poll ", rounds[2]["standing"])
        self.assertLess(rounds[0]["elapsed_s"], rounds[2]["elapsed_s"])
        lines = [line for line in run(*race, "--progress", "lines").stderr.splitlines() if "  round " in line]
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[2], r"^\S+ \S+  main  round 3/3  to epoll: poll \d")
        self.assertNotIn("round 1", run(*race, "--progress", "none").stderr)

    def test_the_order_is_drawn_for_each_round_and_for_each_round_of_turns(self):
        race = ("race", "--server", "epoll,poll", "-p", "echo", "--seed", 1)
        plan = run(*race, "--rounds", 8, "--dry-run").stdout
        orders = re.findall(r"^ +\d  (.+)$", plan[plan.index(" in the order of seed 1:"):], re.MULTILINE)
        self.assertEqual(len(orders), 8, plan)
        self.assertGreater(len({order.index("poll") for order in orders}), 1, plan)
        file = self.path("turns.json")
        done = run(*race, "-c", 1, "-d", "20ms", "--turn", "1ms", "-w", 0, "--rounds", 1, "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        with open(file, encoding="utf-8") as result:
            turns = json.load(result)["contestants"][0]["trials"][0]["turns"]
        self.assertGreaterEqual(len(turns["order"]), 5)
        self.assertGreater(len(set(turns["order"])), 1)

    def test_an_interrupted_race_keeps_the_rounds_that_have_ended(self):
        file = self.path("r.json")
        race = ("race", "--server", "epoll", "-p", "echo", "-c", "1", "-m", "20", "-w", "0", "--turns", "off",
                "--rounds", "1000", "--progress", "json", "--json", file)
        process = subprocess.Popen([JOUST, *race], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            if json.loads(line).get("round") == 2:
                process.send_signal(signal.SIGINT)
                break
        shown, _ = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(shown, r"INCOMPLETE: interrupted after \d+ of 1000 rounds?\n")
        with open(file, encoding="utf-8") as text:
            result = json.load(text)
        self.assertFalse(result["complete"])
        self.assertEqual(result["contestants"][0]["trials"][0]["load"]["messages"]["verified"], 20)

    def test_a_quick_race_has_few_rounds(self):
        race = ("race", "--server", "epoll", "--dry-run")
        self.assertIn(" 10.0 s", run(*race, "--quick").stdout)
        self.assertIn(" 20.0 s", run(*race, "--quick", "--sweep", "connections=1,2").stdout)
        self.assertNotIn(" 10.0 s", run(*race).stdout)
        self.assertIn(" in 3 rounds, ", run(*race, "--quick", "--rounds", 3).stdout)

    def test_unix_sockets_race_beside_tcp(self):
        file = self.path("r.json")
        race = ("race", "--server", "epoll,threads", "-p", "echo", "-c", 2, "-d", "60ms", "-w", 0,
                "--rounds", 3, "--allow-unranked", "--json", file)
        for how in (("--sweep", "transport=tcp,unix"), ("--server", "epoll:transport=unix")):
            done = run(*race, *how)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            with open(file, encoding="utf-8") as text:
                document = json.load(text)
            self.valid(file)
            on_unix = [one for one in document["contestants"] if one["server"].get("transport") == "unix"]
            engines = ("epoll", "threads") if how[0] == "--sweep" else ("epoll",)
            self.assertEqual([one["name"] for one in on_unix], [f"{name}:transport=unix" for name in engines])
            for one in on_unix:
                self.assertGreater(one["summary"]["throughput_per_s"]["median"], 0, one["name"])
                self.assertEqual(one["summary"]["trials"], 3)
        self.refused(run(*race, "--client", "epoll:transport=unix"), "transport is of the server")
        scenario = self.path("transports.toml")
        wrong = "'unx' is no transport"
        for sweep, words in (('transport = ["tcp", "unix"]', None), ('transport = "tcp,unx"', wrong)):
            with open(scenario, "w", encoding="utf-8") as file:
                file.write(f'matrix = {{ servers = ["epoll", "poll"] }}\nsweep = {{ {sweep} }}\n')
            done = run("race", scenario, "--dry-run")
            if words:
                self.refused(done, words)
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [line.strip() for line in done.stdout.splitlines()]
            for name in ("epoll", "epoll:transport=unix", "poll", "poll:transport=unix"):
                self.assertIn(name, rows)
        self.refused(run(*race, "--server", "udp-batched:transport=unix"), "has a transport of its own")
        self.refused(run(*race, "--sweep", "transport=tcp,unx"), "'unx' is no transport", "unix")
        self.refused(run("serve", "-e", "epoll:transport=unix"), "as in unix:PATH")

    @whose_races_count
    def test_a_contestant_that_dies_is_no_success(self):
        scenario = self.scenario('[[contestant]]\nserver = "epoll"\n'
                                 '[[contestant]]\nname = "new"\ncommand = "false"\n')
        done = run("race", scenario, "--quick")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("exit code 3: new is not ranked", done.stderr)
        self.assertEqual(run("race", scenario, "--quick", "--allow-unranked").returncode, 0)

    @whose_races_count
    def test_one_round_that_tells_nothing_is_no_success(self):
        race = ("race", "--server", "epoll,epoll", "-c", 2, "-d", "60ms", "--rounds", 1, "--turns", "off")
        done = run(*race)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("exit code 3: the race tells nothing of its contestants", done.stderr)
        self.assertEqual(run(*race, "--allow-unranked").returncode, 0)

    def test_a_command_that_is_not_there(self):
        scenario = self.scenario('[[contestant]]\nname = "bare"\ncommand = "exec no/such/program {port}"\n')
        done = run("race", scenario, "--quick")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)  # no contestant can run here
        self.assertEqual(done.stderr.count("was not found (exit code 127)"), 2, "of it, and of it again")
        self.assertIn("unavailable: the command", done.stdout)
        self.assertNotIn("script/build", done.stdout + done.stderr)

    def test_what_can_never_run_is_refused_before_the_first_trial(self):
        with_200_files = ("-c", 'ulimit -n 200 && exec "$0" "$@"', JOUST)
        race = ("race", "--server", "epoll")
        files = (*race, "-p", "file", "--name", "x", "-c", 64, "--output", self.path("out"))
        for more in ((), ("--dry-run",)):
            with self.subTest(more):
                many = run(*with_200_files, *race, "-c", 300, *more, program="sh")
                self.refused(many, "-c: 300 connections need about 364 open files", "may have 200 here")
                file = self.path("no/such/folder.json")
                done = run(*race, "--json", file, *more)
                self.assertEqual(done.returncode, 2)
                reason = "No such file or directory"
                self.assertEqual(done.stderr, f"joust: --json {file}: cannot be written: {reason}\n")
                self.refused(run(*files, *more), "--output is for one get")
                self.refused(run("race", "--server", "null", *more), "--server: engine 'null' has no sockets")
        scenario = self.scenario('matrix = { servers = ["epoll"] }\n')
        many = run(*with_200_files, "race", scenario, "-c", 300, program="sh")
        self.refused(many, scenario + ": connections (or -c): 300 connections need")
        load = run(*with_200_files, "load", "--connect", "127.0.0.1:1", "-c", 300, program="sh")
        self.refused(load, "-c: 300 connections need about 364 open files")

    def test_a_race_of_uploads_replaces_its_own_files_only(self):
        race = ("race", "--server", "epoll", "-p", "file", "--op", "put", "--bytes", "10k", "-c", 2)
        repeated = "a race uploads the same file many times"
        for more in ((), ("--dry-run",)):
            self.refused(run(*race, "--overwrite", "no", *more), repeated, "--overwrite yes")
            self.refused(run(*race, "--root", self.directory, *more), repeated, "--root")
        self.assertEqual(os.listdir(self.directory), [])
        kept = run(*race, "--root", self.directory, "--overwrite", "--dry-run")
        self.assertEqual(kept.returncode, 0, kept.stderr)
        file = self.path("race.json")
        done = run(*race, "-d", "60ms", "-w", "10ms", "--rounds", 1, "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        with open(file, encoding="utf-8") as result:
            trials = json.load(result)["contestants"][0]["trials"]
        self.assertGreater(trials[0]["load"]["messages"]["verified"], 0)
        self.assertEqual(trials[0]["load"]["messages"]["failed"], 0)

    def test_an_option_goes_to_the_side_on_which_it_has_an_effect(self):
        race = ("race", "-p", "file", "--dry-run", "--server")
        put, get = ("--op", "put", "--bytes", "1k"), ("--op", "get")
        for op, writer in ((put, "joust serve"), (get, "joust load")):
            plan = run(*race, "epoll", *op, "--file-write", "splice").stdout.splitlines()
            having = [line.split(" -e ")[0].strip() for line in plan if "--file-write splice" in line]
            self.assertEqual(set(having), {writer})
        self.refused(run(*race, "epoll,epoll:file-write=splice"),
                     "'epoll:file-write=splice': --file-write has no effect: with --op get the client writes")
        self.refused(run(*race, "epoll", "--client", "poll:file-read=mmap"),
                     "the client of 'epoll': --file-read has no effect: with --op get the server reads")
        self.refused(run(*race, "epoll", "--op", "info", "--file-read", "mmap"), "--file-read has no effect")
        scenario = self.scenario('protocol = "file"\n[matrix]\nservers = ["epoll:file-write=splice"]\n'
                                 '[[case]]\nname = "get"\n[[case]]\nname = "put"\n'
                                 'options = { op = "put", bytes = "1k" }\n')
        self.assertEqual(run("race", scenario, "--dry-run").returncode, 0)

    def test_several_rates_are_shares_of_one_capacity(self):
        file = self.path("rates.json")
        race = ("race", "--server", "epoll,threads", "-p", "echo", "-c", 4, "-d", "200ms", "-w", "10ms")
        dry = run(*race, "--rates", "10%,500", "--rounds", 1, "--dry-run")
        self.assertEqual(dry.returncode, 0, dry.stderr)
        self.assertIn("open loop, 10% of the capacity, Poisson arrivals", dry.stdout)
        done = run(*race, "--rates", "10%,500", "--rounds", 1, "--quick", "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stderr)  # a busy machine may not keep a schedule
        with open(file, encoding="utf-8") as result:
            share, absolute = json.load(result)["cases"]
        self.assertEqual([share["name"], absolute["name"]], ["10%", "500"])
        self.assertIn(share["capacity"]["contestant"], ("epoll", "threads"))
        self.assertAlmostEqual(share["load"]["rate_per_s"] / share["capacity"]["per_s"], 0.1, delta=0.001)
        self.assertEqual(absolute["load"]["rate_per_s"], 500)
        for case in (share, absolute):  # a short trial may have too few messages for a p99
            self.assertIn(case["ranked_by"], ("p99", "p50", "mean"))
        for wrong in ("5q", "120%", "1k,1000", ""):
            self.assertEqual(run(*race, "--rates", wrong).returncode, 2, wrong)
        self.assertEqual(run(*race, "--rates", "10%", "-R", "5").returncode, 2)

    def test_a_sweep_is_a_case_for_each_value(self):
        file = self.path("sweep.json")
        race = ("race", "--server", "epoll", "-p", "echo", "-d", "60ms", "-w", "10ms")
        done = run(*race, "--sweep", "connections=1..4 x4", "--rounds", 1, "--quick", "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertIn("messages/s over connections\n", done.stdout)
        with open(file, encoding="utf-8") as result:
            cases = json.load(result)["cases"]
        self.assertEqual([case["sweep"]["value"] for case in cases], [1, 4])
        self.assertEqual([case["load"]["connections"] for case in cases], [1, 4])
        with_200_files = ("-c", 'ulimit -n 200 && exec "$0" "$@"', JOUST, *race)
        many = run(*with_200_files, "--sweep", "connections=1,300", program="sh")
        self.refused(many, "--sweep: 300 connections need about 364 open files")
        for wrong, told in (("connections=0", "--sweep: 0 is out of range"), ("connections=", "empty value"),
                            ("colour=1", "there is no axis 'colour'"), ("depth=1..100", "more than 64")):
            self.refused(run(*race, "--sweep", wrong), told)

    def test_a_scenario_has_the_size_that_is_asked_for(self):
        scenario = self.scenario('matrix = { servers = ["epoll"] }\nfull = { load = { connections = 5 } }\n')
        self.assertIn(", 2 connections,", run("race", scenario, "--dry-run").stdout)
        self.assertIn(", 5 connections,", run("race", scenario, "--dry-run", "--full").stdout)
        self.refused(run("race", scenario, "--full", "--quick"), "--full and --quick exclude each other")
        self.refused(run("race", "--server", "epoll", "--full"), "only a scenario has a full size")
        small = self.scenario('matrix = { servers = ["epoll"] }\n')
        self.refused(run("race", small, "--full"), "leave out --full")

    def test_every_scenario_of_the_sources_can_be_planned(self):
        folder = os.path.join(os.path.dirname(TESTS), "scenarios")
        for name in sorted(os.listdir(folder)):
            for size in ((), ("--quick",), ("--full",)):
                with self.subTest(name=name, size=size):
                    done = run("race", os.path.join(folder, name), "--dry-run", "--server-cpus", "any",
                               "--client-cpus", "any", *size)
                    if size == ("--full",) and done.returncode == 2:
                        self.refused(done, "has no full size")
                    else:
                        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_it_writes_is_what_the_schema_says(self):
        file = self.path("race.json")
        done = run("race", "--server", "epoll,threads", "-c", 4, "-d", "60ms", "-w", "10ms", "--rounds", 2,
                   "--quick", "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertIn("messages/s", done.stdout)
        validate = os.path.join(TESTS, "validate_result.py")
        checked = subprocess.run(
            [sys.executable, "-B", validate, SCHEMA, file], capture_output=True, text=True, check=False
        )
        if checked.returncode == 77:
            self.skipTest(checked.stdout)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_load_that_cannot_be_ends_it_at_once_in_its_own_words(self):
        race = ("race", "--server", "epoll", "--rounds", 1, "-p", "file")
        done = run(*race, "--output", self.path("out"))
        self.refused(done, "joust: --output is for one get")
        self.assertEqual(done.stderr.count("joust: "), 1)
        self.refused(run(*race, "--root", self.path("none"), "--name", "x"), "--root: ", self.path("none"))


if __name__ == "__main__":
    unittest.main()
