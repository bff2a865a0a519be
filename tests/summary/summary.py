# SPDX-License-Identifier: MIT
"""Judges one preset's test run, for script/test.

Usage: summary.py BUILD_DIRECTORY
Reads what GoogleTest or pytest has written for each group (Testing/cases/*.xml) and what ctest has written
for all (Testing/ctest.xml). Runs failed cases again. Prints why cases were skipped, the ten slowest cases and
groups, each failed case with its message, and, last, the line of counts. Exits with 1 if a case has failed.

A machine that others use may keep a test from its CPU for longer than the deadline that it tests. A case
whose expectation has failed is therefore run twice again, alone, and counts as passed if it passes both
times; its first failure is shown all the same. A program that has died, has run too long or has a report of a
sanitizer is not run again.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

MOST_AGAIN = 10  # more failures than these are not due to a moment's load


class Case:
    def __init__(self, name, group, seconds, failures, skipped):
        self.name, self.group, self.seconds = name, group, seconds
        self.failures, self.skipped = failures, skipped
        self.passed_alone = False

    def failed(self):
        return bool(self.failures) and not self.passed_alone


def reason_in(message):
    """The words of GTEST_SKIP: behind the place in the source, before the traces."""
    words = [line for line in message.splitlines() if line and not line.startswith(("/", "..", "Skipped"))]
    return words[0] if words else "no reason given"


def cases_of_group(group, file):
    for element in xml.parse(file).getroot().iter("testcase"):
        if element.get("status") == "notrun":
            continue
        skipped = element.find("skipped")
        name = f'{element.get("classname")}.{element.get("name")}'
        failures = [failure.text or failure.get("message")
                    for kind in ("failure", "error") for failure in element.iter(kind)]
        yield Case(name, group, float(element.get("time")), failures,
                   None if skipped is None else reason_in(skipped.get("message") or ""))


def why_not_run(test):
    skipped = test.find("skipped")
    reason = (skipped is not None and skipped.get("message")) or "not run"
    if told := re.search(r"skipped: (.*)", test.findtext("system-out") or ""):
        return told[1]
    return "not run, because the build has failed" if "Fixture" in reason else reason


def all_cases(build):
    results = build / "Testing"
    groups = {file.stem: file for file in (results / "cases").glob("*.xml")}
    for test in xml.parse(results / "ctest.xml").getroot().iter("testcase"):
        name, ran = test.get("name"), test.get("status") in ("run", "fail")
        failed = test.get("status") == "fail" or test.find("failure") is not None
        if name in groups:
            of_group = list(cases_of_group(name, groups[name]))
            yield from of_group
            failed = failed and not any(case.failures for case in of_group)  # it died, or ran too long
            if not failed:
                continue
        failures = ["the program has failed as a whole; its output is above"] if failed else []
        unable = None if ran else why_not_run(test)
        if unable and unable.startswith("Unable"):  # to find the program
            failures, unable = [unable], None
        yield Case(name, None, float(test.get("time") or 0), failures, unable)


def may_pass_alone(failed, build):
    """No case may if there are many failures, or one that a sanitizer has reported."""
    printed = (build / "Testing" / "Temporary" / "LastTest.log").read_text(errors="replace")
    return len(failed) <= MOST_AGAIN and not re.search(r"[A-Z]: \w+Sanitizer|runtime error:", printed)


def alone(command, case):
    """The arguments of a group's program that run one of its cases."""
    if "pytest" not in command:
        return [word for word in command if not word.startswith(("--gtest_filter", "--gtest_output"))] + [
            f"--gtest_filter={case.name}"]
    file, *names = case.name.split(".")  # test_load.Load.test_name
    return [word for word in command[:-1] if not word.startswith("--junitxml")] + [
        "::".join([f"{file}.py", *names])]


def passes_alone(case, build):
    """Runs a case of a group of cases twice again, by the command that ctest ran."""
    listed = subprocess.run(["ctest", "--show-only=json-v1", "-R", f"^{re.escape(case.group)}$"], cwd=build,
                            capture_output=True, check=True, timeout=60)
    # ctest lists the fixtures of a test too, such as the build.
    test = next(test for test in json.loads(listed.stdout)["tests"] if test["name"] == case.group)
    properties = {own["name"]: own["value"] for own in test.get("properties", [])}
    variables = dict(variable.split("=", 1) for variable in properties.get("ENVIRONMENT", []))
    try:
        return all(subprocess.run(alone(test["command"], case), timeout=600, env=os.environ | variables,
                                  cwd=properties.get("WORKING_DIRECTORY", build)).returncode == 0
                   for _ in range(2))
    except subprocess.TimeoutExpired:
        return False


def seconds_of_groups(build):
    tests = xml.parse(build / "Testing" / "ctest.xml").getroot().iter("testcase")
    return [(float(test.get("time") or 0), test.get("name")) for test in tests]


def show_slowest(what, rows):
    print(f"the ten slowest {what}:")
    for seconds, name in sorted(rows, reverse=True)[:10]:
        print(f"{seconds:8.1f} s  {name}")


def show_failure(case):
    print(f"{'FAILED, but passed twice alone' if case.passed_alone else 'FAILED'}: {case.name}")
    for message in case.failures[:3]:
        print("\n".join("    " + line[:200] for line in message.splitlines()[:20]))


def main(build):
    cases = list(all_cases(build))
    failed = [case for case in cases if case.failures]
    if may_pass_alone(failed, build):
        for case in failed:
            case.passed_alone = case.group is not None and passes_alone(case, build)
    reasons = collections.Counter(case.skipped for case in cases if case.skipped is not None)
    for reason, count in reasons.most_common():
        print(f"skipped {count}: {reason}")
    show_slowest("cases", [(case.seconds, case.name) for case in cases])
    show_slowest("groups", seconds_of_groups(build))
    for case in failed:
        show_failure(case)
    still, alone = sum(case.failed() for case in cases), sum(case.passed_alone for case in cases)
    skipped = sum(case.skipped is not None for case in cases)
    print(f"{len(cases) - still - skipped} passed{f' ({alone} only alone)' if alone else ''}, "
          f"{still} failed, {skipped} skipped")
    return 1 if still else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
