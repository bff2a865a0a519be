# SPDX-License-Identifier: MIT
"""joust race, where whole commands move files."""

import json
import os
import subprocess
import sys

from program import SCHEMA, TESTS, Case, run

SCENARIO = """
rounds = 2
cpus = { server = "any", client = "any" }
[[case]]
name = "small"
files = { count = 20, size = "16kB" }
[[contestant]]
name = "cp"
transfer = "exec cp {from}/* {into}/"
"""


class RaceOfFiles(Case):
    def race(self, text, *more):
        scenario, file = self.path("race.toml"), self.path("race.json")
        with open(scenario, "w", encoding="utf-8") as out:
            out.write(SCENARIO + text)
        return run("race", scenario, "--json", file, *more), file

    def test_joust_and_a_command_move_the_same_files(self):
        done, file = self.race("""
[[contestant]]
name = "send"
command = "exec {joust} receive --into {into}/.. --listen 127.0.0.1:{port}"
transfer = "exec {joust} send -r {from} 127.0.0.1:{port}"
[[contestant]]
name = "not here"
needs = ["sh", "no-such-program"]
transfer = "no-such-program {from} {into}"
[[contestant]]
name = "bound"
moves_files = false
transfer = "true"
""", "--allow-unranked", "--details")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("20 files of 16.0 kB each, in memory (/dev/shm)", done.stdout)
        self.assertIn("unavailable: no-such-program is not installed", done.stdout)
        self.assertIn("server on any CPU, client on any CPU", " ".join(done.stdout.split()))
        self.assertIn("system calls: not counted: a command moves fewer than 500 files", done.stdout)
        self.assertIn("steady state                not a question here", done.stdout)
        self.assertIn("both: ratio to cp", done.stdout)  # which has no server
        with open(file, encoding="utf-8") as result:
            race = json.load(result)
        self.assertEqual(race["cases"][0]["files"], {"count": 20, "bytes": 16000, "on": "memory"})
        contestants = {each["name"]: each for each in race["contestants"]}
        self.assertTrue(contestants["send"]["ranked"])
        self.assertIn("cpu_us_per_message", race["cases"][0]["itself"])
        self.assertGreater(contestants["cp"]["summary"]["cost_us_per_message"]["median"], 0)
        self.assertFalse(contestants["bound"]["ranked"])
        for trial in contestants["send"]["trials"]:
            self.assertEqual(trial["load"]["verified"], 20)
            self.assertGreater(trial["load"]["duration_s"], 0)
            self.assertGreater(trial["load"]["cpu"]["user_s"] + trial["load"]["cpu"]["system_s"], 0)
        validate = os.path.join(TESTS, "validate_result.py")
        checked = subprocess.run([sys.executable, "-B", validate, SCHEMA, file], capture_output=True,
                                 text=True, check=False)
        if checked.returncode == 77:
            self.skipTest(checked.stdout)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_who_loses_a_byte_is_not_ranked(self):
        done, _ = self.race("""
[[contestant]]
name = "hasty"
transfer = "cp {from}/* {into}/; truncate -s -1 {into}/{last}"
""")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("exit code 3: hasty is not ranked", done.stderr)
        self.assertIn("00019 in the target differs from the file", " ".join(done.stdout.split()))
        self.assertIn("hasty is not ranked", done.stdout)

    def test_flags_of_a_load_are_refused(self):
        done, _ = self.race("", "-c", 4)
        self.refused(done, "--connections: the contestants of")

    def test_files_that_do_not_fit_are_refused_with_the_reason(self):
        done, _ = self.race('[[case]]\nname = "huge"\nfiles = { size = "900GB" }\n', "--dry-run")
        self.assertIn("unavailable: /dev/shm has room for ", done.stdout)
        done, _ = self.race('[[case]]\nname = "more than there is"\nfiles = { size = "900GB" }\n',
                            "--allow-unranked")
        self.assertEqual(done.returncode, 0, "the other case runs: " + done.stdout + done.stderr)
