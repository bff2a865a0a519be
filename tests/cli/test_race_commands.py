# SPDX-License-Identifier: MIT
"""joust race --command: servers of somebody else, without a scenario file."""

import json
import os
import re
import sys
import unittest

from program import JOUST, TESTS, Case, long, run, whose_races_count

ROOT = os.path.dirname(TESTS)

# Echoes on the port of its first argument.
SERVER = """
import socket, sys, threading
def echo(peer):
    while data := peer.recv(1 << 16):
        peer.sendall(data)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()
"""
SHORT = ("-p", "echo", "-c", 2, "-w", "10ms", "--rounds", 1, "--allow-unranked")


class Commands(Case):
    def server(self, name="server.py", before=""):
        """The command that runs a server, which does `before` first."""
        script = self.path(name)
        with open(script, "w", encoding="utf-8") as text:
            text.write(before + SERVER)
        return f"exec {sys.executable} -u {script} {{port}}"

    def race(self, *arguments, duration="60ms"):
        """The finished process of a short race, and its contestants by name."""
        file = self.path("result.json")
        done = run("race", *SHORT, "-d", duration, *arguments, "--json", file)
        with open(file, encoding="utf-8") as text:
            entries = json.load(text)["contestants"]
        return done, {entry["name"]: entry for entry in entries if entry["kind"] == "contestant"}

    def test_old_and_new_race_without_a_file_and_beside_an_engine(self):
        old, new = self.server("old.py"), self.server("new.py")
        done, contestants = self.race("--command", f"old={old}", "--server", "epoll",
                                      "--command", f"new={new}")  # fmt: skip
        self.assertEqual(list(contestants), ["old", "new", "epoll"])
        self.assertEqual(contestants["new"]["server"], {"engine": "external", "command": new})
        for entry in contestants.values():
            self.assertNotIn("failure", entry["trials"][0], done.stderr)
        self.assertIn("ratio to old", done.stdout)

    def failed(self, before, *arguments, duration="60ms"):
        """The complaints about a contestant `new` whose server does `before` first, beside one that works."""
        new = self.server("new.py", before)
        done, contestants = self.race("--command", f"old={self.server()}", "--command", f"new={new}",
                                      *arguments, duration=duration)  # fmt: skip
        self.assertNotIn("failure", contestants["old"]["trials"][0], done.stderr)
        self.assertIn("failure", contestants["new"]["trials"][0], done.stderr)
        self.assertIn("new is not ranked", done.stdout)
        return done.stderr

    def measured(self, before, *arguments):
        done, contestants = self.race("--command", f"new={self.server('new.py', before)}", *arguments)
        self.assertNotIn("failure", contestants["new"]["trials"][0], done.stderr)
        return done

    @long
    def test_a_server_that_takes_seconds_to_listen(self):
        slow = "import time; time.sleep(1)\n"
        self.measured(slow)
        complaints = self.failed(slow, "--ready-timeout", "500ms")
        self.assertRegex(complaints, r"^new: the server did not accept a connection on 127\.0\.0\.1:\d+ "
                                     r"within 500 ms \(--ready-timeout allows more\)")

    def test_a_line_may_say_that_a_server_is_ready(self):
        self.measured("print('one moment'); print('now listening')\n", "--ready", "listening")
        done, contestants = self.race("--command", f"new={self.server('new.py', 'print(5)')}",
                                      "--ready", "listening", "--ready-timeout", "1s")  # fmt: skip
        self.assertIn("new: the server did not print a line with 'listening' within 1.00 s", done.stderr)
        self.assertIn("\n    | 5\n", done.stderr)
        self.assertEqual(contestants["new"]["server"]["ready"], "listening")
        self.assertEqual(contestants["new"]["ready_timeout_s"], 1)
        self.valid(self.path("result.json"))

    def test_a_server_that_prints_much(self):
        self.measured("import os, threading\n"
                      "def flood():\n"
                      "    while True: os.write(1, b'y\\n' * 4000); os.write(2, b'n\\n' * 4000)\n"
                      "threading.Thread(target=flood, daemon=True).start()\n")  # fmt: skip

    def test_a_server_that_cannot_start_says_why(self):
        complaints = self.failed("import sys; sys.exit('no file config.ini')\n")
        self.assertRegex(complaints, r"^new: the server ended before it could accept a connection on "
                                     r"127\.0\.0\.1:\d+: exit code 1\n    \| no file config\.ini\n")
        self.assertIn("\n    | no file config.ini\n", self.failed("print('no file config.ini'); exit(1)\n"))

    @long
    def test_a_server_that_dies_in_the_middle_says_why(self):
        dies = ("import os, threading, time\n"
                "def die():\n"
                "    time.sleep(2); os.write(2, b'out of luck\\n'); os._exit(7)\n"
                "threading.Thread(target=die, daemon=True).start()\n")  # fmt: skip
        complaints = self.failed(dies, duration="4s")
        self.assertIn("new: the server ended in the middle of the trial: exit code 7\n    | out of luck\n",
                      complaints)

    def test_a_server_is_asked_to_end_before_it_is_killed(self):
        tidied = self.path("tidied")
        self.measured("import os, signal\n"
                      f"signal.signal(signal.SIGTERM, lambda *_: (open({tidied!r}, 'w'), os._exit(0)))\n",
                      "--turns", "off")  # fmt: skip
        self.assertTrue(os.path.exists(tidied))

    def test_a_server_that_answers_wrong_once_is_not_ranked(self):
        lies = ("import itertools, socket\n"
                "right, number = socket.socket.sendall, itertools.count()\n"
                "def sendall(peer, data):\n"
                "    right(peer, data if next(number) != 20 else data[:-1] + bytes([data[-1] ^ 1]))\n"
                "socket.socket.sendall = sendall\n")  # fmt: skip
        file = self.path("result.json")
        done = run("race", "-p", "echo", "-c", 2, "-m", 100, "-w", 0, "--turns", "off", "--rounds", 1,
                   "--command", f"old={self.server()}", "--command", f"new={self.server('new.py', lies)}",
                   "--json", file)  # fmt: skip
        self.assertIn("new is not ranked", done.stdout)
        with open(file, encoding="utf-8") as text:
            new = next(entry for entry in json.load(text)["contestants"] if entry["name"] == "new")
        self.assertFalse(new["ranked"])
        messages = new["trials"][0]["load"]["messages"]
        self.assertEqual((messages["failed"], messages["verified"] >= 100), (1, True), messages)

    def test_an_option_of_servers_that_no_command_has_is_refused(self):
        self.refused(run("race", "-p", "work", "--work", "100us", "--command", "a=x {port}",
                         "--command", "b=y {port}"),
                     "option 'work' of protocol 'work' is for servers of joust", "in the commands themselves")

    def test_a_server_that_ignores_sigterm_is_killed_and_told_of(self):
        done = self.measured("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n")
        self.assertIn("note: it did not end within 8.00 s of SIGTERM, and was killed (new)", done.stdout)

    @long
    @whose_races_count
    def test_the_recipe_for_a_shell_finds_the_slower_version(self):
        with open(os.path.join(ROOT, "docs", "howto", "use-in-ci.md"), encoding="utf-8") as text:
            recipe = re.search("```sh\n(.*?)```", text.read(), re.DOTALL)[1]
        recipe = re.sub(r"\bjoust (race|serve)", rf"{JOUST} \1", recipe)
        recipe = recipe.replace("race.json", self.path("race.json"))
        done = run("-c", recipe, program="sh")
        self.assertEqual(done.returncode, 99, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\na message of new costs [\d.]+ \([\d.]+ to [\d.]+\) of the server "
                                      r"CPU time of old, above 1\.03: exit code 99\n")  # fmt: skip
        self.valid(self.path("race.json"))
        with open(self.path("race.json"), encoding="utf-8") as text:
            decisions = [each["decision"] for each in json.load(text)["thresholds"]]
        self.assertEqual(decisions[-1], "beyond")

    def test_thresholds_that_mean_nothing_are_refused(self):
        two = ("race", "--server", "epoll,threads")
        self.refused(run(*two, "--fail-below", "3%"), "--fail-below: '3%' is not a ratio", "0.97")
        self.refused(run(*two, "--fail-cost-above", 103), "'103' is not a ratio between 0.01 and 10")
        self.refused(run(*two, "--undecided", "fail"), "--undecided: there is no threshold")
        self.refused(run(*two, "--fail-below", 0.9, "--undecided", "perhaps"), "--undecided", "ok, fail")
        self.refused(run("race", "--server", "epoll", "--fail-below", 0.9), "there is one contestant")
        self.refused(run(*two, "-R", "5k", "--fail-below", 0.9), "--fail-below: at a given rate")

    def test_thresholds_stay_out_of_a_document_on_standard_output(self):
        two = ("-d", "60ms", "--server", "epoll,threads")
        done = run("race", *SHORT, *two, "--fail-below", 0.9, "--json", "-")
        said = [each["sentence"] for each in json.loads(done.stdout)["thresholds"]]
        self.assertEqual(len(said), 1)
        self.assertIn(f"joust: {said[0]}\n", done.stderr)
        self.assertRegex(said[0], r"threads is at \S+ \(.*\) of epoll: not decided whether that is below 0.9")

    def test_a_command_that_is_wrong_is_named(self):
        cases = {
            ("./server",): "'./server': there is no equals sign; write NAME=COMMAND",
            ("=./server",): "there is no name before the equals sign",
            ("old=",): "'old=': there is no command after the equals sign",
            ("./server --port={port}",): "the name before the equals sign is './server --port'",
            ("a=./x", "a=./y"): "'a=./y': another contestant is called 'a'",
            ("a=./x {prot}",): "did you mean {port}?",
        }
        for commands, words in cases.items():
            with self.subTest(commands):
                flags = [word for command in commands for word in ("--command", command)]
                self.refused(run("race", *flags), "--command ", words)
        self.refused(run("race", "-p", "echo"), "there are no contestants", "--command NAME=")


if __name__ == "__main__":
    unittest.main()
