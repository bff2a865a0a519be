#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Races whose contestants take turns, and the load that takes them."""

import json
import os
import signal
import subprocess
import time
import unittest

from program import JOUST, Case, Server, run

BARE = os.path.join(os.path.dirname(JOUST), "benchmarks", "bare_epoll_echo")

def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]

class Turns(Case):
    def race(self, *options, duration="50ms"):
        file = self.path("race.json")
        done = run("race", "-c", 4, "-d", duration, "-w", "10ms", *options, "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        with open(file) as result:
            return json.load(result)

    def test_all_take_the_same_turns_and_nothing_is_lost(self):
        for servers, client in (("threads,poll", "threads"), ("epoll,io-uring:sqpoll=on", "io-uring")):
            with self.subTest(servers):
                result = self.race("--server", servers, "--client", client, "--rounds", 2)
                self.assertEqual(result["generations"], 2)
                self.assertGreater(result["turns"], 0)
                for contestant in result["contestants"]:
                    for trial in contestant["trials"]:
                        self.assertNotIn("failure", trial, contestant["name"])
                        self.assertEqual(trial["load"]["connections"]["failed"], 0)
                        messages = trial["load"]["messages"]
                        self.assertGreater(messages["verified"], 0)
                        answered = messages["verified"] + messages["failed"] + messages["in_flight"]
                        self.assertEqual(messages["sent"], answered)
                        self.assertGreaterEqual(len(trial["turns"]["round"]), 5)
                        if contestant["kind"] == "ceiling":
                            continue
                        received = trial["server"]["bytes_received"]
                        self.assertEqual(received, trial["load"]["bytes"]["total_sent"])
                        self.assertGreater(sum(trial["turns"]["server_cpu_s"]), 0)

    def test_a_room_rests_when_every_message_has_reached_every_member(self):
        result = self.race("--server", "epoll,threads", "-p", "broadcast", "--rounds", 2)
        self.assertGreater(result["turns"], 0)
        for contestant in result["contestants"]:
            for trial in contestant["trials"]:
                self.assertNotIn("failure", trial, contestant["name"])
                deliveries = trial["load"]["deliveries"]
                self.assertGreater(deliveries["expected"], 4 * trial["load"]["messages"]["verified"])
                self.assertEqual(deliveries["received"], deliveries["expected"])

    def check_transfers(self, result, count=None):
        self.assertEqual(len(result["contestants"]), 3)  # the reference twice
        for contestant in result["contestants"]:
            for trial in contestant["trials"]:
                self.assertNotIn("failure", trial, contestant["name"])
                load, turns = trial["load"], trial["turns"]
                self.assertEqual((turns["unit"], load["connections"]["failed"]), ("transfer", 0))
                self.assertEqual(load["messages"]["sent"], load["messages"]["verified"])
                if count:
                    self.assertEqual(turns["count"], count)
                for turn in range(len(turns["round"])):
                    self.assertEqual(turns["verified"][turn], 4 * turns["count"])
                    self.assertEqual(turns["messages"][turn], turns["verified"][turn])
                    self.assertLessEqual(turns["window_s"][turn], turns["turn_s"][turn])
                self.assertGreaterEqual(len(turns["round"]), 5)
                self.assertEqual(load["transfer"]["transfers"], sum(turns["verified"]))
                self.assertEqual(len(load["transfer"]["digest"]), 32)
                self.assertEqual(trial["server"]["bytes_received"], load["bytes"]["total_sent"])
                self.assertGreater(sum(turns["server_cpu_s"]), 0)

    def test_a_file_is_fetched_and_sent_in_turns(self):
        get = ("-p", "file", "--sample", "sample=256KiB")
        put = ("-p", "file", "--op", "put", "--bytes", "256KiB", "--overwrite")
        for servers, how in (("epoll,threads", get), ("threads,epoll", (*get, "--sink", "memory")),
                             ("epoll,poll", put)):
            with self.subTest((servers, how)):
                result = self.race("--server", servers, *how, "--rounds", 2)
                self.assertEqual(result["generations"], 2)
                self.check_transfers(result)

    def test_a_count_of_transfers_is_a_turn(self):
        file = self.path("race.json")
        done = run("race", "--server", "epoll,threads", "-p", "file", "-c", 4, "-m", 2, "-w", "10ms",
                   "--rounds", 2, "--json", file)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        self.assertIn("in turns of 2 transfers on each in each round", done.stdout)
        with open(file) as result:
            self.check_transfers(json.load(result), 2)

    def test_equal_servers_of_files_tie(self):
        result = self.race("--server", "epoll,epoll", "-p", "file", "--time", "6s")
        pairs = [each for each in result["cases"][0]["pairs"] if each["figure"] == "throughput"]
        self.assertEqual(len(pairs), 1)
        self.assertIn(pairs[0]["decision"], ("equal", "undecided"), result["verdict"])
        # How many fit into the time depends on the machine, and on a sanitizer.
        self.assertGreater(result["turns"], 2 * result["generations"])
        self.assertTrue(result["complete"])

    def test_a_count_of_messages_is_a_turn(self):
        file = self.path("race.json")
        for protocol in ("echo", "broadcast"):
            with self.subTest(protocol):
                done = run("race", "--server", "epoll", "-p", protocol, "-c", 4, "-m", 3, "-w", "10ms",
                           "--rounds", 2, "--json", file)
                self.assertIn(done.returncode, (0, 3), done.stderr)
                with open(file) as text:
                    result = json.load(text)
                for contestant in result["contestants"]:
                    for trial in contestant["trials"]:
                        self.assertNotIn("failure", trial, contestant["name"])
                        self.assertEqual((trial["turns"]["unit"], trial["turns"]["count"]), ("message", 3))
                        self.assertEqual(set(trial["turns"]["verified"]), {12})

    def test_a_server_of_files_that_dies_in_a_turn(self):
        scenario = self.path("dies.toml")
        dying = f"exec timeout -s KILL 2 {JOUST} serve -e epoll -p file --listen 127.0.0.1:{{port}}"
        with open(scenario, "w") as file:
            file.write(f'protocol = "file"\n[[contestant]]\nname = "dies"\ncommand = "{dying}"\n'
                       '[[contestant]]\nname = "epoll"\nserver = "epoll"\n')
        result = self.race(scenario, "--rounds", 1, duration="3s")
        trials = {each["name"]: each["trials"][0] for each in result["contestants"]}
        self.assertIn("the server ended in the middle of the trial: signal 9", trials["dies"]["failure"])
        self.assertNotIn("failure", trials["epoll"])
        self.assertEqual(trials["epoll"]["load"]["connections"]["failed"], 0)

    def test_off_gives_everyone_a_window(self):
        result = self.race("--server", "epoll", "--rounds", 1, "--turns", "off")
        self.assertEqual((result["generations"], result["turns"]), (0, 0))

    def test_a_race_without_rounds_ends_in_time(self):
        begun = time.monotonic()
        result = self.race("--server", "epoll", "--time", "3s")
        self.assertGreaterEqual(result["generations"], 1)
        self.assertLess(time.monotonic() - begun, 60)
        self.assertTrue(result["complete"])

    @unittest.skipUnless(os.path.exists(BARE), "the benchmarks are not built")
    def test_a_server_of_somebody_else_takes_turns_too(self):
        scenario = self.path("bare.toml")
        with open(scenario, "w") as file:
            file.write(f'[[contestant]]\nname = "bare"\ncommand = "exec {BARE} {{port}} 0"\n'
                       '[[contestant]]\nname = "epoll"\nserver = "epoll"\n[load]\nduration = "1s"\n')
        result = self.race(scenario, "--rounds", 2)
        bare = next(each for each in result["contestants"] if each["name"] == "bare")
        self.assertEqual([trial.get("failure") for trial in bare["trials"]], [None, None])
        self.assertIsNotNone(bare["summary"]["server_cpu_us_per_message"])

    def test_an_interrupted_race_leaves_no_stopped_process(self):
        race = subprocess.Popen([JOUST, "race", "--server", "epoll,threads", "-c", "4"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        children = []
        while len(children) < 6:  # three servers and their loads
            children = [each for conductor in children_of(race.pid) for each in children_of(conductor)]
            self.assertIsNone(race.poll())
            time.sleep(0.01)
        race.send_signal(signal.SIGINT)
        race.communicate(timeout=60)
        self.assertEqual(race.returncode, 1)
        for child in children:
            self.assertFalse(os.path.exists(f"/proc/{child}"), child)

    def test_a_load_works_in_turns_only(self):
        file = self.path("load.json")
        with Server("-e", "epoll") as server:
            load = subprocess.Popen([JOUST, "load", "--connect", server.address, "-c", "3", "--turns",
                                     "--events", "--json", file], stdout=subprocess.PIPE, text=True)
            self.assertEqual(json.loads(load.stdout.readline()), {"event": "connected"})
            told = []
            for _ in range(2):
                signal_turn(load.pid, 20_000)
                told.append(json.loads(load.stdout.readline()))
            load.send_signal(signal.SIGTERM)
            while load.poll() is None:  # one turn too many, while the result is written
                signal_turn(load.pid, 1)
            self.assertEqual(load.returncode, 0)
            load.stdout.close()
        self.assertEqual([each["turn"] for each in told], [1, 2])
        self.assertEqual([each["failed"] for each in told], [0, 0])
        self.assertGreaterEqual(told[1]["latency_sum_ns"], told[0]["latency_sum_ns"], "all turns until then")
        with open(file) as result:
            messages = json.load(result)["messages"]
        self.assertGreaterEqual(messages["verified"], told[-1]["verified"])  # the turn too many may be taken
        self.assertGreaterEqual(messages["beside"], told[-1]["beside"])

    def begin_of_a_window(self, *options):
        """Milliseconds from the begin of a turn of 100 ms to the last reply of its ramp."""
        with Server("-e", "epoll") as server:
            load = subprocess.Popen([JOUST, "load", "--connect", server.address, "-c", "3", "--turns",
                                     *options, "--events", "--json", self.path("load.json")],
                                    stdout=subprocess.PIPE, text=True)
            load.stdout.readline()
            signal_turn(load.pid, 100_000)
            told = json.loads(load.stdout.readline())
            load.send_signal(signal.SIGTERM)
            self.assertEqual(load.wait(), 0)
            load.stdout.close()
        return (told["from_ns"] - told["began_ns"]) / 1e6

    def test_the_ramp_of_a_turn_may_be_given(self):
        self.assertTrue(2 < self.begin_of_a_window() <= 20, "a fifth of it")
        self.assertLessEqual(self.begin_of_a_window("--ramp", "2ms"), 2)
        self.assertTrue(2 < self.begin_of_a_window("--ramp", "1s") <= 20, "at most a fifth")

    def test_turns_need_a_conductor(self):
        self.refused(run("load", "--connect", "127.0.0.1:1", "--turns"), "--turns needs --events")
        events = ("--events", "--json", self.path("x"))
        load = ("load", "--connect", "127.0.0.1:1", *events)
        self.refused(run(*load, "-p", "file", "--turns"), "say --counted-turns")
        self.refused(run(*load, "--counted-turns", "-i", "1ms"), "--counted-turns excludes -i and -R")
        self.refused(run(*load, "--counted-turns", "--ramp", "1ms"), "--ramp is for --turns")
        self.refused(run(*load, "--ramp", "1ms"), "--ramp is for --turns")
        self.refused(run("race", "--server", "epoll", "-m", 10, "--turn", "1s"), "--turn", "duration")
        self.refused(run("race", "--server", "epoll", "--turns", "maybe"), "--turns", "allowed: on, off")
        self.refused(run("race", "--server", "epoll", "--precision", "3"), "--precision", "'3' has no unit")

def signal_turn(pid, microseconds):
    """sigqueue(3), which Python's library lacks."""
    import ctypes

    class Value(ctypes.Union):
        _fields_ = [("number", ctypes.c_int), ("pointer", ctypes.c_void_p)]

    queue = ctypes.CDLL(None, use_errno=True).sigqueue
    queue.argtypes = [ctypes.c_int, ctypes.c_int, Value]
    assert queue(pid, signal.SIGUSR1, Value(number=microseconds)) == 0

if __name__ == "__main__":
    unittest.main()
