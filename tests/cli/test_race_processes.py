# SPDX-License-Identifier: MIT
"""joust race and the processes of contestants: daemons take their turns, and nothing outlives the race."""

import json
import os
import signal
import subprocess
import time
import unittest

from program import JOUST, PATIENCE_S, Case, run, whose_races_count

# Echoes on the port of its last argument. As a daemon it leaves its parent, its group and its session.
SERVER = """
import os, socket, sys, threading
if sys.argv[1] == "daemon":
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
def echo(peer):
    while data := peer.recv(1 << 16):
        peer.sendall(data)
listener = socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=64)
while True:
    threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
"""


def processes_with(word):
    """The process ids of programs that have this word among their arguments."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as line:
                if word.encode() in line.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            pass  # it has ended
    return found


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(child) for child in children.read().split()]


def child_of(pid):
    return children_of(pid)[0]


def tree_of(pid):
    """A process and all that descend from it, parents first."""
    return [pid] + [each for child in children_of(pid) for each in tree_of(child)]


class ProcessesOfARace(Case):
    def setUp(self):
        super().setUp()
        self.script = self.path("server.py")
        with open(self.script, "w", encoding="utf-8") as script:
            script.write(SERVER)
        self.environment = {**os.environ, "TMPDIR": self.directory}

    def scenario(self, *kinds, rest=""):
        file = self.path("scenario.toml")
        with open(file, "w", encoding="utf-8") as scenario:
            scenario.write('protocol = "echo"\n[load]\nduration = "100ms"\nconnections = 4\n')
            for kind in kinds:
                command = f"python3 {self.script} {kind} {{port}}"
                scenario.write(f'[[contestant]]\nname = "{kind}"\ncommand = "{command}"\n')
            scenario.write(rest)
        return file

    def wait_for(self, condition, what):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def nothing_is_left(self):
        self.wait_for(lambda: not processes_with(self.script), "a contestant runs on")
        folders = lambda: [name for name in os.listdir(self.directory) if name.startswith("joust-race-")]
        self.wait_for(lambda: not folders(), "a folder of the race is left")

    @whose_races_count
    def test_a_daemon_is_raced_like_a_server_in_the_foreground_and_ended(self):
        file = self.path("result.json")
        done = run("race", self.scenario("plain", "daemon"), "--rounds", "3", "--allow-unranked",
                   "--json", file)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(processes_with(self.script), [])
        with open(file, encoding="utf-8") as text:
            contestants = json.load(text)["contestants"]
        for entry in (one for one in contestants if one["kind"] == "contestant"):
            self.assertTrue(entry["ranked"], entry["name"])
            self.assertGreater(entry["summary"]["server_cpu_us_per_message"]["median"], 1, entry["name"])

    def test_whichever_process_is_killed_nothing_is_left(self):
        signals = {
            "the race, which a shell sees": lambda race: race.kill(),
            "its whole process group": lambda race: os.killpg(race.pid, signal.SIGKILL),
            "the process that conducts it": lambda race: os.kill(child_of(race.pid), signal.SIGKILL),
            "with SIGQUIT": lambda race: race.send_signal(signal.SIGQUIT),
            "with SIGTERM": lambda race: race.send_signal(signal.SIGTERM),
        }
        scenario = self.scenario("plain", "daemon")
        for how, kill in signals.items():
            with self.subTest(how):
                race = subprocess.Popen(
                    [JOUST, "race", scenario, "--rounds", "1000"],
                    env=self.environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                self.addCleanup(race.kill)
                self.wait_for(lambda: len(processes_with(self.script)) >= 2, "both contestants run")
                kill(race)
                self.assertNotEqual(race.wait(PATIENCE_S), 0)
                self.nothing_is_left()

    def test_a_killed_race_is_told_of(self):
        race = subprocess.Popen(
            [JOUST, "race", self.scenario("plain"), "--rounds", "1000"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.wait_for(lambda: processes_with(self.script), "the contestant runs")
        os.kill(child_of(race.pid), signal.SIGKILL)
        complaints = race.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(race.returncode, 128 + signal.SIGKILL)
        self.assertIn("the race was killed (signal 9)", complaints)

    def test_a_round_in_which_all_processes_stood_still_is_run_again(self):
        """As where a laptop sleeps, or a container is held. Its load would end with a request timeout."""
        file = self.path("result.json")
        race = subprocess.Popen(
            [JOUST, "race", "--server", "epoll,poll", "-p", "echo", "-c", "4", "--rounds", "3", "-d", "1s",
             "--request-timeout", "1s", "--progress", "lines", "--json", file],  # fmt: skip
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(race.kill)
        self.wait_for(lambda: len(tree_of(race.pid)) > 3, "the contestants run")
        time.sleep(0.5)
        stopped = tree_of(race.pid)[1:]
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for process in stopped if number == signal.SIGSTOP else reversed(stopped):
                os.kill(process, number)
            time.sleep(4 if number == signal.SIGSTOP else 0)
        complaints = race.communicate(timeout=PATIENCE_S)[1]
        self.assertIn(race.returncode, (0, 3), complaints)
        with open(file, encoding="utf-8") as text:
            result = json.load(text)
        self.assertIn("the process of the race did not run for ", result["lost_hosts"][0])
        self.assertIn("is refused and run again", complaints)
        self.assertEqual(result["rounds"], 3)
        for entry in result["contestants"]:
            self.assertTrue(entry["ranked"] or entry["kind"] != "contestant", complaints)

    def test_a_transfer_is_over_when_all_its_processes_have_ended(self):
        rest = """
[[case]]
name = "files"
files = { count = 3, size = "4kB", on = "disk" }
[[contestant]]
name = "in the background"
transfer = "(setsid sh -c 'sleep 0.3; cp {from}/* {into}/' &) ; exit 0"
"""
        file = self.path("scenario.toml")
        with open(file, "w", encoding="utf-8") as scenario:
            scenario.write(rest)
        done = run("race", file, "--rounds", "2", "--details", "--json", self.path("result.json"))
        self.assertIn("files verified", done.stdout, done.stderr)
        with open(self.path("result.json"), encoding="utf-8") as text:
            entry = json.load(text)["contestants"][0]
        self.assertGreater(entry["trials"][0]["load"]["duration_s"], 0.3, entry["name"])


if __name__ == "__main__":
    unittest.main()
