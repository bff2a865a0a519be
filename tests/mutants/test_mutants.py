# SPDX-License-Identifier: MIT
"""The conformance suite notices each fault in the template engine, names the duty, and passes it without."""

import os
import pathlib
import re
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

from faults import FAULTS

SUITE = os.environ["JOUST_SUITE"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
DUTIES = 21
AT_ONCE = 4     # most tests wait for something that does not come
HANGS_S = 120
CHANCES = 4     # some faults show only where the kernel delivers bytes at the right moment


def run(cases, fault=0, patience_ms=None):
    """The exit code and output of these conformance tests with that fault."""
    environment = dict(os.environ, JOUST_FAULT=str(fault))
    if patience_ms:
        environment["JOUST_PATIENCE_MS"] = str(patience_ms)
    command = [SUITE, "--gtest_brief=1", "--gtest_filter=" + ":".join(f"*/{case}" for case in cases)]
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=HANGS_S, check=False)
    return ended.returncode, ended.stdout.decode(errors="replace")


def noticed(number):
    """The exit code and output of the first run that notices the fault, or of the last run."""
    for _ in range(CHANCES):
        code, output = run([case_of(FAULTS[number - 1])], number, 2000)
        if code != 0:
            break
    return code, output


def case_of(fault):
    return f"{fault.caught_by}/{fault.variant}"


class Mutants(unittest.TestCase):
    def test_each_fault_is_noticed_and_its_duty_named(self):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            runs = pool.map(noticed, range(1, len(FAULTS) + 1))
            for fault, (code, output) in zip(FAULTS, runs):
                with self.subTest(fault=f"duty {fault.duty}: {fault.what}", case=case_of(fault)):
                    self.assertNotEqual(code, 0, output)
                    self.assertIn(f"duty {fault.duty} (", output)

    def test_without_a_fault_the_same_cases_pass(self):
        cases = sorted({case_of(fault) for fault in FAULTS})
        code, output = run(cases)
        self.assertEqual(code, 0, output)
        passed = re.search(r"\[  PASSED  \] (\d+) test", output)
        self.assertTrue(passed, output)
        self.assertEqual(int(passed.group(1)), len(cases), output)  # none was skipped

    def test_each_duty_has_a_fault_a_name_and_a_place_in_the_template(self):
        numbers = set(range(1, DUTIES + 1))
        self.assertEqual({fault.duty for fault in FAULTS}, numbers)
        guide = (ROOT / "docs/howto/add-an-engine.md").read_text(encoding="utf-8")
        self.assertEqual({int(n) for n in re.findall(r"^\| (\d+) \|", guide, re.MULTILINE)}, numbers)
        template = (ROOT / "src/engines/template.cpp").read_text(encoding="utf-8")
        self.assertEqual({int(n) for n in re.findall(r"[Dd]uty (\d+)", template)}, numbers)


if __name__ == "__main__":
    unittest.main()
