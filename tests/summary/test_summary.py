# SPDX-License-Identifier: MIT
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent

# A test program: the n-th run of it exits with the n-th code of a file.
PROGRAM = """#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >> arguments
code=$(head -1 codes); sed -i 1d codes; exit "$code"
"""
GROUP = """<testsuites><testsuite><testcase name="Passes" status="run" time="0.1" classname="Suite" />
<testcase name="Fails" status="run" time="0.2" classname="Suite">
<failure message="wrong:&#10;1 vs 2" /></testcase>
</testsuite></testsuites>"""


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "Testing" / "cases").mkdir(parents=True)
        (self.build / "Testing" / "Temporary").mkdir()
        self.write("Testing/Temporary/LastTest.log", "")
        self.write("program", PROGRAM).chmod(0o755)
        self.write("CTestTestfile.cmake",
                   f'add_test(group "{self.build}/program" "--gtest_filter=-X" "--gtest_output=xml:y")')
        self.write("Testing/ctest.xml", """<testsuite><testcase name="group" status="fail" time="1" />
            <testcase name="script" status="run" time="2" /></testsuite>""")
        self.write("Testing/cases/group.xml", GROUP)

    def write(self, name, text):
        (self.build / name).write_text(text)
        return self.build / name

    def judge(self, code=0):
        self.write("codes", f"{code}\n{code}\n")
        done = subprocess.run([sys.executable, "-B", HERE / "summary.py", self.build], capture_output=True,
                              text=True, timeout=60)
        return done.returncode, done.stdout.splitlines()

    def test_a_case_that_passes_alone_has_passed_and_is_shown(self):
        code, lines = self.judge()
        self.assertEqual(code, 0)
        self.assertEqual(lines[-1], "3 passed (1 only alone), 0 failed, 0 skipped")
        # What script/test repeats.
        self.assertEqual(lines[-4:-1],
                         ["FAILED, but passed twice alone: Suite.Fails", "    wrong:", "    1 vs 2"])
        self.assertEqual((self.build / "arguments").read_text().split(), ["--gtest_filter=Suite.Fails"] * 2)

    def test_a_case_of_the_command_line_is_run_alone_by_pytest(self):
        self.write("CTestTestfile.cmake", f"""add_test(group "{self.build}/program" "-m" "pytest"
            "--junitxml=y" "test_a.py")
            set_tests_properties(group PROPERTIES ENVIRONMENT "A=1" WORKING_DIRECTORY "{self.build}")""")
        self.write("Testing/cases/group.xml", """<testsuites><testsuite>
            <testcase name="test_b" time="0.2" classname="test_a.A">
            <error message="m">E  wrong</error></testcase></testsuite></testsuites>""")
        code, lines = self.judge()
        self.assertEqual((code, lines[-1]), (0, "2 passed (1 only alone), 0 failed, 0 skipped"))
        self.assertIn("    E  wrong", lines)
        self.assertEqual((self.build / "arguments").read_text().split(),
                         ["-m", "pytest", "test_a.py::A::test_b"] * 2)

    def test_what_a_group_requires_is_not_run_in_its_place(self):
        self.write("CTestTestfile.cmake", f"""add_test(build "/bin/true")
            set_tests_properties(build PROPERTIES FIXTURES_SETUP built)
            add_test(group "{self.build}/program" "--gtest_filter=-X")
            set_tests_properties(group PROPERTIES FIXTURES_REQUIRED built)""")
        self.assertEqual(self.judge(1)[0], 1)

    def test_a_case_that_fails_alone_has_failed(self):
        code, lines = self.judge(1)
        self.assertEqual(code, 1)
        self.assertEqual(lines[-1], "2 passed, 1 failed, 0 skipped")
        self.assertIn("FAILED: Suite.Fails", lines)

    def test_what_a_sanitizer_reports_is_not_run_again(self):
        for report in "WARNING: ThreadSanitizer: data race", "a.cpp:1: runtime error: overflow":
            self.write("Testing/Temporary/LastTest.log", report)
            self.assertEqual(self.judge()[0], 1)
        self.write("Testing/Temporary/LastTest.log", "skipped: ThreadSanitizer does not see it")
        self.assertEqual(self.judge()[0], 0)

    def test_many_failures_are_not_run_again(self):
        case = GROUP[GROUP.index('<testcase name="Fails"'):GROUP.index("</testsuite>")]
        self.write("Testing/cases/group.xml", f"<testsuites><testsuite>{case * 11}</testsuite></testsuites>")
        code, lines = self.judge()
        self.assertEqual((code, lines[-1]), (1, "1 passed, 11 failed, 0 skipped"))

    def test_a_program_that_dies_has_failed(self):
        (self.build / "Testing" / "cases" / "group.xml").unlink()
        code, lines = self.judge()
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_program_that_is_missing_has_failed(self):
        self.write("Testing/ctest.xml", """<testsuite><testcase name="a" status="notrun" time="0">
            <skipped message="Unable to find executable" /></testcase></testsuite>""")
        self.assertEqual(self.judge()[0], 1)

    def test_a_test_that_skips_itself_says_why(self):
        self.write("Testing/ctest.xml", """<testsuite><testcase name="a" status="notrun" time="0">
            <skipped message="SKIP_RETURN_CODE=77" /></testcase></testsuite>""")
        code, lines = self.judge()
        self.assertEqual((code, lines[0]), (0, "skipped 1: SKIP_RETURN_CODE=77"))
        self.write("Testing/ctest.xml", """<testsuite><testcase name="a" status="notrun" time="0">
            <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED" />
            <system-out>-- skipped: no cpack\n</system-out></testcase></testsuite>""")
        self.assertEqual(self.judge()[1][0], "skipped 1: no cpack")
        self.write("Testing/ctest.xml", """<testsuite><testcase name="a" status="notrun" time="0">
            <skipped message="Fixture dependency failed" /></testcase></testsuite>""")
        self.assertEqual(self.judge()[1][0], "skipped 1: not run, because the build has failed")

    def test_reasons_for_skipping_are_counted_the_most_frequent_first(self):
        cases = "".join(f'<testcase name="{i}" status="run" time="0"><skipped message="{why}" /></testcase>'
                        for i, why in enumerate(["rare", "often", "often"]))
        self.write("Testing/cases/group.xml", f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
        self.assertEqual(self.judge()[1][:2], ["skipped 2: often", "skipped 1: rare"])


if __name__ == "__main__":
    unittest.main()
