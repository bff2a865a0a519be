# SPDX-License-Identifier: MIT
"""joust race, end to end over real sockets."""

import os
import subprocess
import sys
import unittest

from program import Case, run

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMA = os.path.join(os.path.dirname(TESTS), "docs", "result.schema.json")


class Race(Case):
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
        self.refused(run(*race, "--root", self.path("none"), "--name", "x"), "--root " + self.path("none"))


if __name__ == "__main__":
    unittest.main()
