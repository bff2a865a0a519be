# SPDX-License-Identifier: MIT
"""`joust doctor`: what distorts a race here, in two lines each, and the floor of this machine."""

import json
import os
import re
import unittest

from program import CALCULATOR, JOUST, TESTS, Case, run

DOCTOR_SCHEMA = os.path.join(os.path.dirname(TESTS), "docs", "doctor.schema.json")
SUBJECTS = {"build", "other load", "steal", "CPU quota", "cores", "allowed CPUs", "SMT", "governor", "turbo",
            "clock source", "softirq time", "virtual machine", "container", "io_uring", "seccomp",
            "tracepoints", "open files", "local ports", "TIME_WAIT", "congestion control",
            "swap"}  # fmt: skip


class Doctor(Case):
    def document(self, *, program=JOUST):
        done = run("doctor", "--json", program=program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        file = self.path("doctor.json")
        with open(file, "w", encoding="utf-8") as written:
            written.write(done.stdout)
        self.valid(file, DOCTOR_SCHEMA)
        return json.loads(done.stdout)

    def findings(self, **more):
        return {finding["subject"]: finding for finding in self.document(**more)["findings"]}

    def test_the_document_has_every_subject_and_figure(self):
        document = self.document()
        self.assertEqual({finding["subject"] for finding in document["findings"]}, SUBJECTS)
        self.assertEqual(len(document["floor"]), 6)
        measured = {figure["name"] for figure in document["floor"] if "median" in figure}
        self.assertLessEqual({"system_call", "wake_up_same_cpu", "copy"}, measured)
        for finding in document["findings"]:
            if finding["level"] in ("note", "warning"):
                self.assertTrue(finding["effect"], finding)
                self.assertTrue(finding["mend"] or finding["advice"], finding)

    def test_each_finding_has_two_lines(self):
        done = run("doctor")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = done.stdout.split("\nIn order:")[0]
        lines = found.splitlines()
        first = [i for i, line in enumerate(lines) if re.match(r"[!-] [\w ]+: .+; .+", line)]
        self.assertEqual([i + 1 for i in first],
                         [i for i, line in enumerate(lines) if line.startswith("    ")])  # fmt: skip
        for subject in SUBJECTS:
            self.assertIn(subject, done.stdout)
        self.assertIn("\nThe floor", done.stdout)

    def test_limits_of_the_caller_are_found_and_undone(self):
        limited = ["prlimit", "--nofile=512:4096", "taskset", "-c", str(min(os.sched_getaffinity(0))), JOUST]
        findings = self.findings(program=limited)
        self.assertEqual(findings["open files"]["undo"], "sudo prlimit --pid $$ --nofile=512:4096")
        self.assertEqual(findings["cores"]["level"], "warning")
        if len(os.sched_getaffinity(0)) > 1:
            self.assertEqual(findings["allowed CPUs"]["level"], "note")

    def test_every_program_has_a_doctor(self):
        self.assertIn("calculator doctor", run("doctor", "--help", program=CALCULATOR).stdout)
        self.refused(run("doctor", "now"), "now")


if __name__ == "__main__":
    unittest.main()
