# SPDX-License-Identifier: MIT
"""The short tests of the command line notice each fault that is planted above the engines."""

import os
import pathlib
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from faults import FAULTS

CASES = pathlib.Path(__file__).resolve().parents[1] / "cli"
ROOMS = {"cli", "race", "hosts", "report", "history"}
AT_ONCE = 3   # most cases wait for processes
HANGS_S = 300
FAILED = 1    # the exit code of pytest; others are no verdict


def run(case, fault=""):
    """The exit code and output of this case, with the program that has this fault."""
    environment = dict(os.environ, JOUST_PLANTED=fault)
    environment.pop("JOUST_LONG_RACES", None)  # a long case is then skipped
    pytest = [sys.executable, "-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--tb=short"]
    done = subprocess.run([*pytest, case], env=environment, cwd=CASES, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=HANGS_S, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def all_runs(pairs):
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda pair: run(*pair), pairs))


class Planted(unittest.TestCase):
    def test_each_fault_is_noticed_and_without_it_the_case_passes(self):
        cases = sorted({fault.noticed_by for fault in FAULTS})
        without = dict(zip(cases, all_runs([(case,) for case in cases])))
        faulty = all_runs([(fault.noticed_by, fault.name) for fault in FAULTS])
        for fault, (code, output) in zip(FAULTS, faulty):
            with self.subTest(fault=fault.what, case=fault.noticed_by):
                passed, said = without[fault.noticed_by]
                self.assertEqual(passed, 0, said)
                self.assertNotIn("takes long", said)
                if re.search(r"\b1 skipped\b", said):
                    self.skipTest(f"{fault.noticed_by} cannot run here")
                self.assertRegex(said, r"\b1 passed\b")
                self.assertEqual(code, FAILED, f"{fault.name} is not noticed:\n{output}")

    def test_names_are_unique_and_each_room_has_a_fault(self):
        names = [fault.name for fault in FAULTS]
        self.assertEqual(len(set(names)), len(names))
        rooms = {file.split("/")[0] for fault in FAULTS for file, _, _ in fault.edits}
        self.assertEqual(rooms, ROOMS)


if __name__ == "__main__":
    unittest.main()
