# SPDX-License-Identifier: MIT
"""What script/soak says to --help, and its program to wrong arguments."""

import os
import re
import subprocess
import unittest

PROGRAM = os.path.join(os.environ["JOUST_BUILD"], "tests", "faults", "soak")
SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "script", "soak")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


class Usage(unittest.TestCase):
    def test_the_help_of_the_script_has_every_option(self):
        own = run(PROGRAM, "--help")
        self.assertEqual(own.returncode, 0, own.stderr)
        options = set(re.findall(r"--[a-z-]+", own.stdout)) - {"--help"}
        self.assertGreater(len(options), 10)
        for arguments in (("--help",), ("tsan", "--seed", "1", "-h")):
            script = run(SCRIPT, *arguments)
            self.assertEqual(script.returncode, 0, script.stderr)
            for option in options:
                self.assertIn(option + " ", script.stdout)

    def test_wrong_arguments_have_exit_code_2(self):
        for wrong in (
            ("--nonsense",),
            ("nonsense",),
            ("--seconds", "-1"),
            ("--seconds", "many"),
            ("--seed", "-1"),
            ("--seed",),
            ("--role", "nobody"),
            ("--engine", "nobody"),
            ("--protocol", "nobody"),
            ("--nth", "1"),
            ("--faults", "--at-once", "-1"),
            ("--faults", "--exchange", "nobody"),
        ):
            with self.subTest(wrong):
                done = run(PROGRAM, *wrong)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertNotEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
