# SPDX-License-Identifier: MIT
"""How options, engines and contestants are written on the command line."""

import os
import re
import shutil
import unittest

from program import JOUST, Case, Server, run


class Arguments(Case):
    def test_a_program_without_its_folder_says_where_it_has_looked(self):
        os.mkdir(self.path("bin"))
        alone = shutil.copy(JOUST, self.path("bin"))
        looked = run("race", "first-look", program=alone)
        self.refused(looked, self.path("share/joust/scenarios"), "is not there")
        self.assertIn(self.path("lib/joust/"), run("engines", program=alone).stdout)

    def test_equal_contestants_have_numbers(self):
        def contestants(*race):
            done = run("race", *race, "--dry-run", "--rounds", 1)
            self.assertEqual(done.returncode, 0, done.stderr)
            names = [line.strip() for line in done.stdout.splitlines() if re.match("  [a-z]", line)]
            return [name for name in names if not name.startswith("ceiling")]

        three = contestants("--server", "poll,poll", "--server", "poll")
        self.assertEqual(three, ["poll", "poll#2", "poll#3"])
        self.assertEqual(contestants("--server", "poll,poll", "--client", "epoll,threads"),
                         ["poll/epoll", "poll/threads", "poll#2/epoll", "poll#2/threads"])
        scenario = self.path("race.toml")
        with open(scenario, "w", encoding="utf-8") as file:
            file.write('load = { duration = "1s" }\n' + '[[contestant]]\nserver = "epoll"\n' * 2)
        self.assertEqual(contestants(scenario, "--reference", "epoll#2"), ["epoll", "epoll#2"])

    def test_limits_of_a_race_are_flags_too(self):
        done = run("race", "--server", "epoll", "--request-timeout", "9s", "--dry-run")
        self.assertIn(" --request-timeout 9s ", done.stdout)

    def test_a_dry_run_writes_no_result(self):
        file = self.path("result.json")
        done = run("race", "--server", "epoll", "--rounds", 1, "--dry-run", "--json", file)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, f"joust: --json {file}: a dry run writes no result\n")
        self.assertFalse(os.path.exists(file))

    def test_knobs_in_the_engines_name(self):
        load = ("load", "--connect", "127.0.0.1:1", "-m", "1")
        for command in (("serve",), load):
            with self.subTest(command):
                other = "threads:trigger=level"
                self.refused(run(*command, "-e", other), f"-e {other}: ", "no knob 'trigger'")
                self.refused(run(*command, "-e", "epoll:trigger"), "'trigger' is not KNOB=VALUE")
                self.refused(run(*command, "-e", "epol:trigger=level"), "no engine 'epol'", "'epoll'")
                for name, flag, value in (("trigger", "--trigger", "edge"), ("threads", "-t", "2"),
                                          ("wait", "--wait", "spin")):
                    given = run(*command, "-e", f"epoll:{name}={value}", flag, value)
                    self.refused(given, f"-e epoll:{name}={value}: '{name}' is given twice", f"--{name}")
        both = run("serve", "-p", "broadcast", "-e", "epoll:flush=each", "--flush", "each")
        self.refused(both, "'flush' is given twice, here and as --flush")
        with Server("-e", "epoll:trigger=level:threads=2:flush=each", "-p", "broadcast") as server:
            self.assertEqual(server.listening["engine"], "epoll")
            self.assertEqual(server.listening["knobs"]["trigger"], "level")
            self.assertEqual(server.listening["threads"], 2)
            self.assertEqual(server.listening["options"]["flush"], "each")

    def test_options_given_twice(self):
        self.refused(run("serve", "-t", "1", "--threads", "2"), "-t,--threads is given 2 times; give it once")
        race = run("race", "--server", "epoll", "--seed", 1, "--seed", 2, "--dry-run")
        self.refused(race, "--seed is given 2 times")
        self.assertEqual(run("race", "--server", "epoll", "--server", "poll", "--dry-run").returncode, 0)

    def test_a_value_that_is_empty(self):
        self.refused(run("load", "--connect=", "-m", "1"), "--connect: the value is empty")
        self.refused(run("load", "--connect", "127.0.0.1:1", "--payload=", "1"), "--payload")
        self.refused(run("serve", "-p", "file", "--overwrite="), "--overwrite: the value is empty")


if __name__ == "__main__":
    unittest.main()
